"""MatrixMask: whose rows come out, what they tell, and what is refused."""

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp

import confide as cf

HEADS = cf.demo("heads").head(1200)
N = HEADS.height
MONEY = ["hh_income", "property_value"]
OTHERS = [v for v in HEADS.columns if v not in (*MONEY, "id")]


def protected(mask, frame=HEADS, **options):
    return cf.Plan([mask], identifiers="id", **options).protect(frame, seed=3)


def in_order(release):
    return release.data[np.argsort(release.link)]


def taking(rows, n=N):
    return sp.csr_array((np.ones(len(rows)), (np.arange(len(rows)), rows)), shape=(len(rows), n))


def averages(size, n=N):
    return sp.csr_array(np.kron(np.eye(n // size), np.full((1, size), 1 / size)))


# -- whose rows ----------------------------------------------------------------------------------------------


def test_a_permutation_exchanges_only_the_variables_named():
    rows = np.random.default_rng(0).permutation(N)
    z = in_order(protected(cf.MatrixMask(MONEY, A=taking(rows))))
    assert z["hh_income"].equals(HEADS["hh_income"][rows])
    assert z["hh_income"].dtype == HEADS["hh_income"].dtype
    assert z.select(OTHERS).equals(HEADS.select(OTHERS))


def test_a_sub_permutation_selects_records_and_all_columns_follow():
    rows = np.random.default_rng(0).permutation(N)[:300]
    release = protected(cf.MatrixMask(MONEY, A=taking(rows), C=[1.0, 2.0]))
    assert sorted(release.link) == sorted(rows)
    true = HEADS[release.link]
    assert release.data["property_value"].equals(true["property_value"] + 2)
    assert release.data.select(OTHERS).rows() == true.select(OTHERS).rows()


def test_averages_of_as_many_rows_leave_rows_their_owners():
    a = sp.csr_array(sp.kron(sp.eye_array(N // 4), np.full((4, 4), 0.25)))
    z = in_order(protected(cf.MatrixMask(MONEY, A=a)))
    assert np.allclose(z["hh_income"].to_numpy(), np.repeat(HEADS["hh_income"].to_numpy().reshape(-1, 4).mean(1), 4))
    assert z["age"].equals(HEADS["age"])


def test_fewer_averages_belong_to_nobody():
    release = protected(cf.MatrixMask(MONEY, A=averages(4)), drop=OTHERS)
    assert release.data.height == N // 4
    assert release.link is None
    want = np.sort(HEADS["hh_income"].to_numpy().reshape(-1, 4).mean(axis=1))
    assert np.allclose(np.sort(release.data["hh_income"].to_numpy()), want)
    means = cf.utility(release, ["means", "variances"], items=MONEY)
    assert np.isclose(means["value"][0], 0)
    assert means["value"][1] > 0.1
    for intruder in (cf.Intruder(knows=MONEY), cf.Intruder.at("naive", knows=MONEY)):
        with pytest.raises(cf.InputError, match="no row belongs to anybody"):
            intruder.attack(release)


def test_fewer_averages_of_a_function_and_of_an_adopted_release_belong_to_nobody():
    mask = cf.MatrixMask(MONEY, A=lambda x, rng: averages(4, len(x)))  # noqa: ARG005
    made = protected(mask, drop=OTHERS)
    with pytest.raises(cf.InputError, match="What remains"):
        cf.Intruder(knows=MONEY).attack(made)
    plan = cf.Plan([cf.MatrixMask(MONEY, A=averages(4))], identifiers="id", drop=OTHERS)
    with pytest.raises(cf.InputError, match="What remains"):
        cf.Intruder(knows=MONEY).attack(cf.Release.adopt(HEADS, made.data, plan))


def test_rows_of_nobody_have_no_other_values():
    with pytest.raises(cf.InputError, match=r"such rows have no value of .*sex.* add the others to drop"):
        protected(cf.MatrixMask(MONEY, A=averages(4)))
    steps = [cf.MatrixMask(MONEY, A=averages(4)), cf.Swap("sex", rate=0.1)]
    with pytest.raises(cf.InputError, match='comes too late for "sex"'):
        cf.Plan(steps, identifiers="id", drop=[v for v in OTHERS if v != "sex"]).protect(HEADS, seed=1)


def test_rows_of_nobody_can_be_coarsened():
    steps = [cf.MatrixMask(MONEY, A=averages(4)), cf.Round("hh_income", base=1000)]
    z = cf.Plan(steps, identifiers="id", drop=OTHERS).protect(HEADS, seed=1).data
    assert (z["hh_income"] % 1000 == 0).all()


# -- what they tell ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parts", "knows"),
    [
        ({"B": [[2.0, 0.0], [0.0, -0.3]], "C": [5.0, 7.0]}, ["sex", "hh_income"]),
        ({"B": [[2.0, 0.0], [0.0, -0.3]]}, ["sex", *MONEY]),
        ({"B": [[1.0, 0.5], [0.25, 2.0]], "C": [[5.0, 7.0]]}, ["sex", *MONEY]),
        ({"C": np.tile([1.5, 2.5], (N, 1))}, ["sex", "hh_income"]),
        ({"A": sp.eye_array(N), "B": [[3.0, 0.0], [0.0, 1.0]]}, ["sex", *MONEY]),
    ],
)
def test_a_fixed_image_of_every_value_tells_as_much_as_the_value(parts, knows):
    masked = cf.Intruder(knows=knows).attack(protected(cf.MatrixMask(MONEY, **parts)))
    kept = cf.Intruder(knows=knows).attack(cf.Plan([], identifiers="id").protect(HEADS, seed=3))
    assert masked.units["p_true"].equals(kept.units["p_true"])
    assert np.isclose(masked.summary().expected_matches, kept.summary().expected_matches)


UNREAD = {
    "a permutation that nobody knows": {"A": taking(np.roll(np.arange(N), 1))},
    "a sum that cannot be undone": {"B": [[1.0, 1.0], [1.0, 1.0]]},
    "noise of one's own": {"C": lambda x, rng: rng.normal(size=x.shape)},
    "rows of one's own": {"C": np.arange(2.0 * N).reshape(N, 2)},
}


@pytest.mark.parametrize("name", UNREAD)
def test_without_a_likelihood_only_who_takes_values_as_true_is_asked(name):
    release = protected(cf.MatrixMask(MONEY, **UNREAD[name]))
    for level in ("sdl", "average"):
        with pytest.raises(cf.InputError, match="nobody can say how probable"):
            cf.Intruder.at(level, knows=["sex", "hh_income"]).attack(release)
    assert cf.Intruder.at("naive", knows=["sex", "hh_income"]).attack(release).units.height == N
    kept = cf.Plan([], identifiers="id").protect(HEADS, seed=3)
    a, b = (cf.Intruder(knows=["sex", "age"]).attack(r).summary().expected_matches for r in (release, kept))
    assert np.isclose(a, b)


def test_of_mixed_variables_all_or_none_must_be_known():
    release = protected(cf.MatrixMask(MONEY, B=[[1.0, 0.5], [0.25, 2.0]]))
    with pytest.raises(cf.InputError, match="Let it know all, or none"):
        cf.Intruder(knows=["sex", "hh_income"]).attack(release)


# -- documents and records -----------------------------------------------------------------------------------


def test_plans_with_dense_matrices_and_steps_can_be_written():
    plan = cf.Plan([
        cf.MatrixMask(MONEY, B=[[1, 0.5], [0, 2]], C=[5, 7]),
        cf.MatrixMask.of(cf.Swap("race", rate=0.2)),
        cf.MatrixMask.of(cf.Sample(0.5)),
        cf.Microaggregate("age", k=4, within="sex"),
    ])  # fmt: skip
    assert cf.Plan.from_dict(plan.to_dict()) == plan
    assert plan != cf.Plan([cf.MatrixMask(MONEY, B=[[1, 0.5], [0, 2]], C=[5, 8]), *plan.steps[1:]])
    release = plan.protect(HEADS, seed=1)
    assert cf.replay(HEADS, release.record(private=True)).data.equals(release.data)


@pytest.mark.parametrize("part", [averages(4), lambda x, rng: x])  # noqa: ARG005
def test_functions_and_sparse_matrices_have_no_place_in_a_document(part):
    with pytest.raises(cf.InputError, match="a document has no place for"):
        cf.Plan([cf.MatrixMask(MONEY, A=part)]).to_dict()


# -- mistakes ------------------------------------------------------------------------------------------------

GAPS = pl.DataFrame({"a": [1, None, 3], "g": ["x", "y", "z"]})
HUGE = np.broadcast_to(0.0, (51_016, 51_016))  # takes no memory
MISTAKES = {
    "nothing": ({}, "give A, B or C"),
    "columns of A": ({"A": np.eye(3)}, "needs 1200 columns, but it is 3 x 3"),
    "more rows": ({"A": sp.csr_array(np.ones((N + 1, N)))}, "no more than there are"),
    "a zero row": ({"A": np.diag([1.0, 0.0])}, "1 of 2 rows of A are all zero"),
    "percent": ({"A": sp.csr_array(100 * np.eye(N))}, "divide A by 100"),
    "no numbers": ({"A": "swap"}, "is a matrix of numbers"),
    "NaN": ({"B": [[1, np.nan], [0, 1]]}, "1 entries that are not finite"),
    "shape of B": ({"B": np.eye(3)}, "must be 2 x 2, but it is 3 x 3"),
    "a row for B": ({"B": [1, 2]}, "must have rows and columns"),
    "a zero column": ({"B": [[1, 0], [1, 0]]}, "released as a constant"),
    "shape of C": ({"C": [1, 2, 3]}, "one row of 2 for all"),
    "rows of C": ({"C": np.ones((5, 2))}, "1200 x 2"),
    "memory": ({"A": HUGE}, "51,016 x 51,016, which takes 20.8 GB. Give a scipy.sparse matrix"),
    "a function's memory": ({"A": lambda x, rng: HUGE}, "takes 20.8 GB"),  # noqa: ARG005
    "a function's shape": ({"B": lambda x, rng: np.eye(3)}, "must be 2 x 2"),  # noqa: ARG005
    "a function of functions": ({"B": lambda x, rng: print}, "must return a matrix"),  # noqa: ARG005
    "both": ({"like": cf.Swap(MONEY, rate=0.1), "A": np.eye(2)}, "either like or matrices"),
    "other variables": ({"like": cf.Swap("race", rate=0.1)}, "like is about race"),
    "no matrix": ({"like": cf.RankSwap(MONEY, window=5)}, "RankSwap is not known as a matrix mask"),
    "a class": ({"like": cf.Swap}, "like takes a step"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    parts, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words):
        protected(cf.MatrixMask(MONEY, **parts))


def test_bad_columns():
    with pytest.raises(cf.InputError, match='"a" is missing, or an answer code, in 1 of 3 records'):
        cf.Plan([cf.MatrixMask("a", C=[1])]).protect(GAPS, seed=1)
    with pytest.raises(cf.InputError, match="numbers are needed"):
        cf.Plan([cf.MatrixMask("g", C=[1])]).protect(GAPS, seed=1)
    with pytest.raises(cf.InputError, match="altered at random twice"):
        cf.Plan([cf.MatrixMask("a", C=[1]), cf.Noise("a", sd=1)])
