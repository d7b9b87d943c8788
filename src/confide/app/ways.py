"""Ways to publish a table of counts, as plain data: their settings, their names in words, and their Python."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args, get_origin, get_type_hints

import confide as cf

AS_IT_IS = "as it is"
SUMMED = "summed"
"""Totals are the sums of what is published; the other way is that each goes through the scheme itself."""

TITLES = {
    "round": "Round every count", "small": "Change small counts only", "suppress": "Hide small counts",
    "cell_key": "Add noise by cell keys", "controlled": "Round so that everything adds up",
}  # fmt: skip
ASKED = {
    "base": "To multiples of", "how": "Up or down", "ties": "Counts half-way go", "below": "Counts below",
    "zeros": "Zeros", "width": "A hidden count could be at least so many more", "marks": "Marks of hidden counts",
    "largest": "Noise of at most", "variance": "Variance of the noise", "smallest": "Never publish 1 to",
    "steps": "Further multiples allowed",
}  # fmt: skip
OWN = {("small", "base"): "Counts below this become 0 or this"}
SAID = {
    "conventional": "to the nearest", "random": "at random, right on average", "hide": "hidden too", "show": "shown",
    "apart": "small and others apart", "same": "all alike", "up": "up", "down": "down", "even": "to the even multiple",
}  # fmt: skip
FIRST: Mapping[str, Any] = {"base": 3, "below": 3, "largest": 2, "variance": 1.0}

Way = Mapping[str, Any]
"""One way: `scheme` by its name, its settings where they differ from the defaults, `totals`."""


@dataclasses.dataclass(frozen=True)
class Setting:
    """A setting of a scheme: what it is called, what kind of value it takes, and what a form shows first."""

    name: str
    label: str
    kind: str
    choices: Mapping[str, str]
    first: Any


@dataclasses.dataclass(frozen=True)
class Kind:
    """A scheme that a form can state. `summed`: whether totals can be sums of what is published."""

    name: str
    title: str
    settings: Sequence[Setting]
    summed: bool


@lru_cache(maxsize=1)
def classes() -> dict[str, Any]:
    """confide's schemes by their names."""
    found: list[Any] = [c for n, c in inspect.getmembers(cf.schemes, inspect.isclass) if not n.startswith("_")]
    return {c.scheme: c for c in found if isinstance(getattr(c, "scheme", None), str)}


@lru_cache(maxsize=1)
def kinds() -> dict[str, Kind]:
    """The schemes that have settings, in the order of their titles."""
    every = {n: _kind(n, c) for n, c in classes().items() if n != "exact"}
    order = [*(n for n in TITLES if n in every), *(n for n in every if n not in TITLES)]
    return {n: every[n] for n in order}


def _kind(name: str, cls: Any) -> Kind:
    stated = getattr(cls, "stated_by", "")
    make = getattr(cls, stated) if stated else cls
    hints = get_type_hints(make if stated else cls)
    settings = [_setting(name, p, hints[p.name]) for p in inspect.signature(make).parameters.values()]
    return Kind(name, TITLES.get(name, name), settings, hasattr(cls, "apply"))


def _setting(scheme: str, given: inspect.Parameter, hint: Any) -> Setting:
    choices = [str(v) for v in get_args(hint)] if get_origin(hint) is not None else []
    kind = "choice" if choices else "number" if hint is float else "whole"
    default = None if given.default is inspect.Parameter.empty else given.default
    first = FIRST.get(given.name, default)
    label = OWN.get((scheme, given.name)) or ASKED.get(given.name, given.name)
    return Setting(given.name, label, kind, {c: SAID.get(c, c) for c in choices}, first)


def checked_way(scheme: str, texts: Mapping[str, str], totals: str) -> tuple[dict[str, Any], dict[str, str]]:
    """The way that the fields of a form state, and what is wrong with them by field."""
    kind = kinds().get(scheme)
    if kind is None:
        return {}, {"scheme": "Choose one of the ways."}
    out: dict[str, Any] = {"scheme": scheme}
    wrong: dict[str, str] = {}
    for s in kind.settings:
        value = _value(s, texts.get(s.name, ""))
        if value is None:
            wrong[s.name] = {"whole": "A whole number.", "number": "A number."}.get(s.kind, "Choose one of them.")
        else:
            out[s.name] = value
    if totals == SUMMED and kind.summed:
        out["totals"] = SUMMED
    if not wrong:
        try:
            scheme_of(out)
        except cf.InputError as error:
            wrong[kind.settings[0].name] = str(error)
    return out, wrong


def _value(setting: Setting, text: str) -> Any:
    if setting.kind == "choice":
        return text if text in setting.choices else None
    if setting.kind == "whole":
        return int(text) if text.lstrip("-").isdigit() and len(text) < 10 else None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def scheme_of(way: Way) -> Any:
    """The scheme that a way names."""
    cls = classes()[way["scheme"]]
    make = getattr(cls, getattr(cls, "stated_by", ""), cls)
    return make(**_settings(way))


def code_of(way: Way) -> str:
    """The scheme as Python writes it."""
    cls = classes()[way["scheme"]]
    stated = getattr(cls, "stated_by", "")
    inside = ", ".join(f"{k}={v!r}" if not isinstance(v, str) else f'{k}="{v}"' for k, v in _settings(way).items())
    return f"cf.{cls.__name__}{f'.{stated}' if stated else ''}({inside})"


def _settings(way: Way) -> dict[str, Any]:
    """Settings that differ from the defaults; those without one always."""
    cls = classes()[way["scheme"]]
    make = getattr(cls, getattr(cls, "stated_by", ""), cls)
    usual = {n: p.default for n, p in inspect.signature(make).parameters.items()}
    return {k: way[k] for k in usual if k in way and way[k] != usual[k]}


def candidate_of(way: Way) -> Any:
    """A way as `cf.compare_schemes` takes it."""
    return {"scheme": scheme_of(way), "totals": SUMMED} if way.get("totals") == SUMMED else scheme_of(way)


def candidate_code(way: Way) -> str:
    """The same as Python writes it."""
    code = code_of(way)
    return f'{{"scheme": {code}, "totals": "{SUMMED}"}}' if way.get("totals") == SUMMED else code


def first_ways() -> list[dict[str, Any]]:
    """The ways that a comparison begins with."""
    return [
        {"scheme": "exact"}, {"scheme": "small", "base": 3, "totals": SUMMED}, {"scheme": "suppress", "below": 3},
        {"scheme": "cell_key", "largest": 2, "variance": 1.0}, {"scheme": "round", "base": 3},
        {"scheme": "round", "base": 5}, {"scheme": "round", "base": 3, "how": "random"},
        {"scheme": "round", "base": 5, "how": "random"},
    ]  # fmt: skip
