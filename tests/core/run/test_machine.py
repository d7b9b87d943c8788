"""What the machine has left: the system's, or less in a limited group; nothing where nobody tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from confide.core.run import machine


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(machine, "MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "GROUP", tmp_path)
    return tmp_path


def test_what_the_system_has(files: Path) -> None:
    assert machine.free_bytes() is None
    (files / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:   4000 kB\n")
    assert machine.free_bytes() == 4_096_000
    (files / "meminfo").write_text("MemTotal: 9000 kB\n")
    assert machine.free_bytes() is None


def test_a_group_may_have_less(files: Path) -> None:
    (files / "meminfo").write_text("MemAvailable: 4000 kB\n")
    (files / "memory.max").write_text("max\n")
    (files / "memory.current").write_text("1000000\n")
    assert machine.free_bytes() == 4_096_000
    (files / "memory.max").write_text("3000000\n")
    assert machine.free_bytes() == 2_000_000
    (files / "memory.max").write_text("500000\n")
    assert machine.free_bytes() == 0


def test_groups_of_an_earlier_form(files: Path) -> None:
    (files / "memory").mkdir()
    (files / "memory" / "memory.limit_in_bytes").write_text("900\n")
    (files / "memory" / "memory.usage_in_bytes").write_text("300\n")
    assert machine.free_bytes() == 600
