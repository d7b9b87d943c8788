"""Microaggregate: what it releases, and what that tells."""

import numpy as np
import polars as pl
import pytest
from scipy.special import logsumexp

import confide as cf
from confide.protect.methods.microaggregate.group_choice import _candidates, features, first_theta, learn
from confide.protect.methods.microaggregate.group_likelihood import Grouped
from confide.protect.methods.microaggregate.group_means import Means
from confide.protect.plan import Plan

MONEY = ["hh_income", "property_value"]
HEADS = cf.demo("heads").head(2500)


def protected(frame, *steps, seed=1, **options):
    return cf.Plan(list(steps), identifiers=[v for v in ("id",) if v in frame.columns], **options).protect(
        frame, seed=seed
    )


def in_order(release):
    return release.data[np.argsort(release.link)]


def small(**columns):
    return pl.DataFrame(columns)


# -- what is released ----------------------------------------------------------------------------------------


def test_every_released_tuple_is_shared_by_k_rows_and_totals_stay():
    z = in_order(protected(HEADS, cf.Microaggregate(MONEY, k=5)))
    assert z.group_by(MONEY).len()["len"].min() >= 5
    for v in MONEY:
        assert z[v].dtype == pl.Float64
        assert np.isclose(z[v].sum(), HEADS[v].sum(), rtol=1e-12)
    assert z["age"].equals(HEADS["age"])


def test_means_are_those_of_the_groups_and_of_equal_values_exactly_these():
    y = small(x=[0.1, 0.1, 0.1, 5.0, 6.0, 7.0])
    assert in_order(protected(y, cf.Microaggregate("x", k=3)))["x"].to_list() == [0.1, 0.1, 0.1, 6.0, 6.0, 6.0]


def test_standardise_decides_what_is_near():
    y = small(a=[0.0, 0.0, 100.0, 100.0], b=[0.0, 10.0, 0.0, 10.0])
    plain = in_order(protected(y, cf.Microaggregate(["a", "b"], k=2, standardise=False)))
    assert plain["a"].to_list() == y["a"].to_list()
    assert plain["b"].to_list() == [5.0] * 4
    wide = y.with_columns(b=pl.col("b") * 10)
    both = in_order(protected(wide, cf.Microaggregate(["a", "b"], k=2)))
    again = in_order(protected(wide.with_columns(b=pl.col("b") * 1000), cf.Microaggregate(["a", "b"], k=2)))
    assert both["a"].equals(again["a"])


def test_missing_values_stay_and_records_are_grouped_with_those_that_have_the_same_variables():
    rng = np.random.default_rng(0)
    a, b = (np.where(rng.random(200) < 0.3, np.nan, rng.normal(size=200)) for _ in range(2))
    y = small(a=a, b=b).fill_nan(None)
    z = in_order(protected(y, cf.Microaggregate(["a", "b"], k=3)))
    for v in ("a", "b"):
        assert z[v].is_null().equals(y[v].is_null())
        assert not (z[v] == y[v]).any()
    some = z.filter(pl.any_horizontal(pl.col("a", "b").is_not_null()))
    assert some.group_by("a", "b").len()["len"].min() >= 3


def test_answer_codes_stay():
    y = small(x=[1, 2, 3, 9999, 10, 11, 12, 9999])
    said = cf.VariableSchema("x", value_labels={9999: "refused"}, missing=(9999,))
    cf.attach(y, cf.Schema({"x": said}))
    z = in_order(cf.Plan([cf.Microaggregate("x", k=3)]).protect(y, seed=1))
    assert z["x"].to_list() == [2, 2, 2, 9999, 11, 11, 11, 9999]


def test_within_holds_groups_inside_others():
    z = in_order(protected(HEADS, cf.Microaggregate(MONEY, k=3, within=["sex", "tenure"])))
    for _, part in z.with_columns(y=HEADS["hh_income"]).group_by("sex", "tenure"):
        assert np.isclose(part["hh_income"].sum(), part["y"].sum())
        assert part.group_by(MONEY).len()["len"].min() >= 3


def test_nothing_is_random_and_the_order_of_columns_is_kept():
    one, two = (in_order(protected(HEADS, cf.Microaggregate(MONEY), seed=s)) for s in (1, 2))
    assert one.equals(two)
    with pytest.raises(cf.InputError, match="all copies would be the same"):
        cf.Plan([cf.Microaggregate(MONEY)]).protect(HEADS, seed=1, copies=3)


def test_dates_stay_dates():
    y = small(d=[18000, 18002, 18010, 18012]).with_columns(pl.col("d").cast(pl.Date))
    z = in_order(protected(y, cf.Microaggregate("d", k=2)))["d"]
    assert z.dtype == pl.Date
    assert z.to_physical().to_list() == [18001, 18001, 18011, 18011]


# -- what it tells -------------------------------------------------------------------------------------------


def test_k_of_one_is_refused():
    with pytest.raises(
        cf.InputError, match="a group of 1 record is its own mean, so nothing would be changed; give k from 2"
    ):
        cf.Microaggregate(MONEY, k=1)


@pytest.mark.parametrize("level", ["sdl", "average"])
def test_one_group_tells_nothing(level):
    y = HEADS.head(100)
    release = protected(y, cf.Microaggregate(MONEY, k=100))
    units = cf.Intruder.at(level, knows=MONEY).attack(release).units
    assert np.allclose(units["p_max"], 1 / 100)
    assert (units["n_max"] == 100).all()


@pytest.mark.slow
def test_the_rows_of_a_group_share_the_probability():
    attack = cf.Intruder(knows=MONEY).attack(protected(HEADS, cf.Microaggregate(MONEY, k=4)))
    assert (attack.units["n_max"] >= 4).all()
    assert (attack.units["p_max"] <= 0.25 + 1e-12).all()
    found = attack.posterior(17)
    assert np.isclose(found["p"].sum(), 1)
    assert found["p"][:4].n_unique() == 1
    assert "hh_income + property_value" in str(attack.explain(17))


CALIBRATED = {
    "one": (["hh_income"], 3, ["hh_income", "sex", "age"], [], {}),
    "two, alone": (MONEY, 5, MONEY, [], {}),
    "groups of ten": (MONEY, 10, [*MONEY, "sex", "age"], [], {}),
    "beside others": (
        MONEY, 3, [*MONEY, "sex", "race", "age"], [cf.Swap("race", rate=0.3), cf.Recode("age", width=5)], {},
    ),
    "one of two known": (MONEY, 5, ["hh_income", "sex", "age"], [], {}),
    "sampled": (MONEY, 3, [*MONEY, "sex", "age"], [cf.Sample(0.7)], {}),
    "exact": (MONEY, 3, [*MONEY, "sex", "age"], [], {"unavailable": "exact", "others": "exact"}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", CALIBRATED)
def test_claims_are_true(case):
    variables, k, knows, others, options = CALIBRATED[case]
    release = protected(HEADS, *others, cf.Microaggregate(variables, k=k))
    result = cf.Intruder(knows=knows, **options).attack(release).calibration()
    assert abs(result.z) < 4, result  # the members of a group are right or wrong together
    assert abs(result.claimed / result.true - 1) < 0.03, result
    assert result.frame.filter(pl.col("targets") > 30)["z"].abs().max() < 4, result


@pytest.mark.parametrize("k", [3, 10])
@pytest.mark.parametrize("variables", [["age"], ["age", "income"]])
def test_claims_are_true_of_elites(variables, k):
    release = protected(cf.demo("elites"), cf.Microaggregate(variables, k=k))
    result = cf.Intruder(knows=variables).attack(release).calibration()
    assert abs(result.z) < 3, result


@pytest.mark.slow
def test_claims_are_true_of_the_whole_file():
    release = protected(cf.demo("heads"), cf.Microaggregate(MONEY, k=10))
    result = cf.Intruder(knows=[*MONEY, "sex", "age"]).attack(release).calibration()
    assert abs(result.claimed / result.true - 1) < 0.005, result


@pytest.mark.slow
def test_who_knows_the_group_inside_which_it_was_made_knows_more():
    release = protected(HEADS, cf.Microaggregate(MONEY, k=3, within="tenure"))
    less, more = (cf.Intruder(knows=[*MONEY, *also]).attack(release).calibration() for also in ([], ["tenure"]))
    assert more.true > less.true
    assert abs(more.z) < 3.5
    assert abs(less.z) < 3.5


def test_levels():
    release = protected(HEADS, cf.Microaggregate(MONEY, k=3))
    right = {}
    for level in ("sdl", "average", "naive"):
        result = cf.Intruder.at(level, knows=[*MONEY, "sex", "age"]).attack(release).calibration()
        right[level] = result.true
        assert result.true > 0.97 * right["sdl"]
    unknown = cf.Intruder(knows=["sex", "age"]).attack(release).summary().expected_matches
    assert unknown == cf.Intruder(knows=["sex", "age"]).attack(protected(HEADS)).summary().expected_matches
    ignored = cf.Intruder(knows=[*MONEY, "sex", "age"], available="ignore", unavailable="ignore", others="ignore")
    assert np.isclose(ignored.attack(release).summary().expected_matches, unknown)


@pytest.mark.parametrize("k", [3, 7])
def test_k_is_read_off_the_release(k):
    release = protected(HEADS, cf.Microaggregate(MONEY, k=k))
    plan = Plan([cf.Microaggregate(MONEY, k=k)])
    guess = cf.Microaggregate(MONEY, k=2).guess(plan.encode(release.frame))
    assert guess.k == k


def test_absence_is_allowed_for():
    release = protected(HEADS, cf.Sample(0.5), cf.Microaggregate(MONEY, k=3))
    result = cf.Intruder(knows=[*MONEY, "sex", "age"], membership="in_file").attack(release)
    seen = set(release.link.tolist())
    there = np.array([t in seen for t in range(HEADS.height)])
    absent = result.units["p_absent"].to_numpy()
    assert absent[~there].mean() > 0.8
    assert absent[there].mean() < 0.2
    claimed, true = result.calibration().claimed, result.calibration().true
    # See docs/explanation/microaggregation.md: as common among the absent as in the whole file.
    assert abs(claimed / true - 1) < 0.06


# -- the likelihood against its definition -------------------------------------------------------------------


def some_means(rng, n=300, k=3, q=2):
    y = np.round(rng.normal(size=(n, q)), 1)
    group = rng.permutation(np.repeat(np.arange(n // k), k))
    rows = np.stack([[y[group == g, v].mean() for v in range(q)] for g in group])
    return y, Means.of_rows(rows, list(range(q)), np.zeros(n), np.zeros(n, dtype=np.int64), np.full(q, 0.1), k)


def test_compiled_heights_are_the_features_times_theta():
    rng = np.random.default_rng(3)
    y, means = some_means(rng)
    y[:40] = means.values[rng.integers(0, len(means.values), 40)]  # some at a mean
    theta = rng.normal(size=len(first_theta(2)))
    like = Grouped(means, lambda: theta, lambda _: (y, means.scopes(np.zeros(len(y), dtype=np.int64), y)))
    t, z = like.target(None), like.record
    i, j = rng.integers(0, len(y), 5000), rng.integers(0, len(means.of), 5000)
    near, around = means.around(y, np.arange(len(means.values)))
    slow = features(y[i], near[i], around[i], means, means.of[j]) @ theta
    fast = like.among_present().log(
        {k: v[i] for k, v in t.items()} | {"log_absent": np.zeros(5000)}, {k: v[j] for k, v in z.items()}
    )
    assert np.allclose(slow, fast, rtol=0, atol=1e-9)
    every = np.exp(features(
        np.repeat(y, len(means.values), axis=0), np.repeat(near, len(means.values)), np.repeat(around, len(means.values)),
        means, np.tile(np.arange(len(means.values)), len(y)),
    ) @ theta).reshape(len(y), -1)  # fmt: skip
    assert np.allclose(t["log_absent"], np.log(every @ means.count / means.count.sum()), atol=1e-9)


@pytest.mark.slow
def test_learning_recovers_a_choice():
    rng = np.random.default_rng(4)
    means, y = some_means(rng, n=300)[1], rng.normal(size=(3000, 2))
    near, around = means.around(y, np.arange(len(means.values)))
    score = scores(first_theta(2) * 2, y, near, around, means)
    own = (score + rng.gumbel(size=score.shape)).argmax(axis=1)
    found = scores(learn(y, own, means), y, near, around, means)
    p, q = (np.exp(s - logsumexp(s, axis=1, keepdims=True)) for s in (score, found))
    assert np.abs(p - q).sum(axis=1).mean() < 0.12
    start = scores(first_theta(2), y, near, around, means)
    assert np.abs(p - np.exp(start - logsumexp(start, axis=1, keepdims=True))).sum(axis=1).mean() > 0.4


def test_candidates_of_the_fit_stand_for_all_means():
    rng = np.random.default_rng(5)
    means, y = some_means(rng, n=2400)[1], rng.normal(size=(1500, 2))
    m = len(means.values)
    own = rng.integers(0, m, 1500)
    person, at, log_weight = _candidates(y, own, means, np.arange(m), rng)
    weight = np.exp(log_weight)
    assert np.isclose(np.bincount(person, weight).mean(), m, rtol=0.02)
    distance = ((y[person] - means.values[at]) ** 2).sum(axis=1)
    order = np.sort(((y[:, None] - means.values) ** 2).sum(axis=2), axis=1)
    for low, high in ((0, 12), (12, 48), (48, 192), (192, m)):
        mine = (distance >= order[person, low]) & (distance <= order[person, high - 1])
        assert np.isclose(weight[mine].sum() / 1500, high - low, rtol=0.05)


def scores(theta, y, near, around, means):
    m = len(means.values)
    x = features(np.repeat(y, m, 0), np.repeat(near, m), np.repeat(around, m), means, np.tile(np.arange(m), len(y)))
    return (x @ theta).reshape(len(y), m) + np.log(means.count)


# -- mistakes ------------------------------------------------------------------------------------------------

FEW = pl.DataFrame({"x": [1, 2, 3, 4, 5], "g": ["a", "a", "a", "b", "b"], "none": [None] * 5}).with_columns(
    pl.col("none").cast(pl.Int64)
)
MISTAKES = {
    "share": (lambda: cf.Microaggregate("x", k=0.05), "k is the least number of records in a group, a whole number"),
    "zero": (lambda: cf.Microaggregate("x", k=0), "from 2"),
    "text": (lambda: cf.Microaggregate("x", standardise="yes"), "standardise is true or false"),
    "held fixed": (lambda: cf.Microaggregate(["x", "g"], within="g"), "averaged and held fixed at once"),
    "category": (lambda: protected(FEW, cf.Microaggregate("g")), "numbers are needed"),
    "too few": (lambda: protected(FEW, cf.Microaggregate("x", k=6)), "5 of 5 records are fewer than k = 6"),
    "too few within": (lambda: protected(FEW, cf.Microaggregate("x", k=3, within="g")), "2 of 5 records are fewer"),
    "nothing": (lambda: protected(FEW, cf.Microaggregate("none", k=2)), "no record has a value"),
    "coarsened": (lambda: cf.Plan([cf.Microaggregate("x"), cf.Round("x", base=5)]), "Coarsen before the groups"),
    "twice": (lambda: cf.Plan([cf.Microaggregate("x"), cf.Noise("x", sd=1)]), "altered at random twice"),
    "no such column": (lambda: protected(FEW, cf.Microaggregate("y")), 'no column "y"'),
    "interval": (
        lambda: cf.Intruder(knows=["sex"], between={"hh_income": ("low", "high")}).attack(
            protected(HEADS, cf.Microaggregate(MONEY)), targets=HEADS.with_columns(low=pl.lit(0), high=pl.lit(9)),
            truth=np.arange(HEADS.height),
        ),
        "give a value",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_bad_input(name):
    do, words = MISTAKES[name]
    with pytest.raises(cf.InputError, match=words) as found:
        do()
    assert str(found.value).rstrip().endswith(".")


def test_averages_over_groups_some_people_at_a_time_are_those_of_the_definition(monkeypatch):
    rng = np.random.default_rng(5)
    y, means = some_means(rng)
    theta = rng.normal(size=len(first_theta(2)))
    like = Grouped(means, lambda: theta, lambda _: (y, means.scopes(np.zeros(len(y), dtype=np.int64), y)))
    near, around = means.around(y, np.arange(len(means.values)))
    i, j = (a.ravel() for a in np.meshgrid(np.arange(len(y)), np.arange(len(means.values)), indexing="ij"))
    every = (features(y[i], near[i], around[i], means, j) @ theta).reshape(len(y), -1)
    slow = logsumexp(every + np.log(means.count), axis=1) - np.log(means.count.sum())
    for pairs in (10**9, 7 * len(means.values), 1):
        monkeypatch.setattr("confide.protect.methods.microaggregate.group_likelihood.PAIRS", pairs)
        assert np.allclose(like.target(None)["log_absent"], slow, rtol=0, atol=1e-9)


def test_what_is_altered_needs_no_average_over_groups(monkeypatch):
    people = []
    average = Grouped._log_average
    monkeypatch.setattr(
        Grouped, "_log_average", lambda self, y, *rest: people.append(len(y)) or average(self, y, *rest)
    )
    some = HEADS.head(400)
    release = protected(some, cf.Microaggregate("property_value", k=5))
    who = cf.Intruder(knows=["sex", "property_value"], membership=cf.Unsure(total=10_000))
    who.attack(release, some.head(20), np.arange(20))
    assert people
    assert max(people) <= 20  # the targets, never the whole file
