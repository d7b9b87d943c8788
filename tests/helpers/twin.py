"""The slow twin: the formula of methods.md, section 1, target by target and record by record, in plain Python and NumPy.

It reads the original values, the released values and the parameters stated in the plan, and works likelihoods, blocks,
priors and summaries out by itself. Only the intruder's belief comes from the engine: Pr(k given cell) and the nodes of
numeric beliefs with their scores. Nothing here imports the engine's likelihoods, kernels or groupings.
"""

from __future__ import annotations

import math
import re

import numpy as np
from scipy.special import ndtr, ndtri

import confide as cf
from tests.helpers.scenes import scenes

TIE = 1e-9


# -- values -------------------------------------------------------------------------------------------------


def columns(frame):
    """A frame as lists of Python values, None where missing."""
    return {v: [None if x != x else x for x in frame[v].to_list()] for v in frame.columns}


def is_number(values):
    """Whether a column holds numbers."""
    return any(isinstance(x, (int, float)) for x in values)


def coarse(step, y):
    """What one coarsening makes of a true value; categories of numbers are named by their lower end."""
    if y is None:
        return None
    if isinstance(step, cf.Recode):
        if step.mapping is not None:
            return step.mapping.get(y, y)
        return step.start + step.width * math.floor((y - step.start) / step.width)
    if isinstance(step, cf.Topcode):
        return min(y, step.at)
    if isinstance(step, cf.Bottomcode):
        return max(y, step.at)
    return step.base * math.floor(y / step.base + 0.5)


def named(step, z):
    """A released category of numbers back to its lower end; other values as they are."""
    if isinstance(step, cf.Recode) and step.mapping is None and z is not None:
        return float(re.search(r"-?[0-9.]+", z).group())
    return z


class Way:
    """One variable: coarsenings before its random step, the step, coarsenings after."""

    def __init__(self, steps, v):
        self.before, self.random, self.after = [], None, []
        for s in steps:
            if v in s.variables and s.role == "random":
                self.random = s
            elif v in s.variables:
                (self.before if self.random is None else self.after).append(s)

    def met(self, y):
        for s in self.before:
            y = coarse(s, y)
        return y

    def later(self, y):
        for s in self.after:
            y = coarse(s, y)
        return y

    def image(self, y):
        return self.later(self.met(y))

    def seen(self, z):
        for s in [*self.before, *self.after]:
            z = named(s, z)
        return z

    def cell(self, z):
        """The true numbers that a coarsening turns into z, as (lowest, highest, highest included)."""
        (step,) = [*self.before, *self.after] or [None]
        if step is None:
            return z, z, True
        if isinstance(step, cf.Recode):
            return z, z + step.width, False
        if isinstance(step, cf.Topcode):
            return z, (math.inf if z == step.at else z), True
        return z - step.base / 2, z + step.base / 2, False


# -- likelihoods ----------------------------------------------------------------------------------------------


class SwapL:
    """L[a,b] = (1-pi) 1[a=b] + pi (n_b - 1[a=b])/(n-1), in record j's group.

    pi = 2 floor(rate n / 2)/n with n the group's size when the swap was made; a sample drawn since then keeps shares.
    """

    def __init__(self, step, about, ways, z, r, original):
        self.about = about
        b = [tuple(ways[v].seen(z[v][j]) for v in about) for j in range(r)]
        group = [tuple(z[w][j] for w in step.within) for j in range(r)]
        self.after = [ways[v].later for v in about]
        self.j = []
        rows = range(len(next(iter(original.values()))))
        then = [tuple(original[w][i] for w in step.within) for i in rows]
        for j in range(r):
            mine = [i for i in range(r) if group[i] == group[j]]
            n, n_b = len(mine), sum(b[i] == b[j] for i in mine)
            n_then = then.count(group[j])
            pi = 2 * math.floor(step.rate * n_then / 2) / n_then
            self.j.append((b[j], pi, n_b * n_then / n, n_then))

    def __call__(self, y, j):
        b, pi, n_b, n = self.j[j]
        same = tuple(f(a) for f, a in zip(self.after, y, strict=True)) == b
        return (1 - pi) * same + (pi * (n_b - 1 if same else min(n_b, n - 1)) / (n - 1) if n > 1 else 0.0)


class PramL:
    """L = the matrix; categories merged afterwards add up."""

    def __init__(self, step, about, ways, z, r, original):
        (v,) = self.about = about
        self.way, self.z = ways[v], [ways[v].seen(z[v][j]) for j in range(r)]
        met = [ways[v].met(y) for y in original[v]]
        names = sorted({y for y in met if y is not None})
        if step.retention is not None:
            keep, every = step.retention, [*names, None]
            self.p = {a: {b: keep * (a == b) + (1 - keep) * met.count(b) / len(met) for b in every} for a in every}
        else:
            names = list(step.levels) if step.levels else names
            self.p = {a: dict(zip(names, row, strict=True)) for a, row in zip(names, step.matrix, strict=True)}
            self.p[None] = {None: 1.0}

    def __call__(self, y, j):
        return sum(p for b, p in self.p.get(y[0], {}).items() if self.way.later(b) == self.z[j])


def area(a, b, mean, sd):
    """Normal area between a and b, from the nearer tail."""
    a, b = (a - mean) / (sd * math.sqrt(2)), (b - mean) / (sd * math.sqrt(2))
    if a + b < 0:
        a, b = -b, -a
    return 0.5 * (math.erfc(a) - math.erfc(b))


class NoiseL:
    """Area of the rounding cells that become z, over the areas of all allowed values; densities for a continuum."""

    def __init__(self, step, about, ways, z, r, original, reference):
        (v,) = self.about = about
        self.way, self.zeros = ways[v], step.keep_zeros
        self.z = [self.way.seen(z[v][j]) for j in range(r)]
        met = [self.way.met(y) for y in original[v]]
        numbers = [y for y in met if y is not None]
        self.whole = all(float(y).is_integer() for y in numbers)
        low, high = step.bounds or (None, None)
        self.low, self.high = -math.inf if low is None else low, math.inf if high is None else high
        ends = [s.at for s in self.way.after if isinstance(s, (cf.Topcode, cf.Bottomcode))]
        self.low_open, self.high_open = self.low in ends, self.high in ends
        base = [y for y in (met if reference is None else reference) if y is not None and self.label(y) == "inside"]
        self.sd = step.sd if step.sd is not None else step.relative * float(np.std(base, ddof=1))
        far = 13 * self.sd + 1
        first = math.ceil(max(self.low, min(numbers) - far))
        last = math.floor(min(self.high, max(numbers) + far))
        self.lattice = [b for b in range(first, last + 1) if self.label(b) == "inside"] if self.whole else None
        self.images = [self.way.later(b) for b in self.lattice] if self.whole else None
        self.known: dict[tuple, float] = {}
        self.areas: dict[float, np.ndarray] = {}

    def label(self, y):
        if y is None:
            return "missing"
        if self.zeros and y == 0:
            return "zero"
        if y < self.low or (self.low_open and y == self.low):
            return "below"
        if y > self.high or (self.high_open and y == self.high):
            return "above"
        return "inside"

    def label_z(self, j):
        return self.label(self.z[j])

    def __call__(self, y, j):
        """Pr(z_j given a true number y inside the bounds), j a noisy record."""
        key = (y, self.z[j])
        if key not in self.known:
            self.known[key] = self._slowly(y, self.z[j])
        return self.known[key]

    def _slowly(self, y, z):
        if self.whole:
            if y not in self.areas:
                self.areas[y] = np.array([area(b - 0.5, b + 0.5, y, self.sd) for b in self.lattice])
            mass = self.areas[y]
            return sum(mass[i] for i, b in enumerate(self.images) if b == z) / mass.sum()
        allowed = area(self.low, self.high, y, self.sd)
        if self.way.after:
            half = self.way.after[0].base / 2
            return area(max(z - half, self.low), min(z + half, self.high), y, self.sd) / allowed
        x = (z - y) / self.sd
        return math.exp(-0.5 * x * x) / (self.sd * math.sqrt(2 * math.pi)) / allowed


def likelihood(step, about, ways, z, r, original, reference=None):
    if isinstance(step, cf.Swap):
        return SwapL(step, about, ways, z, r, original)
    if isinstance(step, cf.Pram):
        return PramL(step, about, ways, z, r, original)
    return NoiseL(step, about, ways, z, r, original, reference)


# -- the intruder's belief, read from the engine ------------------------------------------------------------------

REGIONS = {0: "missing", 1: "inside", 2: "below", 3: "above", 4: "zero"}


class Belief:
    """Pr(k given cell) and Pr(node given cell, k) as the engine's scene holds them."""

    def __init__(self, scene, ways):
        self.scene = scene
        c = scene.classes
        self.values, self.regions = {}, {v: [REGIONS[int(x)] for x in code] for v, code in c.regions.items()}
        for v, code in c.codes.items():
            column = c.columns[v]
            levels = (
                column.levels if column.kind == "categorical" else np.unique(column.values[~np.isnan(column.values)])
            )
            known = [*levels, None]
            self.values[v] = [self._value(ways[v], known[x]) for x in code]
        self.k = c.size
        self.numbers = {n.variable: n.belief for n in scene.numbers}

    @staticmethod
    def _value(way, x):
        for s in way.before:
            x = named(s, x)
        return x

    def pi_record(self, j):
        return np.exp(self.scene.fit.believed.log_pi_r[self.scene.cell_r[j]])

    def pi_target(self, i):
        return np.exp(self.scene.fit.believed.log_pi[self.scene.cell_t[i]])

    def nodes(self, v, cell, k, whole=False):
        """Nodes and their probabilities; `whole`: every reference value, not merged."""
        b = self.numbers[v]
        points = b.every if whole else b.nodes
        return points.values, self._masses(b, points, cell, k)

    @staticmethod
    def _masses(b, points, cell, k):
        """Spikes by their own probability, all else by normal areas between edges."""
        p = np.exp(b.law.log_spike[cell, k])
        e = (points.edges - b.law.mu[cell, k]) / b.law.tau
        upper = ndtr(e[:-1]) + ndtr(e[1:]) > 1
        area = np.where(upper, ndtr(-e[:-1]) - ndtr(-e[1:]), ndtr(e[1:]) - ndtr(e[:-1]))
        return np.array([p[-1] * a if s < 0 else p[s] for s, a in zip(points.spike, area, strict=True)])

    def density(self, belief, y, cell, k):
        """Pr(y given cell and class) of a value that the reference holds; else the density of its score."""
        at = np.flatnonzero(belief.every.values == y)
        if len(at):
            return float(self._masses(belief, belief.every, cell, k)[at[0]])
        values, scores = [], []
        share = ndtr(belief.every.edges)
        for g in np.flatnonzero(belief.every.spike < 0):
            values.append(belief.every.values[g])
            scores.append(ndtri(0.5 * (share[g] + share[g + 1])))
        if not values:
            return 0.0
        x = (np.interp(y, values, scores) - belief.law.mu[cell, k]) / belief.law.tau
        return math.exp(belief.law.log_spike[cell, k, -1] - 0.5 * x * x) / belief.law.tau


# -- the formula ---------------------------------------------------------------------------------------------------


class Twin:
    """w_j(t) = prior_j C_j B_j A_j for every target of an attack."""

    def __init__(self, attack, targets=None, truth=None):
        self.attack, self.who, self.release = attack, attack.intruder, attack.release
        self.y, self.z = columns(self.release.original), columns(self.release.frame)
        self.n, self.r = self.release.original.height, self.release.frame.height
        steps = self.release.plan.parts if self.release.plan is not None else ()
        self.ways = {v: Way(steps, v) for v in self.y if v in self.z}
        if targets is None:
            own = range(self.n) if self.who.membership == "in_file" else sorted(self.release.link.tolist())
            self.targets, self.truth = [{v: self.y[v][i] for v in self.y} for i in own], list(own)
        else:
            cols = columns(targets)
            self.targets, self.truth = [{v: cols[v][i] for v in cols} for i in range(targets.height)], list(truth)
        self.own = {int(o): j for j, o in enumerate(self.release.link)}

    def run(self):
        out = [None] * len(self.targets)
        for rows, scene in scenes(self.attack):
            part = _Part(self, scene, self.targets[rows[0]])
            for i, t in enumerate(rows):
                out[t] = part.target(i, self.targets[t], self.own.get(self.truth[t]))
        return out


class _Part:
    """Targets of whom the same variables are known."""

    def __init__(self, twin, scene, example):
        self.twin, self.who = twin, twin.who
        self.c, self.b, self.a = twin.who.levels
        self.scene = scene
        self.known = [v for v in self.who.knows if example[v] is not None or v in self.who.told_missing]
        self.limits = {}
        for v, (low, high) in self.who.between.items():
            a, b = example[low], example[high]
            if a is not None or b is not None:
                self.limits[v] = (-math.inf if a is None else a, math.inf if b is None else b)
        self.ways = twin.ways
        noisy = {v for v in self.ways if self.ways[v].random is not None}
        self.kept = [v for v in self.known if v not in noisy and v not in self.who.errors]
        self.steps = list(dict.fromkeys(self.ways[v].random for v in twin.y if v in noisy))
        self.belief = Belief(scene, self.ways) if scene.fit.needs_belief else None
        if self.c == "naive":
            return
        self._likelihoods()
        unknown = {v for v in self.ways if v not in noisy and v not in self.known and v not in self.limits}
        # Kept variables that only the record shows: all of them at "exact", else the groups that a step reads.
        self.helped = bool(unknown if self.b == "exact" else unknown & self.read) and self.belief is not None
        self.m = [self._m(j) for j in range(twin.r)] if self.a != "ignore" and self.items else [1.0] * twin.r

    def _likelihoods(self):
        """Per step in play: its variables, the likelihoods of C and B and of A."""
        self.items = []
        self.labels, self.read = {}, set()
        for step in self.steps:
            mine = [v for v in step.variables if v in self.twin.z]
            about = [v for v in mine if (v in self.known and self.c != "ignore")]
            about += [v for v in mine if v not in self.known and (self.b != "ignore" or v in self.limits)]
            about = [v for v in mine if v in about]
            one = self._made(step, about or mine, self.c if any(v in self.known for v in about or mine) else self.b)
            if isinstance(one, NoiseL) and one.about[0] in self.known:
                self.labels[one.about[0]] = one
            if about:
                self.items.append((about, one, self._made(step, about, self.a)))
                self.read |= set(step.needs)

    def _made(self, step, about, level):
        z, y, r = self.twin.z, self.twin.y, self.twin.r
        if level != "average":
            return likelihood(step, about, self.ways, z, r, y)
        stated = [s for s in self.who.believes if set(s.variables) == set(step.variables)]
        guess = {
            cf.Swap: lambda: cf.Swap(step.variables, rate=0.1),
            cf.Pram: lambda: cf.Pram(step.variables, retention=0.9),
        }
        believed = stated[0] if stated else guess[type(step)]()
        if isinstance(believed, cf.Pram):
            y = {v: [self.ways[v].seen(x) for x in z[v]] for v in z}
        ways = self.ways
        if isinstance(step, cf.Noise):
            return likelihood(believed, about, ways, z, r, y, reference=z[about[0]])
        return likelihood(believed, about, ways, z, r, y)

    # -- sums over classes ------------------------------------------------------------------------------------

    def _l(self, k, j, item, known, for_a):
        """Likelihood of record j's values of one step in class k, known values put in."""
        about, like_c, like_a = item
        like = like_a if for_a else like_c
        if isinstance(like, NoiseL):
            return self._integral(like, k, j, for_a)
        v = about[0]
        if v in self.belief.numbers and v not in self.belief.values:  # a swapped number with many values
            if not for_a and v in self.known:
                return 1.0
            x, p = self.belief.nodes(v, self._cell(j), k, whole=True)
            low, high = (-math.inf, math.inf) if for_a else self.limits.get(v, (-math.inf, math.inf))
            inside = (x >= low) & (x <= high)
            total = sum(p[g] * like((x[g],), j) for g in np.flatnonzero(inside))
            return total / p[inside].sum()
        y = tuple(known[v] if v in known else self.belief.values[v][k] for v in about)
        return like(y, j)

    def _cell(self, j):
        return self.belief.scene.cell_r[self._place(j)]

    def _place(self, j):
        return int(np.flatnonzero(self.belief.scene.rows == j)[0])

    def _integral(self, like, k, j, for_a):
        (v,) = like.about
        if v in self.known:
            if not for_a or like.label_z(j) != "inside":
                return 1.0
        else:
            region = self.belief.regions[v][k]
            if region != like.label_z(j):
                return 0.0
            if region != "inside":
                return 1.0
        x, p = self.belief.nodes(v, self._cell(j), k)
        low, high = (-math.inf, math.inf) if for_a else self.limits.get(v, (-math.inf, math.inf))
        inside = (x >= low) & (x <= high)
        mass = p[inside].sum() if low > -math.inf or high < math.inf else 1.0
        if mass == 0:
            return 0.0
        return sum(p[g] * like(float(x[g]), j) for g in np.flatnonzero(inside)) / mass

    def _m(self, j):
        """m_j = 1/A_j: one joint sum over exactly the variables of C and B."""
        if j not in self.belief.scene.rows:
            return math.nan
        pi = self.belief.pi_record(self._place(j))
        return sum(
            pi[k] * math.prod(self._l(k, j, item, {}, True) for item in self.items) for k in range(self.belief.k)
        )

    def _e(self, i, t):
        """Belief in each class given all that is known of the target (before dividing by its sum)."""
        if not self.belief.scene.fit.believed.compared:  # with helpers it divides all weights of a target alike
            return np.ones(self.belief.k)
        pi = self.belief.pi_target(i)
        return np.array([pi[k] * self._fits(k, t) * self._numbers(t, self._cell_t(i), k, self.belief.scene.side.numbers_t)
                         * self._in_limits(k, self._cell_t(i)) for k in range(self.belief.k)])  # fmt: skip

    def _cell_t(self, i):
        return self.belief.scene.cell_t[i]

    def _fits(self, k, t):
        return all(values[k] == self.ways[v].met(t[v]) for v, values in self.belief.values.items() if v in self.known)

    def _numbers(self, t, cell, k, numbers):
        """Density of the known numbers in class k."""
        out = 1.0
        for about, like, _ in self.items:
            v = about[0]
            if v not in self.known or v in self.belief.values or self.a == "ignore":
                continue
            if isinstance(like, NoiseL) and like.label(self.ways[v].met(t[v])) != "inside":
                continue
            (b,) = [n.belief for n in numbers if n.variable == v]
            out *= self.belief.density(b, self.ways[v].met(t[v]), cell, k)
        return out

    def _in_limits(self, k, cell):
        """Pr(interval given cell, class k)."""
        out = 1.0
        for v, (low, high) in self.limits.items():
            if self.ways[v].random is None:
                continue
            if v in self.belief.values:
                y = self.belief.values[v][k]
                out *= y is not None and low <= y <= high
            elif v in self.belief.regions and self.belief.regions[v][k] != "inside":
                like = next(like for about, like, _ in self.items if about[0] == v)
                mine = [y for y in self.twin.y[v] if like.label(y) == self.belief.regions[v][k]]
                out *= sum(y is not None and low <= y <= high for y in mine) / len(mine)
            else:
                x, p = self.belief.nodes(v, cell, k, whole=isinstance(self.ways[v].random, cf.Swap))
                out *= p[(x >= low) & (x <= high)].sum()
        return out

    # -- one target -------------------------------------------------------------------------------------------

    def consistent(self, t, z):
        """Whether every certain label of z agrees with the target's."""
        for v in self.kept:
            if self.ways[v].image(t[v]) != self.ways[v].seen(z[v]):
                return False
        if not self._both_there(t, z):
            return False
        for v, (low, high) in self.limits.items():
            if self.ways[v].random is None:
                if z[v] is None:
                    return False
                first, last, closed = self.ways[v].cell(self.ways[v].seen(z[v]))
                if first > high or last < low or (last == low and not closed):
                    return False
        return True

    def _both_there(self, t, z):
        """Nobody mistakes a missing value of a kept variable for another."""
        mistaken = [v for v in self.who.errors if v in self.known and self.ways[v].random is None]
        return all((t[v] is None) == (z[v] is None) for v in mistaken if None in self.twin.y[v])

    def weights(self, i, t):
        """w_j without the prior, of each candidate j."""
        twin, out = self.twin, {}
        known = {v: self.ways[v].met(t[v]) for v in self.known}
        e = None
        for j in range(twin.r):
            z = {v: twin.z[v][j] for v in twin.z}
            if not self.consistent(t, z):
                continue
            if any(like.label(known[v]) != like.label_z(j) for v, like in self.labels.items()):
                continue
            w = math.prod(self._mistake(v, t[v], z[v]) for v in self.who.errors if v in self.known)
            w *= self._beside(i, j)
            for about, like, _ in self.items:
                v = about[0]
                if isinstance(like, NoiseL) and v in self.known and like.label_z(j) == "inside":
                    w *= like(known[v], j)
                elif isinstance(like, SwapL) and v in self.known and self.belief and v not in self.belief.values:
                    w *= like((known[v],), j)
                elif self.belief is None and not isinstance(like, NoiseL):
                    w *= like(tuple(known[v] for v in about), j)
            if self.belief is not None:
                if e is None:
                    e = self._e(i, t)
                w *= self._b(i, j, t, e, known)
            out[j] = w / self.m[j]
        return out

    def _b(self, i, j, t, e, known):
        """Sum over classes of belief times likelihood: C and B of everything that is no known number."""
        if self.helped:
            cell, pi = self._cell(j), self.belief.pi_record(self._place(j))
            numbers = self.belief.scene.numbers
            mine = np.array([pi[k] * self._fits(k, t) * self._numbers(t, cell, k, numbers) * self._in_limits(k, cell)
                             for k in range(self.belief.k)]) / e.sum()  # fmt: skip
        elif e.sum() == 0:  # a combination that the reference file lacks: belief without it
            mine = self.belief.pi_target(i)
        else:
            mine = e / e.sum()
        return sum(mine[k] * math.prod(self._l(k, j, item, known, False) for item in self.items)
                   for k in np.flatnonzero(mine > 0))  # fmt: skip

    def _mistake(self, v, x, z):
        """Pr(x given z) for a kept category of which the intruder is wrong with a stated probability."""
        if z is None or x is None:
            return float(z is x)
        present = [y for y in self.twin.y[v] if y is not None]
        levels, wrong = sorted(set(present)), self.who.errors[v]

        def p(y):
            return 1 - wrong if x == y else wrong / (len(levels) - 1)

        return p(z)

    def _beside(self, i, j):
        """Beliefs about mistaken values: 1 / Pr(all known given the labels), and what the record's own say of others."""
        out = math.exp(-self.scene.side.log_absent[i])
        last = self.scene.uncertain[-1] if self.scene.uncertain else None
        if last is not None and " given " in last.variables[0]:
            row = last.like.target(self.scene.targets)["row"][i]
            out *= math.exp(last.like.log_p[row, last.like.column[j]] + last.log_own[j])
        return out

    def naive(self, t):
        """Equal categories, nearest numbers."""
        twin, out = self.twin, {}
        numbers = [v for v in self.known if self.ways[v].random and is_number(twin.z[v])]
        for j in range(twin.r):
            z = {v: twin.z[v][j] for v in twin.z}
            same = [v for v in self.known if v not in numbers]
            if not self.consistent(t, z) or any(self.ways[v].image(t[v]) != self.ways[v].seen(z[v]) for v in same):
                continue
            out[j] = 0.0
            for v in numbers:
                scale = np.std([x for x in twin.z[v] if x is not None]) or 1.0
                if z[v] is None or t[v] is None:
                    out[j] += 0.0 if z[v] is t[v] else math.inf  # missing is nearest to missing
                else:
                    out[j] += ((z[v] - t[v]) / scale) ** 2
        near = math.sqrt(min(out.values(), default=math.inf))
        return {j: float(near < math.inf and math.sqrt(d) <= near * (1 + TIE)) for j, d in out.items()}

    def people(self, i, t, candidates):  # noqa: ARG002
        """N_t, at least n_t."""
        twin, m, n_t = self.twin, self.who.membership, len(candidates)
        if m == "certain":
            return float(n_t)
        if m == "in_file":
            return max(n_t, self._count(t, twin.y, [1.0] * twin.n))
        if m.weights is not None:
            whole = sum(twin.y[m.weights]) / sum(twin.z[m.weights]) if twin.r < twin.n else 1.0
            return max(n_t, whole * sum(twin.z[m.weights][j] for j in candidates))
        if m.population is not None:
            people = columns(m.population)
            size = m.population.height
            return max(n_t, self._count(t, people, people[m.count] if m.count else [1.0] * size))
        return max(n_t, m.total * n_t / twin.r)

    def _count(self, t, people, weight):
        total = 0.0
        same = [*self.kept, *(v for v in self.known if self.c == "naive" and v not in self.kept)]
        for i, w in enumerate(weight):
            ok = all(self.ways[v].image(t[v]) == self.ways[v].image(people[v][i]) for v in same)
            ok &= self._both_there(t, {v: people[v][i] for v in self.who.errors})
            if self.c != "naive":
                met = {v: self.ways[v].met for v in self.labels}
                ok &= all(
                    like.label(met[v](t[v])) == like.label(met[v](people[v][i])) for v, like in self.labels.items()
                )
            for v, (low, high) in self.limits.items():
                if self.ways[v].random is None:
                    ok &= people[v][i] is not None and low <= people[v][i] <= high
            total += w * ok
        return total

    def target(self, i, t, own):
        """One target's line of `attack.units`, with its posterior."""
        w = self.naive(t) if self.c == "naive" else self.weights(i, t)
        n_t, certain = len(w), self.who.membership == "certain"
        big = self.people(i, t, w)
        absent = 0.0 if certain or not n_t else (big - n_t) / big
        joint = {j: x / big for j, x in w.items()}
        total = absent + sum(joint.values())
        out = {"candidates": n_t, "p_true": None if own is None else 0.0, "p_max": 0.0, "n_max": 0, "hit": False,
               "as_likely": None, "rank": None, "p_absent": None if certain else 1.0, "posterior": {}}  # fmt: skip
        if not n_t or sum(joint.values()) == 0:
            out["posterior"] = dict.fromkeys(w, 0.0)
            return out
        p = {j: x / total for j, x in joint.items()}
        top = max(p.values())
        best = [j for j, x in p.items() if x >= top * (1 - TIE)]
        out |= {"p_max": top, "n_max": len(best), "p_absent": absent / total, "posterior": p}
        if own is not None:
            mine = p.get(own, 0.0)
            out |= {"p_true": mine, "hit": own in best}
            if mine > 0:
                out["rank"] = 1 + sum(x > mine * (1 + TIE) for x in p.values())
                out["as_likely"] = sum(x >= mine * (1 - TIE) for j, x in p.items() if j != own)
        return out


def compare(attack, targets=None, truth=None, tolerance=1e-9):
    """Assert that the engine's table and every posterior agree with the twin's."""
    twin = Twin(attack, targets, truth).run()
    units = attack.units.to_dicts()
    assert len(units) == len(twin)
    for i, (fast, slow) in enumerate(zip(units, twin, strict=True)):
        for name in ("candidates", "n_max", "hit", "as_likely", "rank"):
            underflown = slow["candidates"] and slow["p_max"] == fast["p_max"] == 0.0  # the engine counts in logs
            assert fast[name] == slow[name] or (underflown and name == "n_max"), (i, name, fast, slow)
        for name in ("p_true", "p_max", "p_absent"):
            assert (fast[name] is None) == (slow[name] is None), (i, name, fast, slow)
            if fast[name] is not None:
                assert abs(fast[name] - slow[name]) <= tolerance, (i, name, fast[name], slow[name], fast, slow)
        post = attack.posterior(i)
        found = dict(zip(post["row"].to_list(), post["p"].to_list(), strict=True))
        assert set(found) == set(slow["posterior"]), i
        for j, p in slow["posterior"].items():
            assert abs(found[j] - p) <= tolerance, (i, j, found[j], p)
        if found and max(found.values()) > 0:
            assert abs(sum(found.values()) + (fast["p_absent"] or 0.0) - 1) <= tolerance
