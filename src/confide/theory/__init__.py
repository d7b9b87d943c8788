"""The risk-utility map of Duncan and Keller-McNulty (2000): four releases in closed form, their curves and limits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Any

import polars as pl

from confide.core.arguments import guard_room
from confide.core.errors import InputError, did_you_mean
from confide.theory.base import TheoryRelease
from confide.theory.limits import best_rate, smallest_noise
from confide.theory.noise import NoiseRelease, OriginalRelease
from confide.theory.swap import SwapRelease
from confide.theory.synthetic import SyntheticRelease
from confide.theory.uniques import UniquesNoise, smallest_noise_for_uniques, uniques_curve

__all__ = [
    "NoiseRelease",
    "OriginalRelease",
    "SwapRelease",
    "SyntheticRelease",
    "TheoryRelease",
    "UniquesNoise",
    "best_rate",
    "ru_anchors",
    "ru_curve",
    "smallest_noise",
    "smallest_noise_for_uniques",
    "uniques_curve",
]

SCHEMA = {
    "release": pl.String, "parameter": pl.Float64, "snooper": pl.String, "risk": pl.Float64, "utility": pl.Float64
}  # fmt: skip


def ru_curve(
    release: TheoryRelease, values: Iterable[float] | None = None, *, parameter: str | None = None,
    snoopers: str | Sequence[str] | None = None, member: bool = True, relative: bool = False,
) -> pl.DataFrame:  # fmt: skip
    """(R, U) of a release while one of its parameters runs through `values`; without values, of the release itself.

    One row a value and snooper: release, parameter, snooper, risk, utility. `parameter` is the field that varies: by
    default noise_sd, alpha or rate. `snoopers`: names, or "worst" for the best snooper at each value, whatever it is;
    by default all whose risk is a 1/MSE. With `relative=True` there are no units: utility is divided by that of the
    original data, and risk is R sigma^2, which is 1 for who knows the mean and nothing else ("identity" stays).

    >>> curve = ru_curve(SwapRelease(sigma=1.0, difference=1.0, rate=0.0), [0.5, 1.0], snoopers=["attribute"])
    >>> curve.select("parameter", "risk", "utility").with_columns(pl.all().round(3)).rows()
    [(0.5, 0.667, 0.847), (1.0, 0.333, 0.655)]
    """
    if not isinstance(release, TheoryRelease):
        raise InputError(
            "release must be one of the theory's releases, such as NoiseRelease(n=100, sigma=1, noise_sd=0)."
        )
    name = _parameter(release, parameter) if values is not None or parameter is not None else None
    if name is not None and values is None:
        raise InputError("parameter is what values stand for: give values.")
    names = _snoopers(release, snoopers, member)
    rows: list[tuple[Any, ...]] = []
    for value in [None] if values is None or name is None else values:
        here = release if value is None else _with(release, str(name), value)
        utility = here.utility() / (here.original_utility() if relative else 1.0)
        for snooper in names:
            risk = here.worst_risk(member) if snooper == "worst" else here.risk(snooper, member)
            scale = here.sigma**2 if relative and snooper != "identity" else 1.0
            rows.append((release.name, None if value is None else float(value), snooper, risk * scale, utility))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def ru_anchors(n: int, sigma: float, *, relative: bool = False) -> pl.DataFrame:
    """The two ends of every R-U map, as rows of `ru_curve`: "release everything" and "release nothing".

    Everything: U = n/sigma^2, and R = n/((n-1) sigma^2) by the mean or infinite when linked. Nothing: no estimate has
    a bounded error, U = R = 0. (A snooper who knows the mean beforehand has 1/sigma^2 without any release.)

    >>> ru_anchors(5, 1.0).select("release", "snooper", "risk", "utility").rows()[0]
    ('release everything', 'mean', 1.25, 5.0)
    """
    everything = ru_curve(OriginalRelease(n, sigma), relative=relative)
    everything = everything.with_columns(release=pl.lit("release everything"))
    nothing = pl.DataFrame([("release nothing", None, "nobody", 0.0, 0.0)], schema=SCHEMA, orient="row")
    return pl.concat([everything, nothing])


def _parameter(release: TheoryRelease, given: str | None) -> str:
    names = [f.name for f in fields(release) if f.name != "sizes"]  # type: ignore[arg-type]
    name = release.parameter if given is None else given
    if name is None:
        raise InputError(f"The {release.name} release has nothing to vary: leave values out, or name a parameter.")
    if name not in names:
        raise InputError(f"The {release.name} release has no such parameter.{did_you_mean(name, names)}")
    return name


def _snoopers(release: TheoryRelease, given: str | Sequence[str] | None, member: bool) -> list[str]:
    if given is None:
        return release.rivals(member)
    names = [given] if isinstance(given, str) else list(given)
    for name in names:
        if name != "worst":
            release.check_snooper(name, member)
    if not names:
        raise InputError("snoopers names nobody: leave it out for all of them.")
    return names


def _with(release: TheoryRelease, name: str, value: Any) -> TheoryRelease:
    """The release with another value of one field; whole numbers stay whole."""
    whole = (
        name in ("n", "copies", "size") and isinstance(value, float) and math.isfinite(value) and value == int(value)
    )
    return replace(release, **{name: int(value) if whole else value})  # type: ignore[type-var]


guard_room(__name__)
