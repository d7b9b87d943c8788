"""Values that may be codes for "not stated" and are declared nowhere: nines at the end, negative codes, by labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import polars as pl

from confide.frames.columns import F64, I64
from confide.frames.encoded import Encoded
from confide.frames.roles.result import Roles

Values = Callable[[str], "tuple[pl.Series, F64 | None]"]

NINES = frozenset(float("9" * k) for k in range(1, 9))
NEGATIVE = frozenset([-1.0, -2.0, -3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -9.0, -77.0, -88.0, -97.0, -98.0, -99.0, -999.0])
OFTEN, NEXT, LEAST = 2.0, 5, 5
"""Nines within reach of the other values are a code if they are so many times as frequent as the next of these on
average, and at least so frequent."""
SAID = re.compile(
    r"not stated|not known|unknown|don.?t know|no answer|not answered|refus|missing|not applicable|not available"
    r"|^\s*n/?a\s*$|no response|nonresponse|keine angabe|weiss nicht|sans r.ponse|no sabe|no contesta"
    r"|ingen svar|uoppgitt",
    re.IGNORECASE,
)
"""Labels of codes that hold no value."""
NOT_ASKED = frozenset(["identifier", "unit", "weight"])
SMALLEST = 10
"""Rows from which a code is named."""


def not_stated(file: Encoded, roles: Roles, values: Values | None = None) -> Iterator[str]:
    """Variables with such values, each with the code and its rows; a code of few rows is not named. `values`: gives the
    values of a variable, and how many rows have each (None: one each), where the file does not hold all of them.

    >>> import confide as cf
    >>> sexes = {"sex": [1] * 20 + [2] * 30 + [9] * 12}
    >>> list(not_stated(Encoded.of(sexes), cf.roles(sexes)))
    ['sex 9 (12 rows)']
    """
    for name, role in roles.frame.select("variable", "role").iter_rows():
        if role in NOT_ASKED:
            continue
        for code, rows in suspects(file, name, *(() if values is None else values(name))):
            yield f"{name} {code:g} ({rows:,} rows)" if rows >= SMALLEST else f"{name} (fewer than {SMALLEST} rows)"


def suspects(
    file: Encoded, name: str, values: pl.Series | None = None, rows: F64 | None = None
) -> list[tuple[float, int]]:
    """The codes of one variable that may hold no value, and how many rows have them."""
    numbers, there = _numbers(file.frame.get_column(name) if values is None else values)
    if numbers is None:
        return []
    declared = file.schema.variable(name)
    known, of = np.unique(numbers, return_inverse=True)
    count = np.bincount(of, None if rows is None else rows[there])
    gone = file.schema.coded(pl.Series(name, known)).to_numpy() if declared.missing else np.zeros(len(known), bool)
    known, count = known[~gone], count[~gone].astype(np.int64)
    told = {_number(c) for c, words in declared.value_labels.items() if SAID.search(words)}
    meant = {_number(c) for c in declared.value_labels} - told
    found = (set(known.tolist()) & told) | {c for c in _unlike(known, count) if c not in meant}
    return [(c, int(count[known == c].sum())) for c in sorted(found)]


def _unlike(known: F64, count: I64) -> set[float]:
    """Codes that stand apart from the other values."""
    out = set(known[known < 0].tolist())
    found = out if out <= NEGATIVE and (known > 0).any() else set()
    if len(known) < 3 or known[-1] not in NINES:
        return found
    last, rest = float(known[-1]), known[:-1]
    apart = rest[-1] < last - 1 and rest[-1] <= (7 if last == 9 else last / 2)
    often = count[-1] >= max(OFTEN * count[:-1][-NEXT:].mean(), LEAST)
    return found | ({last} if apart or (often and last > 9) else set())


def _numbers(s: pl.Series) -> tuple[F64 | None, I64]:
    """The numbers of a variable, also of codes as text, and their places in it; None for any other."""
    there = s.is_not_null().arg_true().to_numpy().astype(np.int64)
    s = s.drop_nulls()
    if s.dtype == pl.String:
        s = s.str.strip_chars()
        if not len(s) or not bool(s.str.contains(r"^-?\d{1,8}$").all()):
            return None, there
    elif not s.dtype.is_numeric():
        return None, there
    x = s.cast(pl.Float64).to_numpy()
    finite = np.isfinite(x)
    return (x[finite], there[finite]) if finite.any() else (None, there)


def _number(code: object) -> float | None:
    try:
        return float(code)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
