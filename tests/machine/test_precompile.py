"""Compiling at installation: every kind of attack is carried out, and nothing where nothing would be kept."""

from __future__ import annotations

import pytest

import confide as cf
from confide import precompile
from confide.attack.beliefs import tilted_sums
from confide.attack.engine import kernels
from confide.core.random import digest_loops, philox_loops


def test_every_kind_of_attack_is_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[str] = []
    monkeypatch.setattr(precompile, "ROWS", 60)
    monkeypatch.setattr(precompile, "FOLDER", "somewhere")
    true = cf.Intruder.attack

    def noted(self: cf.Intruder, release: cf.Release, *given: object, **options: object) -> object:
        assert release.plan is not None
        met.extend(type(s).__name__ for s in release.plan.steps)
        return true(self, release, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(cf.Intruder, "attack", noted)
    precompile.main()
    assert {"Swap", "Noise", "RankSwap", "NormalSynthesis", "MeasurementError", "Microaggregate"} <= set(met)


def test_nothing_is_done_where_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile, "FOLDER", None)
    monkeypatch.setattr(precompile, "attacks", lambda: pytest.fail("it compiled for nothing"))
    precompile.main()


def test_what_large_blocks_take_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    met: set[str] = set()
    for name in ("attack_boxes", "finish_rows"):
        inner = getattr(kernels, name)
        monkeypatch.setattr(kernels, name, lambda *given, name=name, inner=inner: (met.add(name), inner(*given)))
    precompile.large_blocks()
    assert met == {"attack_boxes", "finish_rows"}


def test_what_many_rows_take_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    met: set[str] = set()
    for room, names in ((digest_loops, ("add_real", "add_bits", "add_codes", "add_whole", "summed")),
                        (philox_loops, ("fill_words", "sort_words")), (tilted_sums, ("add_moments",))):  # fmt: skip
        for name in names:
            inner = getattr(room, name)
            monkeypatch.setattr(room, name, lambda *given, n=name, f=inner: (met.add(n), f(*given))[1])
    precompile.many_rows(cf.demo("heads").head(precompile.MANY))
    assert len(met) == 8
