"""Individual risk as a risk of a file."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf
from tests.helpers.population_twin import individual


def test_by_weights_of_each_cell() -> None:
    data = pl.DataFrame({"a": [*"xxyz"], "w": [10.0, 30.0, 10.0, 1.0]})
    found = cf.measures.IndividualRisk("a", weight="w", threshold=0.2).of(data)
    wanted = [individual(2, 2 / 40)] * 2 + [individual(1, 0.1), 1.0]
    np.testing.assert_allclose(found.frame["risk"].to_numpy(), wanted, rtol=1e-10)
    assert found.frame["people"].to_list() == [40.0, 40.0, 10.0, 1.0]
    assert found.numbers[""] == pytest.approx(sum(wanted))
    assert found.numbers["share"] == pytest.approx(sum(wanted) / 4)
    assert (found.numbers["over"], found.numbers["largest"]) == (2, 1.0)


def test_householders() -> None:
    """The sum over uniques of the printed table, and 1/f where the file is the population."""
    heads, keys = cf.demo("heads"), ["sex", "race", "marital", "age"]
    frame = cf.measures.IndividualRisk(keys, total=1_016_437).of(heads).frame
    assert frame.filter(pl.col("alike") == 1)["risk"].sum() == pytest.approx(85.2, abs=0.06)
    whole = cf.measures.IndividualRisk(keys, fraction=1.0).of(heads)
    np.testing.assert_allclose(whole.frame["risk"].to_numpy(), 1 / whole.frame["alike"].to_numpy())
    assert whole.value == pytest.approx(whole.frame.filter(pl.col("alike") == 1).height, abs=5_000)


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(cf.InputError, match="none of them given"):
        cf.measures.IndividualRisk("a")
    with pytest.raises(cf.InputError, match=r"for 20 percent write 0\.2"):
        cf.measures.IndividualRisk("a", fraction=0.1, threshold=20)
    with pytest.raises(cf.InputError, match="as many values as there are rows"):
        cf.measures.IndividualRisk("id", fraction=0.1).of(cf.demo("heads").head(50))
    said = repr(cf.measures.IndividualRisk("sex", fraction=0.1).of(cf.demo("heads").head(50)))
    assert "its own weights alone" in said
    assert 'Rule for missing values: "own"' in said


def test_in_a_study_by_its_columns() -> None:
    risk = cf.measures.IndividualRisk(["sex", "age"], total=50_000, label="near")
    numbers = risk.numbers(cf.demo("heads").head(500))
    assert list(numbers) == list(risk.columns) == [
        "individual_risk_near", "individual_risk_near_share", "individual_risk_near_over",
        "individual_risk_near_largest",
    ]  # fmt: skip
