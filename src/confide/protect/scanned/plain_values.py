"""What a release keeps of itself, as text and arrays: nothing in it is code, whoever wrote the file.

Objects become their class's name and their fields. They come back field by field, without a call of anything that
belongs to them, and only as classes of this package, or of methods that the running program has loaded itself.
"""

from __future__ import annotations

import datetime
import importlib
import io
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from confide.core.errors import InputError
from confide.protect.seam.coarsening import Coarsening
from confide.protect.seam.fitted import Fitted
from confide.protect.seam.mechanism import Mechanism

OURS = "confide."
METHODS = (Mechanism, Fitted, Coarsening)
OTHERS = {("sklearn.linear_model._logistic", "LogisticRegression")}
"""Classes of other packages that a fitted model may hold: arrays and settings."""
TEXTS: dict[type, tuple[str, Callable[[Any], str], Callable[[str], Any]]] = {
    datetime.datetime: ("datetime", datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    datetime.date: ("date", datetime.date.isoformat, datetime.date.fromisoformat),
    datetime.time: ("time", datetime.time.isoformat, datetime.time.fromisoformat),
    Decimal: ("decimal", str, Decimal),
    bytes: ("bytes", bytes.hex, bytes.fromhex),
}
BACK = {name: back for name, _, back in TEXTS.values()}
LISTS: dict[str, Callable[[list[Any]], Any]] = {
    "list": list, "tuple": tuple, "set": set, "frozenset": frozenset, "dict": dict,
}  # fmt: skip


class Flattening:
    """Values on their way out: `objects` are told once each, however often they are met; `arrays` by their numbers.

    >>> flat = Flattening()
    >>> told = flat.of({"a": (1, np.arange(3))})
    >>> Raising(flat.objects, flat.arrays).of(told)
    {'a': (1, array([0, 1, 2]))}
    """

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.arrays: dict[str, NDArray[Any]] = {}
        self._places: dict[int, int] = {}
        self._kept: list[Any] = []

    def of(self, value: Any) -> Any:
        """A value as JSON has it."""
        if value is None or isinstance(value, (bool, str)) or type(value) in (int, float):
            return value
        for kind, (name, out, _) in TEXTS.items():
            if type(value) is kind:
                return {name: out(value)}
        if isinstance(value, datetime.timedelta):
            return {"days": [value.days, value.seconds, value.microseconds]}
        if isinstance(value, Path):
            return {"path": str(value)}
        if isinstance(value, np.generic):
            return {"number": self._array(np.asarray(value))}
        return {"at": self._placed(value)}

    def _placed(self, value: Any) -> int:
        if id(value) not in self._places:
            self._places[id(value)] = place = len(self.objects)
            self._kept.append(value)  # so that no other object gets its number
            self.objects.append(None)
            self.objects[place] = self._told(value)
        return self._places[id(value)]

    def _told(self, value: Any) -> dict[str, Any]:
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return {"things": [self.of(x) for x in value.ravel().tolist()], "shape": list(value.shape)}
            return {"array": self._array(value)}
        if isinstance(value, (pl.Series, pl.DataFrame)):
            return {"frame": self._frame(value), "series": isinstance(value, pl.Series)}
        if isinstance(value, pl.DataType) or (isinstance(value, type) and issubclass(value, pl.DataType)):
            whole = isinstance(value, pl.DataType)
            return {"dtype": self._frame(pl.Series("", [], dtype=value)), "class": not whole}
        if isinstance(value, (dict, MappingProxyType)):
            return {"dict": [[self.of(k), self.of(v)] for k, v in value.items()]}
        for name in ("list", "tuple", "set", "frozenset"):
            if type(value).__name__ == name:
                return {name: [self.of(x) for x in value]}
        return self._thing(value)

    def _thing(self, value: Any) -> dict[str, Any]:
        kind = type(value)
        name = [kind.__module__, kind.__qualname__]
        try:
            known = _found(*name) is kind
        except InputError:
            known = False
        if not known:
            raise InputError(
                f"{kind.__qualname__} of {kind.__module__} cannot be kept in the private folder: state the plan "
                "without functions, and with methods whose classes stand in a module."
            )
        return {"class": name, "fields": {k: self.of(v) for k, v in vars(value).items()}}

    def _array(self, array: NDArray[Any]) -> str:
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def _frame(self, frame: pl.Series | pl.DataFrame) -> str:
        file = io.BytesIO()
        (frame.to_frame() if isinstance(frame, pl.Series) else frame).write_ipc(file, compression="uncompressed")
        return self._array(np.frombuffer(file.getvalue(), dtype=np.uint8))


class Raising:
    """The way back; see `Flattening`."""

    def __init__(self, objects: list[Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.objects, self.arrays = objects, arrays
        self._made: dict[int, Any] = {}

    def of(self, told: Any) -> Any:
        """The value that was told."""
        if not isinstance(told, dict):
            return told
        (what, held), *_ = told.items()
        if what == "at":
            if held not in self._made:
                self._raise(held)
            return self._made[held]
        if what in BACK:
            return BACK[what](held)
        if what == "days":
            return datetime.timedelta(*held)
        if what == "path":
            return Path(held)
        assert what == "number"
        return self.arrays[held][()]

    def _raise(self, place: int) -> None:
        told = self.objects[place]
        if "fields" in told:
            kind = _found(*told["class"])
            made = self._made[place] = object.__new__(kind)
            for name, value in told["fields"].items():
                object.__setattr__(made, name, self.of(value))
            return
        self._made[place] = self._whole(told)

    def _whole(self, told: dict[str, Any]) -> Any:
        what = next(iter(told))
        if what in LISTS:
            return LISTS[what]([(self.of(x[0]), self.of(x[1])) if what == "dict" else self.of(x) for x in told[what]])
        if what == "array":
            return self.arrays[told["array"]]
        if what == "things":
            made = np.empty(len(told["things"]), dtype=object)
            made[:] = [self.of(x) for x in told["things"]]
            return made.reshape(told["shape"])
        frame = pl.read_ipc(io.BytesIO(self.arrays[told[what]].tobytes()))
        if what == "dtype":
            dtype = frame.to_series().dtype
            return type(dtype) if told["class"] else dtype
        return frame.to_series() if told["series"] else frame


def _found(module: str, name: str) -> type[Any]:
    """A class by its name; others than ours only where the program has loaded them, and they are a method's."""
    if _ours(module, name):
        importlib.import_module(module)
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and (_ours(module, name) or issubclass(found, METHODS)):
        return found
    raise InputError(f"The private folder names {name} of {module}, which this program has not.")


def _ours(module: str, name: str) -> bool:
    return f"{module}.".startswith(OURS) or (module, name) in OTHERS
