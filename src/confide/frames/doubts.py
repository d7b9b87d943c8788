"""Whole numbers that look like codes: areas, occupations, industries. Arithmetic on them is asked about, never silent.

Ages, incomes, years, counts and weights do not look like codes: they have no name of a code, and as numbers they are
dense, round, mostly zero, or hardly ever the same.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64, Column, inferred


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


CODES = _listed("""
    area areas region code codes cd occ occp occupation isco soc ind indp industry naics naicsp nace sic isic zip
    zipcode plz postcode postal state province canton county country puma tract block fips geoid geo lau nuts msa cbsa
    municipality commune district ward parish precinct diagnosis icd icd9 icd10 drg atc cpt ancestry language lang
    religion birthplace pob pobp
    kommune kommuner kommun gemeinde gemeente gmina gebiet bezirk kreis landkreis bundesland kanton fylke sogn bydel
    lan kunta maakunta wijk buurt provincie provincia comune comunidad municipio concelho distrito freguesia comarca
    departement departamento arrondissement canton codepostal kraj okres powiat wojewodztwo obec zupanija
    opcina beruf yrke beroep profession profesion profissao professione oficio branche bransch
""")
"""Words in names of variables that hold codes, without accents, in several languages."""
ENDINGS = ("kode", "kod", "code", "codigo", "codice", "schluessel", "nummer", "nr")
"""What may follow such a word without a gap, as in kommunekode."""
AMOUNTS = _listed("""
    tax income pay wage wages salary value price cost amount revenue sales rent n num number count counts size weight
    weights wgt wt share rate pct percent total sum pop population people persons sqm sqft m2 km km2 ha age year years
    month hours days weeks distance density mean avg average index score rank
    skat skatt steuer impuesto impot imposto indkomst inkomst inkomen einkommen ingreso ingresos revenu revenus renda
    lohn lon salaire salario betrag preis pris prix precio umsatz antal anzahl aantal nombre cantidad gewicht poids peso
    alter alder edad jahr jahre ar ano anno annee
""")
"""Words in names of variables that hold amounts, whatever else the name says."""
LAST = _listed("code codes cd")
"""Words that at the end of a name decide."""
REPEATS, SPARSE, ROUND, ONE_VALUE = 5, 0.2, 0.95, 0.3
"""Rows per value that codes have at least; the share of all possible values, of multiples of 10 and of one value that
codes without the name of one have at most."""
GAPS, UNEVEN = 0.5, 0.5
"""The share of all possible values that occur among the middle of the numbers, below which there are gaps that no
amount has, if they are uneven: their standard deviation by their mean is at least so much."""


def code_like(values: pl.Series | Column) -> str:
    """A sentence about a variable whose whole numbers look like codes; empty for any other.

    Only numbers that would be taken as numeric are asked about. Whoever names the kind has answered.

    >>> code_like(pl.Series("area", [*range(110, 160)] * 20))
    'area: whole numbers with many repeats and the name of a code look like codes; say categorical=["area"] \
or numeric=["area"].'
    >>> code_like(pl.Series("age", [*range(18, 90)] * 20))
    ''
    """
    numbers = _whole(values)
    if numbers is None or not len(numbers):
        return ""
    known, count = np.unique(numbers, return_counts=True)
    if len(numbers) < REPEATS * len(known):
        return ""
    reason = _by_name(values.name, numbers, known, count) or _by_digits(values.name, numbers, known, count)
    name = values.name
    return f'{name}: {reason} look like codes; say categorical=["{name}"] or numeric=["{name}"].' if reason else ""


def _whole(values: pl.Series | Column) -> F64 | None:
    """The numbers of a variable that is numeric and whole; None for any other."""
    if isinstance(values, pl.Series):
        if not values.dtype.is_numeric() or values.dtype.is_decimal() or inferred(values, False)[0] != "numeric":
            return None
        found = values.drop_nulls().cast(pl.Float64).to_numpy()
    elif values.kind != "numeric" or values.dtype.is_temporal():
        return None
    else:
        found = values.values[values.usable]
    found = found[~np.isnan(found)]
    return found if bool((found == np.floor(found)).all()) else None


def _words(name: str) -> list[str]:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)
    return [w for w in re.split(r"[^a-z0-9]+", apart.lower()) if w]


def _is_code(word: str) -> bool:
    """Whether a word is the name of a code, or one with an ending.

    >>> _is_code("kommunekode"), _is_code("plz"), _is_code("barcode")
    (True, True, False)
    """
    return word in CODES or any(word.removesuffix(e) in CODES for e in ENDINGS if word.endswith(e))


def _by_name(name: str, numbers: F64, known: F64, count: I64) -> str:
    """Many repeats of a few whole numbers under the name of a code."""
    words = _words(name)
    named = any(map(_is_code, words)) and (words[-1] in LAST or not AMOUNTS & set(words))
    identifier = bool(words) and len(words[-1]) > 2 and words[-1].endswith("id") and _sparse(numbers, known, count, 0.5)
    if not named and not (identifier and not AMOUNTS & set(words)):
        return ""
    return "" if known[0] < 0 else "whole numbers with many repeats and the name of a code"


def _by_digits(name: str, numbers: F64, known: F64, count: I64) -> str:
    """Numbers of one length, of which few occur, and those often."""
    digits = np.unique(np.floor(np.log10(np.maximum(known, 1))))
    years = known[0] >= 1800 and known[-1] <= 2100
    if known[0] < 100 or len(digits) > 1 or years or AMOUNTS & set(_words(name)):
        return ""
    seldom = _sparse(numbers, known, count, ROUND) or _gaps(numbers, known, count)
    return "whole numbers with fixed digits and many repeats" if seldom else ""


def _gaps(numbers: F64, known: F64, count: I64) -> bool:
    """Whether values are missing here and there among the middle eight tenths of the numbers, where an amount has every
    value of its grid: neither heaped on fives and tens nor in steps, even or nearly so (inches in centimetres)."""
    low, high = np.quantile(numbers, [0.1, 0.9], method="inverted_cdf")
    steps = np.diff(known[(known >= low) & (known <= high)])
    if len(steps) < 10 or count.max() > ONE_VALUE * len(numbers) or (numbers % 5 == 0).mean() > 0.5:
        return False
    grid = float(np.gcd.reduce(np.diff(known).astype(np.int64)))
    few = (len(steps) + 1) * grid < GAPS * (high - low + grid)
    return bool(few and steps.std() > UNEVEN * steps.mean())


def _sparse(numbers: F64, known: F64, count: I64, most_round: float) -> bool:
    """Whether few of the possible values occur, without being round amounts or mostly one value."""
    few = len(known) < SPARSE * (known[-1] - known[0] + 1)
    rounded = float((numbers % 10 == 0).mean()) > most_round
    return bool(few and not rounded and count.max() <= ONE_VALUE * len(numbers))
