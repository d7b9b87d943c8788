"""What ways to publish are called: names made from their settings, so that two that differ never share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.app.ways import AS_IT_IS, ASKED, SAID, SUMMED, kinds

Way = Mapping[str, Any]
USUAL = {"how": "conventional", "ties": "up", "zeros": "hide", "width": 1, "marks": "apart", "smallest": 0, "steps": 0}


def name_of(way: Way) -> str:
    """A way in words.

    >>> name_of({"scheme": "small", "base": 3, "totals": "summed"}), name_of({"scheme": "round", "base": 5})
    ('small counts become 0 or 3', 'rounded to 5')
    >>> name_of({"scheme": "suppress", "below": 5, "zeros": "show"})
    'below 5 hidden, zeros shown'
    """
    scheme = way["scheme"]
    if scheme == "exact":
        return AS_IT_IS
    first, told = _first(way)
    more = [_more(k, way[k]) for k in way if k not in told and k not in ("scheme", "totals") and way[k] != USUAL.get(k)]
    totals = way.get("totals") == SUMMED
    if totals != (scheme == "small") and scheme in kinds() and kinds()[scheme].summed:
        more.append("totals summed" if totals else "totals apart")
    return ", ".join([first, *more])


def _first(way: Way) -> tuple[str, tuple[str, ...]]:
    """The beginning of a name, and the settings that it tells."""
    scheme = way["scheme"]
    if scheme == "round":
        word = "random rounding" if way.get("how") == "random" else "rounded"
        return f"{word} to {way['base']}", ("base", "how")
    if scheme == "small":
        return f"small counts become 0 or {way['base']}", ("base",)
    if scheme == "suppress":
        return f"below {way['below']} hidden", ("below",)
    if scheme == "cell_key":
        usual = ("variance",) if way["variance"] == 1 else ()
        return f"cell key, up to {way['largest']}", ("largest", *usual)
    if scheme == "controlled":
        return f"rounded to {way['base']}, adds up", ("base",)
    return scheme, ()


def _more(key: str, value: Any) -> str:
    words = {
        "zeros": "zeros shown", "marks": "one mark", "variance": f"variance {value:g}" if _number(value) else "",
        "width": f"{value} apart", "smallest": f"no 1 to {value}", "steps": f"{value} further",
        "ties": f"ties {SAID.get(str(value), value)}",
    }  # fmt: skip
    return words.get(key) or f"{ASKED.get(key, key).lower()} {value}"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float))


def short_of(way: Way) -> str:
    """A way in a word or two, for narrow pictures.

    >>> short_of({"scheme": "round", "base": 5, "how": "random"}), short_of({"scheme": "suppress", "below": 3})
    ('random to 5', 'below 3 hidden')
    """
    scheme = way["scheme"]
    if scheme == "round":
        return f"{'random' if way.get('how') == 'random' else 'rounded'} to {way['base']}"
    if scheme == "small":
        return f"small counts, {way['base']}"
    if scheme == "cell_key":
        return f"cell key, {way['largest']}"
    if scheme == "controlled":
        return f"adds up, {way['base']}"
    return name_of(way).split(",")[0]


def by_name(ways: Sequence[Way]) -> dict[str, Way]:
    """Ways by their names."""
    return {name_of(w): w for w in ways}
