"""confide: protect a microdata file, attack it as a well informed intruder, read who is at risk."""

from confide.core.run import forked
from confide.core.stubs import homes

_HOMES = homes(__spec__)
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Public names arrive on first use, so that `import confide` need not load polars and numba."""
    if name not in _HOMES:
        from confide.core.customary import customary

        raise AttributeError(f"module 'confide' has no attribute {name!r}. {customary(name)}".rstrip(". "))
    from importlib import import_module

    if name == "__version__":
        return import_module(_HOMES[name]).__version__
    if name != "InputError":
        forked.check()
    from confide.core.arguments import guarded

    room = _HOMES[name] == "confide"
    found = import_module(f"confide.{name}") if room else getattr(import_module(_HOMES[name]), name)
    globals()[name] = guarded(found)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)


forked.watch()
