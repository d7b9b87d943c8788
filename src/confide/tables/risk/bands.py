"""How many areas lie in each band of probability: Table 3 of Smith and Elliot."""

from __future__ import annotations

import numpy as np
import polars as pl

from confide.core.errors import InputError, did_you_mean, raise_all

BANDS = ("=0", *(f"{k / 10:g}-{(k + 1) / 10:g}" for k in range(10)), "=1")
NEAR = 1e-12
"""Probabilities nearer than this to the edge of a band are taken to lie on it: they are that accurate."""


def sap_bands(frame: pl.DataFrame) -> pl.DataFrame:
    """Areas by band of probability, one row for each n. Bands hold their lower end: 0.1 is in "0.1-0.2".

    Takes the frame of `confide.sap` for several areas; areas with nobody are left out.

    >>> sap_bands(pl.DataFrame({"n": [2, 2, 2], "sap": [0.0, 0.1, 1.0]})).select("n", "=0", "0.1-0.2", "=1").rows()
    [(2, 1, 1, 1)]
    """
    if not isinstance(frame, pl.DataFrame):
        raise InputError("sap_bands takes the frame of confide.sap for several areas.")
    raise_all(
        f'Banding needs a column "{c}".{did_you_mean(c, frame.columns)}' for c in ("n", "sap") if c not in frame.columns
    )
    if not frame["sap"].dtype.is_numeric() or not frame["n"].dtype.is_integer():
        raise InputError('Banding needs whole numbers in "n" and probabilities in "sap".')
    known = frame.drop_nulls("sap")
    sap = known["sap"].to_numpy().astype(np.float64)
    if not np.all((sap >= 0) & (sap <= 1)):
        raise InputError('The column "sap" must hold probabilities between 0 and 1.')
    band = 1 + np.minimum(np.floor(sap * 10 + 10 * NEAR).astype(np.int64), 9)
    band = np.where(sap == 0, 0, np.where(sap == 1, len(BANDS) - 1, band))
    ns, at = np.unique(known["n"].to_numpy(), return_inverse=True)
    counts = np.zeros((len(ns), len(BANDS)), dtype=np.int64)
    np.add.at(counts, (at, band), 1)
    return pl.DataFrame({"n": ns, **{b: counts[:, k] for k, b in enumerate(BANDS)}})
