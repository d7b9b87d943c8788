"""Release: what a plan made. The public data, and, privately, the truth behind it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from confide.core.errors import InputError, raise_all
from confide.core.random.origin import Origin
from confide.core.result import Public
from confide.frames import Data, Schema, attach, give_back, schema, to_polars
from confide.frames.columns import I64, Column, Kind, Records
from confide.frames.comparing import same_numbers
from confide.frames.encoded import Encoded, Seeds, gathered
from confide.frames.marks import why_withheld, withhold
from confide.frames.types.buffers import rebuilt
from confide.protect.adopted import check_fits, checked_link, in_words, on_class
from confide.protect.codebook import only_occurring, schema_of_occurring
from confide.protect.compiled import Compiled, run
from confide.protect.doubts import doubts

if TYPE_CHECKING:
    from confide.protect.plan import Plan
    from confide.protect.seam.fitted import Fitted
    from confide.protect.seam.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class Release(Public):
    """The public data of a plan, beside what only the agency holds.

    `data`: public, shuffled rows, no identifiers, only categories that occur (unless the plan's `public_codebook` says
    otherwise), in the caller's frame type. Private: `link` (the original row, 0-based, of each released row; None where
    unknown, or where rows are made of several people), `origin` (where its draws come from), `original`, `compiled`
    (what each step learnt), `before` and `after` (the original and the released file with their arrays, made when first
    asked for). `copy`: which of how many copies it is, and whether their rows are in one order; None for one alone.

    >>> import confide as cf
    >>> release = cf.Plan([cf.Topcode("age", at=85)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
    >>> release
    Release: 51,016 rows, 14 variables; 1 step; a draft, not for publication
    """

    plan: Plan | None
    data: Any
    frame: pl.DataFrame
    original: pl.DataFrame = field(repr=False)
    link: I64 | None
    origin: Origin | None
    compiled: Compiled | None
    copy: tuple[int, int, bool] | None = None
    before: Encoded = field(default=None, repr=False)  # type: ignore[assignment]
    after: Encoded = field(default=None, repr=False)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name, frame in (("before", self.original), ("after", self.frame)):
            held = getattr(self, name)
            if held is None or held.frame is not frame:
                object.__setattr__(self, name, Encoded(frame, schema(frame) if name == "before" else None))

    @classmethod
    def made(
        cls, plan: Plan, compiled: Compiled, before: Encoded, released: pl.DataFrame, link: I64 | None,
        origin: Origin, like: Any, copy: tuple[int, int, bool] | None = None, seeds: Seeds | None = None,
    ) -> Release:  # fmt: skip
        """A release that this program made."""
        held, named = before.schema, plan.open_codebooks(released.columns)
        original = attach(before.frame, held)
        released = rebuilt(only_occurring(released, named, before))
        bare = released.clone()
        if held.variables:
            open_part = schema_of_occurring(public_schema(plan, compiled, before, released), released, named)
            for frame in (released, bare):
                attach(frame, open_part)
        public = give_back(bare, like)
        if origin.refusal:
            released, public = withhold(released, origin.refusal), withhold(public, origin.refusal)
        after = Encoded(released, seeds=seeds)
        return cls(plan, public, released, original, link, origin, compiled, copy, before, after)

    @on_class
    def adopt(cls, original: Any, released: Any, plan: Plan | None = None, link: Any = None) -> Release:
        """A release made by another tool, so that it can be attacked.

        `plan` says what was done (None: unknown, only naive intruders can attack, and the attacks that need no plan:
        `Radius`, `Nearest`, `SinglingOut`, `Linkability`, `Inference`); `link` gives the original row of each released
        row (None: unknown, so there is no truth to compare with). The released values are checked against the plan: a
        value that the plan cannot produce is refused.

        >>> import confide as cf, polars as pl
        >>> y = pl.DataFrame({"age": [31, 42, 57]})
        >>> z = pl.DataFrame({"age": ["30 to 39", "40 to 49", "50 to 59"]})
        >>> cf.Release.adopt(y, z, cf.Plan([cf.Recode("age", width=10)]), link=[0, 1, 2])
        Release: 3 rows, 1 variables; 1 step; made elsewhere
        """
        for what, given in (("original", original), ("released", released)):
            if isinstance(given, cls):
                raise InputError(
                    f"Release.adopt takes two files, but {what} is a Release already: attack it as it is, or give its "
                    f"{'original' if what == 'original' else 'data'} to adopt that under another plan."
                )
        before, z = Encoded.of(original, "original"), to_polars(released, "released").clone()
        y = attach(before.frame, before.schema)
        if not z.height or not y.height:
            raise InputError("An adopted release needs at least one original and one released row.")
        rows = checked_link(link, y.height, z.height)
        compiled, after = None, Encoded(z)
        if plan is not None:
            plan.check(y)
            held_back = {
                **dict.fromkeys(plan.drop, "dropped variable"),
                **dict.fromkeys(plan.identifiers, "identifier"),
            }
            raise_all(
                f'The released file still holds the {what} "{v}".' for v, what in held_back.items() if v in z.columns
            )
            records = plan.encode(before)
            compiled, _, _ = run(plan.parts, records, None)
            forms = {v: compiled.released_form(column) for v, column in records.items()}
            z = in_words(z, schema(released), y, {v: forms[v] for v in compiled.ways})
            check_fits(compiled, forms, y, after := Encoded(z), rows, plan.unit)
        why = why_withheld(released)
        return cls(plan, released, withhold(z, why) if why else z, y, rows, None, compiled, None, before, after)

    def __getstate__(self) -> dict[str, Any]:
        """Frames lose their schema and their marks when they are pickled; a `Data` does not. Arrays are made again."""
        frames = {name: Data(part) for name, part in self.__dict__.items() if isinstance(part, pl.DataFrame)}
        return {**self.__dict__, **frames, "frames": tuple(frames), "before": None, "after": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        frames = {name: to_polars(state[name]) for name in state.pop("frames")}
        self.__dict__.update({**state, **frames})
        self.__post_init__()

    @property
    def refusal(self) -> str:
        """Why it must not be published; empty where it may be."""
        return why_withheld(self.data) if self.origin is None else self.origin.refusal

    def record(self, private: bool = False) -> dict[str, Any]:
        """What was done, with which versions, to what content; with `private=True` what it was drawn from as well.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Topcode("age", at=85)]).protect(cf.demo("heads"), seed=1)
        >>> release.record()["plan"]["steps"]
        [{'method': 'topcode', 'variable': 'age', 'at': 85}]
        """
        from confide.protect.record import record

        return record(self, private)

    def save_record(self, path: str | os.PathLike[str], private: bool = False, overwrite: bool = False) -> Path:
        """Write the record as JSON. Keep a private record, which `replay` needs, away from the public file.

        >>> import tempfile
        >>> import confide as cf
        >>> release = cf.Plan([cf.Topcode("age", at=85)]).protect(cf.demo("heads"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     release.save_record(f"{folder}/record.json").name
        'record.json'
        """
        from confide.protect.record import save_record

        return save_record(self, path, private, overwrite)

    def encoded(
        self, names: Sequence[str], numeric: Iterable[str] = (), categorical: Iterable[str] = ()
    ) -> tuple[Records, Records]:
        """Variables of both files as arrays: the original's in the kinds of the plan, the released in its forms.

        `numeric`, `categorical`: kinds, where the plan does not say otherwise.
        """
        asked: dict[str, Kind] = {**dict.fromkeys(numeric, "numeric"), **dict.fromkeys(categorical, "categorical")}
        kinds: dict[str, Kind] = {**asked, **self.kinds}
        original = self.before.records(names, kinds)
        return original, gathered(names, lambda v: self._released(original[v]), self.frame.height)

    def _released(self, column: Column) -> Column:
        """A released variable in the form that the plan gives the original one."""
        form = column if self.compiled is None else self.compiled.released_form(column)
        found = self.after.in_unit(column.name, form.kind, form.dtype)
        special = column.special if form.kind == "numeric" else ()
        return same_numbers(self.frame.get_column(column.name), replace(found, special=special), form)

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kinds of variables that the plan fixes."""
        return {} if self.plan is None else self.plan.kinds

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """A sentence for each variable that a step takes as a number, though it looks like codes and has no named kind.

        >>> import confide as cf, polars as pl
        >>> people = pl.DataFrame({"occupation": [110, 205, 310, 420] * 25})
        >>> cf.Plan([cf.Noise("occupation", sd=5)]).protect(people, seed=1).doubts[0].partition(";")[0]
        'Noise takes a number. occupation: whole numbers with many repeats and the name of a code look like codes'
        >>> cf.Plan([cf.Noise("occupation", sd=5)], numeric=["occupation"]).protect(people, seed=1).doubts
        ()
        """
        return tuple(doubts(self))

    @cached_property
    def details(self) -> tuple[Mapping[str, object], ...]:
        """What each step tells of what it did to this file, private; one dictionary per step that tells anything.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.LocalSuppression(["sex", "age"], k=3)], identifiers=["id"])
        >>> told = plan.protect(cf.demo("heads").head(1_000), seed=1).details[0]
        >>> told["step"], told["hidden"], told["below_k"]["own"]
        ('LocalSuppression("sex, age")', {'sex': 0, 'age': 29}, 0)
        """
        return tuple({"step": s.where, **told} for s, f in self._done() if (told := f.details()))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What a step of the plan does not do though its name may promise it, in sentences; they are printed too."""
        return tuple(said for _, f in self._done() for said in f.cautions())

    def _done(self) -> list[tuple[Mechanism, Fitted]]:
        """Steps that were carried out here, with what they learnt."""
        if self.compiled is None or self.origin is None:
            return []
        return [(s, f) for s, f in zip(self.compiled.steps, self.compiled.fitted, strict=True) if f is not None]

    @property
    def seed(self) -> int | None:
        """The seed that was stated, private."""
        return None if self.origin is None else self.origin.seed

    @property
    def public_variables(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(self.frame.columns)

    def summary(self) -> pl.DataFrame:
        """One row per released variable: what was done to it, how many values it had and has, how many are missing.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.Topcode("age", at=85)])
        >>> plan.protect(cf.demo("heads").select("sex", "age"), seed=1).summary().rows()
        [('sex', '', 2, 2, 0), ('age', 'Topcode', 82, 71, 0)]
        """
        parts = () if self.plan is None else self.plan.parts
        schema = {"variable": pl.String, "steps": pl.String, "original": pl.Int64, "released": pl.Int64}
        rows = []
        for s in self.frame:
            before = self.original.get_column(s.name).n_unique() if s.name in self.original.columns else None
            steps = ", ".join(type(p).__name__ for p in parts if s.name in p.variables)
            if self.plan is not None and s.name == self.plan.unit:
                steps = "pseudonym"
            rows.append((s.name, steps, before, s.n_unique(), s.null_count()))
        return pl.DataFrame(rows, schema={**schema, "missing": pl.Int64}, orient="row")

    def _public(self) -> Any:
        return self.data

    def __repr__(self) -> str:
        steps = 0 if self.plan is None else len(self.plan.steps)
        how = "made elsewhere" if self.origin is None else self.origin.words
        plural = "" if steps == 1 else "s"
        head = f"Release: {self.frame.height:,} rows, {self.frame.width} variables; {steps} step{plural}; {how}"
        return "\n".join([head, *self.doubts, *self.cautions])


def public_schema(plan: Plan, compiled: Compiled, before: Encoded, released: pl.DataFrame) -> Schema:
    """What may be said of released variables: no notes, nothing of what is left out, no labels of old categories."""
    kept = before.schema.select(released.columns)
    records = plan.encode(before)
    variables = dict(kept.variables)
    for v in compiled.ways:
        if v in variables and compiled.released_form(records[v]).why == "recoded":
            variables[v] = replace(variables[v], value_labels={}, missing=())
    if plan.unit in variables:
        variables[plan.unit] = replace(variables[plan.unit], value_labels={}, missing=())
    return replace(kept, variables=variables, file_label=None, notes=())
