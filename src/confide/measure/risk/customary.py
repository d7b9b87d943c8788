r"""Customary risks of synthetic files, CAP, DCAP, TCAP, DiSCO and repU, as special cases, each with its known fault.

All compare released values as they are. With q the cell of the keys and y the value of the target, d counting original
and s released rows,

    CAP of a person = s_qy / s_q          undefined where s_q = 0
    DCAP  = sum d_qy s_qy / s_q / n                       unmatched people count 0
    TCAP  = right / (people in cells where all released rows agree)
    DiSCO = right / n,    right: people in such cells whose value is the one that all agree on
    repU  = people unique on the keys in the original and in the release / n.

CAP of a person is the predictive probability of its true value by an intruder who matches the keys exactly and takes
released values as true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from confide.attack.learning.adopted.compared import check_known
from confide.attack.learning.adopted.relations import left_out
from confide.attack.learning.adopted.words import beneath, wrapped
from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.result import Result
from confide.frames.columns import I64, Column, codes_in
from confide.frames.distinct import Distinct, dense
from confide.protect.release import Release

FAULTS = {
    "cap_matched": "people whose keys no released row has are dropped: a release that matches fewer may score higher",
    "dcap": "unmatched people count as 0, so that every miss lowers the risk; a dominant value counts as disclosure",
    "cap_original": "counts the person's own row, so that it rises with every key whatever others teach",
    "cap_own_out": "the original without the person's own row: what other people's rows teach",
    "relations": "cells shrunk to the margin, the person left out: what published relations teach, the baseline",
    "margin": "the share of the person's value among the others: what is known without any key",
    "tcap": "a cell of one released row counts as certain; of few people where the release agrees seldom",
    "disco": "no baseline: where nearly everybody has one value, it is high for any release",
    "repu": "a unique released row need not be the same person's; most people who are not unique are no part of it",
    "repu_of_uniques": "the same count of the original's uniques alone: always say which denominator is used",
}  # fmt: skip
NAMES = {
    "cap_matched": "CAP, matched people", "dcap": "CAP with unmatched as 0 (DCAP)",
    "cap_original": "CAP of the original", "cap_own_out": "the same, own row left out", "relations":
    "published relations", "margin": "margin alone", "tcap": "TCAP", "disco": "DiSCO", "repu": "repU",
    "repu_of_uniques": "repU of the uniques",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class CustomaryRisks(Result):
    """`frame`: one row per measure: measure, value (null where its denominator is 0), count, of (the denominator),
    people (who that is), fault. `people`: one row per person, private: cap (null: no released row has its keys),
    cap_original, own_out, relations, agreed (all released rows of its cell have one value), right (that is its own)."""

    frame: pl.DataFrame
    people: pl.DataFrame
    keys: tuple[str, ...]
    target: str
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> dict[str, str]:
        """What each measure is called in print."""
        return dict(NAMES)

    def value(self, measure: str) -> float | None:
        """One of the measures."""
        known = self.frame["measure"].to_list()
        if measure not in known:
            raise InputError(f'measure is one of {", ".join(known)}, not "{measure}".')
        found: float | None = self.frame["value"][known.index(measure)]
        return found

    def summary(self) -> pl.DataFrame:
        """The frame without the faults."""
        return self.frame.drop("fault")

    def __repr__(self) -> str:
        lines = [f'Customary risks: "{self.target}" by {", ".join(self.keys)}, {self.people.height:,} people', ""]
        wide = max(len(NAMES[m]) for m in self.frame["measure"])
        for r in self.frame.iter_rows(named=True):
            value = "undefined" if r["value"] is None else f"{r['value']:.4f}"
            share = f"{r['count']:,.6g} of {r['of']:,} {r['people']}"
            lines += [f"{NAMES[r['measure']]:<{wide}}  {value:>9}  {share}", *wrapped([r["fault"]], " " * (wide + 13))]
        return "\n".join([*lines, "", *wrapped(self.notes)])

    def _repr_html_(self) -> str:
        """The summary as a table, and every sentence of the printout."""
        return beneath(super()._repr_html_(), self.notes)


def customary_risks(original: Any, released: Any = None, *, keys: str | Sequence[str], target: str) -> CustomaryRisks:
    """CAP, DCAP, TCAP, DiSCO and repU of a released file, with what each of them overlooks.

    `original`, `released`: two files, or a release alone. `keys`: what is known of a person, compared for equality, so
    that numbers should be cut into groups first; `target`: what is to be guessed. Missing is a value of its own.

    >>> import confide as cf
    >>> y = {"k": ["a", "a", "b", "c"], "y": ["1", "0", "0", "1"]}
    >>> z = {"k": ["a", "a", "a", "b"], "y": ["1", "1", "0", "0"]}
    >>> found = cf.customary_risks(y, z, keys="k", target="y")
    >>> [round(found.value(m), 4) for m in ("cap_matched", "dcap", "tcap", "disco", "repu", "repu_of_uniques")]
    [0.6667, 0.5, 1.0, 0.25, 0.25, 0.5]
    """
    release = _release(original, released)
    names = names_of(keys, "keys")
    if not isinstance(target, str) or target in names:
        raise InputError("target is the name of one variable that is not among the keys.")
    check_known(release, names, "keys")
    check_known(release, [target], "target")
    before, after = release.encoded([*names, target])
    n = before.n
    codes = [_both(before[v], after[v]) for v in (*names, target)]
    cells = Distinct.rows(codes[:-1], n + after.n).of
    people = _people(cells, codes[-1], n)
    notes = _doubts(people, [v for v in names if before[v].kind == "numeric"])
    return CustomaryRisks(_measured(people), people, names, target, tuple(notes))


def _release(original: Any, released: Any) -> Release:
    if isinstance(original, Release) and released is None:
        return original
    if released is None:
        raise InputError("customary_risks takes the original and the released file, or a release.")
    return Release.adopt(original, released)


def _both(before: Column, after: Column) -> I64:
    """The values of both files as codes from 0, one for missing."""
    if before.kind == "numeric":
        return dense(np.concatenate([before.values, after.values]))[0]
    known = codes_in(after, before)
    other = np.where(after.missing | (known >= 0), known, len(before.levels) + after.values)
    return dense(np.concatenate([codes_in(before, before), other]))[0]


def _people(cells: I64, y: I64, n: int) -> pl.DataFrame:
    """What each measure needs of every person; `cells`, `y`: of the n original rows, then of the released ones."""
    size, values = int(cells.max()) + 1, int(y.max()) + 1
    mine, own, theirs = cells[:n], y[:n], cells[n:]
    in_release, in_original = np.bincount(theirs, minlength=size), np.bincount(mine, minlength=size)
    pairs = Distinct.rows([cells, y], len(cells)).of
    together = np.bincount(pairs[n:], minlength=int(pairs.max()) + 1)[pairs[:n]]
    alike = np.bincount(pairs[:n], minlength=int(pairs.max()) + 1)[pairs[:n]]
    d, s = in_original[mine], in_release[mine]
    margin = np.bincount(own, minlength=values)[own]
    with np.errstate(divide="ignore", invalid="ignore"):
        cap = np.where(s > 0, together / s, np.nan)
        own_out = np.where(d > 1, (alike - 1) / (d - 1), (margin - 1) / max(n - 1, 1))
    kinds = Distinct.rows([theirs, y[n:]], len(theirs))
    different = np.bincount(theirs[kinds.first], minlength=size)[mine]
    return pl.DataFrame({
        "cap": cap, "cap_original": alike / d, "own_out": own_out, "relations": left_out(dense(mine)[0], own),
        "margin": (margin - 1) / max(n - 1, 1), "agreed": different == 1, "right": (different == 1) & (together > 0),
        "unique": d == 1, "unique_in_both": (d == 1) & (s == 1),
    }).with_columns(pl.col("cap").fill_nan(None))  # fmt: skip


def _measured(people: pl.DataFrame) -> pl.DataFrame:
    n, cap = people.height, people["cap"]
    matched, agreed, right = n - cap.null_count(), int(people["agreed"].sum()), int(people["right"].sum())
    uniques, both, caps = int(people["unique"].sum()), int(people["unique_in_both"].sum()), float(cap.sum())
    columns = {"cap_original": "cap_original", "cap_own_out": "own_out", "relations": "relations", "margin": "margin"}
    means = {measure: float(people[column].sum()) for measure, column in columns.items()}
    rows: list[tuple[str, float, int, str]] = [
        ("cap_matched", caps, matched, "matched people"), ("dcap", caps, n, "people"),
        *((m, value, n, "people") for m, value in means.items()),
        ("tcap", right, agreed, "people in cells whose released rows agree"), ("disco", right, n, "people"),
        ("repu", both, n, "people"), ("repu_of_uniques", both, uniques, "people unique in the original"),
    ]  # fmt: skip
    return pl.DataFrame(
        [(m, c / of if of else None, float(c), of, who, FAULTS[m]) for m, c, of, who in rows],
        schema={"measure": pl.String, "value": pl.Float64, "count": pl.Float64, "of": pl.Int64, "people": pl.String,
                "fault": pl.String}, orient="row",
    )  # fmt: skip


def _doubts(people: pl.DataFrame, numbers: Sequence[str]) -> list[str]:
    said = []
    n, lost = people.height, people["cap"].null_count()
    if lost:
        said.append(
            f"{lost:,} of {n:,} people have keys that no released row has: a mean over the others says nothing of them."
        )
    if numbers:
        said.append(
            f"Compared for equality, though numbers: {', '.join(numbers)}. Cut them into groups, or use cf.Nearest."
        )
    base, cap = _mean(people["relations"]), _mean(people["cap"].fill_null(0.0))
    if cap <= base:
        said.append("CAP is not above what published relations teach: it shows no disclosure here.")
    said.append(
        "None of these measures has people held out to compare with; cf.Nearest(...).attack(release).guess(...) has."
    )
    return said


def _mean(values: pl.Series) -> float:
    return float(values.to_numpy().mean()) if len(values) else 0.0
