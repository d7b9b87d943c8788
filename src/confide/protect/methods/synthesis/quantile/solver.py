"""Linear quantile regression for many levels at once, exact at every level.

For each level tau the coefficients b minimise the check loss

    L(b) = sum_i rho(y_i - x_i'b),     rho(r) = r (tau - [r < 0]),

a linear program. Its dual has one bounded variable for each record,

    max y'a   subject to   X'a = (1 - tau) X'1,   0 <= a <= 1,

where a_i is 1 above the line, 0 below it and in between on it. For any b and any feasible a,

    L(b) - dual(a) = sum_i (1 - a_i) max(r_i, 0) + a_i max(-r_i, 0) >= 0,

so a pair with gap zero proves that b is best. Each level is solved in three steps.

1. *Band.* The neighbouring levels tell which records surely stay above or below the line. These are summed into a few
   rows: the loss of a sum is at most the sum of the losses, with equality while all signs agree. So if the signs hold
   at the solution, it is best for all records; if not, the band is repaired or enlarged (Portnoy and Koenker 1997,
   doi:10.1214/ss/1030037960).
2. *Interior point* on the band, with Mehrotra's predictor and corrector, from a feasible start.
3. *Vertex.* A best line goes through p records. They are read off the interior point, and edges are followed
   downhill until the dual variables of the p records are in [0, 1]. That is the proof of optimality.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.linalg import qr
from scipy.sparse import csc_array

from confide.core.run.threads import one_blas_thread
from confide.frames.columns import F64, I64, Bools

DEPENDENT = 1e-9  # a scaled column whose part outside the span of the others is shorter than this is dropped
ON_LINE = 1e-11  # a residual this small, relative to 1 + |y| with y scaled, is zero
DUAL = 1e-9  # how far a dual variable may be outside [0, 1]
STOPS = (1e-6, 1e-9, 1e-12)  # relative gaps at which the interior point is rounded to a vertex
SMALL = 1500  # with at most this many records there is no band


def check_loss(x: F64, y: F64, beta: F64, tau: float) -> float:
    """The sum over records of rho(y - x'beta), with rho(r) = r (tau - [r < 0])."""
    return _loss(y - x @ beta, tau)


def fit_process(x: F64, y: F64, taus: F64) -> F64:
    """Quantile regression coefficients, of shape (p, len(taus)).

    `x` (n, p) holds the design with its intercept column, `y` (n,) the outcome, `taus` increasing levels in (0, 1);
    all finite. Columns that depend linearly on others get the coefficient 0. Where the best line is not unique, one
    of the best is returned; the same data give the same line.
    """
    x, y, taus = (np.ascontiguousarray(v, dtype=np.float64) for v in (x, y, taus))
    if not (np.isfinite(x).all() and np.isfinite(y).all() and ((taus > 0) & (taus < 1)).all()):
        raise ValueError("The design and the outcome must be finite, and the levels between 0 and 1.")
    n, p = x.shape
    if n == 0 or p == 0 or len(taus) == 0:
        return np.zeros((p, len(taus)))
    with one_blas_thread(), np.errstate(all="ignore"):
        z, intercept, back = _orthogonal(x)
        shift = float(np.median(y)) if intercept else 0.0
        v, unit = y - shift, 1.0
        lines = np.zeros((z.shape[1], len(taus)))
        if v.any() and z.shape[1]:
            far = np.abs(v[v != 0])
            unit = max(float(np.median(far)), 1e-9 * float((far / n).sum()))
            v = v / unit
            g = z.T @ v / n
            g += z.T @ (v - z @ g) / n
            perfect = bool((np.abs(v - z @ g) <= 10 * ON_LINE * (1.0 + np.abs(v))).all())
            lines = np.repeat(g[:, None], len(taus), axis=1) if perfect else _walk(z, v, taus, intercept)
        return np.column_stack([back(lines[:, k] * unit, shift) for k in range(len(taus))])


def _loss(r: F64, tau: float) -> float:
    """The check loss of residuals."""
    return float(tau * np.maximum(r, 0.0).sum() + (1.0 - tau) * np.maximum(-r, 0.0).sum())


def _orthogonal(x: F64) -> tuple[F64, bool, Callable[[F64, float], F64]]:
    """The design as z with z'z = n I, whether it has an intercept (then z's first), and the way back.

    Columns are centred (if there is an intercept) and scaled, dependent ones are dropped. The way back turns g and a
    shift into coefficients b with x b = shift + z g.
    """
    n, p = x.shape
    scale = np.abs(x).max(axis=0)
    same = np.flatnonzero((scale > 0) & (np.ptp(x, axis=0) == 0))
    scale[scale == 0] = 1.0
    u, middle, level = x / scale, np.zeros(p), 1.0
    if len(same):
        middle, level = u.mean(axis=0), float(x[0, same[0]])
        middle[same[0]], scale[same[0]] = 0.0, level
        u -= middle
        u[:, same[0]] = 1.0
    norm = np.sqrt((u * u).sum(axis=0))
    alive = np.flatnonzero(norm > 1e-13 * np.sqrt(n))
    u = u[:, alive] / norm[alive]
    corner: Any = np.linalg.qr(u, mode="r")
    # Of columns that could stand for each other keep the intercept, else the one with fewer digits lost or the first.
    rank = 1.0 - 1e-3 * np.log10(1.0 + np.sqrt(n) * np.abs(middle) / norm)[alive] - 1e-6 * np.linspace(0, 1, len(alive))
    rank[np.isin(alive, same[:1])] = 2.0
    _, tri, order = qr(corner * rank, mode="economic", pivoting=True)
    size = np.abs(np.diag(tri))
    chosen = order[: len(size)][size > DEPENDENT]
    kept = alive[chosen]
    inverse = np.linalg.inv(qr(corner[:, chosen], mode="r")[0][: len(kept)]) * np.sqrt(n)

    def back(g: F64, shift: float) -> F64:
        beta = np.zeros(p)
        beta[kept] = inverse @ g / norm[kept]
        if len(same):
            beta[same[0]] += shift - middle @ beta
        return np.asarray(beta / scale)

    return np.ascontiguousarray(u[:, chosen] @ inverse), len(same) > 0, back


def _walk(z: F64, y: F64, taus: F64, intercept: bool) -> F64:
    """The best lines, of shape (r, len(taus)), found from the middle level outwards."""
    n, r = z.shape
    if n <= max(SMALL, 20 * r):
        return np.column_stack([_solve(z, y, float(tau), None) for tau in taus])
    band, lines = Band(z, y, intercept), np.empty((r, len(taus)))
    first = int(np.abs(taus - 0.5).argmin())
    for way, path in ((1, range(first, len(taus))), (-1, range(first - 1, -1, -1))):
        for k in path:
            tau, last = float(taus[k]), k - way
            step = abs(tau - float(taus[last])) if k != first else 1.0
            if 4.0 * n * step > (n * r) ** (2 / 3):  # no near neighbour: start from a sample
                width = int((n * r) ** (2 / 3))
                some = np.random.default_rng(0).choice(n, size=min(n, width), replace=False)
                guess = _solve(z[some], y[some], tau, None)
            else:
                width = int(n * step + 0.6 * np.sqrt(n * r))
                guess = lines[:, last]
                if 0 <= last - way < len(taus) and (way < 0 or last > first) and band.tied < width:
                    ratio = step / abs(float(taus[last] - taus[last - way]))
                    guess = guess + min(ratio, 1.0) * (guess - lines[:, last - way])
            lines[:, k] = band.fit(tau, guess, width + 10 * r)
    return lines


class Band:
    """Fits one level after the other with the records near the line; the others are summed by cell and side.

    `cell` groups similar records, so that the summed rows stay close to the records that they stand for. `size` is
    proportional to the standard error of the line at each record, |J^{-1} z_i| with J the density weighted second
    moment near the line; a record is in the band if |residual| / size is small.
    """

    def __init__(self, z: F64, y: F64, intercept: bool) -> None:
        self.z, self.y, self.intercept = z, y, intercept
        self.zy = np.column_stack([z, y])
        self.cell = _cells(z, 64)
        self.size, self.measured = np.sqrt((z * z).sum(axis=1)) + 1e-3, 0.0
        self.zero, self.factor, self.tied = ON_LINE * (1.0 + np.abs(y)), 1.0, 0

    def fit(self, tau: float, guess: F64, width: int) -> F64:
        """The best line for all records."""
        z, y, zero, n = self.z, self.y, self.zero, len(self.y)
        g, near = guess.copy(), y - z @ guess
        if self.intercept and self.tied < width:
            k = min(int(n * tau), n - 1)
            move = float(np.partition(near, k)[k])
            g[0] += move / z[0, 0]
            near = near - move
        while 2 * self.factor * width < n:
            most = int(self.factor * width)
            key = np.abs(near) / self.size
            keep = (key <= np.partition(key, most)[most]) | (np.abs(near) <= zero)
            high = ~keep & (near > 0)
            for _ in range(5):
                rows = np.flatnonzero(keep)
                line = _solve(*self.summed(rows, keep, high), tau, g)
                r = y - z @ line
                wrong = np.flatnonzero(~keep & np.where(high, r < -zero, r > zero))
                if len(wrong) == 0:
                    self.measure(tau, r, rows)
                    self.factor = max(1.0, 0.8 * self.factor)
                    return line
                if len(wrong) > 0.25 * len(rows):
                    break
                keep[wrong], high[wrong] = True, False
            self.factor *= 2.0
        self.factor = max(1.0, 0.5 * self.factor)
        return _solve(z, y, tau, g)

    def summed(self, rows: I64, keep: Bools, high: Bools) -> tuple[F64, F64]:
        """The records of the band, then one summed row for each cell above and below it."""
        n, many = len(keep), 2 * int(self.cell.max() + 1)
        where = np.where(keep, many, 2 * self.cell + high).astype(np.int32)
        pick: Any = csc_array((np.ones(n), where, np.arange(n + 1, dtype=np.int32)), shape=(many + 1, n))
        sums = (pick @ self.zy)[:many][np.bincount(where, minlength=many + 1)[:many] > 0]
        return np.vstack([self.z[rows], sums[:, :-1]]), np.append(self.y[rows], sums[:, -1])

    def measure(self, tau: float, r: F64, rows: I64) -> None:
        """Count the records on the line, and renew `size` if the level moved far since the last time."""
        self.tied = int(np.count_nonzero(np.abs(r) <= self.zero))
        edge, old = min(tau, 1.0 - tau), min(self.measured, 1.0 - self.measured)
        if abs(tau - self.measured) >= 0.04 or edge <= 0.7 * old:
            part = self.z[rows]
            j = (part / self.size[rows][:, None]).T @ part
            j += 1e-4 * np.trace(j) / len(j) * np.eye(len(j))
            size = np.sqrt(((self.z @ np.linalg.inv(j)) ** 2).sum(axis=1))
            self.size, self.measured = size / size.mean() + 1e-3, tau


def _cells(z: F64, most: int) -> I64:
    """A cell number for each record: the records are split at the mean of the column that varies most in a cell."""
    cell, cells = np.zeros(len(z), dtype=np.int64), [np.arange(len(z))]
    for _ in range(most - 1):
        rows = cells.pop(0)
        part = z[rows]
        column = part[:, int(part.var(axis=0).argmax())]
        left = column <= column.mean()
        cells += [rows] if left.all() or not left.any() else [rows[left], rows[~left]]
    for k, rows in enumerate(cells):
        cell[rows] = k
    return cell


def _solve(z: F64, y: F64, tau: float, guess: F64 | None) -> F64:
    """A best line, by the interior point, or if that is not proved to be best, by HiGHS."""
    goal, a = (1.0 - tau) * z.sum(axis=0), np.full(len(y), 1.0 - tau)
    lines = [np.linalg.lstsq(z, y, rcond=None)[0].astype(np.float64) if guess is None else guess]
    for g, a, weight in _interior(z, y, tau, lines[0]):
        line, proved = _vertex(z, y, tau, a, weight)
        if proved:
            return line
        lines += [line, g]
    r = y - z @ lines[-1]
    gap = float((1.0 - a) @ np.maximum(r, 0.0) + a @ np.maximum(-r, 0.0))
    if not (gap <= 1e-10 * _loss(r, tau) and np.abs(a @ z - goal).max() <= 1e-9 * len(y)):
        from scipy.optimize import linprog

        answer: Any = linprog(-y, A_eq=z.T, b_eq=goal, bounds=(0.0, 1.0), method="highs")
        if answer.x is not None:
            lines.append(-np.asarray(answer.eqlin.marginals))
    return lines[int(np.nanargmin([_loss(y - z @ line, tau) for line in lines]))]


def _interior(z: F64, y: F64, tau: float, g: F64) -> Iterator[tuple[F64, F64, F64]]:
    """Line, dual variables and weights of the records, when the relative gap falls below each of `STOPS`.

    With residuals y - z g = w - v, w, v > 0, and s = 1 - a, a step towards a_i v_i = s_i w_i = mu solves

        (z'Qz) dg = z'Q xi - e,   xi = w - v + (mu - c da dv)/a - (mu + c da dw)/s,   1/Q = v/a + w/s,

    and da = Q (xi - z dg), where e = (1 - tau) z'1 - z'a is zero but for rounding. The products da dv and da dw come
    from a first step with mu = c = 0; c is the product of the lengths that it could be followed for.
    """
    n, goal, stops = len(y), (1.0 - tau) * z.sum(axis=0), list(STOPS)
    a, s, q = np.full(n, 1.0 - tau), np.full(n, tau), np.ones(n)
    r, norm = y - z @ g, np.sqrt((z * z).sum(axis=1)) + 1e-8
    small = norm * max(float((np.abs(r) / norm).mean()), 1e-8) * 0.1
    w, v = np.maximum(r, 0.0) + small, np.maximum(-r, 0.0) + small
    for _ in range(120):
        gap = float(a @ v + s @ w)
        if not gap > stops[0] * _loss(w - v, tau):
            yield g, a, q
            stops.pop(0)
            if not stops:
                return
        via, wis = v / a, w / s
        q = 1.0 / (via + wis)
        zq = z * q[:, None]
        m = zq.T @ z
        try:
            inverse = np.linalg.inv(m)
        except np.linalg.LinAlgError:
            break
        xi, miss, mu, ca, cs = w - v, goal - a @ z, 0.0, 0.0 * a, 0.0 * a
        for corrector in (False, True):
            aim = (xi + ca - cs) @ zq - miss
            dg = inverse @ aim
            dg += inverse @ (aim - m @ dg)
            da = q * (xi + ca - cs - z @ dg)
            dv, dw = ca - v - via * da, cs - w + wis * da
            up = min(1.0, 0.9995 / max(float((-da / a).max()), float((da / s).max()), 1e-300))
            down = min(1.0, 0.9995 / max(float((-dv / v).max()), float((-dw / w).max()), 1e-300))
            if not corrector:
                after = float((a + up * da) @ (v + down * dv) + (s - up * da) @ (w + down * dw))
                mu, c = (after / gap) ** 2 * after / (2 * n), up * down
                ca, cs = (mu - c * da * dv) / a, (mu + c * da * dw) / s
        if not (np.isfinite(dg).all() and max(up, down) > 1e-10):
            break
        a, s, v, w, g = a + up * da, s - up * da, v + down * dv, w + down * dw, g + down * dg
    yield g, a, q


def _vertex(z: F64, y: F64, tau: float, a: F64, weight: F64) -> tuple[F64, bool]:
    """The vertex next to an interior point: independent rows of large weight, then downhill along edges."""
    n, p = z.shape
    for many in (6 * p, n):
        some = np.argpartition(-weight, many)[:many] if many < n else np.arange(n)
        tall = z[some] * np.sqrt(weight[some] / weight[some].max())[:, None]
        if not np.isfinite(tall).all():
            break
        rows = np.sort(some[qr(tall.T, mode="r", pivoting=True)[1][:p]])
        if len(rows) == p and np.linalg.cond(z[rows]) < 1e9:
            return _descend(z, y, tau, rows, np.clip(a, 0.0, 1.0))
    return np.full(p, np.nan), False


def _descend(z: F64, y: F64, tau: float, rows: I64, a: F64) -> tuple[F64, bool]:
    """Follow edges downhill from the line through `rows`, for some steps; the line and whether it is proved best.

    With h the rows, d = z_h^{-T} ((1 - tau) z'1 - sum of a_i z_i outside h) are their dual variables. If d_j > 1 the
    loss falls at the rate d_j - 1 when record j goes above the line (at the rate -d_j below it, if d_j < 0) and the
    others of h stay on it. The rate drops as other records meet the line; the one that ends it replaces j.
    """
    zero, goal, rows = ON_LINE * (1.0 + np.abs(y)), (1.0 - tau) * z.sum(axis=0), rows.copy()
    g = np.zeros(z.shape[1])
    for _ in range(60 + 6 * z.shape[1]):
        try:
            inverse = np.linalg.inv(z[rows])
        except np.linalg.LinAlgError:
            break
        g = inverse @ y[rows]
        g += inverse @ (y[rows] - z[rows] @ g)
        r = y - z @ g
        r[rows] = 0.0
        a = np.where(r > zero, 1.0, np.where(r < -zero, 0.0, a))
        a[rows] = 0.0
        d = (goal - a @ z) @ inverse
        over = np.maximum(d - 1.0, -d)
        j = int(over.argmax())
        if not over[j] > DUAL:
            return g, bool(np.isfinite(r).all())
        rising = bool(d[j] > 1.0)
        speed = z @ (inverse[:, j] if rising else -inverse[:, j])
        speed[rows] = 0.0
        fast, tied = np.abs(speed), np.abs(r) <= zero
        drop = np.where(tied, np.where(speed > 0, 1.0 - a, a), 1.0) * fast
        meet = np.flatnonzero((tied | (r * speed < 0)) & (fast > 1e-10) & (drop > 0))
        when = np.where(tied[meet], 0.0, np.abs(r[meet])) / fast[meet]
        order = meet[np.argsort(when, kind="stable")]
        end = int(np.searchsorted(np.cumsum(drop[order]), over[j]))
        if end >= len(order):
            break
        a[order[:end]] = speed[order[:end]] > 0
        a[rows[j]] = float(rising)
        rows[j] = order[end]
    return g, False
