"""Synthetic files and rank swaps once more, slowly: section 4 of the methods, pair by pair, in plain NumPy and loops.

Reads original and released values, parameters stated in the plan, and coefficients that the release's models have
(lines of quantile processes, logistic models of zeros). Designs, ranks, windows, pairings, standard errors, densities
and sums are worked out here. Nothing imports the engine's likelihoods.
"""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import numpy as np
import polars as pl
from scipy.special import ndtr, ndtri
from scipy.stats import norm

import confide as cf
from confide.core.random.seeds import stream

# -- files and answers ------------------------------------------------------------------------------------------


def small_file(n, seed, zeros=0.0, gaps=0.0):
    """A kept category and number, three numbers that go with them, a category to be taken from donors."""
    rng = np.random.default_rng(seed)
    sex, age = rng.choice(["f", "m"], n), rng.integers(20, 70, n)
    a = 100 + 2.0 * age + 20 * (sex == "m") + rng.normal(0, 15, n).round(3)
    a[rng.random(n) < zeros] = 0.0
    b = (50 + 0.3 * a + rng.normal(0, 10, n)).round(3)
    c = rng.permutation(np.repeat(np.arange(1, n), 2)[:n]) * 10.0
    file = pl.DataFrame({"sex": sex, "age": age, "a": a, "b": b, "c": c, "d": rng.choice(["p", "q", "r"], n)})
    return file.with_columns(a=pl.when(pl.Series(rng.random(n) < gaps)).then(None).otherwise(pl.col("a")))


def released(file, *steps, seed=1, **options):
    """Protected; a whole number with few values is a number all the same."""
    named = [v for v in ("age", "x", "y") if v in file.columns]
    return cf.Plan(list(steps), **{"numeric": named, **options}).protect(file, seed=seed)


def numbers(frame, v):
    return frame[v].cast(pl.Float64).fill_null(np.nan).to_numpy()


def posterior(attack, i):
    """p of every released row, 0 for rows that are no candidates."""
    found, out = attack.posterior(i), np.zeros(attack.release.frame.height)
    out[found["row"].to_numpy()] = found["p"].to_numpy()
    return out


def same_block(release, targets, names):
    """0 where a record has the target's kept values, else -inf; shape (targets, records)."""
    out = np.zeros((targets.height, release.frame.height))
    for v in names:
        for i, t in enumerate(targets[v]):
            for j, z in enumerate(release.frame[v]):
                if t != z:
                    out[i, j] = -np.inf
    return out


def normalised(logs):
    """Probabilities from log weights, target by target; all zero where no record is possible."""
    out = np.zeros_like(logs)
    for i, row in enumerate(logs):
        top = row.max()
        if np.isfinite(top):
            w = [math.exp(x - top) for x in row]
            out[i] = np.array(w) / math.fsum(w)
    return out


def check(attack, logs, tolerance=1e-9):
    """Every posterior and every row of units against log weights worked out here, shape (targets, records)."""
    p = normalised(np.asarray(logs))
    for i, row in enumerate(attack.units.iter_rows(named=True)):
        found = posterior(attack, i)
        np.testing.assert_allclose(found, p[i], rtol=1e-7, atol=tolerance)
        assert abs(found - p[i]).max() < tolerance
        own = attack.own_rows[i]
        assert row["candidates"] > 0 or not p[i].any()
        if not p[i].any():
            assert row["status"] == "contradiction"
            assert row["n_max"] == 0
            continue
        assert abs(row["p_max"] - p[i].max()) < tolerance
        assert abs(row["p_true"] - p[i, own]) < tolerance
        assert row["n_max"] == (p[i] >= p[i].max() * (1 - 1e-9)).sum()
        if p[i, own] > 1e-100:
            above = (p[i] > p[i, own] * (1 + 1e-9)).sum()
            assert row["rank"] == 1 + above
            assert row["hit"] == (above == 0)
            assert row["as_likely"] == (p[i] >= p[i, own] * (1 - 1e-9)).sum() - 1


def near(attack, logs, tolerance):
    """Posteriors alone, where the engine's belief is near the one that logs were worked out with."""
    p = normalised(np.asarray(logs))
    assert max(abs(posterior(attack, i) - p[i]).max() for i in range(len(p))) < tolerance


# -- designs ----------------------------------------------------------------------------------------------------


def design(file, frame, given):
    """1, standardised numbers, and indicators of all levels but the commonest; missing numbers at the mean, marked."""
    columns = [[1.0] * frame.height]
    for v in given:
        if file[v].dtype.is_numeric():
            y, x = numbers(file, v), numbers(frame, v)
            there = y[~np.isnan(y)]
            columns.append([0.0 if math.isnan(t) else (t - there.mean()) / there.std() for t in x])
            if np.isnan(y).any():
                columns.append([float(math.isnan(t)) for t in x])
        else:
            counts = {k: file[v].to_list().count(k) for k in sorted(set(file[v]))}
            base = max(counts, key=counts.get)
            columns += [[float(t == k) for t in frame[v]] for k, n in counts.items() if k != base and n > 1]
    return np.array(columns).T


# -- quantile regression ----------------------------------------------------------------------------------------


def line_at(process, x, tau):
    """The prediction at tau: lines in rising order, straight between grid points, flat beyond them."""
    return float(np.interp(tau, process.taus, np.sort(x @ process.beta)))


def tau_through(process, lines, z):
    """The tau whose line passes through z; half a step beyond the outermost lines; the middle of lines that coincide."""
    taus = process.taus
    near = 1e-9 * (process.range[1] - process.range[0])
    on = [t for t, at in zip(taus, lines, strict=True) if abs(at - z) <= near]
    if on:
        return 0.5 * (on[0] + on[-1])
    if z < lines[0]:
        return 0.5 * taus[0]
    if z > lines[-1]:
        return 0.5 * (1 + taus[-1])
    k = max(i for i, at in enumerate(lines) if at < z)
    return taus[k] + (z - lines[k]) / (lines[k + 1] - lines[k]) * (taus[k + 1] - taus[k])


def omega(process, centre, tau, n):
    """sqrt(tau (1 - tau)) / f: the slope of the lines at the mean predictors over Hall and Sheather's bandwidth."""
    lines = np.sort(centre @ process.beta)
    q = norm.ppf(tau)
    h = n ** (-1 / 3) * norm.ppf(0.975) ** (2 / 3) * (1.5 * norm.pdf(q) ** 2 / (2 * q * q + 1)) ** (1 / 3)
    h = max(h, 1 / (len(process.taus) + 1))
    low = min(max(tau - h, process.taus[0]), process.taus[-2])
    high = max(min(tau + h, process.taus[-1]), process.taus[1])
    rise = np.interp(high, process.taus, lines) - np.interp(low, process.taus, lines)
    return math.sqrt(tau * (1 - tau)) * rise / (high - low)


class Quantiles:
    """One quantile-regression step. `tau`, `widen`, `as_printed` as the intruder has them."""

    def __init__(self, release, step, tau="estimated", widen=False, as_printed=False, level="sdl"):
        self.release, self.v, self.given = release, step.variable, list(step.given)
        self.file = release.original if level == "sdl" else release.frame
        self.fitted = self._of(release) if level == "sdl" else self._refitted(step)
        self.process = self.fitted.process
        y = numbers(self.file, self.v)
        self.apart = bool(np.mean(y[~np.isnan(y)] == 0) >= 0.05)
        regular = ~np.isnan(y) & ~((y == 0) & self.apart)
        x_file = design(self.file, self.file, self.given)[regular]
        self.z, self.x = numbers(release.frame, self.v), design(self.file, release.frame, self.given)
        n = int(regular.sum())
        inverse = np.linalg.pinv(x_file.T @ x_file)
        self.sd, self.tau, self.own = [], [], []
        other, x_other = self.process, self.x
        if tau == "estimated" and level == "sdl":
            other, x_other = self._refitted(step).process, design(release.frame, release.frame, self.given)
        # One product for all records: a fitted line runs through some of them, and rounding says on which side they are.
        lines = np.sort(x_other @ other.beta, axis=1)
        drawn = stream(20080, f"an intruder's tau:{step.variable}").random(len(self.z))
        for j, z in enumerate(self.z):
            usual = not math.isnan(z) and not (z == 0 and self.apart)
            if tau in ("known", "estimated"):
                t = tau_through(other, lines[j], z) if usual else 0.5
                own = z
            else:
                t = drawn[j] if tau == "random" else tau
                own = line_at(self.process, self.x[j], t) if usual else z
            form = self.x[j] @ self.x[j] / n if as_printed else self.x[j] @ inverse @ self.x[j]
            size = max(omega(self.process, x_file.mean(axis=0), t, n) * math.sqrt(form), self.process.least)
            self.sd.append(size * (math.sqrt(2) if widen else 1))
            self.tau.append(t)
            self.own.append(own)
        self.as_printed, self.guess = as_printed, tau

    def _of(self, release):
        (found,) = [
            f for s, f in zip(release.compiled.steps, release.compiled.fitted, strict=True) if self.v in s.variables
        ]
        return found

    def _refitted(self, step):
        return released(self.release.frame, step).compiled.fitted[0]

    def log_density(self, z, mean, sd):
        return -0.5 * ((z - mean) / sd) ** 2 - 0.5 * math.log(2 * math.pi) - (0 if self.as_printed else math.log(sd))

    def predicted(self, target_x, tau):
        """The target's prediction: the value that stands apart where that is likelier, else the line."""
        model = self.fitted.states.model
        if not isinstance(model, int):
            state = model.classes_[np.argmax(model.predict_proba(target_x[None, 1:])[0])]
            if state > 0 and not math.isnan(self.fitted.states.apart.values[state - 1]):
                return self.fitted.states.apart.values[state - 1]
        return line_at(self.process, target_x, tau)

    def logs(self, targets, known=True, others=True):
        """log C (or B) plus log A of every pair."""
        out = np.zeros((targets.height, len(self.z)))
        t = numbers(targets, self.v) if known else None
        x = None if known else design(self.file, targets, self.given)
        for i in range(targets.height):
            for j, z in enumerate(self.z):
                if math.isnan(z):
                    out[i, j] = -math.inf if known else 0.0
                    continue
                tau = self.tau[j] if isinstance(self.guess, str) else self.guess
                mean = t[i] if known else self.predicted(x[i], tau)
                out[i, j] = self.log_density(z, mean, self.sd[j])
                if others:
                    out[i, j] -= self.log_density(z, self.own[j], self.sd[j])
        return out

    def caliper(self, targets, size, tau=0.5):
        x = design(self.file, targets, self.given)
        out = np.zeros((targets.height, len(self.z)))
        for i in range(targets.height):
            middle = self.predicted(x[i], tau)
            out[i] = [-math.inf if abs(z - middle) > size else 0.0 for z in self.z]
        return out


# -- normal regression --------------------------------------------------------------------------------------------


def normal_logs(release, step, targets, known=True, others=True):
    """Normal around the target's value (or prediction) with the variance of a prediction, over that of the record's."""
    file, v = release.original, step.variable
    y, z = numbers(file, v), numbers(release.frame, v)
    x, x_file = design(file, release.frame, step.given), design(file, file, step.given)

    def score(value):
        if step.scale == "values":
            return value
        points = sorted(set(y))
        middles = [ndtri((np.sum(y < p) + 0.5 * np.sum(y == p)) / len(y)) for p in points]
        return float(np.interp(value, points, middles))

    s = np.array([score(value) for value in y])
    beta = np.linalg.lstsq(x_file, s, rcond=None)[0]
    sigma2 = ((s - x_file @ beta) ** 2).sum() / (len(y) - x_file.shape[1])
    inverse = np.linalg.inv(x_file.T @ x_file)
    x_t = None if known else design(file, targets, step.given)
    out = np.zeros((targets.height, len(z)))
    for i in range(targets.height):
        mean = score(targets[v][i]) if known else float(x_t[i] @ beta)
        for j in range(len(z)):
            sd = math.sqrt(sigma2 * (1 + x[j] @ inverse @ x[j]))
            out[i, j] = norm.logpdf(score(z[j]), mean, sd)
            if others:
                out[i, j] -= norm.logpdf(score(z[j]), float(x[j] @ beta), sd)
    return out


# -- ranks --------------------------------------------------------------------------------------------------------


def ranks_of(y, file):
    """All ranks that a value holds in a file, from 0; one between values has the nearer neighbour's, the lower first."""
    under, equal = sum(v < y for v in file), sum(v == y for v in file)
    if equal:
        return list(range(under, under + equal))
    below = [v for v in file if v < y]
    above = [v for v in file if v > y]
    if below and (not above or y - max(below) <= min(above) - y):
        return [under - 1]
    return [under]


def near_logs(file_values, z, ranks, window, gap=-math.inf):
    """0 where a rank of z is within the window of one of the target's, else -inf; `gap` for a missing value.

    `ranks`: of each target, all that it holds.
    """
    of_z = [None if math.isnan(v) else ranks_of(v, file_values) for v in z]
    out = np.zeros((len(ranks), len(z)))
    for i, mine in enumerate(ranks):
        for j, theirs in enumerate(of_z):
            if theirs is None:
                out[i, j] = gap
            elif min(abs(a - b) for a in mine for b in theirs) > window:
                out[i, j] = -math.inf
    return out


def predicted_ranks(file, v, needs, targets):
    """Least squares of the middle rank on what donors are found by."""
    y = [t for t in numbers(file, v) if not math.isnan(t)]
    there = file.filter(pl.col(v).is_not_null())
    middle = [np.mean(ranks_of(t, y)) for t in numbers(there, v)]
    beta = np.linalg.lstsq(design(file, there, needs), middle, rcond=None)[0]
    return [[min(max(float(x @ beta), 0), len(y) - 1)] for x in design(file, targets, needs)]


def copy_chances(n, window):
    """Pr(a record at rank q releases rank p): uniform on the window, as far as the file goes."""
    out = np.zeros((n, n))
    for q in range(n):
        inside = [p for p in range(n) if abs(p - q) <= window]
        for p in inside:
            out[q, p] = 1 / len(inside)
    return out


def exchange_chances(n, window):
    """The same for exchanges: all places of the first cut, all orders of a block, neighbours in the order paired."""
    w = min(window + 1, n)
    out = np.zeros((n, n))
    for phase in range(w):
        cuts = [0, *range(phase, n, w), n]
        for a, b in pairwise(cuts):
            orders = list(permutations(range(a, b))) if b > a else []
            for order in orders:
                for k, q in enumerate(order):
                    other = k ^ 1
                    p = order[other] if other < len(order) else q
                    out[q, p] += 1 / (w * len(orders))
    return out


def rank_swap_table(values, window, exchange=False, image=lambda y: y):
    """Pr(released form z given true value y) for all that occur: {(y, z): chance}; ties share their ranks."""
    values = sorted(values)
    chances = (exchange_chances if exchange else copy_chances)(len(values), window)
    out = {}
    for y in set(values):
        mine = [q for q, v in enumerate(values) if v == y]
        for z in {image(v) for v in values}:
            theirs = [p for p, v in enumerate(values) if image(v) == z]
            out[y, z] = sum(chances[q, p] for q in mine for p in theirs) / len(mine)
    return out


def log(x):
    return math.log(x) if x > 0 else -math.inf


def with_others(chance, targets, believed, weights, records):
    """log of C over m_j, m_j = sum over believed values of weight times chance; chance(y, j)."""
    m = [math.fsum(w * chance(y, j) for y, w in zip(believed, weights, strict=True)) for j in range(records)]
    return np.array(
        [[log(chance(t, j)) - math.log(m[j]) if m[j] > 0 else -math.inf for j in range(records)] for t in targets]
    )


def file_shares(values):
    """Distinct values and their shares."""
    distinct = sorted(set(values))
    return distinct, [values.count(v) / len(values) for v in distinct]


# -- noise ----------------------------------------------------------------------------------------------------------


def noise_chance(z, y, sd, step=0.0):
    """Density, or the area of the rounding cell."""
    if not step:
        return math.exp(-0.5 * ((z - y) / sd) ** 2) / (sd * math.sqrt(2 * math.pi))
    a, b = (z - step / 2 - y) / sd, (z + step / 2 - y) / sd
    return float(ndtr(b) - ndtr(a)) if a + b < 0 else float(ndtr(-a) - ndtr(-b))
