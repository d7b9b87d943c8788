"""What tells one piece of a study from another, so that a result is never taken for that of something else."""

from __future__ import annotations

import hashlib
import io
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from confide.attack.intruder import Intruder, Unsure
from confide.core.errors import InputError
from confide.core.version import __version__
from confide.frames import Data, schema, to_polars
from confide.frames.scan.scan import Scan
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.study.evaluate import is_random, repeat_seed
from confide.study.scanned import stamp
from confide.study.statement.sweep import Candidate

if TYPE_CHECKING:
    from confide.study.statement.study import Study


@dataclass(frozen=True, eq=False)
class Piece:
    """One candidate with one repeat's seed; `key` says what it is, so that a change of any part of it is noticed."""

    candidate: Candidate
    repeat: int
    seed: int
    key: str


def pieces_of(study: Study, seed: int) -> list[Piece]:
    """All pieces, repeat by repeat, so that every plan comes early. A plan without random steps is carried out once.

    What no document can hold (functions, say) has keys of its own in each run: nobody can say whether it is the same.
    """
    run = uuid.uuid4().hex
    common = _common(study, run)
    plans = [(c, _stated_plan(c, f"{run} {c.name}")) for c in (study.everything, *study.candidates)]
    out = []
    for repeat in range(study.repeats):
        own = repeat_seed(seed, repeat)
        for c, plan in plans:
            if repeat == 0 or is_random(c.plan):
                stated = {"plan": plan, "copies": study.copies_of(c), "seed": str(own), **common}
                out.append(Piece(c, repeat, own, _digest(stated)))
    return out


def keyed(study: Study, candidate: Candidate, **about: Any) -> str:
    """What tells one trial of a search from another; `about`: what else it depends on, as its seed and its targets."""
    run = uuid.uuid4().hex
    return _digest({"plan": _stated_plan(candidate, run), "about": about, **_common(study, run)})


def fingerprint(study: Study) -> str:
    """What tells one study from another."""
    plans = {c.name: _stated_plan(c, "not stated") for c in study.candidates}
    whole = {"plans": plans, "copies": dict(study.copies), "repeats": study.repeats, "seed": str(study.seed)}
    return _digest({**whole, **_common(study, "not stated")})


def origin(study: Study) -> str:
    """What tells the files of one study from those of another: also what only its reports depend on."""
    return _digest(
        {"study": fingerprint(study), "title": study.title, "label": study.label, "choice": repr(study.choice)}
    )


def _common(study: Study, otherwise: str) -> dict[str, Any]:
    """What every piece of a study depends on; `otherwise` stands for what cannot be stated."""
    return {
        "data": _study_digest(study),
        "intruders": {name: _stated_intruder(who, otherwise) for name, who in study.intruders.items()},
        "utility": [_stated_measure(m, otherwise) for m in study.measures],
        "threshold": study.threshold,
        "strongest": study.strongest,
        "items": study.items,
        "version": __version__,
        **({"groups": list(study.groups)} if study.groups else {}),
        **({"learns": [repr(one) for one in study.learns]} if study.learns else {}),
        **({"file_risks": [_stated_measure(r, otherwise) for r in study.on_file]} if study.file_risks else {}),
    }


def _study_digest(study: Study) -> Any:
    """What tells the data of a study from others."""
    if isinstance(study.data, Scan):
        return stamp(study.data)
    return study.source.remembered("digest of the study", study.data.columns, lambda: _data_digest(study.data))


def _stated_plan(c: Candidate, otherwise: str) -> Any:
    try:
        return c.plan.to_dict()
    except InputError:
        return otherwise


def _stated_intruder(who: Intruder, otherwise: str) -> Any:
    of = who.membership
    people = of.population if isinstance(of, Unsure) else None
    try:
        stated = who.to_dict(None if people is None else "population")
    except InputError:
        return otherwise
    return stated if people is None else [stated, _data_digest(to_polars(people, "population"))]


def _stated_measure(measure: Measure | FileRisk, otherwise: str) -> Any:
    """Its class and its fields; of a class that is no dataclass its own words, if it has any."""
    kind = f"{type(measure).__module__}.{type(measure).__qualname__}"
    if is_dataclass(measure):
        return [kind, {f.name: _stated_value(getattr(measure, f.name), otherwise) for f in fields(measure)}]
    return [kind, _own_words(measure, otherwise)]


def _stated_value(value: Any, otherwise: str) -> Any:
    """A value as something that differs where it does: long arrays and frames by a digest, since their text is cut."""
    if isinstance(value, np.ndarray):
        return [str(value.dtype), list(value.shape), hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()]
    if isinstance(value, (pl.DataFrame, Data)):
        return _data_digest(to_polars(value))
    if isinstance(value, (list, tuple)):
        return [_stated_value(v, otherwise) for v in value]
    if isinstance(value, Mapping):
        return [[str(k), _stated_value(v, otherwise)] for k, v in value.items()]
    if value is None or isinstance(value, (str, bool, int, float)):
        return repr(value)
    return otherwise if callable(value) else _own_words(value, otherwise)


def _own_words(value: Any, otherwise: str) -> str:
    """How an object describes itself; the words that every object has, with its address, do not count."""
    kind: Any = type(value)
    return otherwise if kind.__repr__ is object.__repr__ else repr(value)


def _data_digest(frame: pl.DataFrame) -> str:
    """Values, types and order of columns, and what the file's schema says of labels and answer codes."""
    buffer = io.BytesIO()
    frame.write_ipc(buffer, compression="uncompressed")
    content = hashlib.sha256(buffer.getbuffer())
    content.update(repr(sorted(schema(frame).variables.items())).encode())
    return content.hexdigest()


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=repr).encode()).hexdigest()[:32]
