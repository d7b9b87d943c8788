"""Strangers who hold what is public, and all of the source: with a vault they find nothing.

Each attack is tried first on a release that must not be published, where it succeeds: a test that cannot find anything
would not be one.
"""

from __future__ import annotations

import pickle
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtri

import confide as cf
from confide.core.random.origin import Origin
from confide.frames.encoded import Encoded
from confide.protect.make import described

N, SD, GUESSES = 60, 500.0, 10_000
NOISE = cf.Plan([cf.Noise("income", sd=SD)], numeric="income")


def people(n: int = N, seed: int = 0) -> pl.DataFrame:
    """Incomes in thousands, and a column that tells everybody apart."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame({"income": 1000 * rng.integers(10, 90, n), "mark": rng.permutation(n) + 10_000})


@pytest.fixture
def vault(tmp_path: Path) -> cf.Vault:
    return cf.Vault(tmp_path / "vault")


# -- somebody who tries seeds out, with the public file and the plan -------------------------------------------------


def round_values(public: pl.DataFrame, origin: Origin) -> int:
    """How many incomes become round when order and noise of a guessed origin are taken away."""
    n = public.height
    order = origin.draws("shuffle").order(np.arange(n))
    z = np.empty(n)
    z[order] = public["income"].to_numpy()
    u = origin.draws("Noise:income").uniform(np.arange(n))
    back = z - SD * ndtri(np.clip(u, 1e-12, 1 - 1e-12))
    return int((np.abs(back / 1000 - np.round(back / 1000)) < 0.001).sum())


def guesses(public: pl.DataFrame, seeds: range) -> list[int]:
    """The best of every way to turn a guessed seed into draws that needs no secret."""
    shown = described(NOISE, Encoded.of(public), None)
    best = []
    for seed in seeds:
        origins = [Origin.shared(seed)]
        if seed % 10 == 0:
            origins += [Origin.of(shown, seed), Origin.of(shown, None, secret=seed.to_bytes(32, "big"))]
            origins += [Origin.recorded(seed)]
        best.append(max(round_values(public, o) for o in origins))
    return best


def test_guessed_seeds(vault: cf.Vault) -> None:
    open_release = NOISE.protect(people(), seed=2026, draws="shared")
    assert round_values(open_release.data, Origin.shared(2026)) == N  # the attack works
    near = sorted(guesses(open_release.data, range(1800, 2200)))
    assert near[-1] == N
    assert near[-2] < 8
    public = NOISE.protect(people(), seed=2026, vault=vault).data
    assert max(guesses(public, range(GUESSES))) < 10
    assert (
        round_values(public, Origin.of(described(NOISE, Encoded.of(people()), None), 2026, vault)) == N
    )  # only with the secret


# -- somebody who holds all of the file but one record ---------------------------------------------------------------


def candidates(file: pl.DataFrame) -> list[pl.DataFrame]:
    """The file with every income that its first person may have."""
    rest = file["income"].to_list()[1:]
    return [file.with_columns(pl.Series("income", [v, *rest])) for v in range(10_000, 90_000, 1000)]


def reproduced(public: pl.DataFrame, file: pl.DataFrame, seeds: range) -> list[int]:
    """Incomes of the first person with which a seed makes the very release."""
    found = []
    for guess in candidates(file):
        for seed in seeds:
            if NOISE.protect(guess, seed=seed).data.equals(public):
                found.append(guess["income"][0])
    return found


@pytest.mark.slow
def test_all_but_one_record_is_known(vault: cf.Vault) -> None:
    file = people(30)
    draft = NOISE.protect(file, seed=3)
    assert reproduced(draft.data, file, range(2, 5)) == [file["income"][0]]  # which is why a draft is not published
    release = NOISE.protect(file, seed=3, vault=vault)
    assert reproduced(release.data, file, range(2, 5)) == []
    # A change of one value changes every draw, so that knowing the others' noise tells nothing of this one's.
    one, other = candidates(file)[:2]
    a, b = (noise_by_mark(NOISE.protect(f, seed=3, vault=vault), f) for f in (one, other))
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(30)
    assert (a == b).mean() < 0.1


# -- two releases of one file ----------------------------------------------------------------------------------------


def noise_by_mark(release: cf.Release, file: pl.DataFrame) -> np.ndarray:
    """What was added to each person, in the order of the marks."""
    z, y = (f.sort("mark")["income"].to_numpy() for f in (release.data, file))
    return np.asarray(z - y, dtype=float)


def test_two_noises_do_not_cancel(vault: cf.Vault) -> None:
    file = people(2000)
    weak, strong = (cf.Plan([cf.Noise("income", sd=sd)], numeric="income") for sd in (SD, 2 * SD))
    a, b = (noise_by_mark(p.protect(file, seed=1, draws="shared"), file) for p in (weak, strong))
    assert np.abs(2 * a - b).max() <= 3  # rounding alone is left: the attack works
    a, b = (noise_by_mark(p.protect(file, seed=1, vault=vault), file) for p in (weak, strong))
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(file.height)
    assert (2 * a - b).std() == pytest.approx(np.sqrt(8) * SD, rel=0.1)


def releases(file: pl.DataFrame, vault: cf.Vault) -> dict[str, cf.Release]:
    """Many releases of one file from one vault: seeds, plans and copies."""
    swap = cf.Plan([cf.Noise("income", sd=SD), cf.Swap("mark", rate=0.2)], numeric=["income", "mark"])
    coarse = cf.Plan([cf.Noise("income", sd=SD), cf.Topcode("mark", at=10**9)], numeric=["income", "mark"])
    made = {
        "no seed": NOISE.protect(file, vault=vault),
        "seed 1": NOISE.protect(file, seed=1, vault=vault),
        "seed 2": NOISE.protect(file, seed=2, vault=vault),
        "two steps": swap.protect(file, seed=1, vault=vault),
        "coarse": coarse.protect(file, seed=1, vault=vault),
        "no plan": cf.Plan([]).protect(file, seed=1, vault=vault),
        "dropped": cf.Plan([], drop="mark").protect(file, seed=1, vault=vault),
        "fresh": NOISE.protect(file),
        "fresh again": NOISE.protect(file),
    }
    for many, linked in ((2, True), (3, True), (2, False)):
        first = NOISE.protect(file, seed=1, vault=vault, copies=many, linked=linked)[0]
        made[f"first of {many} copies, linked {linked}"] = first
    return made


def test_no_two_releases_line_up(vault: cf.Vault) -> None:
    file = people(1500)
    made = releases(file, vault)
    for (one, a), (two, b) in combinations(made.items(), 2):
        assert a.link is not None
        assert b.link is not None
        assert (a.link == b.link).sum() < 15, (one, two)
        assert abs(np.corrcoef(a.link, b.link)[0, 1]) < 5 / np.sqrt(file.height), (one, two)


def test_no_two_releases_share_draws(vault: cf.Vault) -> None:
    file = people(1500)
    noisy = {n: r for n, r in releases(file, vault).items() if n not in ("no plan", "dropped")}
    added = {}
    for name, release in noisy.items():
        z = np.empty(file.height)
        z[release.link] = release.data["income"].to_numpy()
        added[name] = z - file["income"].to_numpy()
    for (one, a), (two, b) in combinations(added.items(), 2):
        assert abs(np.corrcoef(a, b)[0, 1]) < 5 / np.sqrt(file.height), (one, two)


def shared_rows(a: cf.Release, b: cf.Release) -> float:
    assert a.link is not None
    assert b.link is not None
    return float((a.link == b.link).mean())


def test_equal_values_that_are_read_otherwise_share_nothing(vault: cf.Vault) -> None:
    """Equal keys mean equal releases: what a digest does not see (answer codes, the order of categories) is in the key."""
    codes = pl.DataFrame({"z": [1000.0 * i for i in range(1, 200)] + [99_999.0]})
    plan = cf.Plan([cf.Noise("z", relative=0.5)])
    declared = cf.attach(codes.clone(), cf.Schema({"z": cf.VariableSchema("z", missing=(99_999,))}))
    assert shared_rows(plan.protect(codes, vault=vault), plan.protect(declared, vault=vault)) < 0.05
    words = ["rented", "owned", "free"] * 70
    texts = [pl.Series("t", words), pl.Series("t", words, dtype=pl.Enum(["rented", "owned", "free"]))]
    pram = cf.Plan([cf.Pram("t", retention=0.6)])
    a, b = (pram.protect(pl.DataFrame(t), vault=vault) for t in texts)
    assert shared_rows(a, b) < 0.05
    swap = cf.Plan([cf.Swap("t", rate=0.6)])
    a, b = (swap.protect(pl.DataFrame(t), vault=vault) for t in texts)
    assert a.data["t"].equals(b.data["t"].cast(pl.String))  # where order does not matter it is one release
    gaps = [pl.Series("t", ["x", "y", empty] * 70) for empty in ("", None, "NA")]
    made = [swap.protect(pl.DataFrame(g), vault=vault) for g in gaps]
    assert max(shared_rows(a, b) for a, b in combinations(made, 2)) < 0.05


def test_functions_in_a_plan_share_nothing(vault: cf.Vault) -> None:
    """Nobody can tell what a function does: here it reads a number from elsewhere."""
    size = {"sd": 100.0}
    plan = cf.Plan([cf.MatrixMask("income", C=lambda x, rng: rng.normal(0, size["sd"], x.shape))], numeric="income")
    a = plan.protect(people(), vault=vault)
    size["sd"] = 300.0
    b = plan.protect(people(), vault=vault)
    assert shared_rows(a, b) < 0.2
    assert np.abs((3 * noise_by_mark(a, people()) - noise_by_mark(b, people())) / 2).max() > 20


def test_a_long_list_of_categories_does_not_tell_the_order_of_records(vault: cf.Vault) -> None:
    names = [f"person {i * 37 % 401}" for i in range(400)]
    file = pl.DataFrame({"name": pl.Series(names, dtype=pl.Enum(names)), "income": range(400)})
    for steps in ([], [cf.Swap("name", rate=0.5)]):
        levels = cf.Plan(steps).protect(file, vault=vault).data["name"].dtype.categories.to_list()  # type: ignore[attr-defined]
        assert levels == sorted(names)
    few = pl.DataFrame(
        {"size": pl.Series(["small", "large", "medium"] * 9, dtype=pl.Enum(["small", "medium", "large"]))}
    )
    kept = cf.Plan([]).protect(few, vault=vault).data["size"].dtype
    assert kept == few.schema["size"]


def test_a_draft_stays_one(tmp_path: Path) -> None:
    """Adopted as if made elsewhere, or pickled and read back."""
    file = people()
    draft = NOISE.protect(file, seed=1)
    adopted = cf.Release.adopt(file, draft.data, NOISE, link=draft.link)
    back = pickle.loads(pickle.dumps(draft))
    for release in (adopted, back):
        with pytest.raises(cf.InputError, match="is a draft"):
            release.save_record(tmp_path / "record.json")
        for frame in (release.data, release.frame):
            with pytest.raises(cf.InputError, match="is a draft"):
                cf.write(frame, tmp_path / "public.csv")


def test_samples_overlap_by_chance_only(vault: cf.Vault) -> None:
    file = people(1000)
    half = [cf.Plan([cf.Sample(0.5), *more]) for more in ((), (cf.Topcode("mark", at=10**9),))]
    a, b = (set(p.protect(file, seed=1, draws="shared").link.tolist()) for p in half)
    assert a == b
    a, b = (set(p.protect(file, seed=1, vault=vault).link.tolist()) for p in half)
    assert abs(len(a & b) - 250) < 60


def test_copies_of_one_call_are_the_exception(vault: cf.Vault) -> None:
    copies = NOISE.protect(people(), vault=vault, copies=3)
    assert all((c.link == copies[0].link).all() for c in copies)
    assert len({tuple(c.data["income"]) for c in copies}) == 3


def test_one_vault_file_plan_and_seed_is_one_release(vault: cf.Vault) -> None:
    """So that nobody averages noise away by asking again."""
    file = people()
    one = NOISE.protect(file, vault=vault)
    assert one.data.equals(NOISE.protect(file, vault=cf.Vault(vault.folder)).data)
    assert one.data.equals(pl.from_pandas(NOISE.protect(file.to_pandas(), vault=vault).data))
    assert not one.data.equals(NOISE.protect(file, vault=vault, seed=0).data)


# -- what may be written ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
@pytest.mark.parametrize("how", [{"seed": 1}, {"seed": 2**200}, {"draws": "shared"}, {"seed": 1, "draws": "shared"}])
def test_drafts_are_refused(tmp_path: Path, kind: str, how: dict[str, object]) -> None:
    file = {"polars": people(), "pandas": people().to_pandas(), "arrow": people().to_arrow()}[kind]
    release = NOISE.protect(file, **how)  # type: ignore[call-overload]
    assert "not for publication" in repr(release)
    assert "not for publication" in release.record()["status"]
    with pytest.raises(cf.InputError, match=r"This release .* with vault=FOLDER, or without a seed\."):
        cf.write(release.data, tmp_path / "public.csv")
    with pytest.raises(cf.InputError, match="This release"):
        cf.write(release.frame, tmp_path / "public.csv")
    with pytest.raises(cf.InputError, match="This release"):
        release.save_record(tmp_path / "record.json")
    assert not [*tmp_path.iterdir()]
    inside = cf.write(release.data, tmp_path / "draft.csv", draft=True)
    assert inside.stat().st_mode & 0o077 == 0
    release.save_record(tmp_path / "record.json", private=True)
    again = cf.replay(file, tmp_path / "record.json")
    assert again.frame.equals(release.frame)


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_what_nobody_can_guess_is_written(tmp_path: Path, vault: cf.Vault, kind: str) -> None:
    file = {"polars": people(), "pandas": people().to_pandas(), "arrow": people().to_arrow()}[kind]
    for name, release in (("vault", NOISE.protect(file, seed=1, vault=vault)), ("fresh", NOISE.protect(file))):
        cf.write(release.data, tmp_path / f"{name}.csv")
        release.save_record(tmp_path / f"{name}.json")
        assert "not for publication" not in repr(release)
        text = (tmp_path / f"{name}.json").read_text() + repr(release) + repr(release.origin)
        assert release.origin is not None
        for secret in (vault.secret, release.origin.root, release.origin.secret or b"none"):
            assert secret.hex() not in text
            assert repr(secret) not in text


def test_replay_uses_the_vault(tmp_path: Path, vault: cf.Vault) -> None:
    file = people()
    release = NOISE.protect(file, seed=4, vault=vault)
    path = release.save_record(vault.folder / "record.json", private=True)
    assert vault.secret.hex() not in path.read_text()
    assert cf.replay(file, path).data.equals(release.data)
    record = release.record(private=True)
    assert cf.replay(file, record, vault=vault.folder).data.equals(release.data)
    with pytest.raises(cf.InputError, match="Say which"):
        cf.replay(file, record)
    with pytest.raises(cf.InputError, match="holds no secret"):
        cf.replay(file, record, vault=tmp_path / "other")
    assert not (tmp_path / "other").exists()
    cf.Vault(tmp_path / "other")
    with pytest.raises(cf.InputError, match="is another vault"):
        cf.replay(file, record, vault=tmp_path / "other")
    copies = NOISE.protect(file, vault=vault, copies=3, linked=False)
    for copy in copies:
        assert cf.replay(file, copy.record(private=True), vault=vault).data.equals(copy.data)


def test_bad_input(tmp_path: Path) -> None:
    for wrong in ("mine", None, 1):
        with pytest.raises(cf.InputError, match='draws is "own", or "shared"'):
            NOISE.protect(people(), draws=wrong)  # type: ignore[call-overload]
    with pytest.raises(cf.InputError, match="takes no vault"):
        NOISE.protect(people(), draws="shared", vault=tmp_path / "v")
    with pytest.raises(cf.InputError, match="A vault is a folder"):
        NOISE.protect(people(), vault=3)  # type: ignore[call-overload]
    for wrong in (-1, 1.5, "1", True):
        with pytest.raises(cf.InputError, match="seed must be a whole number"):
            NOISE.protect(people(), seed=wrong, vault=tmp_path / "v")  # type: ignore[call-overload]
