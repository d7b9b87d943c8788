"""The kind of processor on which numbers of quantile regressions were made (see docs/how-to/release.md)."""

from __future__ import annotations

from confide.protect.record import versions

KIND = "Haswell"
"""The name that OpenBLAS has for it; `OPENBLAS_CORETYPE` asks for it on any newer one, as scripts/test does."""


def of_that_kind() -> bool:
    """Whether linear algebra is computed as there."""
    return versions()["processor"] == f"x86_64 {KIND}"
