"""`check_mechanism`: shipped methods pass; methods whose evidence is not what they do are told why."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide import extend as ce

HEADS = cf.demo("heads").filter(pl.col("hh_income") > 0).head(300)


@dataclass(frozen=True)
class Multiplied(ce.Mechanism, ce.Fitted):
    """Multiplies positive numbers by lognormal factors; `how` says what its author got wrong."""

    variables: ce.Name
    sd: float = 0.1
    how: str = "right"

    method: ClassVar[str] = "multiplied"
    role: ClassVar[str] = "random"
    one_variable: ClassVar[bool] = True

    def kinds(self) -> Mapping[str, Any]:
        return {self.variable: "numeric"}

    def fit(self, original: ce.Records, current: ce.Records, after: Mapping[str, Any]) -> "Multiplied":  # noqa: ARG002
        return self

    def apply(self, original: ce.Records, current: ce.Records, draws: ce.Draws) -> ce.Applied:  # noqa: ARG002
        column = current[self.variable]
        spread = 2 * self.sd if self.how == "frequencies" else self.sd
        return ce.Applied([column.with_values(column.values * np.exp(spread * draws.normal(current.rows)))])

    def evidence(self, view: ce.View, about: tuple[str, ...]) -> ce.Evidence:
        z, sure = view.released[self.variable], np.ones(view.released.n, dtype=bool)
        nothing = np.zeros_like
        if self.how == "scale":  # runs, and before scales were stated claimed five times what was true
            like = ce.Normal(np.log(z.values), np.log(z.values), sure, self.sd, self._logs, nothing)
        elif self.how == "probabilities":
            like = ce.Normal.of_logs(z.values, z.values, sure, self.sd, self._values, lambda y: np.full(len(y), 0.1))
        else:
            like = ce.Normal.of_logs(z.values, z.values, sure, self.sd, self._values, nothing)
        labels = {}
        if self.how == "labels":
            labels[self.variable] = ce.Labels(self._even, self._even(view.released), 2)
        return ce.Evidence(about, labels, like)

    def _values(self, records: ce.Records) -> tuple[ce.F64, ce.Bools]:
        return records[self.variable].values, np.ones(records.n, dtype=bool)

    def _logs(self, records: ce.Records) -> tuple[ce.F64, ce.Bools]:
        return np.log(records[self.variable].values), np.ones(records.n, dtype=bool)

    def _even(self, records: ce.Records) -> ce.I64:
        return (records[self.variable].values > 50_000).astype(np.int64)


FLOATS = HEADS.with_columns(pl.col("hh_income").cast(pl.Float64) + 0.123456789)


def test_a_method_of_ones_own_passes() -> None:
    found = ce.check_mechanism(Multiplied("hh_income"), FLOATS)
    assert found.ok
    assert found.frame["check"].to_list() == [
        "plan file", "labels", "scale", "probabilities", "frequencies", "twin without A", "twin with A", "calibration",
    ]  # fmt: skip
    assert found.frame["ok"].to_list() == [None] + [True] * 7


@pytest.mark.parametrize("how", ["scale", "probabilities", "frequencies", "labels"])
def test_what_is_wrong_is_found(how: str) -> None:
    step = Multiplied("hh_income", how=how)
    found = ce.check_mechanism(step, FLOATS, fail=False)
    assert not found.ok
    assert how in found.frame.filter(~pl.col("ok"))["check"].to_list()
    with pytest.raises(cf.InputError, match=f"Multiplied does not keep what it states(.|\n)*{how}:"):
        ce.check_mechanism(step, FLOATS)


def test_the_trap_of_logarithms_is_told_in_a_sentence_wherever_it_is_met() -> None:
    step = Multiplied("hh_income", how="scale")
    told = (
        r"stated for noise on the scale of values as they are, but values\(records\) are on another one(.|\n)*of_logs"
    )
    with pytest.raises(cf.InputError, match=told):
        ce.check_mechanism(step, FLOATS)
    with pytest.raises(cf.InputError, match=told):
        cf.Intruder(knows=["hh_income", "sex"]).attack(cf.Plan([step]).protect(FLOATS, seed=1))


def test_noise_on_logarithms_is_calibrated_on_its_own_scale() -> None:
    """With another known number and a swapped category beside it: C, A and B meet on one scale."""
    heads = cf.demo("heads").filter(pl.col("hh_income") > 0).head(1500)
    plan = cf.Plan([Multiplied("hh_income"), cf.Noise("age", sd=3), cf.Swap("race", rate=0.3)], numeric=["age"])
    release = plan.protect(heads, seed=1)
    for knows in (["hh_income", "sex"], ["hh_income", "age"], ["sex", "age", "race"]):
        assert abs(cf.Intruder(knows=knows).attack(release).calibration().z) < 3, knows


STEPS = [
    cf.Recode("age", width=5), cf.Topcode("age", at=80), cf.Bottomcode("age", at=30), cf.Round("hh_income", base=100),
    cf.Swap("race", rate=0.3), cf.Swap(["race", "sex"], rate=0.3), cf.Swap("race", rate=0.3, within="sex"),
    cf.Swap("hh_income", rate=0.3), cf.Pram("race", retention=0.8), cf.Noise("hh_income", sd=2_000),
    cf.Noise("hh_income", sd=1_000, bias_sd=0.05), cf.Noise("age", sd=3, bounds=(0, 110)),
    cf.LognormalNoise("hh_income", sd=0.1), cf.LognormalNoise(["age", "other_income"], sd=0.2, unbiased=False),
    cf.RankSwap("hh_income", window=10), cf.RankSwap("hh_income", window=10, exchange=True),
    cf.Microaggregate("hh_income", k=3), cf.Sample(0.5), cf.MatrixMask.of(cf.Swap("race", rate=0.3)),
    cf.MatrixMask("hh_income", B=[[2.0]]), cf.CartSynthesis("hh_income", given="sex"),
    cf.CartSynthesis("hh_income", given="sex", draw="bootstrap", smooth=True), cf.LogisticSynthesis("race", given="sex"),
    cf.NormalSynthesis("hh_income", given="sex"), cf.HotDeck("hh_income", match="age", within="sex", window=5),
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS, ids=lambda s: f"{s.method} {'+'.join(s.variables)}")
def test_shipped_methods_keep_what_they_state(step: Any) -> None:
    found = ce.check_mechanism(step, HEADS, knows=["marital"], draws=200)
    assert found.ok, found


def test_what_is_not_a_step_is_refused() -> None:
    with pytest.raises(cf.InputError, match="takes a step such as Swap"):
        ce.check_mechanism("swap", HEADS)  # type: ignore[arg-type]


def test_a_step_that_does_not_extend_the_base_is_told_what_it_lacks() -> None:
    class Bare:
        def fit(self) -> None: ...

    with pytest.raises(cf.InputError, match=r"Bare looks like a step(.|\n)*It lacks .*variables.*guess.*method"):
        cf.Plan([Bare()])  # type: ignore[list-item]


def test_a_likelihood_must_state_its_scale() -> None:
    class Unscaled(ce.Likelihood):
        record = target = log = altered = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="scale"):
        Unscaled()
    with pytest.raises(cf.InputError, match="must extend the class Likelihood"):
        ce.Evidence(("a",), likelihood=object())  # type: ignore[arg-type]


def test_the_wrong_fitted_form_is_told() -> None:
    @dataclass(frozen=True)
    class Odd(Multiplied):
        def fit(self, original: Any, current: Any, after: Any) -> Any:  # noqa: ARG002
            return replace

    with pytest.raises(cf.InputError, match='a step of role "random" must give, by fit, what extends the class Fitted'):
        cf.Plan([Odd("hh_income")]).protect(FLOATS, seed=1)


def test_everything_an_author_needs_is_there() -> None:
    for name in ce.__all__:
        assert getattr(ce, name) is not None
    assert set(dir(ce)) == set(ce.__all__)
