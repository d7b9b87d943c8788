"""What the machine has left."""

from __future__ import annotations

from pathlib import Path

MEMINFO = Path("/proc/meminfo")
GROUP = Path("/sys/fs/cgroup")


def free_bytes() -> int | None:
    """Bytes of memory that a process may still take: what the system has left, or less where the process's own group
    is limited (a container); None where the system does not tell."""
    left = [x for x in (_of_system(), _of_group()) if x is not None]
    return min(left) if left else None


def _of_system() -> int | None:
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _of_group() -> int | None:
    for most, now in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            return max(int((GROUP / most).read_text()) - int((GROUP / now).read_text()), 0)
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
    return None
