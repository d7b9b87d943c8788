"""Public calls as they should be, each with what a user would do next; the fuzz then spoils arguments."""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import confide as cf
from tests.fuzz.fuzz_values import REGIONS, frame, odd, people

WHO = cf.Intruder(knows=["region", "age", "income"])
RANDOM_PLAN = cf.Plan([cf.Swap("region", rate=0.4), cf.Noise("income", sd=10.0)], identifiers="id", weight="weight")


@functools.cache
def release() -> cf.Release:
    """A release as it should be."""
    return RANDOM_PLAN.protect(people(), seed=1)


@functools.cache
def attack() -> cf.Attack:
    """An attack on it."""
    return WHO.attack(release())


@functools.cache
def study_result() -> cf.StudyResult:
    """A study of two plans."""
    return cf.Study(**STUDY).run(progress=False)


TABLE = cf.Table([[2, 1, 3], [0, 5, 1]], names=["sex", "age"])
AREAS = cf.Tables([[2, 1], [0, 3]], areas=["north", "south"], names=["sex"])
PUBLISHED = TABLE.publish(cf.RoundCells(3), margins="all")
STUDY: dict[str, Any] = {
    "data": people(),
    "plans": {"recode": cf.Plan([cf.Recode("age", width=10)], identifiers="id"), "both": RANDOM_PLAN},
    "intruders": {"neighbour": WHO},
    "utility": ["means"],
    "repeats": 2,
    "seed": 1,
}


@dataclass(frozen=True)
class Call:
    """A call that works with `valid`; `then` goes on with what it gave."""

    call: Callable[..., Any]
    valid: Mapping[str, Any] = field(default_factory=dict)
    then: Callable[[Any, random.Random], Any] | None = None


def _carried_out(step: Any, rng: random.Random) -> Any:
    """A step in a plan on some file, and an attack on what comes of it."""
    plan = cf.Plan([step], identifiers="id", weight=rng.choice([None, "weight"]))
    made = plan.protect(frame(rng)[1], seed=rng.choice([None, 1]))
    made.record(private=True)
    known = rng.sample(["region", "sex", "age", "income", "spent"], 2)
    level = rng.choice(["sdl", "average", "naive", "exact"])
    return cf.Intruder.at(level, knows=known).attack(made).summary()


def _protected(plan: cf.Plan, rng: random.Random) -> Any:
    return plan.protect(frame(rng)[1], seed=1)


def _attacking(who: cf.Intruder, rng: random.Random) -> Any:
    other = rng.choice([None, None, people(5), frame(rng)[1]])
    return who.attack(release(), other).summary()


def _measured(measure: Any, rng: random.Random) -> Any:
    made = cf.Plan([cf.Noise("income", sd=3.0)]) if rng.random() < 0.5 else cf.Plan([cf.Recode("age", width=5)])
    return cf.utility(made.protect(frame(rng)[1], seed=1), [measure])


def _published(scheme: Any, rng: random.Random) -> Any:
    margins = rng.choice(["none", "total", "all"])
    return cf.sap(TABLE.publish(scheme, margins=margins, seed=1), known=rng.choice([0, 2, [1, 3]]))


STEPS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Recode by width": (cf.Recode, {"variables": "age", "width": 10}),
    "Recode by breaks": (cf.Recode, {"variables": "age", "breaks": [30, 50], "labels": ["a", "b", "c"]}),
    "Recode by mapping": (cf.Recode, {"variables": "region", "mapping": {REGIONS[0]: REGIONS[1]}}),
    "Recode by level": (
        cf.Recode,
        {"variables": "region", "hierarchy": cf.Hierarchy(table={r: [r[:1]] for r in REGIONS}), "level": 1},
    ),
    "Topcode": (cf.Topcode, {"variables": "income", "at": 80_000}),
    "Bottomcode": (cf.Bottomcode, {"variables": "income", "at": 50_000}),
    "Round": (cf.Round, {"variables": "income", "base": 100}),
    "Swap": (cf.Swap, {"variables": "region", "rate": 0.3, "within": "sex"}),
    "Swap of several": (cf.Swap, {"variables": ["region", "age"], "rate": 0.3, "jointly": False}),
    "Pram": (cf.Pram, {"variables": "region", "retention": 0.7}),
    "Pram by matrix": (cf.Pram, {"variables": "region", "matrix": [[0.8, 0.1, 0.1]] * 3}),
    "LognormalNoise": (cf.LognormalNoise, {"variables": "income", "sd": 0.1}),
    "Noise": (cf.Noise, {"variables": "income", "sd": 100.0, "bounds": [0, None]}),
    "Noise of several": (cf.Noise, {"variables": ["income", "spent"], "relative": 0.1, "correlation": "file"}),
    "Sample": (cf.Sample, {"fraction": 0.5}),
    "RankSwap": (cf.RankSwap, {"variables": "income", "window": 3}),
    "HotDeck": (cf.HotDeck, {"variables": "income", "match": "age", "within": "sex", "window": 2}),
    "LogisticSynthesis": (cf.LogisticSynthesis, {"variables": "sex", "given": ["age"]}),
    "CartSynthesis": (cf.CartSynthesis, {"variables": "income", "given": ["age"], "smooth": True}),
    "CartSynthesis with rules": (
        cf.CartSynthesis,
        {"variables": "income", "given": ["age"], "draw": "bootstrap", "rules": ["age < 18 -> income == 0"]},
    ),
    "Recompute": (cf.Recompute, {"variables": "income", "plus": ["spent"], "minus": ["age"]}),
    "NormalSynthesis": (cf.NormalSynthesis, {"variables": "income", "given": ["age", "region"]}),
    "QuantileRegression": (cf.QuantileRegression, {"variables": "income", "given": ["age"], "quantiles": 9}),
    "Microaggregate": (cf.Microaggregate, {"variables": ["income", "spent"], "k": 3}),
    "LocalSuppression": (cf.LocalSuppression, {"variables": ["region", "sex"], "k": 3, "importance": {"sex": 2.0}}),
    "MatrixMask": (cf.MatrixMask, {"variables": ["income", "spent"], "B": [[1.0, 0.2], [0.1, 1.0]]}),
    "MeasurementError": (cf.MeasurementError, {"variables": "income", "noise_variance": 9.0, "bias_variance": 4.0}),
}
MEASURES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **{m.__name__: (m, {"variables": ["income", "spent"]}) for m in (cf.Means, cf.Variances, cf.Correlations)},
    **{m.__name__: (m, {"variables": ["income", "spent"]}) for m in (cf.Covariances, cf.Eigenvalues)},
    **{m.__name__: (m, {"variables": ["region", "income"]}) for m in (cf.Hellinger, cf.TotalVariation, cf.Entropy)},
    "InformationLoss": (cf.InformationLoss, {"variables": ["income"]}),
    "Propensity": (cf.Propensity, {"variables": ["income", "region"], "permutations": 2}),
    "RegressionOverlap": (cf.RegressionOverlap, {"formula": "income ~ age + C(sex)"}),
    "CoefficientDifference": (cf.CoefficientDifference, {"formula": "log(income) ~ age"}),
    "InverseMse": (cf.InverseMse, {"estimates": ["mean(income)"]}),
}
SCHEMES: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "Exact": (cf.Exact, {}),
    "RoundCells": (cf.RoundCells, {"base": 3}),
    "ControlledRounding": (cf.ControlledRounding, {"base": 3}),
    "SmallCounts": (cf.SmallCounts, {"base": 3}),
    "ControlledSmallCounts": (cf.ControlledSmallCounts, {"base": 3}),
    "Suppress": (cf.Suppress, {"below": 3}),
    "CellKey": (cf.CellKey.of, {"largest": 2, "variance": 1.0}),
    "CellKey of a table": (cf.CellKey, {"table": cf.PTable.of(2, 1.0)}),
}


def _others() -> dict[str, Call]:
    """Everything else, written where it is used, so that arguments are fresh."""
    file, made = people(), release()
    return {
        "Plan": Call(cf.Plan, {"steps": [cf.Swap("region", rate=0.4)], "identifiers": "id"}, _protected),
        "Plan.protect": Call(RANDOM_PLAN.protect, {"data": file, "seed": 1}),
        "copies": Call(RANDOM_PLAN.protect, {"data": file, "seed": 1, "copies": 2}),
        "Intruder": Call(cf.Intruder, {"knows": ["region", "age"]}, _attacking),
        "Intruder.at": Call(cf.Intruder.at, {"level": "sdl", "knows": ["region"], "errors": {"age": 2.0}}, _attacking),
        "Intruder.attack": Call(WHO.attack, {"release": made, "targets": people(4), "threads": 1}),
        "Intruder.cost": Call(WHO.cost, {"release": made, "targets": people(4)}),
        "Intruder.sweep": Call(WHO.sweep, {"release": made, "believes": {"more": [cf.Noise("income", sd=20)]}}),
        "Uniform": Call(cf.Uniform, {"ranges": {"income": (0, 99)}}, lambda u, r: _attacking(_believing(u), r)),
        "Unsure": Call(cf.Unsure, {"weights": "weight"}, lambda u, r: _attacking(_member(u), r)),
        "Unsure of a total": Call(cf.Unsure, {"total": 400}, lambda u, r: _attacking(_member(u), r)),
        "Attack.summary": Call(attack().summary, {"threshold": 0.2}),
        "Attack.posterior": Call(attack().posterior, {"target": 0}),
        "Attack.explain": Call(attack().explain, {"target": 0, "top": 2}),
        "Attack.calibration": Call(attack().calibration, {"bins": 5}),
        "Attack.ranks": Call(attack().ranks, {"top": 5}),
        "Attack.declare": Call(attack().declare, {"threshold": 0.2}),
        "Attack.grid": Call(attack().grid, {"threads": 1, "progress": False}),
        "Attack.monte_carlo": Call(attack().monte_carlo, {"draws": 10, "seed": 1, "targets": 2}),
        "Release.adopt": Call(cf.Release.adopt, {"original": file, "released": made.data, "plan": RANDOM_PLAN}),
        "Release.adopt with a link": Call(
            cf.Release.adopt, {"original": file, "released": made.data, "plan": RANDOM_PLAN, "link": made.link}
        ),
        "Release.save_record": Call(made.save_record, {"path": "record.json", "private": True, "overwrite": True}),
        "replay": Call(cf.replay, {"record": made.record(private=True), "data": file}),
        "Vault": Call(cf.Vault, {"folder": "vault"}, lambda v, r: RANDOM_PLAN.protect(frame(r)[1], vault=v)),
        "Copies": Call(cf.Copies, {"releases": (made, made)}),
        "utility": Call(cf.utility, {"release": made, "measures": ["means", "hellinger"]}),
        "exposure": Call(cf.exposure, {"file": file, "plan": RANDOM_PLAN, "knows": ["age"], "shares": [1.0]}),
        "calibrate": Call(cf.calibrate, {"units": attack().units, "bins": 4}),
        "combine": Call(cf.combine, {"estimates": [1.0, 2.0], "variances": [0.1, 0.2]}),
        "combine_frames": Call(cf.combine_frames, {"frames": [file, file], "estimator": _mean}),
        "simulate_targets": Call(cf.simulate_targets, {"file": file, "plan": _errors(), "seed": 1}),
        "prior_from_range": Call(cf.prior_from_range, {"values": [1.0, 2.0]}),
        "Gamma": Call(cf.Gamma, {"shape": 2.0, "rate": 1.0}, lambda g, r: _carried_out(_errors(g).steps[0], r)),
        "Gamma.around": Call(cf.Gamma.around, {"mean": 2.0}),
        "Conjugate": Call(cf.Conjugate, {"mean": 1.0, "worth": 1.0, "sd": 1.0, "sd_worth": 1.0}),
        "read": Call(cf.read, {"path": "people.csv"}),
        "scan": Call(cf.scan, {"source": "people.csv"}, lambda s, _: (repr(s), s.collect())),
        "Local": Call(cf.Local, {"memory": "1GB", "batch": 1000, "buckets": 4}, lambda k, _: k.in_bytes),
        "synthesis_steps": Call(
            cf.synthesis_steps, {"data": people(), "variables": ["income"], "given": ["age"], "leaf": 3}
        ),
        "write": Call(cf.write, {"frame": file, "path": "out.csv", "overwrite": True}),
        "write to SPSS": Call(cf.write, {"frame": file, "path": "out.sav", "overwrite": True}),
        "schema": Call(cf.schema, {"frame": file}),
        "Data": Call(cf.Data, {"frame": people(), "schema": cf.Schema()}, lambda d, _: RANDOM_PLAN.protect(d, seed=1)),
        "Data.select": Call(cf.Data(people()).select, {}),
        "Data.head": Call(cf.Data(people()).head, {"n": 3}),
        "Data.sample": Call(cf.Data(people()).sample, {"n": 3, "seed": 1}),
        "Data.rename": Call(cf.Data(people()).rename, {"mapping": {"age": "years"}}),
        "Data.sort": Call(cf.Data(people()).sort, {"by": "age"}),
        "Data.join": Call(cf.Data(people()).join, {"other": people(), "on": "id", "how": "left"}),
        "to_toml": Call(cf.to_toml, {"table": {"seed": 1, "plan": [{"name": "a"}]}}),
        "attach": Call(cf.attach, {"frame": people(), "schema": cf.Schema()}),
        "Schema": Call(cf.Schema, {}, _labelled),
        "VariableSchema": Call(cf.VariableSchema, {"name": "age"}, lambda v, r: _labelled(cf.Schema({"age": v}), r)),
        "demo": Call(cf.demo, {"name": "elites"}),
        "codebook": Call(cf.codebook, {"name": "heads"}),
        "counts": Call(cf.counts, {"data": people(), "variable": "age", "bins": 5, "fewest": 3}, lambda c, _: repr(c)),
        "offers": Call(
            cf.offers,
            {"data": people(), "plan": RANDOM_PLAN, "knows": ["region"], "sensitive": [], "hierarchies": {}},
            lambda o, _: (repr(o), o.of("region"), o.change(RANDOM_PLAN, 0)),
        ),
        "roles": Call(cf.roles, {"data": people()}, lambda r, _: repr(r)),
        "look": Call(cf.look, {"data": people(), "keys": ["region", "age"], "weight": "weight"}, lambda k, _: repr(k)),
        "look with all": Call(
            cf.look,
            {"data": people(), "keys": "region", "sensitive": "sex", "population": people(90), "guess": False},
            lambda k, r: (repr(k), k.save("look.html", overwrite=True), cf.look(frame(r)[1], keys=["region", "age"])),
        ),
        **_levels(),
        **_in_population(),
        **_learnt(),
        **_without_plan(),
        **_file_risks(),
        **_tables(),
        **_studies(),
    }


def _levelled(hierarchy: cf.Hierarchy, rng: random.Random) -> Any:
    """A hierarchy met with some column of some file, and searched."""
    file, variable = frame(rng)[1], rng.choice(["region", "age", "income"])
    return cf.generalise(file, hierarchies={variable: hierarchy, "sex": cf.Hierarchy()}, until={"k": 2}, share=0.2)


def _levels() -> dict[str, Call]:
    table = {r: [r[:1]] for r in REGIONS}
    asked = {
        "data": people(), "hierarchies": {"region": cf.Hierarchy(table=table), "age": cf.Hierarchy(widths=[10])},
        "until": {"k": 2}, "share": 0.3, "goal": None,
    }  # fmt: skip
    risky = asked | {"until": {"found": 3}, "intruders": cf.Intruder(knows=["region", "age"]), "share": 0.0}
    return {
        "Hierarchy by widths": Call(cf.Hierarchy, {"widths": [5, 10], "start": 0, "names": ["a", "b"]}, _levelled),
        "Hierarchy by breaks": Call(cf.Hierarchy, {"breaks": [[30, 50], [50]], "labels": None}, _levelled),
        "Hierarchy by prefix": Call(cf.Hierarchy, {"prefix": [2, 1], "hide": True}, _levelled),
        "Hierarchy by dates": Call(cf.Hierarchy, {"dates": ["month", "year"]}, _levelled),
        "Hierarchy by table": Call(cf.Hierarchy, {"table": table}, _levelled),
        "Hierarchy.ordered": Call(cf.Hierarchy.ordered, {"values": list(REGIONS), "sizes": [2]}, _levelled),
        "Hierarchy.nested": Call(cf.Hierarchy.nested, {"data": people(), "columns": ["id", "sex"]}, _levelled),
        "Hierarchy.propose": Call(cf.Hierarchy.propose, {"data": people(), "variable": "income"}, _levelled),
        "Hierarchy.tree": Call(cf.Hierarchy(widths=[5]).tree, {"values": [1, 2, 30], "name": "age"}),
        "Hierarchy.level": Call(cf.Hierarchy(widths=[5]).level, {"level": 1}),
        "generalise": Call(cf.generalise, asked),
        "synthesise": Call(
            cf.synthesise,
            {
                "data": people(),
                "keep": "sex",
                "keys": ["region", "age"],
                "rules": "age >= 0",
                "order": "region",
                "models": {"income": "margin"},
                "leaf": 3,
                "seed": 1,
            },
            lambda k, _: (repr(k), k.summary()),
        ),
        "generalise by risk": Call(cf.generalise, risky),
    }


def _met(statement: Any, rng: random.Random) -> Any:
    """An attack without a plan, on some file or other, perhaps with people held out."""
    made = rng.choice([release(), cf.Release.adopt(people(), frame(rng)[1]), cf.Release.adopt(frame(rng)[1], people())])
    others = people(12).with_columns(pl.col("spent") + 1_000) if rng.random() < 0.5 else frame(rng)[1]
    if isinstance(statement, cf.Radius | cf.Nearest):
        found = statement.attack(made, rng.choice([None, None, others]))
        repr(found.guess(rng.choice(["sex", "spent", "income"]), held_out=rng.choice([None, others])))
        return found.summary()
    return repr(statement.attack(made, rng.choice([None, others])))


def _guessed(loss: Any, rng: random.Random) -> Any:
    return repr(attack().guess(rng.choice(["spent", "sex"]), loss))


def _counted(risk: Any, rng: random.Random) -> Any:
    """A risk of some file or other, or of a release."""
    found = risk.of(rng.choice([people(), release(), frame(rng)[1]]))
    repr(found)
    found._repr_html_()
    return found.summary()


def _in_population() -> dict[str, Call]:
    measures, keys = cf.measures, ["region", "sex", "age"]
    uniques = {"keys": keys, "fraction": 0.1, "estimators": ["poisson", "dis", "pitman", "snb"]}
    risk = measures.IndividualRisk(keys, weight="weight")
    return {
        "IndividualRisk": Call(measures.IndividualRisk, {"keys": keys, "total": 900, "threshold": 0.2}, _counted),
        "PopulationUniques": Call(measures.PopulationUniques, uniques, _counted),
        "PopulationUniques by weights": Call(
            measures.PopulationUniques, {"keys": keys, "weight": "weight", "estimators": "poisson_pairs"}, _counted
        ),
        "Suda": Call(measures.Suda, {"keys": keys, "scale": "ihsn", "missing": "never", "largest": 2}, _counted),
        "Suda with DIS": Call(measures.Suda, {"keys": keys, "fraction": 0.1}, _counted),
        "IndividualRisk.of": Call(risk.of, {"data": people()}),
        "Suda.numbers": Call(measures.Suda(keys).numbers, {"data": people()}),
    }


def _learnt() -> dict[str, Call]:
    guess, harm = attack().guess("sex"), ("right_identification", "wrong_identification", "right_attribution")
    costs = {**dict.fromkeys((*harm, "wrong_attribution"), 1.0), "threshold": 0.5}
    return {
        "Within": Call(cf.Within, {"share": 0.1, "floor": 1.0}, _guessed),
        "Exceeds": Call(cf.Exceeds, {"limit": 300.0, "cost": 1.0, "gain": 1.0}, _guessed),
        "Attack.guess": Call(attack().guess, {"variables": ["spent", "sex"], "loss": None, "without": "record"}),
        "Guess.by": Call(guess.by, {"variable": "region"}),
        "Guess.predictive": Call(guess.predictive, {"target": 3}),
        "Guess.coverage": Call(guess.coverage, {"levels": [0.5, 0.8], "seed": 1}),
        "Guess.harm": Call(guess.harm, costs),
        "Attack.one_to_one": Call(attack().one_to_one, {"sweeps": 100, "seed": 0, "threads": 1, "progress": False}),
        "Attack.by": Call(attack().by, {"variables": ["region", "age"], "threshold": 0.2}),
        "Attack.contributions": Call(attack().contributions, {"by": "region", "most": 10}),
        "Attack.clearing": Call(attack().clearing, {"limit": 0.2}),
        "utility_by_group": Call(cf.utility_by_group, {"release": release(), "by": "region", "measures": ["means"]}),
    }


def _without_plan() -> dict[str, Call]:
    file, made = people(), release()
    found = cf.Nearest(["region", "age"]).attack(made)
    others = people(12).with_columns(pl.col("spent") + 1_000)
    return {
        "Radius": Call(cf.Radius, {"knows": ["region", "income"], "share": 0.1, "floor": 1.0}, _met),
        "Nearest": Call(cf.Nearest, {"knows": ["region", "age"], "weight": 1.0, "distance": "sd"}, _met),
        "SinglingOut": Call(cf.SinglingOut, {"attacks": 5, "columns": 2, "tries": 50}, _met),
        "Linkability": Call(cf.Linkability, {"left": ["age"], "right": ["income"], "neighbours": 2}, _met),
        "Inference": Call(cf.Inference, {"knows": ["age"], "learns": "income", "within": 0.1}, _met),
        "Nearest.attack": Call(
            cf.Nearest("age").attack, {"release": made, "targets": people(4), "truth": [0, 1, 2, -1]}
        ),
        "SinglingOut.attack": Call(cf.SinglingOut(5).attack, {"release": made, "held_out": others, "threads": 1}),
        "Linkability.attack": Call(cf.Linkability("age", "sex").attack, {"release": made, "held_out": others}),
        "Inference.attack": Call(cf.Inference("age", "sex").attack, {"release": made, "held_out": others}),
        "Matches.posterior": Call(found.posterior, {"target": 1}),
        "Matches.guess": Call(found.guess, {"variable": "sex", "loss": "zero_one", "held_out": others}),
        "Matches.guess of a number": Call(found.guess, {"variable": "income", "within": 0.1}),
        "customary_risks": Call(
            cf.customary_risks, {"original": file, "released": made.data, "keys": "age", "target": "sex"}
        ),
    }


def _counted(statement: Any, rng: random.Random) -> Any:
    """A risk of the file, of some file or other."""
    return repr(statement.of(rng.choice([release(), people(), frame(rng)[1]])))


def _file_risks() -> dict[str, Call]:
    m, keys = cf.measures, ["sex", "region"]
    return {
        "KAnonymity": Call(m.KAnonymity, {"keys": keys, "k": 3, "missing": "wildcard", "label": "a"}, _counted),
        "KMap": Call(m.KMap, {"keys": keys, "population": people(), "k": 3, "missing": "own"}, _counted),
        "LDiversity": Call(
            m.LDiversity, {"keys": keys, "sensitive": "age", "l": 2, "kind": "recursive", "c": 2.0}, _counted
        ),
        "TCloseness": Call(m.TCloseness, {"keys": keys, "sensitive": "age", "t": 0.2, "kind": "equal"}, _counted),
        "UnsafeCombinations": Call(m.UnsafeCombinations, {"keys": keys, "dimension": 2, "below": [3, 2]}, _counted),
        "HouseholdRisk": Call(m.HouseholdRisk, {"keys": ["sex"], "unit": "region"}, _counted),
        "KAnonymity.of": Call(m.KAnonymity(keys).of, {"data": people()}),
        "TCloseness.numbers": Call(m.TCloseness(keys, "age").numbers, {"data": people()}),
    }


def _tables() -> dict[str, Call]:
    counts = pl.DataFrame({"sex": ["f", "m"], "count": [3, 4]})
    areas = pl.DataFrame({"ward": ["a", "a", "b", "b"], "sex": ["f", "m"] * 2, "count": [3, 4, 1, 0]})
    return {
        "Table": Call(
            cf.Table, {"counts": [[1, 2], [0, 4]], "names": ["a", "b"]}, lambda t, _: t.publish(margins="all")
        ),
        "Table.of": Call(cf.Table.of, {"frame": people(), "by": ["region", "sex"]}),
        "Table.from_counts": Call(cf.Table.from_counts, {"frame": counts}),
        "Table.margin": Call(TABLE.margin, {"names": ["sex"]}),
        "Table.given": Call(TABLE.given, {"conditions": {"sex": "0"}}),
        "Table.publish": Call(TABLE.publish, {"scheme": cf.RoundCells(3), "margins": "all", "seed": 1}),
        "Tables": Call(cf.Tables, {"counts": [[1, 2], [3, 0]], "areas": ["a", "b"]}),
        "Tables.of": Call(cf.Tables.of, {"frame": people(), "by": ["sex"], "area": "region"}),
        "Tables.from_counts": Call(cf.Tables.from_counts, {"frame": areas, "area": "ward"}),
        "Tables.place": Call(AREAS.place, {"area": "north"}),
        "Tables.publish": Call(AREAS.publish, {"scheme": cf.SmallCounts(3), "margins": "total", "seed": 1}),
        "Published.bounds": Call(PUBLISHED.bounds, {"sharp": True, "progress": False}),
        "Published.attack": Call(PUBLISHED.attack, {"known": 3}),
        "PublishedTables.attack": Call(AREAS.publish().attack, {"known": 1}),
        "PTable": Call(cf.PTable, {"rows": (((0, 1.0),), ((0, 0.5), (1, 0.5)))}),
        "PTable.of": Call(cf.PTable.of, {"largest": 2, "variance": 1.0}),
        "PTable.from_frame": Call(cf.PTable.from_frame, {"frame": cf.PTable.of(2, 1.0).to_frame()}),
        "PTable.lookup": Call(cf.PTable.of(2, 1.0).lookup, {"counts": [1, 2], "keys": [0.1, 0.9]}),
        "sap": Call(cf.sap, {"published": PUBLISHED, "known": 2}),
        "sap_bands": Call(cf.sap_bands, {"frame": cf.sap(AREAS.publish(), known=1)}),
        "expected_sap": Call(cf.expected_sap, {"table": TABLE, "scheme": cf.RoundCells(3), "known": 2, "draws": 5}),
        "compare_schemes": Call(
            cf.compare_schemes, {"table": TABLE, "candidates": {"r": cf.RoundCells(3)}, "known": 2, "repeats": 1}
        ),
    }


def _studies() -> dict[str, Call]:
    result = study_result()
    space = {"space": cf.Sweep(_swapped, rate=[0.1, 0.4]), "data": people(), "intruders": {"n": WHO}}
    search = {"utility": ["means"], "repeats": 1, "rounds": 1, "seed": 1, "progress": False}
    return {
        "Range": Call(cf.Range, {"low": 0.1, "high": 0.5, "steps": 3}, lambda r, _: r.values()),
        "Sweep": Call(cf.Sweep, {"make": _swapped, "rate": [0.1, 0.2]}, lambda s, _: s.candidates("a")),
        "Rule": Call(cf.Rule, {"max_risk": {"expected_matches": 3}}),
        "Learns": Call(cf.Learns, {"variable": "race", "gain": 0.5}),
        "Study": Call(cf.Study, STUDY),
        "Study.run": Call(cf.Study(**STUDY | {"repeats": 1}).run, {"progress": False, "threads": 1}),
        "StudyResult.frontier": Call(result.frontier, {"risk": "expected_matches"}),
        "StudyResult.choose": Call(result.choose, {"max_risk": {"expected_matches": 30}, "by": "means"}),
        "StudyResult.measure": Call(result.measure, {"name": "means"}),
        "StudyResult.map": Call(result.map, {"risk": "expected_matches"}),
        "optimise": Call(cf.optimise, {**space, **search, "max_risk": {"expected_matches": 30}}),
        "advise": Call(
            cf.advise,
            {
                "data": people(),
                "keys": ["region", "age"],
                "intruders": {"n": WHO},
                "utility": ["means"],
                "max_risk": {"found": "50%"},
                "keep": "spent",
                "budget": 2,
                "repeats": 1,
                "seed": 1,
                "progress": False,
            },
            lambda k, _: (repr(k), k.summary()),
        ),
        "improve": Call(
            cf.improve,
            {
                "data": people(),
                "plan": RANDOM_PLAN,
                "intruders": {"n": WHO},
                "utility": ["means"],
                "tries": 2,
                "most": 1,
                "repeats": 1,
                "seed": 1,
                "progress": False,
            },
        ),
        "protect_few": Call(cf.protect_few, {"data": people(), "plan": RANDOM_PLAN, "intruders": {"n": WHO}, **search}),
    }


def _swapped(rate: float) -> cf.Plan:
    return cf.Plan([cf.Swap("region", rate=rate)], identifiers="id")


def _mean(file: Any) -> tuple[float, float]:
    """A user's own function, which takes what it is given: what it raised would be the user's."""
    return (float(file["income"].mean()), 1.0) if hasattr(file, "columns") else (0.0, 1.0)


def _errors(variance: Any = 4.0) -> cf.Plan:
    return cf.Plan([cf.MeasurementError("income", noise_variance=variance, bias_variance=1.0)], identifiers="id")


def _believing(beliefs: Any) -> cf.Intruder:
    return cf.Intruder(knows=["region", "age"], beliefs=beliefs)


def _member(membership: Any) -> cf.Intruder:
    return cf.Intruder(knows=["region", "age"], membership=membership)


def _labelled(found: cf.Schema, rng: random.Random) -> Any:
    name = rng.choice(["a.sav", "a.dta", "a.parquet"])
    return cf.read(cf.write(people(), name, schema=found, overwrite=True), labels=True)


@functools.cache
def calls() -> dict[str, Call]:
    """Every public call by name."""
    steps = {n: Call(c, v, _carried_out) for n, (c, v) in STEPS.items()}
    measures = {n: Call(c, v, _measured) for n, (c, v) in MEASURES.items()}
    schemes = {n: Call(c, v, _published) for n, (c, v) in SCHEMES.items()}
    return steps | measures | schemes | _others()


def spoiled(name: str, rng: random.Random) -> tuple[str, dict[str, Any]]:
    """Arguments of a call with one or two of them spoiled, and how they were."""
    call = calls()[name]
    arguments = dict(call.valid)
    known = [p.name for p in inspect.signature(call.call).parameters.values() if p.kind != p.VAR_KEYWORD]
    told = []
    for _ in range(rng.choice([0, 0, 1, 1, 2]) if call.then else rng.choice([1, 1, 2])):
        if rng.random() < 0.02:
            arguments["no_such_argument"], what = 1, "an argument too many"
            told.append(what)
        elif arguments and rng.random() < 0.02:
            told.append(f"without {(gone := rng.choice(list(arguments)))}")
            del arguments[gone]
        elif known:
            argument = rng.choice(known)
            files = isinstance(call.valid.get(argument), pl.DataFrame) and rng.random() < 0.6
            what, arguments[argument] = frame(rng, usual=0.0) if files else odd(rng)
            told.append(f"{argument}: {what}")
    return f"{name} with {' and '.join(told) or 'nothing spoiled'}", arguments


def spared(_: Any) -> list[str]:
    """No value of the data may be named."""
    return []


def run(name: str, arguments: Mapping[str, Any], rng: random.Random) -> Any:
    """The call, and what a user would do next; printed, as a notebook would."""
    call = calls()[name]
    given = dict(arguments)
    first = [given.pop("make")] if name == "Sweep" and "make" in given else []
    out = call.call(*first, **given)
    if call.then is not None:
        out = call.then(out, rng)
    return repr(out)


def unused() -> set[str]:
    """The public names that no call here uses, by itself or by a method."""
    used: set[str] = set()
    for call in (c.call for c in calls().values()):
        owner = getattr(call, "__self__", None)
        used.add(getattr(call, "__name__", "").removeprefix("confide."))  # `demo` may be the callable module
        used.add(owner.__name__ if inspect.isclass(owner) else type(owner).__name__)
    return set(cf.__all__) - used
