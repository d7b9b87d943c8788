"""A surrogate of the survey of elites in Fienberg, Makov and Sanil (1997), section 4.1: simulated, nobody's answers.

The survey itself (Canadian decision makers, 1981) is not public. The paper says how its five variables were made from
the answers; here the answers are drawn at random and the variables made from them in the same way.

``python -m confide.demo.elites FILE`` writes the data; the shipped file was written so.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from confide.core.errors import InputError
from confide.frames import write

Floats = npt.NDArray[np.float64]

N = 662

SEED = 98
"""The first seed, from 0, with the four ranges of `PRINTED` met within 7 percent."""

PRINTED = {"age": 64.1, "civil": 20.6, "can_us": 15.1, "income": 11.4}
"""Ranges of the released variables that Table 4.2 implies: six times the square root of 400 / beta."""

TAIL = 0.31612244
"""Where the upper 38 percent of t(8) begin."""


def build(seed: int = SEED) -> pl.DataFrame:
    """The surrogate, 662 rows: `age`, `civil`, `can_us`, `income` in 10,000 dollars, and the confidential `attitude`.

    Items have five points and are cut from normal variates; within a scale they correlate at 0.3 to 0.5. A variate of
    age and one of income move the scales a little. As in the paper, sums of items get normal noise of variance 1/2,
    age one of variance 4, incomes below 80,000 a uniform part of their band, and the topcoded ones are
    60,000 + 25,000 t with t from the upper 38 percent of t(8).

    Means, spreads and the share of topcoded incomes are choices made here, and so is the seed: it was picked for
    ranges near those of the paper's data (`PRINTED`). Nothing else of that data is known to be matched.

    >>> build().select("age", "income").max().row(0)
    (84.970194, 15.011098)
    """
    rng = np.random.RandomState(seed)  # a stream that no version of numpy changes
    old = rng.standard_normal(N)
    rich = _variate(rng, (0.2, old))
    liberal = _variate(rng, (-0.2, old), (0.15, rich))
    near = _variate(rng, (0.1, old), (0.2, rich))
    hostile = _variate(rng, (0.15, old), (-0.35, liberal))

    # C5, CUS1 and CUS6 are asked the other way round; the sums turn them.
    c1, c2, c3, c5 = _items(rng, liberal, (3.4, 3.2, 3.5, 2.1), (1.9, 1.9, 1.9, -1.9), 0.52)
    cus1, cus5, cus6, cus7 = _items(rng, near, (4.1, 2.5, 3.8, 3.0), (-1.1, 1.1, -1.1, 1.1), 0.42)
    a15, a18 = _items(rng, hostile, (1.7, 1.9), (1.3, 1.3), 0.5)
    columns = {
        "age": np.rint(47 + 10.3 * old + 0.4 * (old**2 - 1)) + 2 * rng.standard_normal(N),
        "civil": c1 + c2 + c3 + (8 - c5) + _half(rng),
        "can_us": (5 - cus1) + cus5 + (5 - cus6) + cus7 + _half(rng),
        "income": _income(rng, np.clip(np.floor(7.75 + 1.6 * rich), 0, 8)),
        "attitude": a15 + a18 + _half(rng),
    }
    return pl.DataFrame({name: np.round(values, 6) for name, values in columns.items()})


def _variate(rng: np.random.RandomState, *parts: tuple[float, Floats]) -> Floats:
    """A normal variate of about unit variance that owes `weight` to each of the others."""
    left = 1 - sum(weight**2 for weight, _ in parts)
    shared = sum((weight * other for weight, other in parts), np.zeros(N))
    return np.asarray(shared + np.sqrt(left) * rng.standard_normal(N))


def _items(
    rng: np.random.RandomState, factor: Floats, means: Sequence[float], slopes: Sequence[float], shared: float
) -> list[Floats]:
    """Answers from 1 to 5, one array an item; `shared` is the part of the variance that the factor explains."""
    answers = []
    for mean, slope in zip(means, slopes, strict=True):
        latent = np.sqrt(shared) * factor + np.sqrt(1 - shared) * rng.standard_normal(N)
        answers.append(np.clip(np.rint(mean + slope * latent), 1, 5))
    return answers


def _half(rng: np.random.RandomState) -> Floats:
    """Normal noise of variance 1/2."""
    return np.asarray(np.sqrt(0.5) * rng.standard_normal(N))


def _income(rng: np.random.RandomState, band: Floats) -> Floats:
    """Incomes in 10,000 dollars from the lower ends of their bands, of which 8 is the open one."""
    within = band + rng.uniform(size=N)
    t = rng.standard_t(8, size=8 * N)
    above = 6 + 2.5 * t[t > TAIL][:N]
    return np.where(band < 8, within, above)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line of this module."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        if len(given) != 1:
            raise InputError("Name the one file to write: python -m confide.demo.elites elites.parquet")
        if Path(given[0]).exists():
            raise InputError(f"{given[0]} exists and is not overwritten; name a new file.")
        write(build(), given[0])
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
