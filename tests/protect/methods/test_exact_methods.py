"""Every method leaves values exact, or says that it cannot: large numbers, decimals, 32 bits, many categories."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import confide as cf
from confide.core.errors import InputError
from confide.core.random.draws import Stream
from confide.frames.columns import Records, encode_column
from confide.protect.methods.pram.pram import Pram
from confide.protect.methods.pram.retention import FittedRetention
from confide.protect.seam.coarsening import Chain
from confide.protect.seam.fitted import View
from confide.protect.seam.likelihood import take

LARGE = [2**60 + 2 * i + 1 for i in range(100)]
NUMERIC: dict[str, Callable[[], Any]] = {
    "topcode": lambda: cf.Topcode("x", at=2**60),
    "bottomcode": lambda: cf.Bottomcode("x", at=2**60),
    "round": lambda: cf.Round("x", base=2),
    "recode": lambda: cf.Recode("x", width=10),
    "noise": lambda: cf.Noise("x", sd=10),
    "rank swap": lambda: cf.RankSwap("x", window=5),
    "microaggregate": lambda: cf.Microaggregate("x", k=3),
    "quantile regression": lambda: cf.QuantileRegression("x", given=["y"], quantiles=9),
    "normal": lambda: cf.NormalSynthesis("x", given=["y"]),
    "mask": lambda: cf.MatrixMask(["x"], B=[[2.0]]),
    "error": lambda: cf.MeasurementError("x", noise_variance=1.0, bias_variance=0.01),
}
MOVING: dict[str, Callable[[], Any]] = {
    "swap": lambda: cf.Swap("x", rate=0.5),
    "pram": lambda: cf.Pram("x", retention=0.5),
    "hot deck": lambda: cf.HotDeck("x", match=["y"], window=5),
    "cart": lambda: cf.CartSynthesis("x", given=["y"]),
    "recode": lambda: cf.Recode("x", mapping={LARGE[0]: LARGE[1]}),
}


def frame(x: Any) -> pl.DataFrame:
    y = np.random.default_rng(1).normal(size=len(x))
    return pl.DataFrame({"x": x, "y": y})


@pytest.mark.parametrize("method", list(NUMERIC))
@pytest.mark.parametrize(
    "column",
    [
        pl.Series(LARGE),
        pl.Series(LARGE, dtype=pl.UInt64),
        pl.Series([x * 2**40 for x in LARGE], dtype=pl.Int128),
        pl.Series(LARGE).cast(pl.Datetime("ns")),
        pl.Series([Decimal(x) / 10**12 for x in LARGE], dtype=pl.Decimal(38, 12)),
    ],
    ids=["Int64", "UInt64", "Int128", "Datetime", "Decimal"],
)
def test_methods_that_compute_refuse_numbers_that_they_would_blur(method: str, column: pl.Series) -> None:
    with pytest.raises(InputError, match=r'Column "x" holds .* exactly') as e:
        cf.Plan([NUMERIC[method]()]).protect(frame(column), seed=1)
    assert not any(str(x) in str(e.value) for x in LARGE)


@pytest.mark.parametrize("method", list(MOVING))
def test_methods_that_move_values_keep_large_numbers(method: str) -> None:
    release = cf.Plan([MOVING[method]()]).protect(frame(LARGE), seed=1)
    assert release.frame["x"].dtype == pl.Int64
    assert set(release.frame["x"]) <= set(LARGE)
    if method == "swap":
        assert sorted(release.frame["x"]) == LARGE


@pytest.mark.parametrize(
    "make",
    [
        lambda x: cf.Topcode("x", at=x),
        lambda x: cf.Bottomcode("x", at=x),
        lambda x: cf.Round("x", base=x),
        lambda x: cf.Recode("x", width=x),
        lambda x: cf.Recode("x", breaks=[0, x]),
        lambda x: cf.Recode("x", width=5, start=x),
        lambda x: cf.Noise("x", sd=1, bounds=(0, x)).parts()[0].fit(*records(), {}),
    ],
)
@pytest.mark.parametrize("number", [2**60 + 1, 10**400])
def test_a_parameter_that_float64_would_blur_is_refused(make: Callable[[int], Any], number: int) -> None:
    with pytest.raises(InputError):
        make(number)


def records() -> tuple[Records, Records]:
    made = Records([encode_column(pl.Series("x", range(50)), "numeric")])
    return made, made


def test_a_limit_of_a_column_of_floats_may_be_large() -> None:
    x = [1e17, 2e18, 3e18] * 10
    released = cf.Plan([cf.Topcode("x", at=2**60)]).protect(frame(x), seed=1).frame["x"]
    assert sorted(set(released)) == [1e17, 2.0**60]


@pytest.mark.parametrize("dtype", [pl.Decimal(12, 2), pl.Decimal(38, 25), pl.Float32, pl.Float16, pl.Float64])
def test_noise_comes_out_at_the_precision_of_its_column_in_its_own_type(dtype: Any, tmp_path: Path) -> None:
    text = pl.Series([f"{i / 10:.1f}" for i in range(100)])
    x = text.cast(dtype) if isinstance(dtype, pl.Decimal) else text.cast(pl.Float64).cast(dtype)
    release = cf.Plan([cf.Noise("x", sd=1)]).protect(frame(x), seed=1)
    assert release.frame["x"].dtype == x.dtype
    path = cf.write(release.frame.select("x"), tmp_path / "x.csv")
    longest = max(len(line.partition(".")[2].rstrip("0")) for line in path.read_text().split()[1:])
    assert longest == 1


def test_noise_on_32_bits_without_a_decimal_unit_stays_in_32_bits() -> None:
    x = pl.Series(np.random.default_rng(2).normal(5000, 900, 100).astype("f4"))
    assert cf.Plan([cf.Noise("x", sd=1)]).protect(frame(x), seed=1).frame["x"].dtype == pl.Float32


@pytest.mark.parametrize(("at", "fits"), [(0.25, True), (0.125, False)])
def test_a_limit_must_fit_the_type_that_releases_it(at: float, fits: bool) -> None:
    data = frame(pl.Series([Decimal(i) / 100 for i in range(90)], dtype=pl.Decimal(9, 2)))
    if not fits:
        with pytest.raises(InputError, match="cannot hold at exactly"):
            cf.Plan([cf.Topcode("x", at=at)]).protect(data, seed=1)
        return
    released = cf.Plan([cf.Topcode("x", at=at)]).protect(data, seed=1).frame["x"]
    assert released.max() == Decimal("0.25")
    assert released.dtype == pl.Decimal(9, 2)


@settings(deadline=None, max_examples=60)
@given(st.integers(-(2**53), 2**53), st.integers(1, 10**6))
def test_rounding_gives_exact_multiples(value: int, base: int) -> None:
    step = cf.Round("x", base=base)
    column = encode_column(pl.Series("x", [value]), "numeric")
    (made,) = step.image(column).values.tolist()
    if abs(value) < 2**51:  # halves are exact up to here
        assert int(made) == (2 * value + base) // (2 * base) * base
    low, high = step.cells(step.image(column))
    if abs(made) < 2**51:
        assert low[0] <= value < high[0] or abs(value - made) * 2 <= base + 1


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 400), st.sampled_from(["0.1", "0.2", "0.05", "0.3"]))
def test_a_decimal_falls_into_the_interval_that_it_starts(k: int, width: str) -> None:
    edge = float(Decimal(width) * k)
    column = encode_column(pl.Series("x", [edge]), "numeric")
    recode = cf.Recode("x", width=float(width))
    fitted = recode.fit(Records([column]), Records([column]), {})
    (low,), _ = fitted.cells(fitted.image(column))
    assert low == pytest.approx(edge, abs=1e-9)


def test_intervals_between_long_numbers_have_names_of_their_own() -> None:
    breaks = [12_345_678_901.5, 12_345_678_902.5, 12_345_678_903.5]
    x = [12_345_678_901.0, 12_345_678_902.0, 12_345_678_903.0, 12_345_678_904.0]
    released = cf.Plan([cf.Recode("x", breaks=breaks)]).protect(frame(x), seed=1).frame["x"]
    assert released.n_unique() == 4


def test_a_mapping_does_not_turn_long_numbers_into_floats() -> None:
    with pytest.raises(InputError, match="too many digits"):
        cf.Plan([cf.Recode("x", mapping={LARGE[0]: 0.5})]).protect(frame(LARGE), seed=1)


@pytest.mark.parametrize("dtype", [pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64])
def test_noise_on_unsigned_numbers_does_not_wrap_around(dtype: Any) -> None:
    x = pl.Series([1, 2, 3, 4, 200] * 20, dtype=dtype)
    plan = cf.Plan([cf.Noise("x", sd=30)], numeric=["x"])
    signed = plan.protect(frame(x.cast(pl.Int64)), seed=1).frame["x"]
    made = plan.protect(frame(x), seed=1).frame["x"]
    assert made.cast(pl.Int64).to_list() == signed.to_list()
    assert made.min() < 0  # type: ignore[operator]


def test_altered_numbers_that_leave_the_exact_range_are_refused() -> None:
    data = frame(pl.Series([2**52 + i for i in range(50)]))
    with pytest.raises(InputError, match="2\\^51"):
        cf.Plan([cf.Noise("x", sd=10)]).protect(data, seed=1)


# -- many categories -----------------------------------------------------------------------------------------


def pram_pair(codes: list[int | None], retention: float) -> tuple[Any, FittedRetention, Records]:
    column = encode_column(pl.Series("x", codes, dtype=pl.Int64), "categorical")
    file = Records([column])
    dense: Any = Pram("x", retention=retention).fit(file, file, {})
    count = np.bincount(np.where(column.values < 0, len(column.levels), column.values), minlength=len(dense.p))
    return dense, FittedRetention("x", column, count / len(codes), retention), file


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.one_of(st.none(), st.integers(0, 6)), min_size=3, max_size=30).filter(
        lambda c: any(x is not None for x in c)
    ),
    st.floats(0.0, 1.0),
    st.booleans(),
)
def test_pram_without_its_matrix_is_pram(codes: list[int | None], retention: float, merged: bool) -> None:
    dense, lean, file = pram_pair(codes, retention)
    a = dense.apply(file, file, Stream(np.random.default_rng(3))).columns[0].values
    b = lean.apply(file, file, Stream(np.random.default_rng(3))).columns[0].values
    assert a.tolist() == b.tolist()
    after = Chain()
    if merged:
        levels = file["x"].levels
        recode = cf.Recode("x", mapping={levels[0]: "first", levels[-1]: "first"})
        after = Chain((recode.fit(file, file, {}),))
    released = Records([after.image(dense.apply(file, file, Stream(np.random.default_rng(4))).columns[0])])
    view = View(released, {}, {"x": after})
    logs = []
    for fitted in (dense, lean):
        like = fitted.evidence(view, ("x",)).likelihood
        t, z, n = like.target(file), like.record, file.n
        logs.append(np.stack([like.log(take(t, np.full(released.n, i)), z) for i in range(n)]))
    np.testing.assert_allclose(np.exp(logs[0]), np.exp(logs[1]), atol=1e-12)


@pytest.mark.parametrize("retention", [0.0, 0.2, 0.5, 0.9])
def test_pram_without_its_matrix_inverts_the_same_rows(retention: float) -> None:
    dense, lean, _ = pram_pair([0, 1, 1, 2, 2, 2, None], retention)
    u = np.linspace(0, 1, 997, endpoint=False)
    for a, row in enumerate(np.cumsum(dense.p, axis=1)):
        assert lean.drawn(np.full(len(u), a), u).tolist() == np.searchsorted(row, u, side="right").tolist()


def test_pram_of_very_many_categories_needs_no_matrix() -> None:
    n = 20_000
    data = pl.DataFrame({"x": [f"place {i}" for i in range(n)]})
    release = cf.Plan([cf.Pram("x", retention=0.9)]).protect(data, seed=1)
    kept = (release.frame["x"] == data["x"].gather(release.link)).mean()
    assert kept == pytest.approx(0.9, abs=0.01)
    attack = cf.Intruder(knows=["x"], others="ignore", unavailable="ignore").attack(release, targets=data.head(20))
    assert attack.units["p_max"].max() > 0.5  # type: ignore[operator]
    with pytest.raises(InputError, match="20,000 joint categories"):
        cf.Intruder(knows=["x"]).attack(release)


def test_tables_of_all_pairs_of_categories_are_refused_with_their_number() -> None:
    n = 6_000
    data = pl.DataFrame({"x": [f"place {i}" for i in range(n)], "y": range(n)})
    listed = data.with_columns(x=pl.Series(["place 1", "place 2"] * (n // 2), dtype=pl.Enum(data["x"])))
    two = cf.Pram("x", matrix=[[0.9, 0.1], [0.1, 0.9]], levels=["place 1", "place 2"])
    with pytest.raises(InputError, match="6,000 categories"):
        cf.Plan([two]).protect(listed, seed=1)
    release = cf.Plan([cf.Swap("x", rate=0.1, simulate=2)]).protect(data, seed=1)
    with pytest.raises(InputError, match="6,000 categories"):
        cf.Intruder(knows=["x"], others="ignore", unavailable="ignore").attack(release)
    kept = cf.Plan([cf.Topcode("y", at=5_000)]).protect(data, seed=1)
    with pytest.raises(InputError, match="6,000 categories"):
        cf.Intruder(knows=["x"], errors={"x": 0.01}).attack(kept)


def test_predictors_that_fill_memory_are_refused() -> None:
    n = 40_000
    data = pl.DataFrame({"x": np.random.default_rng(1).normal(size=n), "p": [f"place {i // 2}" for i in range(n)]})
    with pytest.raises(InputError, match="20,000 columns"):
        cf.Plan([cf.NormalSynthesis("x", given=["p"])]).protect(data, seed=1)
