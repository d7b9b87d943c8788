"""A release in memory, made again from files."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import confide as cf


def in_files(
    release: cf.Release, folder: Path, cuts: tuple[int, ...] = (), engine: cf.Spark | None = None
) -> cf.ScannedRelease:  # fmt: skip
    """The same release, of the original cut into Parquet files."""
    assert release.plan is not None
    (folder / "in").mkdir()
    ends = [0, *cuts, release.original.height]
    for k, (first, last) in enumerate(pairwise(ends)):
        cf.write(cf.Data(release.original[first:last], release.before.schema), folder / "in" / f"part {k}.parquet")
    made = release.plan.protect(
        cf.scan(folder / "in"), seed=release.seed, out=folder / "released", private=folder / "private", part_rows=170,
        engine=engine,
    )  # fmt: skip
    assert made.released.collect().equals(release.frame)
    return made
