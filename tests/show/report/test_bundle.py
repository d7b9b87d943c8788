"""The script that draws charts: put together once, kept, and never read where it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import vl_convert

from confide.core.errors import InputError
from confide.show.report import bundle as module
from confide.show.report.bundle import bundle


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """How often libraries were put together, with a folder of its own to keep them in."""
    calls: list[str] = []

    def together() -> str:
        calls.append("made")
        return f"draw({len(calls)}, 'é')"

    monkeypatch.setattr(vl_convert, "javascript_bundle", together)
    monkeypatch.setattr(module, "cache_folder", lambda: tmp_path)
    bundle.cache_clear()
    yield calls
    bundle.cache_clear()


def again() -> str:
    bundle.cache_clear()  # as in another process
    return bundle()


def test_it_is_put_together_once(made: list[str], tmp_path: Path) -> None:
    first = bundle()
    assert first == "(() => {draw(1, 'é')\n})();"
    assert again() == first
    assert made == ["made"]
    assert len(list(tmp_path.iterdir())) == 1


def test_damaged_code_is_made_again(made: list[str], tmp_path: Path) -> None:
    bundle()
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:-4] + b"bad!")
    assert "draw(2" in again()
    assert "draw(2" in again()
    assert len(made) == 2


def test_where_nothing_can_be_kept_it_is_made_every_time(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise InputError("this user has no home folder")

    monkeypatch.setattr(module, "cache_folder", none)
    assert "draw(1" in bundle()
    assert "draw(2" in again()
    monkeypatch.setattr(module, "cache_folder", lambda: Path("/no/such/folder"))
    assert "draw(3" in again()
    assert len(made) == 3


def test_code_that_would_end_the_script_is_refused(made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda: "a</script>b")
    with pytest.raises(RuntimeError, match="has changed"):
        bundle()
    assert not made
