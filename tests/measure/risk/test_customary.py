"""CAP and its relatives: the worked case, the shipped file, a twin, and the faults in the printout."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import confide as cf

ORIGINAL = {"k": ["a", "a", "b", "c"], "y": ["1", "0", "0", "1"]}
SYNTHETIC = {"k": ["a", "a", "a", "b"], "y": ["1", "1", "0", "0"]}


def test_the_worked_case() -> None:
    found = cf.customary_risks(ORIGINAL, SYNTHETIC, keys="k", target="y")
    assert found.people["cap"].to_list() == pytest.approx([2 / 3, 1 / 3, 1, None])
    parts = {r["measure"]: (r["count"], r["of"]) for r in found.frame.iter_rows(named=True)}
    assert found.value("cap_matched") == pytest.approx(2 / 3)
    assert found.value("dcap") == pytest.approx(1 / 2)
    assert parts["tcap"] == (1, 1)
    assert parts["disco"] == (1, 4)
    assert parts["repu"] == (1, 4)
    assert parts["repu_of_uniques"] == (1, 2)
    text = repr(found)
    for fault in ("are dropped", "unmatched people count as 0", "own row", "cell of one released row", "no baseline",
                  "which denominator", "1 of 4 people have keys that no released row has"):  # fmt: skip
        assert fault in text


@pytest.mark.parametrize(
    ("more", "own_in", "own_out", "relations"), [([], 0.481, 0.450, 0.439), (["educ"], 0.584, 0.452, 0.419),
                                                 (["state"], 0.709, 0.433, 0.381)],
)  # fmt: skip
def test_own_row_in_and_out_on_the_heads(more: list[str], own_in: float, own_out: float, relations: float) -> None:
    """With more keys CAP rises while what others' rows teach falls: the rise is the own row alone."""
    heads = cf.demo("heads")
    found = cf.customary_risks(heads, heads, keys=["sex", "race", "marital", "age", *more], target="tenure")
    values = [found.value(m) for m in ("cap_original", "dcap", "cap_own_out", "relations", "margin")]
    assert values == pytest.approx([own_in, own_in, own_out, relations, 0.339], abs=0.0006)


def test_plain_loops_agree() -> None:
    rng = np.random.default_rng(3)
    y, z = (pl.DataFrame({"a": rng.integers(0, 4, n), "b": rng.integers(0, 5, n), "y": rng.integers(0, 2, n)})
            .with_columns(pl.all().cast(pl.String)) for n in (60, 80))  # fmt: skip
    found = cf.customary_risks(y, z, keys=["a", "b"], target="y")
    caps, agreed, right, unique = [], 0, 0, 0
    for t in y.iter_rows(named=True):
        cell = z.filter(a=t["a"], b=t["b"])["y"].to_list()
        caps.append(cell.count(t["y"]) / len(cell) if cell else None)
        agreed += len(set(cell)) == 1
        right += set(cell) == {t["y"]}
        unique += len(cell) == 1 and y.filter(a=t["a"], b=t["b"]).height == 1
    assert found.people["cap"].to_list() == pytest.approx(caps, nan_ok=True)
    assert found.value("dcap") == pytest.approx(sum(c or 0 for c in caps) / 60)
    assert found.value("tcap") == pytest.approx(right / agreed)
    assert found.value("disco") == right / 60
    assert found.value("repu") == unique / 60


def test_cap_of_a_person_is_the_naive_predictive_probability() -> None:
    heads = cf.demo("heads").head(400)
    z = heads.with_columns(pl.col("tenure").shuffle(seed=2))
    cap = cf.customary_risks(heads, z, keys=["sex", "marital"], target="tenure").people["cap"]
    naive = cf.Radius(["sex", "marital"]).attack(cf.Release.adopt(heads, z)).guess("tenure").frame["p_true"]
    assert cap.to_list() == pytest.approx(naive.to_list())


def test_numbers_and_missing_values_and_no_denominator() -> None:
    y = pl.DataFrame({"k": [1.25, 2.25, None], "y": ["u", None, "v"]})
    z = pl.DataFrame({"k": [9.75, None], "y": ["u", "v"]})
    found = cf.customary_risks(y, z, keys="k", target="y")
    assert found.people["cap"].to_list() == [None, None, 1.0]
    assert "Compared for equality, though numbers: k" in repr(found)
    empty = cf.customary_risks(y.head(2), z.head(1), keys="k", target="y")
    assert empty.value("tcap") is None
    assert "undefined" in repr(empty)
    with pytest.raises(cf.InputError, match="measure is one of"):
        found.value("cap")


def test_a_release_alone() -> None:
    release = cf.Release.adopt(ORIGINAL, SYNTHETIC)
    assert cf.customary_risks(release, keys="k", target="y").value("dcap") == 0.5
