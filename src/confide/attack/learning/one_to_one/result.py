"""OneToOne: the result. Whom everybody at once would be matched with, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.core.result import Result
from confide.core.shares import percent
from confide.core.upward import upward

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack

WAYS = {"independent": "one by one", "map": "best assignment", "marginal": "largest marginals"}
WIDTH = 116
WHEN = (
    "Matching everybody at once helps where nearly all who are released are targets, and evidence is strong but "
    "shared; with half of them as targets it hardly does, and where evidence is weak the best assignment finds fewer."
)


@dataclass(frozen=True, eq=False, repr=False)
class OneToOne(Result):
    """Everybody matched at once: no two targets own the same record.

    `frame` has one row per target: `row` of `release.data` in the best assignment (null: absent, or not placed); `p`,
    the marginal probability of that pair under the constraint, with its standard error `p_error` where it was sampled;
    `p_independent`, that of the same pair one by one; `alike`, records that are as good as that row, of which one was
    drawn; `p_max`, the largest marginal of any record; `p_absent`; the expected right matches `hit_independent`,
    `hit_map` and `hit_marginal` (null where the truth is not known); `status`: exact, sampled, no candidate, or
    contradiction, where no matching of everybody is possible.

    `gap`: nats by which another assignment may be more probable, 0 where it is proved that none is. `r_hat`: the
    largest over all components that were sampled, None where none was; `unsettled`: targets of those where it is above
    1.01. `left`: the largest probability of candidates that were
    not kept. `unplaced`: targets for whom no record is left although all are known to be released.

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Noise("age", sd=1)], identifiers=["id"])
    >>> release = plan.protect(cf.demo("heads").select("id", "sex", "state", "age").head(300), seed=1)
    >>> matched = cf.Intruder(knows=["sex", "state", "age"]).attack(release).one_to_one()
    >>> matched.frame["row"].n_unique(), matched.gap
    (300, 0.0)
    """

    frame: pl.DataFrame
    attack: Attack = field(repr=False)
    claims: dict[str, tuple[float, float]]
    gap: float
    largest: int
    components: int
    whole: bool
    left: float
    r_hat: float | None
    unsettled: int
    sweeps: int
    unplaced: int
    seconds: float

    def summary(self) -> OneToOneSummary:
        """Right and claimed matches one by one, by the best assignment and by largest marginals, and what limits them.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.Noise("age", sd=1)], identifiers=["id"])
        >>> release = plan.protect(cf.demo("heads").select("id", "sex", "state", "age").head(300), seed=1)
        >>> attack = cf.Intruder(knows=["sex", "state", "age"]).attack(release)
        >>> attack.one_to_one().summary().frame["way"].to_list()
        ['independent', 'map', 'marginal']
        """
        return self._summary

    @cached_property
    def _summary(self) -> OneToOneSummary:
        return OneToOneSummary(pl.DataFrame([self._way(way) for way in WAYS]), self.frame.height, tuple(self._notes()))

    def _way(self, way: str) -> dict[str, Any]:
        """Right and claimed by one way to declare, and their difference in standard errors."""
        units = self.attack.units
        absent = (units if way == "independent" else self.frame)["p_absent"].fill_null(0.0)
        hit = self.frame[f"hit_{way}"]
        here = units["p_true"].null_count() == 0 and float(absent.sum() or 0.0) > 0
        claimed = float(units["p_max"].sum()) if way == "independent" else self.claims[way][0]
        out = {"way": way, "right": None, "claimed": claimed, "z": None}
        if hit.null_count() == 0:
            right = float((hit * (1 - absent)).sum() if here else hit.sum())
            out |= {"right": right, "z": self._z(way, right - claimed, here, 1 - absent)}
        return out

    def _z(self, way: str, gap: float, here: bool, weight: pl.Series) -> float | None:
        if way == "independent":
            usable = self.attack.units.filter(pl.col("n_max") > 0)
            return float(upward("calibrate")(usable).z) if usable.height else None
        variance = self.claims[way][1]
        if here:
            p = self.frame["p" if way == "map" else "p_max"].fill_null(0.0)
            variance = float((p * weight - p**2).clip(lower_bound=0.0).sum())
        if variance > 1e-12:
            return float(gap / np.sqrt(variance))
        return 0.0 if abs(gap) < 1e-6 else float(np.copysign(np.inf, gap))

    def _notes(self) -> list[str]:
        """What was proved, what was sampled, and what is in doubt."""
        status = self.frame["status"].value_counts()
        many = dict(zip(status["status"], status["count"], strict=True))
        out = ["The assignment is proved to be the most probable one." if self.gap == 0 else self._gap_words()]
        out += self._sampled_words(many.get("exact", 0), many.get("sampled", 0))
        if self.left > 1e-6:
            out.append(
                f"Caution: of large blocks the likeliest candidates were kept; up to {percent(self.left, 1)} of a "
                "target's probability lies on others, which keep what they have one by one. Marginals are approximate "
                "there."
            )
        if self.unplaced:
            out.append(
                f"Caution: {self.unplaced:,} targets find no record left, although all are said to be released: "
                "there are more targets than records that can be theirs."
            )
        if many.get("contradiction", 0):
            out.append(
                f"Caution: for {many['contradiction']:,} targets no matching gives everybody a record that can be "
                "theirs; their marginals are unknown and count nowhere."
            )
        return [*out, WHEN]

    def _gap_words(self) -> str:
        return (
            f"Caution: the assignment is not proved to be the most probable one: another may be up to e^{self.gap:.3g} "
            "times as probable."
        )

    def _sampled_words(self, exact: int, sampled: int) -> list[str]:
        if not sampled:
            return [f"Marginals are exact ({exact:,} targets)."] if exact else []
        error = self.frame.filter(status="sampled")["p_error"].max()
        words = f"standard errors up to {error:.2g}" if isinstance(error, float) else "no pair to state"
        out = [
            f"Marginals of {exact:,} targets are exact, of {sampled:,} sampled by four chains of {self.sweeps:,} "
            f"sweeps: {words}, R-hat of the log weight up to {self.r_hat:.3f}."
        ]
        if self.unsettled:
            out.append(
                f"Caution: for {self.unsettled:,} targets R-hat is above 1.01: the chains have not come together, "
                "and the standard errors of these marginals are too small. For more sweeps ask "
                f"one_to_one(sweeps={4 * self.sweeps})."
            )
        return out

    def __repr__(self) -> str:
        head = (
            f"One-to-one matching of {self.frame.height:,} targets, {self.components:,} components, the largest with "
        )
        return f"{head}{self.largest:,} targets; {self.seconds:.1f} s\n{self.summary()}"


@dataclass(frozen=True, eq=False, repr=False)
class OneToOneSummary(Result):
    """`frame`: one row per `way` to declare matches (independent, map, marginal): `right`, `claimed`, and `z`, their
    difference in standard errors; null where the truth is not known. `notes`: what limits them, in sentences."""

    frame: pl.DataFrame
    targets: int
    notes: tuple[str, ...]

    def summary(self) -> OneToOneSummary:
        """Itself."""
        return self

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return {"targets": self.targets, "ways": self.frame.to_dicts(), "notes": list(self.notes)}

    def __repr__(self) -> str:
        lines = [f"{'':20}{'right':>20}{'claimed':>20}{'z':>8}"]
        for r in self.frame.iter_rows(named=True):
            z = "" if r["z"] is None else f"{r['z']:+.1f}"
            lines.append(f"{WAYS[r['way']]:20}{self._count(r['right']):>20}{self._count(r['claimed']):>20}{z:>8}")
        return "\n".join([*lines, *(fill(note, WIDTH) for note in self.notes)])

    def _count(self, value: float | None) -> str:
        return "unknown" if value is None else f"{value:,.1f} ({percent(value, self.targets)})"
