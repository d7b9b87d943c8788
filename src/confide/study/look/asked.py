"""What a look is asked about: the file, its keys and further roles, checked at the door; what is guessed is marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError, Problems, did_you_mean
from confide.frames.columns import F64, Records
from confide.frames.doubts import AMOUNTS, CODES
from confide.frames.encoded import Encoded
from confide.frames.roles.result import Roles
from confide.frames.roles.words import said, words_of
from confide.frames.units import unit_numbers
from confide.study.look.people import People, population_of

MOST_SENSITIVE = 6
"""Sensitive variables that are measured where they are guessed."""
DIFFERENT = 0.05
"""How far the sum of weights may be from the stated population before it is said."""
FEW_ROWS = 9
"""Rows up to which a key may have a value for each."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A file and the roles that a look goes on with. `guessed`: the roles that nobody stated. `records`: the keys as
    codes; `weights`: survey weights, None without; `total`: the population's size, where one is known or weights say
    so; `people`: a file of the population; `units`: the number of each row's unit."""

    file: Encoded
    roles: Roles
    keys: tuple[str, ...]
    sensitive: tuple[str, ...]
    weight: str | None
    unit: str | None
    guessed: frozenset[str]
    records: Records
    weights: F64 | None = None
    total: float | None = None
    people: People | None = None
    doubts: tuple[str, ...] = field(default=())
    guess: bool = True
    looked_for: bool = True
    """Whether sensitive variables were looked for, and not stated."""
    tallies: Mapping[str, tuple[pl.Series, F64]] = field(default_factory=dict)
    """Of a scan, by variable: its different values, and how many rows have each."""
    beside: Mapping[str, Encoded] = field(default_factory=dict)
    """Of a scan, by sensitive variable: the different rows of the keys and of this one."""

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return self.file.rows

    def values(self, name: str) -> tuple[pl.Series, F64 | None]:
        """A variable, and how many rows have each of its values (None: one each)."""
        return self.tallies[name] if self.tallies else (self.file.frame.get_column(name), None)

    def file_with(self, names: Sequence[str]) -> Encoded:
        """The file for a measure that reads these variables."""
        return next((self.beside[v] for v in names if v in self.beside), self.file)

    def coded(self, name: str) -> bool:
        """Whether whole numbers are codes, and no quantity."""
        return coded(self.file, self.roles, name)

    @property
    def units(self) -> Any:
        """The number of each row's unit; None where rows are units."""
        return None if self.unit is None else unit_numbers(self.file.frame.get_column(self.unit))


def coded(file: Encoded, found: Roles, name: str) -> bool:
    """Whether whole numbers are codes of areas, industries, occupations or the like, and no quantity: by what the
    variable was taken for, by its name, or by its values."""
    s = file.frame.get_column(name)
    if not s.dtype.is_numeric() or (s.dtype.is_float() and bool((s != s.round(0)).any())):
        return False
    words = [*words_of(name), *words_of(str(found.row(name)["label"]))]
    named = found.row(name)["role"] == "geography" or bool(said(words, CODES))
    return (named and not AMOUNTS & {*words}) or bool(file.doubt(name))


def settled(
    file: Encoded,
    found: Roles,
    *,
    keys: Any,
    sensitive: Any,
    weight: Any,
    unit: Any,
    population: Any,
    count: Any,
    guess: bool,
) -> Asked:
    """What was stated, and guesses for the rest; what is wrong is said at once."""
    if not file.rows:
        raise InputError("The file has no rows: there is nobody to look at.")
    mine, private, heavy, group, guessed = chosen(found, keys, sensitive, weight, unit, population, guess)
    problems, doubts = Problems(), list[str]()
    if not mine:
        raise InputError(_no_keys(found, keys, guess))
    private = tuple(v for v in private if v not in (*mine, heavy, group)) if sensitive is None else private
    problems.when(
        set(private) & set(mine),
        f"{', '.join(v for v in private if v in mine)}: a variable is a key or sensitive, not both.",
    )
    for v in mine:
        with problems:
            doubts += check_key(file, found, v)
    weights, group = _checked(file, problems, doubts, guessed, heavy, group)
    problems.tell()
    people, total = population_of(file, population, count, mine, weights)
    people_by_weight = None if weights is None else file.total(weights)
    if people_by_weight is not None and total is not None and abs(people_by_weight / total - 1) > DIFFERENT:
        doubts.append(
            f'The weights in "{heavy}" sum to {people_by_weight:,.0f} people, but the population is stated as '
            f"{total:,.0f}; estimates follow the weights."
        )
    coded = file.records(mine, dict.fromkeys(mine, "categorical"))
    records = Records(coded.values(), n=coded.n, count=file.count)
    return Asked(
        file, found, mine, private, heavy if weights is not None else None, group, frozenset(guessed), records,
        weights, total, people, tuple(doubts), guess, sensitive is None and guess,
    )  # fmt: skip


def chosen(
    found: Roles, keys: Any, sensitive: Any, weight: Any, unit: Any, population: Any, guess: bool
) -> tuple[tuple[str, ...], tuple[str, ...], str | None, str | None, set[str]]:  # fmt: skip
    """Keys, sensitive variables, weight and unit, as stated or guessed; and the roles that nobody stated."""
    problems, known, guessed = Problems(), found.frame["variable"].to_list(), set[str]()

    def stated(value: Any, role: str, proposed: tuple[str, ...]) -> tuple[str, ...]:
        if value is None:
            if guess and proposed:
                guessed.add(role)
            return proposed if guess else ()
        names = names_of(value, role) if isinstance(value, str) or len(value) else ()
        for v in names:
            problems.when(v not in known, f'{role}: there is no column "{v}".{_apart(v, role, known)}')
        return tuple(v for v in names if v in known)

    mine, private = tuple[str, ...](), tuple[str, ...]()
    heavy = group = None
    with problems:
        mine = stated(keys, "keys", found.keys)
    with problems:
        private = stated(sensitive, "sensitive", found.sensitive[:MOST_SENSITIVE])
    with problems:
        proposed = (found.weight,) if found.weight and population is None else ()
        heavy = _one(stated(weight, "weight", proposed), "weight")
    with problems:
        group = _one(stated(unit, "unit", (found.unit,) if found.unit else ()), "unit")
    problems.tell()
    return mine, private, heavy, group, guessed


def _one(names: Sequence[str], what: str) -> str | None:
    if len(names) > 1:
        raise InputError(f"{what} is the name of one column.")
    return names[0] if names else None


def _apart(name: str, role: str, known: Sequence[str]) -> str:
    """What may have been meant: several names in one, or another name."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and all(part in known for part in parts):
        several = ", ".join(f'"{part}"' for part in parts)
        return f" Name columns one by one: --{role} {' '.join(parts)}, separated by spaces, or {role}=[{several}]."
    return did_you_mean(name, known)


def _no_keys(found: Roles, keys: Any, guess: bool) -> str:
    if keys is not None:
        return 'keys names no variable; state what an intruder could know, as in keys=["sex", "age"].'
    if not guess:
        return 'With guess=False, state keys=[...]: what an intruder could know of a person, as in keys=["sex", "age"].'
    more, many = found.could_be_keys, found.frame.height
    hint = f" Perhaps: {', '.join(more[:8])}." if more else ""
    return (
        f"No key was found among {many:,} variable{'' if many == 1 else 's'}: no name, label or value says that others "
        f'could know one. State them, as in keys=["sex", "age"] or --keys sex age.{hint}'
    )


def check_key(file: Encoded, found: Roles, name: str) -> list[str]:
    """Refuse a key that tells everybody apart or nobody; what is to be doubted about another."""
    row = found.frame.row(by_predicate=pl.col("variable") == name, named=True)
    n, present = file.rows, file.rows - row["missing"]
    if not row["kind"]:
        raise InputError(f'keys: "{name}" holds lists, structures or bytes, which cannot be compared; leave it out.')
    if not present:
        raise InputError(f'keys: all {n:,} values of "{name}" are missing; leave it out.')
    if row["values"] == n > FEW_ROWS:
        raise InputError(
            f'keys: "{name}" has as many values as rows ({n:,}): it tells everybody apart, as an identifier does. '
            "Leave it out; if it is a number that others know roughly, recode it first."
        )
    if row["values"] > max(n / 2, FEW_ROWS):
        said = f'"{name}" has {row["values"]:,} values in {n:,} rows, and sets nearly everybody apart.'
        return [f"{said} If intruders know it less exactly, recode it first."]
    return [f'"{name}" has one value: as a key it tells nobody apart.'] if row["values"] == 1 else []


def _checked(
    file: Encoded, problems: Problems, doubts: list[str], guessed: set[str], weight: str | None, unit: str | None
) -> tuple[F64 | None, str | None]:
    """Weights and unit where they can be used. What is wrong with a guess is a doubt, and it is left out."""
    weights = None
    if weight is not None:
        try:
            weights = weights_of(file, weight)
        except InputError as e:
            _refused(e, "weight" in guessed, problems, doubts)
            guessed.discard("weight")
    if unit is not None:
        try:
            check_unit(file, unit)
        except InputError as e:
            _refused(e, "unit" in guessed, problems, doubts)
            guessed.discard("unit")
            unit = None
    return weights, unit


def _refused(error: InputError, guessed: bool, problems: Problems, doubts: list[str]) -> None:
    if guessed:
        doubts.append(f"{error} It was guessed, and is left out.")
    else:
        problems.when(True, str(error))


def weights_of(file: Encoded, name: str) -> F64:
    """Survey weights: how many people each row stands for."""
    s = file.frame.get_column(name)
    if not s.dtype.is_numeric():
        raise InputError(f'weight: "{name}" holds no numbers; a weight says how many people a row stands for.')
    w = s.cast(pl.Float64).fill_null(np.nan).to_numpy()
    n, gaps, low = file.rows, int(file.total(np.isnan(w))), int(file.total(w <= 0))
    if gaps or low or not np.isfinite(w).all():
        wrong = [f"{gaps:,} missing"] * bool(gaps) + [f"{low:,} zero or negative"] * bool(low)
        raise InputError(
            f'weight: of {n:,} values of "{name}", {" and ".join(wrong) or "some infinite"}; every row stands for '
            "at least one person. Leave these rows out, or give their weights."
        )
    if below := int(file.total(w < 1)):
        scaled = " They are scaled, and do not say how many people there are." if file.total(w) <= 1.01 * n else ""
        raise InputError(
            f'weight: {below:,} of {n:,} weights in "{name}" are below 1, but a row stands for one person at '
            f"least.{scaled} Give weights that sum to the population, or its size: population=N."
        )
    return np.asarray(w)


def check_unit(file: Encoded, name: str) -> None:
    """Refuse a unit of which every value has one row."""
    s = file.frame.get_column(name)
    if s.dtype.is_nested():
        raise InputError(f'unit: "{name}" holds lists or structures, which name no unit.')
    present = len(s) - s.null_count()
    if s.drop_nulls().n_unique() == present:
        raise InputError(f'unit: every value of "{name}" has one row, so rows are units already; leave unit out.')
