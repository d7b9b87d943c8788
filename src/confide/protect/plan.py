"""Plan: what an agency intends to do to a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import polars as pl

from confide.errors import InputError, did_you_mean, raise_all
from confide.frames import schema as schema_of
from confide.frames import to_polars
from confide.frames.columns import Kind, Records, decode, encode, type_name
from confide.protect.compiled import Compiled, check_steps, run, shuffled, wanted_kinds
from confide.protect.copies import Copies, checked_copies
from confide.protect.mechanism import Mechanism, names_of
from confide.protect.release import Release
from confide.protect.seeds import checked_seed


@dataclass(frozen=True)
class Plan:
    """An ordered list of protection steps, with what is not released.

    `identifiers` and `drop` are left out of the release; identifiers also link outside targets to the truth.
    `weight` names the survey weight, which is released like any variable. `categorical` and `numeric` fix the
    kind of variables whose type misleads (categories coded as numbers).

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

    def __post_init__(self) -> None:
        steps = tuple(self.steps) if isinstance(self.steps, (list, tuple)) else (self.steps,)
        strange = [_kind_of(s) for s in steps if isinstance(s, type) or not isinstance(s, Mechanism)]
        if strange:
            raise InputError(f"A plan is a list of steps such as Swap(...); it was given {', '.join(strange)}.")
        object.__setattr__(self, "steps", steps)
        for name in ("identifiers", "drop", "categorical", "numeric"):
            given = getattr(self, name)
            object.__setattr__(self, name, names_of(given, f"Plan: {name}") if given else ())
        raise_all(self._problems(), "This plan cannot be carried out:")

    def _problems(self) -> list[str]:
        problems = check_steps(self.parts)
        gone = {**dict.fromkeys(self.drop, "not released"), **dict.fromkeys(self.identifiers, "an identifier")}
        for step in self.parts:
            problems += [
                f'{type(step).__name__} alters "{v}", which is {gone[v]}.' for v in step.variables if v in gone
            ]
            if hasattr(step, "sort"):
                problems += [
                    f'{type(step).__name__} draws "{step.variables[0]}" by "{v}", which is {gone[v]}: nobody could '
                    "then say what it tells. Release it, or leave it out of the step."
                    for v in step.needs
                    if v in gone
                ]
            secret = getattr(step, "secret", ())
            problems += [
                f'{type(step).__name__} keeps "{v}" secret, but it would be released; add it to drop.'
                for v in secret
                if v not in gone
            ]
        if self.weight in gone:
            problems.append(
                f'The weight "{self.weight}" is {gone[self.weight]}; a weight is released like any variable.'
            )
        problems += [f'"{v}" is named both categorical and numeric.' for v in set(self.categorical) & set(self.numeric)]
        return problems

    @property
    def parts(self) -> tuple[Mechanism, ...]:
        """The steps, those that stand for several independent ones taken apart."""
        return tuple(p for s in self.steps for p in s.parts())

    @property
    def named_kinds(self) -> dict[str, Kind]:
        """Kinds that the user named."""
        kinds: dict[str, Kind] = dict.fromkeys(self.categorical, "categorical")
        return kinds | dict.fromkeys(self.numeric, "numeric")

    @overload
    def protect(self, data: Any, seed: int | None = None) -> Release: ...
    @overload
    def protect(self, data: Any, seed: int | None = None, *, copies: int, linked: bool = True) -> Copies: ...
    def protect(
        self, data: Any, seed: int | None = None, *, copies: int | None = None, linked: bool = True
    ) -> Release | Copies:
        """Carry the plan out. The same data, plan and seed give the same release, byte for byte.

        `data` is a polars, pandas or arrow frame and is not changed; the public part comes back in its type.
        Without a seed, fresh entropy from the system is used and kept, privately, in the release.

        `copies` makes that many releases, each with its own draws, for estimates that allow for them (`combine`). Rows
        are in one order in all copies, or with ``linked=False`` in an order of its own in each.
        """
        frame = to_polars(data).clone()  # the caller may go on changing theirs
        self.check(frame)
        original = self.encode(frame, data)
        chosen = checked_seed(seed)
        if copies is None:
            return self._release(frame, original, chosen, data)
        many = checked_copies(copies)
        if not isinstance(linked, bool):
            raise InputError("linked is true (rows in one order in all copies) or false.")
        if not any(s.role == "random" and getattr(s, "draws", True) for s in self.parts):
            raise InputError("Without a random step all copies would be the same; leave copies out.")
        made = [self._release(frame, original, chosen, data, (i, many, linked)) for i in range(many)]
        return Copies(tuple(made), linked)

    def _release(
        self, frame: pl.DataFrame, original: Records, seed: int, data: Any, copy: tuple[int, int, bool] | None = None
    ) -> Release:
        """One release; `copy` says which of how many, and whether their rows are in one order."""
        number = None if copy is None else copy[0]
        compiled, current, rows = run(self.parts, original, seed, number)
        order = shuffled(len(rows), seed, None if copy is None or copy[2] else number)
        self._check_owned(compiled, frame, current)
        touched = {v: decode(current[v]) for v in compiled.ways}
        public = [
            touched.get(v, frame.get_column(v) if len(rows) == frame.height else frame.get_column(v).gather(rows))
            for v in frame.columns
            if v not in self.identifiers and v not in self.drop
        ]
        if not public:
            raise InputError("Nothing would be released: every column is an identifier or dropped.")
        released = pl.DataFrame(public)[order]
        link = None if compiled.nobody else rows[order]
        return Release.made(self, compiled, frame, released, link, seed, like=data, copy=copy)

    def _check_owned(self, compiled: Compiled, frame: pl.DataFrame, current: Records) -> None:
        """Rows that belong to nobody have no value of a variable that was not made with them."""
        gone = {*self.identifiers, *self.drop}
        left = [v for v in frame.columns if v not in gone and v not in current] if compiled.nobody else []
        if left:
            raise InputError(
                f"{compiled.nobody} So such rows have no value of {', '.join(left)}: mask every variable that is "
                "released, or add the others to drop."
            )

    def check(self, frame: pl.DataFrame) -> None:
        """Meet bad input at the door: all missing columns at once, an empty file."""
        if frame.height == 0:
            raise InputError("The file has no rows.")
        problems = []
        named = {
            "identifiers": self.identifiers, "drop": self.drop, "categorical": self.categorical,
            "numeric": self.numeric, "weight": (self.weight,) if self.weight else (),
        }  # fmt: skip
        for step in self.parts:
            named[type(step).__name__] = (*named.get(type(step).__name__, ()), *step.variables, *step.needs)
        for what, names in named.items():
            for v in dict.fromkeys(names):
                if v not in frame.columns:
                    problems.append(f'{what}: there is no column "{v}".{did_you_mean(v, frame.columns)}')
        if self.weight and self.weight in frame.columns and not frame.schema[self.weight].is_numeric():
            problems.append(f'weight: "{self.weight}" holds {type_name(frame.schema[self.weight])}, not numbers.')
        raise_all(problems)

    def encode(self, frame: pl.DataFrame, source: Any = None) -> Records:
        """The columns that the steps read or change, as arrays."""
        kinds, problems = wanted_kinds(self.parts, self.named_kinds)
        raise_all(problems)
        names = list(dict.fromkeys(v for s in self.parts for v in (*s.variables, *s.needs)))
        return encode_with(frame, names, kinds, frame if source is None else source)


def _kind_of(step: Any) -> str:
    return f"the class {step.__name__} without its parameters" if isinstance(step, type) else type(step).__name__


def encode_with(frame: pl.DataFrame, names: Sequence[str], kinds: dict[str, Kind], source: Any) -> Records:
    """Encode columns with the kinds given, and with what the file's own schema says of labels and answer codes."""
    schema = schema_of(source)
    special, labelled = {}, []
    for v in names:
        if v not in frame.columns or v not in schema.variables:
            continue
        codes = schema.missing_codes(v, frame.get_column(v))
        special[v] = [float(c) for c in codes if isinstance(c, (int, float))]
        if set(schema.variables[v].value_labels) - set(codes):
            labelled.append(v)
    return encode(
        frame, names,
        categorical=[v for v in names if kinds.get(v) == "categorical"],
        numeric=[v for v in names if kinds.get(v) == "numeric"],
        special=special, labelled=labelled,
    )  # fmt: skip
