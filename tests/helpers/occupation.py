"""A category with hundreds of codes, related to sex, age and education."""

import numpy as np
import polars as pl


def with_occupation(heads: pl.DataFrame, codes: int = 500, seed: int = 5) -> pl.DataFrame:
    """The file with a column "occupation", common codes and rare ones."""
    rng = np.random.default_rng(seed)
    eta = -np.log(np.arange(1, codes + 1))
    for v, spread in (("educ", 0.8), ("sex", 0.8)):
        eta = eta + spread * rng.normal(size=(20, codes))[heads[v].to_physical().to_numpy()]
    eta = eta + 0.3 * rng.normal(size=(20, codes))[heads["age"].to_numpy() // 5]
    drawn = np.argmax(eta + rng.gumbel(size=eta.shape), axis=1)
    return heads.with_columns(pl.Series("occupation", (drawn + 1000).astype(str)))
