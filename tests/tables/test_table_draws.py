"""Draws of tables, as a stranger meets them: somebody who has confide, the scheme, and all but one count."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import confide as cf
from confide.core.errors import InputError
from confide.frames.marks import why_withheld
from confide.tables.described import OLD_NAMES, published_text, scheme_text

RANDOM = cf.RoundCells(3, how="random")
KEYED = cf.CellKey.of(largest=2, variance=1.5)
MANY = np.random.default_rng(11).integers(1, 60, 3000)


@pytest.fixture
def vault(tmp_path: Path) -> cf.Vault:
    return cf.Vault(tmp_path / "vault")


def noise(published: Any) -> np.ndarray:
    return np.asarray(published.values - published.truth, dtype=float)


def alike(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two noises go together more than chance makes them."""
    return bool(abs(np.corrcoef(a, b)[0, 1]) > 5.5 / np.sqrt(len(a)))


@pytest.mark.parametrize(
    ("scheme", "tries"),
    [
        (RANDOM, 200),
        (KEYED, 200),
        (cf.ControlledRounding(4), 100),
        pytest.param(RANDOM, 3_000, marks=pytest.mark.slow),
        pytest.param(KEYED, 3_000, marks=pytest.mark.slow),
    ],
)
def test_guessed_seeds(vault: cf.Vault, scheme: Any, tries: int) -> None:
    """All seeds up to a limit, and the one that was used, with every count known and a right guess of the last.

    Rounding at random, chance agrees in 5/9 of 100 counts: 56, standard error 5, the best of 3,000 tries about 73.
    """
    table = cf.Table(np.random.default_rng(5).choice([4, 5, 7, 8], (10, 10)))
    margins: Any = "none"
    if isinstance(scheme, cf.ControlledRounding):  # all half-way, so that chance decides all
        table, margins = cf.Table(np.full((10, 10), 2)), "all"
    seen = {
        "vault": table.publish(scheme, margins, seed=77, vault=vault).values[:100],
        "fresh": table.publish(scheme, margins).values[:100],
        "draft": table.publish(scheme, margins, seed=77).values[:100],
    }
    best = dict.fromkeys(seen, 0)
    for seed in range(tries):
        guess = table.publish(scheme, margins, seed=seed).values[:100]
        best = {n: max(best[n], int((guess == v).sum())) for n, v in seen.items()}
    assert best["draft"] == 100
    assert best["vault"] < 88
    assert best["fresh"] < 88


@pytest.mark.parametrize("scheme", [RANDOM, cf.SmallCounts(50)])
def test_two_releases_share_no_draws(vault: cf.Vault, scheme: Any) -> None:
    table = cf.Table(MANY)
    one = noise(table.publish(scheme, vault=vault))
    others = {
        "another seed": table.publish(scheme, vault=vault, seed=1),
        "other margins": table.publish(scheme, "total", vault=vault),
        "summed": table.publish(scheme, "total", totals="summed", vault=vault),
        "another base": table.publish(type(scheme)(**{**vars(scheme), "base": scheme.base + 1}), vault=vault),
        "another name": cf.Table(MANY, names=["x"]).publish(scheme, vault=vault),
        "one count more": cf.Table(np.r_[MANY[:-1], MANY[-1] + 1]).publish(scheme, vault=vault),
        "another vault": table.publish(scheme, vault=vault.folder.with_name("other")),
        "an area": cf.Tables([MANY]).publish(scheme, vault=vault)[0],
        "fresh": table.publish(scheme),
        "a draft": table.publish(scheme, seed=1),
    }
    assert {n: alike(one, noise(o)[: len(one)]) for n, o in others.items()} == dict.fromkeys(others, False)
    assert np.array_equal(one, noise(table.publish(scheme, vault=vault)))
    assert alike(one, one)


def test_draws_of_controlled_rounding(vault: cf.Vault) -> None:
    table = cf.Table(np.full((6, 6), 2))
    scheme = cf.ControlledRounding(4)

    def made(**options: Any) -> list[int]:
        return table.publish(scheme, "all", **options).values.tolist()  # type: ignore[no-any-return]

    assert made(vault=vault) == made(vault=vault)
    assert made(vault=vault) not in (made(vault=vault, seed=0), made(), made(seed=0))
    assert made(seed=0) == made(seed=0)


def test_an_area_draws_for_itself(vault: cf.Vault) -> None:
    """Neither the other areas nor their order matter; the name and the counts do."""
    counts = np.random.default_rng(2).integers(1, 60, (3, 40, 5))
    areas = ["a", "b", "c"]
    for scheme in (RANDOM, KEYED, cf.ControlledRounding(3)):
        whole = cf.Tables(counts, areas).publish(scheme, "all", vault=vault)
        part = cf.Tables(counts[[2, 0]], ["c", "a"]).publish(scheme, "all", vault=vault)
        assert np.array_equal(part["c"].values, whole["c"].values)
        assert np.array_equal(part["a"].values, whole["a"].values)
    same = cf.Tables([MANY, MANY], ["a", "b"]).publish(RANDOM, vault=vault)
    assert not alike(noise(same["a"]), noise(same["b"]))
    keyed = cf.Tables([MANY, MANY], ["a", "b"]).publish(KEYED, vault=vault)
    assert not alike(noise(keyed["a"]), noise(keyed["b"]))


def test_draws_are_uniform_and_apart(vault: cf.Vault) -> None:
    """Rounding goes up as often as it should, cell by cell and area by area, and neighbours do not go together."""
    counts = np.full((400, 60), 4)
    up = (cf.Tables(counts).publish(RANDOM, vault=vault).values == 6).astype(float)
    assert abs(up.mean() - 1 / 3) < 5.5 * np.sqrt(2 / 9 / up.size)
    for a, b in ((up[:, :-1], up[:, 1:]), (up[:-1], up[1:])):
        assert not alike(a.ravel(), b.ravel())


# Cell keys


def people(n: int = 400) -> pl.DataFrame:
    rng = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "id": [f"P{i:05d}" for i in rng.permutation(n)],
            "house": np.arange(n) // 3,
            "person": np.arange(n) % 3,
            "sex": rng.choice(["m", "f"], n),
            "age": rng.integers(0, 5, n),
            "place": rng.integers(0, 6, n),
        }
    )


def counts_of(frame: object, by: list[str], margins: Any = "none", **options: Any) -> dict[tuple[Any, ...], int]:
    """Published counts of a table by the levels of sex and age, whatever else was counted."""
    seen = cf.Table.of(frame, by=by, **options).publish(KEYED, margins).frame
    for other in set(by) - {"sex", "age"}:
        seen = seen.filter(pl.col(other).is_null())
    return {r[:-1]: r[-1] for r in seen.select("sex", "age", "published").rows()}


@pytest.mark.parametrize("key", ["id", ["house", "person"], None])
def test_equal_cells_agree(vault: cf.Vault, key: Any) -> None:
    """The same people have the same noise in tables by other variables, in parts of the file and in any order."""
    data = people()
    small = counts_of(data, ["sex", "age"], key=key, vault=vault)
    large = counts_of(data, ["place", "age", "sex"], [["age", "sex"]], key=key, vault=vault)
    assert small == large
    shuffled = data.sample(fraction=1.0, shuffle=True, seed=8)
    assert counts_of(shuffled, ["age", "sex"], key=key, vault=vault) == small
    women = counts_of(data.filter(sex="f"), ["sex", "age"], key=key, vault=vault)
    assert women == {k: v for k, v in small.items() if k[0] == "f"}
    true = cf.Table.of(data, by=["sex", "age"]).counts.ravel()
    assert list(small.values()) != true.tolist()


def test_keys_need_no_more_than_the_identifiers(vault: cf.Vault) -> None:
    data = people()
    keys = cf.Table.of(data, by=["sex"], key="id", vault=vault).keys
    renamed = data.rename({"id": "person id"}).drop("place")
    assert np.array_equal(cf.Table.of(renamed, by=["sex"], key="person id", vault=vault).keys, keys)
    assert np.array_equal(cf.Table.of(data.to_pandas(), by=["sex"], key=["id"], vault=vault.folder).keys, keys)
    number = data.with_columns(id=pl.col("house"))
    for kind in (pl.Float64, pl.String, pl.Int32):
        again = cf.Table.of(number.cast({"id": kind}), by=["sex"], key="id", vault=vault).keys
        assert np.array_equal(again, cf.Table.of(number, by=["sex"], key="id", vault=vault).keys)
    other = cf.Vault(vault.folder.with_name("other"))
    assert not np.array_equal(cf.Table.of(data, by=["sex"], key="id", vault=other).keys, keys)
    pairs = pl.DataFrame({"a": ["1", "11"], "b": ["11", "1"], "sex": ["m", "f"]})
    one, two = cf.Table.of(pairs, by=["sex"], key=["a", "b"], vault=vault).keys.tolist()  # type: ignore[union-attr]
    assert one != two


def test_people_who_share_an_identifier_share_a_key(vault: cf.Vault) -> None:
    """Several records of one person are no mistake; a key counts as often as its person."""
    twice = pl.DataFrame({"id": ["x", "y", "y", "z"], "sex": ["m", "m", "f", "n"]})
    keys = cf.Table.of(twice, by=["id", "sex"], key="id", vault=vault).keys
    assert keys is not None
    assert keys[1, 0] == keys[1, 1] != keys[0, 1] > keys[0, 0] == 0  # levels of sex: f, m, n


def test_keys_of_people_are_uniform(vault: cf.Vault) -> None:
    data = people(3000)
    for key in ("id", None):
        keys = cf.Table.of(data, by=["id"], key=key, vault=vault).keys
        assert keys is not None
        assert len(np.unique(keys)) == 3000
        share = np.histogram(keys, bins=10, range=(0, 1))[0]
        assert ((share - 300) ** 2 / 300).sum() < 45  # chi-squared with 9 degrees of freedom: p < 1e-6


def test_areas_with_keys_of_people(vault: cf.Vault) -> None:
    data = people()
    tables = cf.Tables.of(data, by=["sex"], area="place", key="id", vault=vault)
    whole = cf.Table.of(data, by=["place", "sex"], key="id", vault=vault)
    assert np.array_equal(tables.keys, whole.keys)  # type: ignore[arg-type]
    published = tables.publish(KEYED)
    assert published.values.ravel().tolist() == whole.publish(KEYED).values.tolist()
    assert tables["3"].publish(KEYED).values.tolist() == published["3"].values.tolist()
    both = cf.Table.of(data, by=["sex"], key="id", vault=vault)
    assert np.array_equal(tables.together().keys, both.keys)  # type: ignore[arg-type]


def test_cells_without_people(vault: cf.Vault) -> None:
    """A table of counts: a cell is its levels and its count, whatever the others, the margins, the seed."""
    rng = np.random.default_rng(4)
    counts = rng.integers(3, 60, (40, 30))
    names, levels = ["a", "b"], [[f"a{i}" for i in range(40)], [f"b{i}" for i in range(30)]]
    values = cf.Table(counts, names, levels).publish(KEYED, vault=vault).values.reshape(40, 30)

    def again(*pick: Any, **options: Any) -> np.ndarray:
        table = cf.Table(*pick)
        return table.publish(KEYED, vault=vault, **options).values[: table.counts.size].reshape(table.counts.shape)

    assert np.array_equal(again(counts.T, names[::-1], levels[::-1]).T, values)
    assert np.array_equal(again(counts[:7], names, [levels[0][:7], levels[1]], margins="all", seed=5), values[:7])
    assert np.array_equal(again(counts[::-1], names, [levels[0][::-1], levels[1]]), values[::-1])
    renamed = again(counts, ["a", "c"], levels)
    assert not alike((renamed - counts).ravel(), (values - counts).ravel())


def test_one_person_more_is_not_seen_in_the_difference(vault: cf.Vault) -> None:
    """Counts of two dates with one person more in each cell: were keys the cell's alone, every difference would be 1."""
    names, before = ["a"], np.full(3000, 20)
    first, later = (cf.Table(c, names).publish(KEYED, vault=vault) for c in (before, before + 1))
    assert not alike(noise(first), noise(later))
    same = cf.Table(before, names).publish(KEYED, vault=vault)
    assert np.array_equal(first.values, same.values)


# Drafts


@pytest.mark.parametrize("scheme", [RANDOM, KEYED, cf.SmallCounts(3), cf.ControlledRounding(3)])
def test_a_draft_says_so_and_is_not_written(vault: cf.Vault, tmp_path: Path, scheme: Any) -> None:
    table, tables = cf.Table([[2, 1], [4, 5]]), cf.Tables([[2, 1], [4, 5]])
    for draft in (table.publish(scheme, seed=1), tables.publish(scheme, seed=1), tables.publish(scheme, seed=1)[0]):
        assert repr(draft).endswith("; a draft, not for publication")
        with pytest.raises(InputError, match="draft"):
            cf.write(draft.frame, tmp_path / "out.csv")
        assert not (tmp_path / "out.csv").exists()
    cf.write(table.publish(scheme, seed=1).frame, tmp_path / "draft.csv", draft=True)
    assert stat.S_IMODE((tmp_path / "draft.csv").stat().st_mode) == 0o600
    for public in (table.publish(scheme), table.publish(scheme, vault=vault, seed=1), tables.publish(scheme)):
        assert "draft" not in repr(public)
        assert public.refusal == ""
        cf.write(public.frame, tmp_path / "out.csv", overwrite=True)


def test_what_draws_nothing_is_no_draft() -> None:
    table = cf.Table([[2, 1], [4, 5]], keys=[[0.1, 0.2], [0.3, 0.4]])
    for scheme in (cf.Exact(), cf.RoundCells(3), cf.Suppress(3), KEYED):
        published = table.publish(scheme, "total", seed=1)
        assert published.refusal == ""
        assert published.values.tolist() == table.publish(scheme, "total", seed=2).values.tolist()
        assert not why_withheld(published.frame)


def test_beside_a_draft() -> None:
    table = cf.Table([[2, 1], [4, 5]])
    draft, fine = table.publish(RANDOM, seed=1), table.publish(margins="all", cells=False)
    for both in (draft.beside(fine), fine.beside(draft)):
        assert why_withheld(both.frame)
    assert not why_withheld(fine.beside(table.publish(RANDOM)).frame)


def test_nothing_of_the_secret_is_printed(vault: cf.Vault) -> None:
    made = cf.Table([2, 1]).publish(RANDOM, seed=77_777, vault=vault)
    assert made.origin is not None
    said = repr(made) + repr(made.origin)
    assert "77" not in said.replace(made.origin.vault or "", "")
    assert vault.secret.hex() not in said
    assert made.origin.root.hex() not in said


# What draws are keyed by: these texts must never change


GOLDEN = {
    '{"scheme":"Exact"}': cf.Exact(),
    '{"base":5,"scheme":"RoundCells"}': cf.RoundCells(5),
    '{"base":4,"how":"random","scheme":"RoundCells","ties":"even"}': cf.RoundCells(4, "random", "even"),
    '{"base":3,"scheme":"ControlledRounding"}': cf.ControlledRounding(3),
    '{"base":3,"scheme":"ControlledRounding","steps":1}': cf.ControlledRounding(3, steps=1),
    '{"base":3,"scheme":"SmallCounts"}': cf.SmallCounts(3),
    '{"below":5,"scheme":"Suppress"}': cf.Suppress(below=5),
    '{"below":5,"marks":"same","scheme":"Suppress","width":2,"zeros":"show"}': cf.Suppress(5, "show", 2, "same"),
    '{"scheme":"CellKey","table":{"rows":[[[0,1]],[[-1,0.25],[0,0.5],[1,0.25]]]}}': cf.CellKey(
        cf.PTable([[(0, 1.0)], [(-1, 0.25), (0, 0.5), (1, 0.25)]])  # type: ignore[arg-type]
    ),
}


def test_texts_of_schemes_are_frozen() -> None:
    assert {text: scheme_text(s) for text, s in GOLDEN.items()} == {text: text for text in GOLDEN}
    assert OLD_NAMES == {}


class Upwards:
    """A scheme of somebody's own, no dataclass: rounds up to the steps of an array, at random."""

    random, sharp, keyed = True, True, False

    def __init__(self, steps: Any) -> None:
        self.steps = np.asarray(steps)

    def apply(self, counts: Any, draws: Any) -> Any:
        return counts + self.steps[(draws * len(self.steps)).astype(int)]

    def interval(self, published: Any) -> Any:
        return np.maximum(published - self.steps.max(), 0), published

    def outcomes(self, count: int) -> Any:
        return {count + int(s): 1 / len(self.steps) for s in self.steps}


@dataclass(frozen=True)
class Stated(Upwards):
    steps: Any = field(default_factory=lambda: np.array([0, 2]))


def test_schemes_of_somebodys_own(vault: cf.Vault) -> None:
    assert scheme_text(Upwards([0, 1])) == '{"scheme":"Upwards","steps":[0,1]}'
    assert scheme_text(Stated()) == '{"scheme":"Stated"}'
    assert scheme_text(Stated(np.array([0, 3]))) == '{"scheme":"Stated","steps":[0,3]}'
    table = cf.Table(MANY)
    first, again = (table.publish(Upwards([0, 1]), vault=vault).values.tolist() for _ in range(2))
    assert first == again
    other = noise(table.publish(Upwards([0, 2]), vault=vault))
    assert not alike(np.array(first) - MANY, other)


def test_texts_of_publications_are_frozen() -> None:
    table = cf.Table(
        [[1, 0], [2, 3]], ["sex", "age"], [["m", "f"], ["young", "old"]], [[False, True], [False, False]],
        {"age": {"any": {"all ages": ["young", "old"]}}},
    )  # fmt: skip
    layout = table.axes.layout([["sex"], ["any"], []], True)
    text = published_text(table.axes, table.structural, layout, "summed")
    assert text == "824d227f05f436d9f3006836d480f26ca1c28e05e191ddaa98b674ceb799c8d5"


def test_draws_are_frozen() -> None:
    """Drafts of stated seeds, since those of a vault cannot be written down here."""
    table = cf.Table(np.arange(1, 13).reshape(3, 4))
    assert table.publish(RANDOM, "total", seed=1).values.tolist() == [3, 3, 3, 6, 3, 6, 6, 9, 9, 9, 12, 12, 78]
    assert table.publish(KEYED, "total", seed=1).values.tolist() == [2, 3, 2, 4, 4, 6, 5, 9, 8, 12, 9, 13, 76]
    areas = cf.Tables(np.arange(1, 7).reshape(2, 3), ["a", "b"])
    assert areas.publish(RANDOM, seed=1).values.tolist() == [[0, 3, 3], [3, 6, 6]]
    assert areas.publish(KEYED, seed=1).values.tolist() == [[1, 2, 5], [3, 4, 5]]


@pytest.mark.parametrize(
    ("key", "units"),
    [("id", [3901346687, 2885522309]), (["house", "id"], [2533255735, 1514001177]), (None, [2703823529, 3372064591])],
)
def test_record_keys_are_frozen(vault: cf.Vault, key: Any, units: list[int]) -> None:
    object.__setattr__(vault, "secret", bytes(32))
    keys = cf.Table.of({"id": ["a", "b"], "house": [1, 2], "sex": ["m", "f"]}, ["sex"], key=key, vault=vault).keys
    assert keys is not None
    assert (keys * 2**32).tolist() == units


# What cannot be meant


PEOPLE = {"id": ["a", "b"], "part": [0.5, 1.5], "some": ["x", None], "text": ["x", ""], "sex": ["m", "f"]}
LISTS = pl.DataFrame({**PEOPLE, "list": [[1], [2]]})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"key": "idd"}, 'no column "idd" of identifiers. Did you mean "id"?'),
        ({"key": "some"}, '1 of 2 identifiers in "some" are missing'),
        ({"key": ["id", "text"]}, '1 of 2 identifiers in "text" are missing'),
        ({"key": "part"}, 'The identifiers in "part" are numbers with fractions'),
        ({"key": "list"}, '"list" holds List values'),
        ({"key": 3}, "key names the columns that identify a person"),
        ({"key": []}, "key names the columns that identify a person"),
        ({"key": [1]}, "key names the columns that identify a person"),
        ({"key": "id", "vault": None}, "For identifiers give a vault"),
        ({"key": "part", "vault": None}, "For identifiers give a vault"),
        ({"key": ["id"], "vault": None}, "one column of record keys"),
        ({"key": "id", "vault": "file"}, "is a file; give the name of a folder"),
        ({"key": "id", "vault": 5}, "A vault is a folder"),
    ],
)
def test_keys_that_cannot_be_meant(tmp_path: Path, options: dict[str, Any], says: str) -> None:
    (tmp_path / "file").write_text("")
    given = {"vault": tmp_path / "vault", **options}
    if given["vault"] == "file":
        given["vault"] = tmp_path / "file"
    for make in (lambda: cf.Table.of(LISTS, ["sex"], **given), lambda: cf.Tables.of(LISTS, ["sex"], "id", **given)):
        with pytest.raises(InputError) as wrong:
            make()
        assert says in str(wrong.value)


def test_a_vault_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for scheme in (cf.Exact(), RANDOM, KEYED, cf.ControlledRounding(3)):
        for what in (cf.Table([1, 2]), cf.Tables([[1, 2]])):
            with pytest.raises(InputError, match="is a file; give the name of a folder"):
                what.publish(scheme, vault=tmp_path / "file")
            with pytest.raises(InputError, match="seed must be a whole number"):
                what.publish(scheme, seed=-1, vault=tmp_path / "vault")
