"""Blocks in which all records weigh the same, beside the plain formula."""

from __future__ import annotations

import numpy as np
import pytest

import confide as cf
from confide.attack.engine.prepare import prepare
from confide.attack.learning.attributes import weights
from confide.attack.learning.attributes.cells import Feature, Reference
from confide.attack.learning.attributes.weights import EqualPiece, pieces
from confide.frames.columns import encode_column

HEADS = cf.demo("heads").head(900)
KEYS = ["sex", "marital", "age"]
MEMBERSHIP = {"certain": "certain", "in file": "in_file", "total": cf.Unsure(total=4_000)}


@pytest.mark.parametrize("membership", MEMBERSHIP)
@pytest.mark.parametrize("together", [1, 20_000])
def test_pieces_are_those_of_the_formula(membership: str, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = cf.Plan([cf.Recode("age", width=10), cf.Sample(fraction=0.5)], identifiers=["id"])
    who = cf.Intruder(knows=KEYS, membership=MEMBERSHIP[membership])  # type: ignore[arg-type]
    release = plan.protect(HEADS, seed=1)
    monkeypatch.setattr(weights, "EQUAL", together)
    found = list(pieces(prepare(who, release, None, None)))
    assert all(type(p) is EqualPiece for p in found)
    monkeypatch.setattr(weights, "weigh_equal", lambda _: False)
    plain = {int(t): (p, i) for p in pieces(prepare(who, release, None, None)) for i, t in enumerate(p.targets)}
    assert sum(len(p.targets) for p in found) == len(plain)
    for piece in found:
        for i, t in enumerate(piece.targets):
            slow, k = plain[int(t)]
            scale = np.exp(piece.log_scale[i] - slow.log_scale[k])
            assert np.isclose(piece.total[i] * scale, slow.total[k], rtol=1e-12)
            assert np.isclose(piece.absent[i] * scale, slow.absent[k], rtol=1e-12, atol=0)
            both = np.union1d(piece.rows, slow.rows)
            mine, other = (
                p.sums(np.searchsorted(both, p.rows), len(both))[at] for p, at in ((piece, i), (slow, k))
            )  # fmt: skip
            np.testing.assert_allclose(mine * scale, other, rtol=1e-12)
            each = np.arange(-1, len(piece.rows))
            one = piece.weight_of(np.full(len(each), i), each)
            assert one[0] == 0
            np.testing.assert_allclose(one[1:] * piece.count, mine[np.searchsorted(both, piece.rows)], rtol=1e-12)


def test_shrinking_is_the_formula() -> None:
    rng = np.random.default_rng(2)
    n, bins = 60, 4
    code, y = rng.integers(0, 5, n), rng.integers(0, bins + 1, n)
    column = cf.demo("heads").head(n)["marital"]
    (feature,) = Feature.of(encode_column(column, "categorical"), [24])
    rows = Reference.of([np.minimum(code, feature.size - 1)], [feature], y, bins)
    level = rows.level([0], 2.5)
    cell = level.place(rows.codes, [feature.size], len(rows.y))
    own = np.where(rng.random(len(cell)) < 0.7, rows.y, -1)
    before = rng.dirichlet(np.ones(bins + 1), len(cell))
    counts = level.counts.toarray()[cell]
    counts[np.flatnonzero(own >= 0), own[own >= 0]] -= 1
    slow = (counts + 2.5 * before) / (level.total[cell] - (own >= 0) + 2.5)[:, None]
    out = before.copy()
    level.shrink(out, cell, own)
    np.testing.assert_allclose(out, slow, rtol=1e-12)
    out = before.copy()
    level.shrink(out, np.full(len(cell), -1), own)
    assert np.array_equal(out, before)
