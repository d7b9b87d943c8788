"""confide: protect a microdata file, attack it as a well informed intruder, read who is at risk."""

import re

from confide.core.run import forked

_LISTED = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
_HOMES = {name: home for home, name in re.findall(r"^from (\S+) import (\w+) as \2$", _LISTED, re.MULTILINE)}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Public names arrive on first use, so that `import confide` need not load polars and numba."""
    if name not in _HOMES:
        raise AttributeError(f"module 'confide' has no attribute {name!r}")
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
