"""The seam: a method that the engine has never heard of works, from one file, with a likelihood of its own."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.random.draws import Draws
from confide.frames.columns import Records
from confide.protect.seam.coarsening import Coarsening
from confide.protect.seam.evidence import Evidence
from confide.protect.seam.fitted import Applied, Fitted, View
from confide.protect.seam.likelihood import Likelihood
from confide.protect.seam.mechanism import Mechanism, Names
from confide.protect.shared.category_codes import level_codes
from tests.helpers.source import modules


@dataclass(frozen=True)
class Flip(Mechanism, Fitted):
    """Changes the categories of a variable to the next one with a given probability."""

    variables: Names
    chance: float
    sense: str = "z|y"

    method: ClassVar[str] = "flip"
    role: ClassVar[str] = "random"

    def kinds(self) -> Mapping[str, Any]:
        return {self.variable: "categorical"}

    def fit(self, original: Records, current: Records, after: Mapping[str, Any]) -> "Flip":  # noqa: ARG002
        return self

    def apply(self, original: Records, current: Records, draws: Draws) -> Applied:  # noqa: ARG002
        column = current[self.variable]
        moved = (column.values + (draws.uniform(current.rows) < self.chance)) % len(column.levels)
        return Applied([column.with_values(moved)])

    def evidence(self, view: View, about: tuple[str, ...]) -> Evidence:
        column = view.released[self.variable]
        return Evidence(about, likelihood=FlipLikelihood(self, column), sense=self.sense)


class FlipLikelihood(Likelihood):
    scale = None

    def __init__(self, flip: Flip, column: Any) -> None:
        self.flip, self.column = flip, column

    @property
    def record(self) -> dict[str, Any]:
        return {"z": self.column.values}

    def target(self, records: Records) -> dict[str, Any]:
        return {"y": level_codes(records[self.flip.variable], self.column)[0]}

    def log(self, t: Any, z: Any) -> Any:
        k, p = len(self.column.levels), self.flip.chance
        step = (z["z"] - t["y"]) % k
        with np.errstate(divide="ignore"):
            found = np.log(np.where(step == 0, 1 - p, np.where(step == 1, p, 0.0)))
        if self.flip.sense == "z|y":
            return found
        share = np.bincount(self.column.values, minlength=k) / len(self.column.values)
        total = share[t["y"]] * (1 - p) + share[(t["y"] + 1) % k] * p
        return found - np.log(total)

    def altered(self, t: Any) -> Any:
        return np.ones(len(t["y"]), dtype=bool)


RNG = np.random.default_rng(8)
DATA = pl.DataFrame({
    "sex": pl.Series(RNG.choice(["f", "m"], 120), dtype=pl.Enum(["f", "m"])),
    "c": pl.Series(RNG.choice(["u", "v", "w"], 120, p=[0.6, 0.3, 0.1]), dtype=pl.Enum(["u", "v", "w"])),
    "d": RNG.choice(["k", "l"], 120),
})  # fmt: skip
MATRIX = [[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]]


@pytest.mark.parametrize("knows", [["sex", "c"], ["sex", "d"], ["sex", "c", "d"]])
@pytest.mark.parametrize("membership", ["certain", cf.Unsure(total=1000)], ids=["certain", "unsure"])
def test_a_stranger_method_is_attacked_like_one_with_a_kernel(knows: list[str], membership: Any) -> None:
    """The same transition probabilities as a PRAM matrix, but through `log` alone."""
    own = cf.Plan([Flip("c", 0.2), cf.Swap("d", rate=0.3)]).protect(DATA, seed=1)
    twin = cf.Release.adopt(
        DATA, own.data, cf.Plan([cf.Pram("c", matrix=MATRIX), cf.Swap("d", rate=0.3)]), link=own.link
    )
    who = cf.Intruder(knows=knows, membership=membership)
    a, b = who.attack(own).units, who.attack(twin).units
    for name in ("p_true", "p_max", "p_absent"):
        np.testing.assert_allclose(a[name], b[name], atol=1e-9)
    assert a["rank"].to_list() == b["rank"].to_list()


def test_a_model_of_the_true_value_given_the_released_one_needs_no_a() -> None:
    release = cf.Plan([Flip("c", 0.2, sense="y|z")]).protect(DATA, seed=1)
    who = cf.Unsure(total=1000, model="proportional")
    attack = cf.Intruder(knows=["sex", "c"], membership=who).attack(release)
    parts = attack.explain(3).frame["part"].unique().to_list()
    assert parts == ["c"]
    z, t, sex = release.data["c"].to_physical().to_numpy(), DATA["c"].to_physical().to_numpy()[3], DATA["sex"][3]
    mine = (release.data["sex"] == sex).to_numpy()
    share = np.bincount(z, minlength=3) / len(z)
    likelihood = np.array([[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]])[t]
    w = likelihood[z[mine]] / (share @ likelihood)
    people = 1000 * mine.sum() / len(z)
    expected = w.max() / (w.sum() + people - mine.sum())
    assert attack.units["p_max"][3] == pytest.approx(expected, rel=1e-6)


def test_nobody_probes_for_hooks() -> None:
    """What may be asked of a method or a likelihood is in a base class: no `hasattr` and no `getattr` finds it."""
    hooks = {n for base in (Mechanism, Fitted, Likelihood, Coarsening) for n in vars(base) if not n.startswith("_")}
    for name, module in modules().items():
        if name.split(".")[1:2] not in (["protect"], ["attack"], ["measure"], ["study"]):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("hasattr", "getattr") and len(node.args) > 1:
                asked = node.args[1]
                assert not (isinstance(asked, ast.Constant) and asked.value in hooks), (name, ast.unparse(node))


def test_defaults_are_those_of_a_plain_random_step() -> None:
    step = Flip("c", 0.2)
    assert (step.needs, step.stream, list(step.parts()), step.secret) == ((), "Flip:c", [step], ())
    assert (step.draws, step.selects, step.linear, step.by_order, step.share_chosen) == (True, False, False, True, None)
    assert step.with_forced([1]) is None
    assert step.with_share(0.5) is step
    assert step.guess(cf.Plan([step]).encode(DATA)) is step
    assert (step.nobody, step.models_truth, step.unfit(cf.Plan([step]).encode(DATA), None)) == ("", False, [])
    with pytest.raises(cf.InputError, match="not known as a product of matrices"):
        step.matrices(step, *[cf.Plan([step]).encode(DATA)] * 2, None)  # type: ignore[arg-type]
    with pytest.raises(cf.InputError, match="Flip is not known as a matrix mask"):
        cf.MatrixMask.of(step)
