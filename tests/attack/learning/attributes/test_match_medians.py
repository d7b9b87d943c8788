"""Medians of swapped numbers by one pass over records agree with laws that are written out for all values."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.attack.learning.attributes.matches_shown import Matches
from confide.attack.learning.attributes.way import Way


def people(n: int = 150) -> pl.DataFrame:
    """Pay with ties, zeros, and values that one person alone has."""
    rng = np.random.default_rng(5)
    pay = np.where(rng.random(n) < 0.2, 0, rng.integers(1, 40, n) * 250)
    pay[:4] = [99_000, 70_001, -500, 31]
    return pl.DataFrame({"sex": rng.choice(["f", "m"], n), "race": rng.choice(["a", "b", "c"], n), "pay": pay})


MEMBERSHIPS = {"certain": "certain", "in_file": "in_file", "unsure": cf.Unsure(total=400)}


@pytest.mark.parametrize("membership", list(MEMBERSHIPS))
@pytest.mark.parametrize("level", ["sdl", "exact"])
@pytest.mark.parametrize("steps", [[], [cf.Swap("race", rate=0.3)]], ids=["race kept", "race swapped"])
def test_medians_are_those_of_laws_written_out(
    steps: list[cf.Swap], level: str, membership: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [cf.Sample(fraction=0.6)] if membership == "in_file" else []
    release = cf.Plan([*first, *steps, cf.Swap("pay", rate=0.4)]).protect(people(), seed=2)
    who = cf.Intruder.at(level, knows=["sex", "race"], membership=MEMBERSHIPS[membership])  # type: ignore[arg-type]
    attack = who.attack(release, progress=False)
    read = []
    medians = Matches.medians

    def counted(self: Matches, *given: object) -> object:
        found = medians(self, *given)  # type: ignore[arg-type]
        read.append(0 if found is None else len(found[0]))
        return found

    monkeypatch.setattr(Matches, "medians", counted)
    fast = attack.guess("pay")
    assert sum(read) > 100
    monkeypatch.setattr(Matches, "medians", Way.medians)
    slow = attack.guess("pay")
    for name, column in slow.frame.to_dict().items():
        if column.dtype == pl.Float64:
            np.testing.assert_allclose(fast.frame[name].to_numpy(), column.to_numpy(), rtol=1e-9, atol=1e-12)
        else:
            assert fast.frame[name].equals(column)
    for name, values in slow.rest.items():
        np.testing.assert_allclose(fast.rest[name], values, rtol=1e-9, atol=1e-12)
