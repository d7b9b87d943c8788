"""What an author of a protection method, a measure of utility or a scheme for tables needs, in one place.

A method is a frozen dataclass that extends `Mechanism`, with a fitted form that extends `Fitted` (`apply` beside
`evidence`) or `Coarsening`; CONTRIBUTING has the way in ten lines, and `confide/protect/methods/lognormal.py` is one
that imports nothing else. `check_mechanism` says whether a method keeps what it states. A measure extends `Stated`;
a scheme has the methods of `CellScheme` or `TableScheme`.

>>> from confide.extend import check_mechanism
>>> import confide as cf
>>> check_mechanism(cf.Swap("race", rate=0.3), cf.demo("heads").head(400).select("race", "sex")).ok
True
"""

from importlib import import_module

from confide.core.stubs import homes

_HOMES = homes(__spec__)
__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Names arrive on first use, so that a method's file loads only what it asks for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'confide.extend' has no attribute {name!r}")
    globals()[name] = getattr(import_module(_HOMES[name]), name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted(__all__)
