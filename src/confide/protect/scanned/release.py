"""ScannedRelease: what a plan made of a file larger than memory. A public folder of parts, and a private one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from confide.core.errors import InputError
from confide.core.random.origin import Origin
from confide.frames.columns import I64, Column, Kind, Records
from confide.frames.scan.codebook import Codebook, Counted
from confide.frames.scan.scan import BATCH, Scan
from confide.protect.compiled import Compiled
from confide.protect.doubts import Distinct, doubts

SOME = 10_000
"""Distinct values of a number that are kept where it is only encoded."""

if TYPE_CHECKING:
    from confide.protect.plan import Plan
    from confide.protect.seam.fitted import Fitted
    from confide.protect.seam.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class ScannedRelease:
    """The public parts of a release, beside what only the agency holds.

    `released`: public, a `Scan` of the folder that was written: shuffled rows, no identifiers. Private: `original`, the
    `Scan` that was protected; `link_files`, one for each public part, with the original row of each of its rows;
    `compiled`, what each step learnt, nothing of which is as long as the file; `codebook`, the distinct values of the
    variables in play in the original; `origin`, where the draws come from; `private`, the folder with all of this, from
    which `cf.ScannedRelease.load` brings it back.

    >>> import tempfile
    >>> import confide as cf
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = cf.write(cf.demo("heads"), f"{folder.name}/heads.parquet")
    >>> plan = cf.Plan([cf.Recode("age", width=5), cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> release = plan.protect(cf.scan(path), seed=1, out=f"{folder.name}/out", private=f"{folder.name}/private")
    >>> release
    ScannedRelease: 51,016 rows, 14 variables in 1 file; 2 steps; a draft, not for publication
    >>> in_memory = plan.protect(cf.demo("heads"), seed=1)
    >>> release.released.collect().equals(in_memory.frame), bool((release.link == in_memory.link).all())
    (True, True)
    >>> cf.ScannedRelease.load(f"{folder.name}/private").released.height
    51016
    >>> folder.cleanup()
    """

    plan: Plan
    original: Scan
    released: Scan
    origin: Origin
    compiled: Compiled
    codebook: Codebook
    private: Path
    link_files: tuple[Path, ...] = field(repr=False)

    @classmethod
    def load(cls, private: str | os.PathLike[str]) -> ScannedRelease:
        """A release that was made before, from its private folder."""
        from confide.protect.scanned.keeping import load

        return load(private)

    @property
    def refusal(self) -> str:
        """Why it must not be published; empty where it may be."""
        return self.origin.refusal

    @property
    def kinds(self) -> dict[str, Kind]:
        """Kinds of variables that the plan fixes."""
        return self.plan.kinds

    @property
    def seed(self) -> int | None:
        """The seed that was stated, private."""
        return self.origin.seed

    @property
    def public_variables(self) -> tuple[str, ...]:
        """The released columns."""
        return tuple(self.released.columns)

    @property
    def link(self) -> I64:
        """The original row of each released row, all at once: 8 bytes a row."""
        return np.concatenate(list(self.links())) if self.link_files else np.zeros(0, dtype=np.int64)

    def links(self, rows: int = BATCH) -> Iterator[I64]:
        """The original rows of released rows, in pieces that are aligned with ``released.batches(rows=rows)``."""
        for file in self.link_files:
            if not file.is_file():
                raise InputError(f"{file} is missing: the release cannot be read without it. Protect the file again.")
            held = np.load(file, mmap_mode="r")
            for first in range(0, len(held), rows):
                yield held[first : first + rows].astype(np.int64)

    def encoded(
        self, names: Sequence[str], numeric: Iterable[str] = (), categorical: Iterable[str] = (), rows: int = BATCH,
        counted: Counted | None = None,
    ) -> tuple[Codebook, Codebook]:  # fmt: skip
        """Codebooks of variables of both files: the original's in the kinds of the plan, the released in its forms.

        `numeric`, `categorical`: kinds, where the plan does not say otherwise. One pass over each file, which `counted`
        makes where it is not made here. Of a number with many values only some are in them, so that neither grows with
        a number that differs in every row.
        """
        asked: dict[str, Kind] = {**dict.fromkeys(numeric, "numeric"), **dict.fromkeys(categorical, "categorical")}
        kinds: dict[str, Kind] = {**asked, **self.kinds}
        before = Codebook.of(self.original, names, kinds, rows, SOME, counted)
        forms = {v: self.compiled.released_form(c) for v, c in before.columns.items()}
        after = Codebook.of(self.released, names, {v: f.kind for v, f in forms.items()}, rows, SOME, counted)
        return before, Codebook(_in_form(after.columns, before.columns, forms), after.counts, after.rows)

    def originals(self, codebook: Codebook, rows: int = BATCH) -> Iterator[Records]:
        """The original file in batches, in codes; the numbers of its rows are those that `links` has."""
        for first, batch in self.original.batches(list(codebook.columns), rows):
            yield codebook.encode(batch, first)

    def records(self, codebook: Codebook, rows: int = BATCH) -> Iterator[Records]:
        """The released file in batches, in codes."""
        for first, batch in self.released.batches(list(codebook.columns), rows):
            yield codebook.encode(batch, first)

    @cached_property
    def details(self) -> tuple[Mapping[str, object], ...]:
        """What each step tells of what it did to this file, private; one dictionary per step that tells anything."""
        return tuple({"step": s.where, **told} for s, f in self._done() if (told := f.details()))

    @property
    def before(self) -> Distinct:
        """The original file, as far as distinct values tell."""
        return Distinct(self.codebook, self.original.schema)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """A sentence for each variable that a step takes as a number, though it looks like codes; see `Release`."""
        return tuple(doubts(self))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What a step of the plan does not do though its name may promise it, and what is suspicious about the files,
        in sentences; they are printed too."""
        return (*self.original.cautions, *(said for _, f in self._done() for said in f.cautions()))

    def _done(self) -> list[tuple[Mechanism, Fitted]]:
        return [(s, f) for s, f in zip(self.compiled.steps, self.compiled.fitted, strict=True) if f is not None]

    def __repr__(self) -> str:
        steps, files = len(self.plan.steps), len(self.released.files)
        head = (
            f"ScannedRelease: {self.released.height:,} rows, {self.released.width} variables in {files:,} "
            f"file{'' if files == 1 else 's'}; {steps} step{'' if steps == 1 else 's'}; {self.origin.words}"
        )
        return "\n".join([head, *self.doubts, *self.cautions])


def _in_form(
    found: Mapping[str, Column], original: Mapping[str, Column], forms: Mapping[str, Column]
) -> dict[str, Column]:
    """Released variables with the answer codes of the original, where they are numbers."""
    return {v: replace(c, special=original[v].special if forms[v].kind == "numeric" else ()) for v, c in found.items()}
