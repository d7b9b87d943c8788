"""Speed and exactness of the quantile process, against a loop of statsmodels' QuantReg in the same run.

    python benchmarks/quantiles.py            5,000, 51,016 and 200,000 records, a few minutes
    python benchmarks/quantiles.py --quick    only 5,000 and 51,016 records

Household income on 12 columns of the heads data (drawn with replacement but for 51,016), at the levels 0.01, ..., 0.99.
statsmodels is timed at 9 of the 99 levels, spread over (0, 1), and scaled up by 11. It stops by an absolute rule
(coefficients move by less than 1e-6), so its time depends on the units. The ratio is taken in units that suit it:
columns standardised and income divided by its mean deviation. In dollars it often runs to its limit of 1,000 steps;
that time is in the last column, for up to 51,016 records. Both sides use one BLAS thread. The excess is the worst of
(our loss - statsmodels' loss) / statsmodels' loss over these levels and units: negative if ours is always lower.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

import confide as cf
from confide.protect.methods.synthesis.quantile.solver import check_loss, fit_process

TAUS = np.arange(1, 100) / 100
SOME = np.arange(5, 99, 11)


def data(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Household income and its design: an intercept, three numbers and eight indicators."""
    heads = cf.demo("heads")
    if n != heads.height:
        heads = heads[np.random.default_rng(0).integers(0, heads.height, n)]
    age, educ = heads["age"].to_numpy(), heads["educ"].to_physical().to_numpy()
    flags = [educ == 8, (educ == 9) | (educ == 10), educ == 11, educ >= 12]
    cases = (("sex", "female"), ("tenure", "rented"), ("marital", "married, spouse present"), ("race", "White"))
    flags += [(heads[v] == value).to_numpy() for v, value in cases]
    x = np.column_stack([np.ones(n), age, age**2, heads["n_persons"].to_numpy(), *flags])
    return x.astype(np.float64), heads["hh_income"].to_numpy().astype(np.float64)


def ours(x: np.ndarray, y: np.ndarray, repeats: int = 3) -> tuple[float, np.ndarray]:
    """Seconds for all levels, best of a few, and the losses at some of them."""
    best, beta = np.inf, np.empty(0)
    for _ in range(repeats):
        began = time.perf_counter()
        beta = fit_process(x, y, TAUS)
        best = min(best, time.perf_counter() - began)
    return best, np.array([check_loss(x, y, beta[:, k], TAUS[k]) for k in SOME])


def theirs(x: np.ndarray, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Seconds of statsmodels for some levels, scaled up to all, and the losses."""
    from statsmodels.api import QuantReg

    with warnings.catch_warnings(), threadpool_limits(limits=1, user_api="blas"):
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        fits = [np.asarray(QuantReg(y, x).fit(q=TAUS[k]).params) for k in SOME]
        seconds = (time.perf_counter() - began) * len(TAUS) / len(SOME)
    return seconds, np.array([check_loss(x, y, b, TAUS[k]) for b, k in zip(fits, SOME, strict=True)])


def friendly(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns behind the intercept, and the outcome in units of its mean deviation."""
    rest = x[:, 1:]
    z = np.column_stack([x[:, 0], (rest - rest.mean(axis=0)) / rest.std(axis=0)])
    return z, y / np.abs(y - np.median(y)).mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only 5,000 and 51,016 records")
    quick = parser.parse_args().quick
    print("99 quantiles, 12 columns; statsmodels timed at 9 of the 99 levels and scaled up by 11, in standard units")
    print(
        f"{'records':>10} {'seconds':>9} {'statsmodels s':>14} {'ratio':>7} {'worst excess':>13} {'in dollars s':>13}"
    )
    for n in (5_000, 51_016) if quick else (5_000, 51_016, 200_000):
        x, y = data(n)
        z, v = friendly(x, y)
        seconds, loss = ours(x, y)
        slow, other = theirs(z, v)
        excess = float((ours(z, v, 1)[1] / other - 1).max())
        text = f"{n:>10,} {seconds:>9.2f} {slow:>14.1f} {slow / seconds:>6.0f}x"
        dollars = ""
        if n <= 51_016:
            raw, other = theirs(x, y)
            dollars, excess = f"{raw:.0f}", max(excess, float((loss / other - 1).max()))
        print(f"{text} {excess:>13.1e} {dollars:>13}", flush=True)


if __name__ == "__main__":
    main()
