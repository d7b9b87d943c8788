"""Plan: what an agency intends to do to a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar, Literal, overload

import polars as pl

from confide.core.checks import names_of
from confide.core.documents.statement import Statement
from confide.core.errors import InputError, Problems, did_you_mean, raise_all
from confide.core.random.vault import Vault
from confide.core.run.progress import Progress
from confide.core.scale.engine import Engine
from confide.frames import schema
from confide.frames.columns import Kind, Records, type_name
from confide.frames.encoded import Encoded
from confide.frames.scan.scan import Scan
from confide.frames.units import unit_numbers
from confide.protect.compiled import check_steps, wanted_kinds
from confide.protect.copies import Copies, checked_copies
from confide.protect.make import make, origin_of
from confide.protect.release import Release
from confide.protect.scanned.make import protect_scan
from confide.protect.scanned.places import Places
from confide.protect.scanned.release import ScannedRelease
from confide.protect.scanned.sizes import stated_by
from confide.protect.seam.mechanism import Mechanism, lacking
from confide.protect.seam.words import listed


@dataclass(frozen=True)
class Plan(Statement):
    """An ordered list of protection steps, with what is not released.

    `identifiers` and `drop` are left out of the release; identifiers also link outside targets to the truth.
    `weight` names the survey weight, which is released like any variable. `categorical` and `numeric` fix the
    kind of variables whose type misleads (categories coded as numbers). A release names only categories that occur in
    it, unless `public_codebook` says that anybody may know the list: names of variables, or True for all.

    `unit` names the column that says which rows are of one unit, where units have several: a household seen in four
    quarters, the persons of a household. It is released as a pseudonym, a fresh random number for each unit, so that
    users can put the rows of a unit together and nobody can trace them by their old number; with the column in `drop`
    (or among the identifiers) rows are released without it. Steps act on records, those with ``per="unit"`` on units.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> release = plan.protect(cf.demo("heads"), seed=1)
    >>> release.data.height, "id" in release.data.columns
    (51016, False)
    """

    steps: Sequence[Mechanism] = ()
    identifiers: str | Sequence[str] = ()
    weight: str | None = None
    drop: str | Sequence[str] = ()
    categorical: str | Sequence[str] = ()
    numeric: str | Sequence[str] = ()
    public_codebook: bool | str | Sequence[str] = ()
    unit: str | None = None

    _section: ClassVar[str] = "plan"

    def __post_init__(self) -> None:
        steps = tuple(self.steps) if isinstance(self.steps, (list, tuple)) else (self.steps,)
        strange = [_kind_of(s) for s in steps if isinstance(s, type) or not isinstance(s, Mechanism)]
        raise_all(lacking(s) for s in steps if not isinstance(s, (type, Mechanism)) and "fit" in dir(s))
        if strange:
            raise InputError(f"A plan is a list of steps such as Swap(...); it was given {', '.join(strange)}.")
        object.__setattr__(self, "steps", steps)
        problems, lists = Problems(), ["identifiers", "drop", "categorical", "numeric"]
        for name in [*lists, *([] if self.public_codebook is True else ["public_codebook"])]:
            names: tuple[str, ...] = ()
            given = getattr(self, name)
            with problems:
                names = names_of(given, f"Plan: {name}") if given else ()
            object.__setattr__(self, name, names)
        if len(problems.found) == 1:
            problems.tell()
        raise_all([*problems.found, *self._problems()], "This plan cannot be carried out:")

    def _problems(self) -> list[str]:
        problems = check_steps(self.parts)
        gone = {**dict.fromkeys(self.drop, "not released"), **dict.fromkeys(self.identifiers, "an identifier")}
        for step in self.parts:
            problems += [
                f'{type(step).__name__} alters "{v}", which is {gone[v]}.' for v in step.variables if v in gone
            ]
            if step.needs_released:
                problems += [
                    f'{type(step).__name__} draws "{step.variables[0]}" by "{v}", which is {gone[v]}: nobody could '
                    "then say what it tells. Release it, or leave it out of the step."
                    for v in step.needs
                    if v in gone
                ]
            problems += [
                f'{type(step).__name__} keeps "{v}" secret, but it would be released; add it to drop.'
                for v in step.secret
                if v not in gone
            ]
        problems += self._unit_problems()
        if self.weight in gone:
            problems.append(
                f'The weight "{self.weight}" is {gone[self.weight]}; a weight is released like any variable.'
            )
        problems += [f'public_codebook: "{v}" is {gone[v]}.' for v in self.open_codebooks(()) if v in gone]
        problems += [f'"{v}" is named both categorical and numeric.' for v in set(self.categorical) & set(self.numeric)]
        return problems

    def _unit_problems(self) -> list[str]:
        """What is wrong with the unit, or with steps that act on units."""
        if self.unit is None:
            return [
                f'{s.where}: per="unit" needs Plan(..., unit=) to say which rows are of one unit.'
                for s in self.parts
                if s.per_unit
            ]
        if not isinstance(self.unit, str) or not self.unit:
            return ["Plan: unit is the name of one column."]
        problems = [
            f'{type(s).__name__} uses "{self.unit}", which says what rows belong together and becomes a pseudonym.'
            for s in self.parts
            if self.unit in (*s.variables, *s.needs)
        ]
        kinds = (*self.categorical, *self.numeric, *self.open_codebooks(()), self.weight)
        if self.unit in kinds:
            problems.append(f'The unit "{self.unit}" is no variable; leave it out of weight, kinds and codebooks.')
        return problems

    @cached_property
    def parts(self) -> tuple[Mechanism, ...]:
        """The steps, those that stand for several independent ones taken apart."""
        return tuple(p for s in self.steps for p in s.parts())

    @property
    def words(self) -> tuple[str, ...]:
        """The plan in words: one text per step, in their order, and one for the variables that are dropped.

        >>> import confide as cf
        >>> cf.Plan([cf.Recode("age", width=10), cf.Swap("race", rate=0.1)], drop=["state"]).words
        ('age in classes of 10', 'swap race, 10% of records', 'drop state')
        """
        return (*(s.words for s in self.steps), *([f"drop {listed(self.drop)}"] if self.drop else []))

    @property
    def gone(self) -> frozenset[str]:
        """Columns that are not released."""
        return frozenset((*self.identifiers, *self.drop))

    @property
    def named_kinds(self) -> dict[str, Kind]:
        """Kinds that the user named."""
        kinds: dict[str, Kind] = dict.fromkeys(self.categorical, "categorical")
        return kinds | dict.fromkeys(self.numeric, "numeric")

    def open_codebooks(self, variables: Iterable[str]) -> tuple[str, ...]:
        """The variables whose list of categories anybody may know: those named, or with True all that are given."""
        given = self.public_codebook
        return tuple(variables if given else ()) if isinstance(given, bool) else tuple(given)

    @overload
    def protect(
        self, data: Scan, seed: int | None = None, *, vault: Vault | str | PathLike[str] | None = None,
        draws: Literal["own", "shared"] = "own", out: str | PathLike[str], private: str | PathLike[str] | None = None,
        scratch: str | PathLike[str] | None = None, memory: str | int | None = None, part_rows: int = 1_000_000,
        overwrite: bool = False, progress: Progress = None, engine: Engine | None = None,
    ) -> ScannedRelease: ...  # fmt: skip
    @overload
    def protect(
        self, data: Any, seed: int | None = None, *, vault: Vault | str | PathLike[str] | None = None,
        draws: Literal["own", "shared"] = "own",
    ) -> Release: ...  # fmt: skip
    @overload
    def protect(
        self, data: Any, seed: int | None = None, *, vault: Vault | str | PathLike[str] | None = None,
        draws: Literal["own", "shared"] = "own", copies: int, linked: bool = True,
    ) -> Copies: ...  # fmt: skip
    def protect(
        self, data: Any, seed: int | None = None, *, vault: Vault | str | PathLike[str] | None = None,
        draws: Literal["own", "shared"] = "own", copies: int | None = None, linked: bool = True,
        out: str | PathLike[str] | None = None, private: str | PathLike[str] | None = None,
        scratch: str | PathLike[str] | None = None, memory: str | int | None = None, part_rows: int = 1_000_000,
        overwrite: bool = False, progress: Progress = None, engine: Engine | None = None,
    ) -> Release | Copies | ScannedRelease:  # fmt: skip
        """Carry the plan out. The same data, plan, vault and seed give the same release, byte for byte.

        `data` is a polars, pandas or arrow frame and is not changed; the public part comes back in its type. Or it is a
        `cf.scan`, of files larger than memory, see below.

        `vault` is a private folder with a secret (`cf.Vault`), made when first used. All draws are keyed by it, by the
        content of the file, by the plan, and by the seed if one is stated: nobody outside can guess them, and no two
        releases share any. Without a vault, and without a seed, fresh entropy serves instead and is kept, privately, in
        the release. **A seed alone makes a draft**: the agency can make it again, and so can anybody who tries seeds
        out; `write` and public records refuse it.

        ``draws="shared"`` gives all plans with one seed the same draws, for comparisons only; it is refused likewise.

        `copies` makes that many releases, each with its own draws, for estimates that allow for them (`combine`). Rows
        are in one order in all copies, or with ``linked=False`` in an order of its own in each.

        **A scan** is protected in passes over batches, in about so much `memory` (1 GB) beside the libraries, into the
        folder `out`: Parquet files of `part_rows` rows each, which appear when all are written. They hold the very rows
        that the same data give in memory, in the same order. The folder `private` keeps the link, the codebook and what
        steps learnt (by default one in the vault); scratch holds microdata, in a folder of its own in `scratch` (or in
        the private one) that is always removed. Steps that need the whole file at once are refused before anything is
        read. A bar shows how far it is on a terminal (`progress=False`: never). `engine`: a
        `cf.Local`, which says memory and scratch, or a `cf.Spark`, whose workers then do all of this.
        """
        if isinstance(data, Scan):
            if copies is not None:
                raise InputError("copies are made of files in memory; of a scan make one release at a time.")
            memory, scratch = stated_by(engine, memory, scratch)
            places = Places.of(out, private, scratch, overwrite, vault)
            return protect_scan(self, data, seed, vault, draws, places, memory, part_rows, progress, engine)
        if out is not None or private is not None or engine is not None:
            raise InputError("out, private and engine go with a scan; a release of a frame is written with cf.write.")
        file = Encoded.of(data)
        self.check(file.frame)
        several = None if copies is None else self._several(copies, linked)
        origin = origin_of(self, file, seed, vault, draws, several)
        return make(self, file, origin, data, several)

    def _several(self, copies: int, linked: bool) -> tuple[int, bool]:
        many = checked_copies(copies)
        if not isinstance(linked, bool):
            raise InputError("linked is true (rows in one order in all copies) or false.")
        if not any(s.role == "random" and s.draws for s in self.parts):
            raise InputError("Without a random step all copies would be the same; leave copies out.")
        return many, linked

    def check(self, file: pl.DataFrame | Scan) -> None:
        """Meet bad input at the door: all missing columns at once, an empty file."""
        if file.height == 0:
            raise InputError("The file has no rows.")
        self.check_columns(file.schema if isinstance(file, pl.DataFrame) else file.types)

    def check_columns(self, types: Mapping[str, pl.DataType]) -> None:
        """Refuse a file without the columns that the plan names."""
        problems = []
        named = {
            "identifiers": self.identifiers, "drop": self.drop, "categorical": self.categorical,
            "numeric": self.numeric, "public_codebook": self.open_codebooks(()),
            "weight": (self.weight,) if self.weight else (), "unit": (self.unit,) if self.unit else (),
        }  # fmt: skip
        for step in self.parts:
            named[type(step).__name__] = (*named.get(type(step).__name__, ()), *step.variables, *step.needs)
        for what, names in named.items():
            for v in dict.fromkeys(names):
                if v not in types:
                    problems.append(f'{what}: there is no column "{v}".{did_you_mean(v, types)}')
        if self.weight and self.weight in types and not types[self.weight].is_numeric():
            problems.append(f'weight: "{self.weight}" holds {type_name(types[self.weight])}, not numbers.')
        raise_all(problems)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """Kinds that the user named, or that steps require; refused where the two differ."""
        kinds, problems = wanted_kinds(self.parts, self.named_kinds)
        raise_all(problems)
        return kinds

    def encode(self, file: pl.DataFrame | Encoded) -> Records:
        """The columns that the steps read or change, as arrays."""
        names = dict.fromkeys(v for s in self.parts for v in (*s.variables, *s.needs))
        held = file if isinstance(file, Encoded) else Encoded(file, schema(file))
        records = held.records(names, self.kinds)
        if self.unit is None:
            return records
        units = held.remembered(
            ("unit", self.unit), [self.unit], lambda: unit_numbers(held.frame.get_column(str(self.unit)))
        )
        return Records(records.values(), n=records.n, rows=records.rows, units=units)


def _kind_of(step: Any) -> str:
    return f"the class {step.__name__} without its parameters" if isinstance(step, type) else type(step).__name__
