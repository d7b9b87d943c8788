"""The slow twin of the tables: the definition of the subtraction-attribution probability, by enumeration.

A release is a list of constraints `(cells, lower, upper)` on the sums of sets of cells; `upper` is None where there is
no upper bound. Every integer table that fits the release and every sample of the true table is written down, and a zero is recovered
at cell i by sample s where no table x >= s that fits has x_i > s_i. All probabilities are counts over counts, as
fractions. Nothing here imports the package, and nothing here knows a structure that would make the work shorter.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb, prod

import numpy as np

UNBOUNDED = 2**62
LIMIT = 400_000


class TooLarge(Exception):
    """More tables fit than this twin cares to write down."""


# Reading a release


def finite(upper):
    """An upper bound as an integer, or None where there is none."""
    return None if upper is None or upper >= UNBOUNDED else int(upper)


def stated(constraints, cells, structural=None):
    """The constraints with structural zeros among them, each as (sorted cells, lower, upper or None)."""
    out = [(tuple(sorted(int(k) for k in where)), int(low), finite(high)) for where, low, high in constraints]
    return out + [((i,), 0, 0) for i in range(cells) if structural is not None and np.ravel(structural)[i]]


def ranges(constraints, counts):
    """Smallest and largest value of each cell that has to be tried.

    A cell in some set with an upper bound is at most that bound, as no cell is negative. For any other cell k no set
    has an upper bound, so a value beyond M = max(c_k + 1, all lower bounds of its sets) can be cut to M: each sum it
    enters stays at least M, hence at least its lower bound, and x_k stays above c_k. So M is enough to find out which
    samples leave room in which cell, and which value of each cell is smallest.
    """
    low, high = [], []
    for k, c in enumerate(counts):
        mine = [(a, b) for where, a, b in constraints if k in where]
        tops = [b for _, b in mine if b is not None]
        low.append(max([0, *(a for where, a, _ in constraints if where == (k,))]))
        high.append(min(tops) if tops else max([c + 1, *(a for a, _ in mine)]))
    return low, high


def feasible(constraints, counts, structural=None):
    """Every table of non-negative integers that fits the release, one a row; unbounded cells are cut, see `ranges`."""
    counts = [int(c) for c in np.ravel(counts)]
    limits = stated(constraints, len(counts), structural)
    low, high = ranges(limits, counts)
    rows = np.zeros((1, 0), dtype=np.int16)
    for k in range(len(counts)):
        if len(rows) * (high[k] - low[k] + 1) > 4 * LIMIT:
            raise TooLarge
        values = np.arange(low[k], high[k] + 1, dtype=np.int16)
        rows = np.column_stack([np.repeat(rows, len(values), axis=0), np.tile(values, len(rows))])
        for where, a, b in limits:
            if k not in where:
                continue
            so_far = rows[:, [i for i in where if i <= k]].sum(axis=1)
            later = [i for i in where if i > k]
            fits = so_far + sum(high[i] for i in later) >= a
            if b is not None:
                fits &= so_far + sum(low[i] for i in later) <= b
            rows = rows[fits]
        if len(rows) > LIMIT:
            raise TooLarge
    assert (rows == counts).all(axis=1).any(), "the truth does not fit its own release"
    return rows


def bounds(constraints, counts, structural=None):
    """Tightest lower and upper bound of each cell before any sample is known; None for no upper bound."""
    counts = np.ravel(counts)
    limits = stated(constraints, len(counts), structural)
    rows = feasible(constraints, counts, structural)
    capped = [any(k in where and b is not None for where, _, b in limits) for k in range(len(counts))]
    upper = [int(top) if known else None for top, known in zip(rows.max(axis=0), capped, strict=True)]
    return [int(x) for x in rows.min(axis=0)], upper


# Samples


def samples(counts):
    """Every sample s <= c, one a row, with the number of ways to draw it."""
    counts = [int(c) for c in np.ravel(counts)]
    rows = np.array(list(product(*(range(c + 1) for c in counts))), dtype=np.int16).reshape(-1, len(counts))
    ways = np.array([prod(comb(c, s) for c, s in zip(counts, row, strict=True)) for row in rows.tolist()])
    return rows, ways


def groups(counts, structural=None, targets=None):
    """Targets as tuples of cells: all cells that are no structural zeros, unless some are named."""
    if targets is not None:
        return [(t,) if isinstance(t, int | np.integer) else tuple(t) for t in targets]
    mask = np.zeros(np.size(counts), dtype=bool) if structural is None else np.ravel(structural)
    return [(i,) for i in range(np.size(counts)) if not mask[i]]


def recovered(constraints, counts, structural=None, targets=None):
    """For every sample (rows) and target (columns): is it certain that nobody is left there?"""
    counts = np.ravel(counts).astype(int)
    # x >= s holds, and x_k > s_k holds, for just the same s <= c when x is cut down to c + 1: few rows then differ
    tables = distinct(feasible(constraints, counts, structural), counts + 1)
    drawn, _ = samples(counts)
    found = np.zeros((len(drawn), 0), dtype=bool)
    for group in groups(counts, structural, targets):
        g = list(group)
        known, sums = drawn[:, g].sum(axis=1), tables[:, g].sum(axis=1)
        pinned = np.zeros(len(drawn), dtype=bool)
        for at in np.unique(known):
            above = distinct(tables[sums > at], counts)
            here = np.flatnonzero(known == at)
            for part in np.array_split(here, len(here) * len(above) // 2_000_000 + 1):
                pinned[part] = ~(above[None, :, :] >= drawn[part][:, None, :]).all(axis=2).any(axis=1)
        found = np.column_stack([found, pinned])
    return found


def distinct(tables, top):
    """The different rows among tables cut down to `top`, cell by cell."""
    sizes = tuple(int(t) + 1 for t in top)
    cut = np.minimum(tables, top)
    return np.column_stack(np.unravel_index(np.unique(np.ravel_multi_index(tuple(cut.T), sizes)), sizes)).astype(
        np.int16
    )


def shares(events, counts):
    """P(event) for samples of 0, 1, ..., N units, as fractions: ways to draw a sample of the event over all ways."""
    drawn, ways = samples(counts)
    sizes, total = drawn.sum(axis=1), int(np.sum(counts))
    return [Fraction(int(ways[events & (sizes == n)].sum()), comb(total, n)) for n in range(total + 1)]


# What is measured


def sap(constraints, counts, structural=None, targets=None):
    """SAP(0), ..., SAP(N)."""
    return shares(recovered(constraints, counts, structural, targets).any(axis=1), counts)


def cell_risks(constraints, counts, structural=None, targets=None):
    """One list a target: the probability that it is recovered, for 0, ..., N known units."""
    return [shares(column, counts) for column in recovered(constraints, counts, structural, targets).T]


def expected_zeros(constraints, counts, structural=None, targets=None):
    """The expected number of recovered zeros for 0, ..., N known units."""
    found, (drawn, ways) = recovered(constraints, counts, structural, targets).sum(axis=1), samples(counts)
    sizes, total = drawn.sum(axis=1), int(np.sum(counts))
    return [Fraction(int((found * ways)[sizes == n].sum()), comb(total, n)) for n in range(total + 1)]


def smallest(risks):
    """The smallest number of known units with any risk; None if there is none."""
    return next((n for n, risk in enumerate(risks) if risk > 0), None)


def static_sap(constraints, counts, structural=None):
    """The displayed formula of Smith and Elliot: upper bounds worked out before the sample is seen, 0 in u' - s."""
    _, upper = bounds(constraints, counts, structural)
    drawn, _ = samples(counts)
    aims = [i for (i,) in groups(counts, structural) if upper[i] is not None]
    return shares((drawn[:, aims] == [upper[i] for i in aims]).any(axis=1), counts)


def printed_single(counts, relevant):
    """Their section 2.3.1, with its misprints mended: inclusion and exclusion over the cells whose upper bound is true."""
    total = sum(counts)
    out = []
    for n in range(total + 1):
        signed = 0
        for size in range(1, len(relevant) + 1):
            for chosen in combinations(relevant, size):
                t = sum(counts[i] for i in chosen)
                signed += (-1) ** (size - 1) * (comb(total - t, n - t) if t <= n else 0)
        out.append(Fraction(signed, comb(total, n)))
    return out


def printed_with_total(counts, lower, upper, upper_total):
    """Their section 2.3.2 as printed, steps 1 to 5, with the error that case W8 shows."""
    total = sum(counts)
    relevant = [i for i, c in enumerate(counts) if upper[i] == c]
    if relevant or upper_total > total:
        return printed_single(counts, relevant)
    low = sum(a for a, c in zip(lower, counts, strict=True) if a == c)
    return [
        Fraction(0) if n < total - low else Fraction(comb(low, n - total + low), comb(total, n))
        for n in range(total + 1)
    ]


# What a scheme states of one count


def rounded(count, base, ties="up"):
    """Conventional rounding, from the nearest multiple; a tie goes up, or to the even multiple."""
    below, rest = divmod(int(count), base)
    up = 2 * rest > base or (2 * rest == base and (ties == "up" or below % 2 == 1))
    return base * (below + up)


def preimage(value, base, ties):
    """All counts that conventional rounding takes to this value, by trying them."""
    hits = [c for c in range(value + base + 1) if rounded(c, base, ties) == value]
    return min(hits), max(hits)


def noisy(count, largest):
    """What the cell key method may publish for a count: noise up to `largest`, none below 0, none on a zero."""
    return range(max(0, count - largest), count + largest + 1) if count else range(1)


def intervals(scheme, value, *, base=None, ties="up", steps=0, largest=None, below=None, zeros="hide"):
    """What somebody who knows the scheme can say of the count behind one published value, as (lower, upper or None).

    `value` is the published number; for "suppress" it is the number, "primary", "secondary" (known not to be small) or
    "hidden" (one of the two, with one mark for both).
    """
    if scheme == "exact":
        return value, value
    if scheme == "conventional":
        return preimage(value, base, ties)
    if scheme in ("random", "controlled"):
        reach = base * (steps + 1) - 1
        return max(0, value - reach), value + reach
    if scheme == "small":
        return {0: (0, base - 1), base: (1, base)}.get(value, (value, value))
    if scheme == "suppress":
        least = 0 if zeros == "hide" else 1
        hidden = {"primary": (least, below - 1), "secondary": (below, None), "hidden": (least, None)}
        return hidden.get(value, (value, value))
    if scheme == "key":
        hits = [c for c in range(value + largest + 1) if value in noisy(c, largest)]
        return min(hits), max(hits)
    raise ValueError(scheme)


def outcomes(scheme, count, *, marks="apart", **options):
    """Every interval that the scheme may come to state of this true count; options as in `intervals`."""
    base = options.get("base")
    if scheme in ("exact", "conventional"):
        values = [count if scheme == "exact" else rounded(count, base, options.get("ties", "up"))]
    elif scheme in ("random", "controlled"):
        reach = base * (options.get("steps", 0) + 1)
        values = [x for x in range(0, count + reach, base) if abs(x - count) < reach]
        if scheme == "random" and count % base == 0:
            values = [count]
    elif scheme == "small":
        values = [count] if count == 0 or count >= base else [0, base]
    elif scheme == "suppress":
        is_small = count < options["below"] and (options["zeros"] == "hide" or count > 0)
        if is_small:
            values = ["primary" if marks == "apart" else "hidden"]
        elif count == 0:  # zeros are shown
            values = [0]
        else:
            values = [count, "secondary" if marks == "apart" else "hidden"]
    elif scheme == "key":
        values = list(noisy(count, options["largest"]))
    else:
        raise ValueError(scheme)
    return {intervals(scheme, x, **options) for x in values}


# Which sums are published


def margin(shape, axes):
    """The sets of cells that one margin adds up: those that agree on `axes`, each an axis or (axis, group of each level)."""
    ways = [a if isinstance(a, tuple) else (a, range(shape[a])) for a in axes]
    sets = {}
    for flat, place in enumerate(np.ndindex(*shape)):
        key = tuple(group[place[a]] for a, group in ways)
        sets.setdefault(key, set()).add(flat)
    return list(sets.values())


def margin_sets(shape, margins, cells=True):
    """The published sets of cells: the cells, and "none", "total", "all" or the listed margins (tuples of axes)."""
    dims = range(len(shape))
    named = {"none": [], "total": [()], "all": [a for k in dims for a in combinations(dims, k)]}
    wanted = named[margins] if isinstance(margins, str) else [tuple(m) for m in margins]
    out = [{i} for i in range(int(np.prod(shape)))] if cells else []
    for axes in wanted:
        out += margin(shape, axes)
    return out


def release(counts, scheme, margins="none", *, cells=True, **options):
    """The constraints of a release whose scheme has but one outcome: "exact" or "conventional"."""
    counts = np.asarray(counts)
    flat = counts.ravel()
    out = []
    for where in margin_sets(counts.shape, margins, cells):
        (interval,) = outcomes(scheme, int(flat[list(where)].sum()), **options)
        out.append((where, *interval))
    return out
