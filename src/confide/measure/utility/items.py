"""What is compared, the same for every release of a file, and what a release has lost of it.

The original fixes the items: variables, pairs, coefficients. One that a release no longer allows counts at the
measure's worst value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.frames.columns import I64
from confide.measure.utility.measure import Found, described
from confide.measure.utility.pair import Pair
from confide.measure.utility.weighted import variance

Use = Literal["number", "category", "value"]
"""How a measure uses a variable: as a number, by the categories of the original, or by whatever values there are."""


@dataclass(frozen=True)
class Items:
    """`names`: the variables that are compared. `lost`: those that the release has lost, and why. `notes`: on variables
    that are none of them."""

    names: list[str]
    lost: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def kept(self) -> list[str]:
        """Variables that can be compared."""
        return [v for v in self.names if v not in self.lost]

    def averaged(self, losses: Mapping[str, float], worst: float) -> Found:
        """The mean over variables of a loss, which counts at most the worst, and as much where it is lost."""
        return mean_loss("variable", {v: losses.get(v, worst) for v in self.names}, worst, self, list(self.lost))


def mean_loss(what: str, losses: Mapping[str, float], worst: float, items: Items, lost: Sequence[str]) -> Found:
    """The mean of the losses of items, each at most the worst."""
    values = np.minimum(np.array(list(losses.values()), dtype=float), worst)
    notes = [*items.notes, *said(items.lost, what, len(lost), len(losses))]
    return Found(float(values.mean()), described(what, list(losses), values, notes), tuple(lost), len(losses))


def said(lost: Mapping[str, str], what: str = "variable", many: int = 0, of: int = 0) -> list[str]:
    """All variables that are lost, each with the reason."""
    if not lost:
        return []
    counted = "" if what == "variable" else f"{many} of {of} {what}s "
    return [f"{counted}lost: {', '.join(f'{v} ({why})' for v, why in lost.items())}"]


def items_of(pairs: Sequence[Pair], variables: Iterable[str] | None, use: Use, where: str) -> Items:
    """The variables named, or all of the original that a measure can use, and which of them a release has lost.

    A variable that has one value, or none, in the original tells nothing about a release: it is left out and noted;
    one that is named is refused where a spread is needed.
    """
    first = pairs[0]
    named = variables is not None
    names = [first.in_original(v, where) for v in variables] if variables is not None else first.compared
    if use == "number":
        names = [first.original_number(v, where) for v in names] if named else _numbers(first, names)
    if not names:
        what = "that is numeric" if use == "number" else "to compare"
        raise InputError(f"{where}: there is no variable {what} in the original; name variables it can compare.")
    still = [v for v in names if not varies(first, v, use)]
    if use == "number" and still and (named or len(still) == len(names)):
        raise InputError(
            f'{where}: "{still[0]}" has one value only, or none, in the original: there is no spread to scale by.'
        )
    still = [] if named or len(still) == len(names) else still
    notes = [f"left out, one value only in the original: {', '.join(still)}"] if still else []
    kept = [v for v in names if v not in still]
    doubtful = [v for v in kept if use == "number" and v not in first.kinds and first.before.doubt(v)]
    notes += [f"taken as numbers, though they look like codes: {', '.join(doubtful)}"] if doubtful else []
    reasons = {v: next(filter(None, (why_lost(p, v, use) for p in pairs)), "") for v in kept}
    return Items(kept, {v: why for v, why in reasons.items() if why}, notes)


def _numbers(pair: Pair, names: Iterable[str]) -> list[str]:
    return [v for v in names if pair.kind(v) == "numeric"]


def varies(pair: Pair, variable: str, use: Use) -> bool:
    """Whether a variable has several values in the original; as a number, a spread beyond rounding."""
    if use == "number":
        return spread(pair, variable) > 0
    several, missing = _values(pair, variable, 0, use)
    return several + missing > 1


def spread(pair: Pair, variable: str) -> float:
    """Standard deviation in the original, 0 where it is rounding only or where there is no value."""

    def found() -> float:
        x = pair.numbers(variable, 0)
        if bool(np.isnan(x).all()):
            return 0.0
        sd = float(np.sqrt(variance(x, pair.weights(0))))
        return sd if sd > 1e-12 * float(np.nanmax(np.abs(x))) else 0.0

    return pair.remembered(0, ("spread", variable), found)


def why_lost(pair: Pair, variable: str, use: Use) -> str:
    """Why a variable of the original cannot be used in the release; empty where it can."""
    pair.reads.add(variable)
    held = pair.after.types.get(variable)
    if held is None:
        return "not released"
    if held.is_nested() or (use == "number" and not pair.readable_number(variable)):
        return "released as categories, and no plan says what they stand for"
    try:
        several, missing = _values(pair, variable, 1, use)
    except InputError:
        return "released in another form, and no plan says what it stands for"
    if several > 1:
        return ""
    several_before, missing_before = _values(pair, variable, 0, use)
    if not several and several_before:
        return "no value"
    one = several_before > 1 or several + missing < 2 <= several_before + missing_before
    return "one value only" if one else ""


def _values(pair: Pair, variable: str, file: int, use: Use) -> tuple[int, int]:
    """Whether a file has no (0), one (1) or several (2) values of a variable; and, where it has not several, whether it
    has missing ones (1)."""

    def found() -> tuple[int, int]:
        x = _array(pair, variable, file, use)
        for some in (x[:100], x):  # mostly the first few tell
            there = some[some >= 0] if x.dtype.kind == "i" else some[~np.isnan(some)]
            if len(there) and there.min() < there.max():
                return 2, 0
        return int(len(there) > 0), int(len(there) < len(x))

    return pair.remembered(file, ("several", variable, use, pair.kind(variable)), found)


def _array(pair: Pair, variable: str, file: int, use: Use) -> NDArray[Any]:
    plain = pair.kind(variable) == "numeric" and (file == 0 or variable not in pair.coarse)
    if use == "value" and not (plain and (file == 0 or pair.is_number(variable))):
        codes: I64 = pair.file(file).column(variable, "categorical").values
        return codes
    if use == "number" or plain:
        return pair.numbers(variable, file)
    if file == 0:
        return pair.column(variable).values
    return pair.alike(variable, "utility")[1].values
