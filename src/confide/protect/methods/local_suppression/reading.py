r"""How released rows are read: which likelihood an intruder has at each level, from counts of the file and the release.

Who knows how often each joint value was hidden needs no belief. With :math:`n_{yz}` of the :math:`n_y` people of known
values y shown as z by :math:`n_z` of n rows, the weight of such a row is

.. math:: \frac{L(z \mid y)}{m_z} = \frac{n_{yz} / n_y}{n_z / n}

whatever of the keys is not known: the step's own reading of a pair, at level "exact" too: beliefs from what else a
record shows claimed up to a fifth more there than they found. Where rates are constant, the likelihood alone is given,
and the engine's belief averages over joint values; where these are too many for that, the step reads what is known by
itself again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from confide.frames.columns import F64, I64, Column, Records
from confide.frames.distinct import Distinct
from confide.protect.methods.local_suppression.flows import allotted
from confide.protect.methods.local_suppression.hidden_rates import Codes, FlowRates, PatternRates, bits
from confide.protect.methods.local_suppression.pieces import Lookup, Pieces, key_codes, masked
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import View
from confide.protect.seam.likelihood import Likelihood

CLASSES, EXACT = 5_000, 1_000
"""Joint values up to which the engine's belief averages over them; at level "exact", where it asks what other variables
say of each."""


@dataclass(frozen=True, eq=False)
class Reading:
    """`columns`: code lists of the step's variables; `pieces`: people with what is hidden of them; `k` of the step."""

    columns: tuple[Column, ...]
    pieces: Pieces
    k: int

    def evidence(self, view: View, about: tuple[str, ...], how: str) -> Evidence:
        """`how`: "rates" of each cell, "constant" ones, or "bound": constant where fewer than k rows show the cell."""
        index = [i for i, c in enumerate(self.columns) if c.name in about]
        known = [i for i in index if self.columns[i].name in view.known]
        many = self._many(index) > (EXACT if view.level == "exact" else CLASSES)  # nobody can average over so many
        if not known or not (many or how == "rates"):
            return Evidence(about, likelihood=None if many else self._likelihood(view, index, index, how))
        seen = index if how == "rates" else known
        like = self._likelihood(view, known, seen, how)
        plain = None if many else self._likelihood(view, index, index, how)
        log_others = -self._log_shares(view, seen, like)
        cells = _Cells(like.codes, like.cells) if isinstance(like, FlowRates) else None
        return Evidence(about, likelihood=like, sense="pair", log_others=log_others, instead=plain, cells=cells)

    def _many(self, index: Sequence[int]) -> int:
        """Joint values that a belief would average over: all combinations, where they are few enough, else those that
        the file has."""
        every = math.prod(self._sizes(index))
        found = len(Distinct.rows(list(self.pieces.codes[:, index].T), len(self.pieces.count)))
        return every if every <= CLASSES else found

    def _released(self, view: View, index: Sequence[int]) -> tuple[I64, I64, F64]:
        """Codes of released rows, and the distinct ones of the whole release with their counts."""
        columns = [self.columns[i] for i in index]
        counted = view.counted([c.name for c in columns])
        count = np.ones(counted.records.n) if counted.count is None else counted.count
        return key_codes(view.released, columns), key_codes(counted.records, columns), count

    def _likelihood(self, view: View, known: list[int], seen: list[int], how: str) -> Likelihood:
        """Of what is seen in `seen`, given the values of `known`."""
        rows, z, count = self._released(view, seen)
        codes = partial(key_codes, columns=[self.columns[i] for i in known])
        if how == "rates":
            return self._flow_rates(rows, z, count, known, seen, codes)
        safe, hideable = None, count
        if how == "bound":
            whole = (z >= 0).all(axis=1) & (count >= self.k)
            safe, hideable = Lookup.fit(z[whole], self._sizes(seen)), np.where(whole, 0.0, count)
        pattern = Distinct.rows([bits(z)], len(z), hideable)
        total = max(float(pattern.count.sum()), 1.0)
        return PatternRates(rows, codes, bits(z)[pattern.first], pattern.count / total, safe)

    def _sizes(self, index: Sequence[int]) -> list[int]:
        return [code_count(self.columns[i]) for i in index]

    def _flow_rates(self, rows: I64, z: I64, count: F64, known: list[int], seen: list[int], codes: object) -> FlowRates:
        """Rates among the file's people with the same known values, by what is seen of them."""
        y, shown, n = self._flows(z, count, seen)
        cell = Distinct.rows([y[:, seen.index(i)] for i in known], len(y))
        made = Distinct.rows(list(shown.T), len(shown))
        pair = Distinct.rows([cell.of, made.of], len(y), n)
        total = np.bincount(cell.of, weights=n, minlength=len(cell))
        at = cell.of[pair.first]
        combos, cells = shown[made.first], y[cell.first][:, [seen.index(i) for i in known]]
        column = Lookup.fit(combos, self._sizes(seen)).of(rows)
        with np.errstate(divide="ignore"):
            log_rate = np.log(pair.count) - np.log(total[at])
            log_share = np.log(np.bincount(made.of, weights=n, minlength=len(made)) / n.sum())
        key = at * len(made) + made.of[pair.first]
        lookup = Lookup.fit(cells, self._sizes(known))
        return FlowRates(column, codes, lookup, len(made), key, log_rate, log_share)  # type: ignore[arg-type]

    def _flows(self, z: I64, count: F64, seen: list[int]) -> tuple[I64, I64, F64]:
        """True values, what is shown of them, and how many people: the step's own, or, of a release that the step did
        not make, as the file and the release allow."""
        p = self.pieces
        y, shown = p.codes[:, seen], masked(p.codes, p.hidden)[:, seen]
        made = Distinct.rows(list(shown.T), len(shown), p.count.astype(float))
        at = Lookup.fit(shown[made.first], self._sizes(seen)).of(z)
        if bool((at >= 0).all()) and bool((count <= made.count[at]).all()):
            return y, shown, p.count.astype(float)
        cell = Distinct.rows(list(y.T), len(y), p.count.astype(float))
        return allotted(y[cell.first], cell.count, z, count)

    def _log_shares(self, view: View, seen: list[int], like: Likelihood) -> F64:
        """log of the share of all people who would show what each row shows, shape (r,): m of part A."""
        if isinstance(like, FlowRates):
            return np.where(like.column >= 0, like.log_share[like.column], 0.0)
        assert isinstance(like, PatternRates)
        rows, z, count = self._released(view, seen)
        found = Distinct.rows(list(rows.T), len(rows))
        combos, n = rows[found.first], self.pieces.count.astype(float)
        y = self.pieces.shown[:, seen]
        whole = (y >= 0).all(axis=1)
        people = Distinct.rows(list(y.T), len(y), np.where(whole, n, 0.0) if whole.any() else n)
        known = like.shares(y[people.first], people.count, combos, found.first)
        least = count[Lookup.fit(z, self._sizes(seen)).of(combos)] / count.sum()  # a row is at least somebody's
        return np.asarray(np.log(np.maximum(least, known))[found.of])


@dataclass(frozen=True, eq=False)
class _Cells:
    """Numbers of joint values of the known variables, -1 for those that the file does not have."""

    codes: Codes
    known: Lookup

    def __call__(self, records: Records) -> I64:
        return self.known.of(self.codes(records))


def code_count(column: Column) -> int:
    """How many codes a column's list has."""
    return len(column.levels) if column.kind == "categorical" else len(column)
