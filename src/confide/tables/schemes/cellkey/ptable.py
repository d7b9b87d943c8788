"""The perturbation table of the cell key method: for each true count, what is added to it and how often.

Notation: c a true count, v the noise, x = c + v the published count, p(v) its probability; D the largest noise, V its
variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError, raise_all
from confide.frames import to_polars
from confide.frames.door import array_of
from confide.tables.schemes.cellkey.entropy import check_settings, check_variance, largest_entropy
from confide.tables.schemes.cellkey.reading import (
    as_pairs,
    as_rows,
    flat,
    is_whole,
    problems,
    read_columns,
    whole_array,
)

F64 = NDArray[np.float64]
I64 = NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class PTable:
    r"""Probabilities that a true count c = 0, 1, ..., `top` is published as c + v; larger counts use the last row.

    `rows`: for each count from 0 its (noise, probability) pairs, as few as are positive, noise ascending.
    `keep_zeros`: a zero is always published as zero; say False if the rows turn zeros into positive counts.

    `PTable.of` makes the table of largest entropy with mean 0 and a given variance, `PTable.from_frame` takes one
    that an office uses already.

    >>> PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]])
    PTable(counts 0 to 1, noise -1 to 1)
    """

    rows: tuple[tuple[tuple[int, float], ...], ...]
    keep_zeros: bool = True

    def __post_init__(self) -> None:
        count, noise, p, size = flat(self.rows)
        raise_all(problems(count, noise, p, size, self.keep_zeros), "The perturbation table cannot be used:")
        object.__setattr__(self, "rows", as_rows(count, noise, p, size))

    def __repr__(self) -> str:
        noise = [v for row in self.rows for v, _ in row]
        return f"PTable(counts 0 to {self.top}, noise {min(noise)} to {max(noise)})"

    @classmethod
    def of(cls, largest: int, variance: float, *, smallest: int = 0) -> PTable:
        r"""The table of largest entropy whose noise has mean 0 and this variance for every count but zero.

        For each count c, over the noise v with \|v\| <= `largest` and c + v = 0 or c + v > `smallest`,

        .. math:: \max_p -\sum_v p(v) \log p(v), \quad \sum_v v\,p(v) = 0, \quad \sum_v v^2 p(v) = V,

        so that :math:`p(v) \propto \exp(a v + b v^2)`. No published count is negative or among 1, ..., `smallest`.
        A zero stays a zero: noise on it could only be positive, and then would not have mean 0.

        A count of 1 can lose no more than 1, so with mean 0 its variance is at most `largest`; counts that must
        not be published have a smallest variance too. What no count can have is refused.

        Marley and Leaver (2011); Giessing (2016). The R package ptable adds conditions that are not used here
        (probabilities that fall with the distance, a floor on that of 0) and drops probabilities under 1e-7.

        >>> PTable.of(largest=2, variance=1).to_frame().filter(pl.col("count") == 1)["probability"].round(4).to_list()
        [0.3981, 0.3058, 0.1942, 0.1019]
        >>> PTable.of(largest=5, variance=7)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        ...
        confide.InputError: A variance of 7 is not attainable for a true count of 1: noise from -1 to 5 ...
        """
        check_settings(largest, variance, smallest)
        top = largest + smallest + 1 if smallest else largest
        noise = [np.arange(-largest, largest + 1) for _ in range(top + 1)]
        noise = [v[(c + v == 0) | (c + v > smallest)] for c, v in enumerate(noise)]
        check_variance(noise[1:], float(variance))
        p = [largest_entropy(v, float(variance)) for v in noise[1:]]
        return cls((((0, 1.0),), *(as_pairs(v, q) for v, q in zip(noise[1:], p, strict=True))))

    @classmethod
    def from_frame(cls, frame: object, *, keep_zeros: bool = True) -> PTable:
        """A table from the columns count, noise (or published) and probability, in any order of rows.

        Counts must run from 0 without a gap; the last one stands for all above. Probabilities of a count must sum to
        1 within 1e-6, and are divided by their sum. Everything that is wrong is said at once.

        >>> PTable.from_frame({"count": [0, 1, 1], "published": [0, 0, 2], "probability": [1, 0.5, 0.5]}).outcomes(1)
        {0: 0.5, 2: 0.5}
        >>> PTable.from_frame({"count": [0, 2, 2], "noise": [0, -3, 3], "probability": [1, 0.5, 0.4]})
        Traceback (most recent call last):
        ...
        confide.InputError: The perturbation table cannot be used:
          - Counts must run 0, 1, 2, ... without gaps; 1 is missing below the largest.
          - The probabilities of each count must sum to 1; they do not for count 2.
          - Noise makes the published count negative in 1 row.
        """
        count, noise, p = read_columns(to_polars(frame, "The perturbation table"))
        size = int(count.max(initial=-1)) + 1
        raise_all(problems(count, noise, p, size, keep_zeros), "The perturbation table cannot be used:")
        return cls(as_rows(count, noise, p, size), keep_zeros)

    @property
    def top(self) -> int:
        """The largest count with a row of its own; counts above it use the same row.

        >>> PTable.of(largest=3, variance=1).top, PTable.of(largest=3, variance=2.5, smallest=1).top
        (3, 5)
        """
        return len(self.rows) - 1

    def lookup(self, counts: Any, keys: Any) -> I64:
        """The published counts: each true count plus the noise that its cell key, uniform on [0, 1), points to.

        `counts` and `keys` have the same shape, any. Noise is ordered from lowest to highest; a key equal to a
        cumulative probability takes the next noise.

        >>> PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]]).lookup([0, 1, 1, 7], [0.9, 0.2, 0.25, 0.99])
        array([0, 0, 1, 8])
        """
        c = whole_array(counts, "counts")
        u = array_of(keys)
        if u.shape != c.shape:
            raise InputError(f"counts and keys must have the same shape, not {c.shape} and {u.shape}.")
        if u.dtype.kind not in "fiu" or not bool(((u >= 0) & (u < 1)).all()):
            raise InputError("Cell keys must be numbers from 0 up to, but not including, 1.")
        if c.size and int(c.min()) < 0:
            raise InputError("counts must not be negative.")
        flat, row = u.ravel().astype(np.float64), np.minimum(c, self.top).ravel()
        order = np.argsort(row.astype(np.min_scalar_type(self.top)), kind="stable")
        noise, start = np.empty(flat.size, dtype=np.int64), 0
        for a, n in enumerate(np.bincount(row, minlength=self.top + 1).tolist()):
            cells, start = order[start : start + n], start + n
            v, cumulative = self._cumulative[a]
            noise[cells] = v[np.searchsorted(cumulative, flat[cells], side="right")]
        return c + noise.reshape(c.shape)

    def support(self, published: Any) -> tuple[I64, I64]:
        """The smallest and largest true count that may be published as each value: all c with p(c -> x) > 0.

        A count counts as possible however small its probability. Values that the table never publishes are refused.

        >>> PTable.of(largest=2, variance=1).support([0, 1, 2, 50])
        (array([ 0,  1,  1, 48]), array([ 2,  3,  4, 52]))
        """
        x = whole_array(published, "published")
        lower, upper, ways = self._reach
        last = len(ways) - 1
        at, beyond = np.clip(x, 0, last), np.maximum(x - last, 0)
        never = int(((x < 0) | (ways[at] == 0)).sum())
        if never:
            raise InputError(
                f"{never} of {x.size} published counts cannot come from this perturbation table: it never publishes "
                f"those values. Was the table published with another one?"
            )
        return lower[at] + beyond, upper[at] + beyond

    def gaps(self) -> bool:
        """Whether some published value is possible for counts with an impossible one between them.

        Then `support` gives more than the table says: bounds stay right, but need not be the sharpest.

        >>> PTable.of(largest=3, variance=1).gaps(), PTable([[(0, 1.0)], [(-1, 0.5), (1, 0.5)]]).gaps()
        (False, True)
        """
        lower, upper, ways = self._reach
        return bool((ways[ways > 0] < (upper - lower + 1)[ways > 0]).any())

    def outcomes(self, count: int) -> dict[int, float]:
        """What a true count may be published as, with probabilities.

        >>> PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]]).outcomes(9)
        {8: 0.25, 9: 0.5, 10: 0.25}
        """
        if not is_whole(count) or count < 0:
            raise InputError("count must be a whole number, 0 or more.")
        return {int(count) + v: p for v, p in self.rows[min(int(count), self.top)]}

    def to_frame(self) -> pl.DataFrame:
        """The table in the form that `from_frame` reads: count, noise, probability.

        >>> PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]]).to_frame().rows()[1]
        (1, -1, 0.25)
        """
        flat = [(c, v, p) for c, row in enumerate(self.rows) for v, p in row]
        kinds = {"count": pl.Int64, "noise": pl.Int64, "probability": pl.Float64}
        return pl.DataFrame(flat, schema=kinds, orient="row")

    @cached_property
    def _cumulative(self) -> list[tuple[I64, F64]]:
        """For each row its noise and P(V <= v); the last is 1, so that every key finds its place."""
        found = []
        for row in self.rows:
            cumulative = np.minimum(np.cumsum([p for _, p in row]), 1.0)
            cumulative[-1] = 1.0
            found.append((np.array([v for v, _ in row], dtype=np.int64), cumulative))
        return found

    @cached_property
    def _reach(self) -> tuple[I64, I64, I64]:
        """Of x = 0, 1, ..., last: the smallest and largest c, and how many. Beyond, all shift with x."""
        noise = [v for v, _ in self._cumulative]
        shared = noise[-1]
        last = max([self.top + int(shared[-1]), *(c + int(v[-1]) + 1 for c, v in enumerate(noise[:-1]))])
        lower, upper = np.full(last + 1, np.iinfo(np.int64).max), np.full(last + 1, -1)
        ways = np.zeros(last + 1, dtype=np.int64)
        for c, v in enumerate(noise[:-1]):
            lower[c + v], upper[c + v] = np.minimum(lower[c + v], c), c
            ways[c + v] += 1
        for v in shared.tolist():
            x = slice(self.top + v, None)
            c_x = np.arange(self.top, last - v + 1)
            lower[x], upper[x] = np.minimum(lower[x], c_x), np.maximum(upper[x], c_x)
            ways[x] += 1
        return lower, upper, ways
