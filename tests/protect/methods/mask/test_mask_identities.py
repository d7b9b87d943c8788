"""Masks that are other methods: the same release under one seed, the same risk; dense and sparse agree."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import confide as cf
from confide.protect.methods.microaggregate.group_means import averaging
from confide.protect.seam.matrices import selection

HEADS = cf.demo("heads").head(1200)
MONEY = ["hh_income", "property_value"]

BY_INDEX = {
    "swap": cf.Swap(MONEY, rate=0.3),
    "swap of categories within groups": cf.Swap(["race", "marital"], rate=0.4, within="sex"),
    "swaps apart": cf.Swap(["race", "marital"], rate=0.4, jointly=False),
    "targeted swap": cf.Swap("age", rate=0.5, candidates="unique", keys=["race", "marital"], within="tenure"),
    "sample": cf.Sample(0.4),
}
BY_PRODUCT = {
    "noise": cf.Noise(MONEY, relative=0.1),
    "noise inside bounds": cf.Noise("property_value", sd=5_000, keep_zeros=True, bounds=(0, None)),
    "joint noise": cf.Noise(MONEY, sd=2_000, correlation=0.5),
    "microaggregation": cf.Microaggregate(MONEY, k=3),
    "microaggregation within groups": cf.Microaggregate(MONEY, k=4, within="tenure"),
}


def both(step, frame=HEADS):
    names = [v for v in ("id",) if v in frame.columns]
    made = [
        cf.Plan([s], identifiers=names).protect(frame, seed=7, draws="shared") for s in (step, cf.MatrixMask.of(step))
    ]
    assert np.array_equal(made[0].link, made[1].link)
    return made


@pytest.mark.parametrize("name", BY_INDEX)
def test_moving_rows_gives_the_same_release_exactly(name):
    a, b = both(BY_INDEX[name])
    assert a.data.equals(b.data)
    assert a.data.schema == b.data.schema


@pytest.mark.parametrize("name", BY_PRODUCT)
def test_products_give_the_same_release_to_rounding(name):
    a, b = both(BY_PRODUCT[name])
    assert a.data.schema == b.data.schema
    for v in a.data.columns:
        if a.data[v].dtype.is_numeric():
            x, y = (r.data[v].cast(pl.Float64).to_numpy() for r in (a, b))
            assert np.abs(x - y).max() <= 1e-12 * np.abs(x).max()
        else:
            assert a.data[v].equals(b.data[v])


@pytest.mark.parametrize("name", ["swap", "sample", "noise inside bounds", "microaggregation"])
def test_the_same_evidence(name):
    step = {**BY_INDEX, **BY_PRODUCT}[name]
    knows = ["sex", "age", *step.variables]
    for intruder in (cf.Intruder(knows=knows), cf.Intruder.at("average", knows=knows)):
        p, q = (intruder.attack(r).units["p_true"] for r in both(step))
        assert np.allclose(p, q, atol=1e-9)


def test_missing_values_are_swapped_and_left_by_noise():
    y = HEADS.with_columns(hh_income=pl.when(pl.int_range(pl.len()) % 6 == 0).then(None).otherwise("hh_income"))
    for step in (cf.Swap(MONEY, rate=0.5), cf.Noise("hh_income", sd=100)):
        a, b = both(step, y)
        assert a.data.equals(b.data)
    whole = y.with_columns(property_value=pl.when(pl.col("hh_income").is_null()).then(None).otherwise("property_value"))
    a, b = both(cf.Microaggregate(MONEY, k=3), whole)
    assert np.allclose(a.data["hh_income"].fill_null(-1), b.data["hh_income"].fill_null(-1), rtol=1e-12)
    with pytest.raises(cf.InputError, match="one matrix cannot average them apart"):
        cf.Plan([cf.MatrixMask.of(cf.Microaggregate(MONEY, k=3))]).protect(y, seed=1)


WHOLE = pl.DataFrame({"x": [1, 3, 11, 13, 25, 27, 41, 43], "gap": [1, 5, None, 2, 9, 4, None, 7]})
TYPES = {
    "noise beside gaps": cf.Noise("gap", sd=3),
    "joint noise beside gaps": cf.Noise(["x", "gap"], sd=3, correlation=0.5),
    "means that are all whole": cf.Microaggregate("x", k=2),
    "swap beside gaps": cf.Swap(["x", "gap"], rate=0.5),
}


@pytest.mark.parametrize("dtype", [pl.Int64, pl.Int16, pl.Float64, pl.Date])
@pytest.mark.parametrize("name", TYPES)
def test_a_mask_gives_the_types_of_its_step(name, dtype):
    a, b = both(TYPES[name], WHOLE.with_columns(pl.all().cast(pl.Int32).cast(dtype)))
    assert a.data.schema == b.data.schema
    assert a.data.select(pl.all().cast(pl.Float64).round(9)).equals(b.data.select(pl.all().cast(pl.Float64).round(9)))


def test_the_matrix_of_a_swap_is_the_product_of_its_transpositions():
    partner = np.array([3, 1, 5, 0, 4, 2])
    product = np.eye(6)
    for i, j in ((0, 3), (2, 5)):
        rows = np.arange(6)
        rows[[i, j]] = j, i
        product = np.eye(6)[rows] @ product
    assert np.array_equal(selection(partner, 6).toarray(), product)
    assert np.array_equal(product @ product, np.eye(6))


def test_what_matrices_are():
    x = np.arange(8.0).reshape(4, 2)
    assert np.array_equal(selection(np.array([2, 0]), 4) @ x, x[[2, 0]])
    a = averaging(np.array([0, -1, 0, 0])).toarray()
    assert np.allclose(a @ x, [x[[0, 2, 3]].mean(axis=0), x[1], x[[0, 2, 3]].mean(axis=0), x[[0, 2, 3]].mean(axis=0)])
    assert np.allclose(a @ a, a)


def random_parts(rng, n, p):
    a = rng.random((n, n)) * (rng.random((n, n)) < 0.1) + np.eye(n)
    return a / a.sum(axis=1, keepdims=True), rng.normal(size=(p, p)), rng.normal(size=(n, p))


def test_dense_equals_sparse_equals_the_definition():
    rng = np.random.default_rng(1)
    y = HEADS.head(60).select(MONEY)
    a, b, c = random_parts(rng, 60, 2)
    wanted = a @ y.to_numpy() @ b + c
    made = []
    for kind in (np.asarray, sp.csr_array, sp.coo_matrix):
        release = cf.Plan([cf.MatrixMask(MONEY, A=kind(a), B=kind(b), C=kind(c))]).protect(y, seed=1)
        made.append(release.data[np.argsort(release.link)].to_numpy())
        assert np.allclose(made[-1], wanted, rtol=1e-12, atol=0)
    functions = cf.MatrixMask(MONEY, A=lambda x, rng: a, B=lambda x, rng: sp.csc_array(b), C=lambda x, rng: c)  # noqa: ARG005
    release = cf.Plan([functions]).protect(y, seed=1)
    assert np.allclose(release.data[np.argsort(release.link)].to_numpy(), wanted, rtol=1e-12, atol=0)


def test_functions_see_the_data_and_draw_from_the_seed_alone():
    y = HEADS.select(MONEY)

    def noise(x, rng):
        return rng.normal(0, 0.1 * x.std(axis=0), x.shape)

    one, same, other = (cf.Plan([cf.MatrixMask(MONEY, C=noise)]).protect(y, seed=s).data for s in (1, 1, 2))
    assert one.equals(same)
    assert not one.equals(other)
