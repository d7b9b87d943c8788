"""What the study at the end takes, by what trials of its plans took, and how it is cut where time does not suffice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from confide.study.advise.trials import REPEATED, WHOLE, Tried

TIMES = 10
"""Times what a sample took, that all targets at every level take."""
MORE = 1.3
"""Times what a trial of all targets took: in a study all measures are taken, and what few people do to them."""
CONFIRMED = 2
"""Plans that are drawn again to confirm the choice: the one that is chosen, and the next."""
FEWEST, LEAST = 2, 3
"""Repeats, and finalists, to which a study is cut at most."""


def expected(c: Tried, rung: int) -> float:
    """Seconds that a trial on a rung takes, by what the candidate's earlier ones took; 0 where there were none."""
    if rung == REPEATED and c.whole:
        return max(t.seconds for t in c.whole)
    return TIMES * c.sampled.seconds if rung == WHOLE and c.sampled is not None else 0.0


@dataclass(frozen=True)
class Cost:
    """Seconds of one processor: the `first` release of a plan, attacked at every level, and each that follows."""

    first: float
    later: float

    @classmethod
    def of(cls, c: Tried) -> Cost:
        """By its trials on all targets; where there is none, by what the sample took."""
        whole = [t.seconds for t in c.whole]
        first = whole[0] if whole else expected(c, WHOLE)
        again = sum(whole[1:]) / len(whole[1:]) if len(whole) > 1 else first
        return cls(MORE * first, MORE * again if c.random else 0.0)

    def of_repeats(self, repeats: int) -> float:
        """Of so many releases; one that draws nothing is made once."""
        return self.first + (repeats - 1) * self.later


def at_the_end(plans: Sequence[Tried], repeats: int, cores: int) -> float:
    """Seconds that a study of these plans takes, and fresh draws of two of them."""
    each = [Cost.of(c) for c in plans]
    again = sorted((x.of_repeats(repeats) for x in each), reverse=True)[:CONFIRMED]
    return (sum(x.of_repeats(repeats) for x in each) + sum(again)) / cores


@dataclass(frozen=True)
class Cut:
    """Finalists and repeats for which there is time; `said`: what was left out, in a sentence, empty where nothing."""

    plans: list[Tried]
    repeats: int
    said: str = ""


def cut(
    plans: Sequence[Tried], repeats: int, cores: int, left: float | None, before: tuple[int, int] | None = None
) -> Cut:
    """Fewer repeats first, then fewer finalists, the last first, until they take no longer than the time that is
    `left`; nothing is cut where evaluations are counted (None). `before`: finalists and repeats of the same search when
    it was done, which are then the same again."""
    kept, many = list(plans), repeats
    if before is not None:
        kept, many, left = kept[: before[0]], min(before[1], repeats), None
    while left is not None and at_the_end(kept, many, cores) > left:
        if many > FEWEST:
            many -= 1
        elif len(kept) > LEAST:
            kept.pop()
        else:
            break
    said = [
        *([f"{many} repeats in place of {repeats}"] if many < repeats else []),
        *([f"{len(kept)} finalists in place of {len(plans)}"] if len(kept) < len(plans) else []),
    ]
    why = f"For want of time the study at the end has {' and '.join(said)}." if said else ""
    return Cut(kept, many, why)
