"""What tells one piece of a study from another, so that a result is never taken for that of something else."""

from __future__ import annotations

import hashlib
import io
import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from confide import __version__
from confide.attack.document import intruder_to_dict
from confide.attack.intruder import Intruder, Unsure
from confide.errors import InputError
from confide.frames import schema, to_polars
from confide.protect.document import plan_to_dict
from confide.study.evaluate import is_random, repeat_seed
from confide.study.sweep import Candidate

if TYPE_CHECKING:
    from confide.study.study import Study


@dataclass(frozen=True, eq=False)
class Piece:
    """One candidate with one repeat's seed; `key` says what it is, so that a change of any part of it is noticed."""

    candidate: Candidate
    repeat: int
    seed: int
    key: str


def pieces_of(study: Study, seed: int) -> list[Piece]:
    """All pieces, repeat by repeat, so that every plan is met early. A plan without random steps is met once.

    A plan that no document can hold has keys of its own in each run: nobody can say whether it is still the same.
    """
    common, run = _common(study), uuid.uuid4().hex
    out = []
    for repeat in range(study.repeats):
        for c in (study.everything, *study.candidates):
            if repeat and not is_random(c.plan):
                continue
            own = repeat_seed(seed, repeat)
            stated = {
                "plan": _stated_plan(c, f"{run} {c.name}"),
                "copies": study.copies_of(c),
                "seed": str(own),
                **common,
            }
            out.append(Piece(c, repeat, own, _digest(stated)))
    return out


def fingerprint(study: Study) -> str:
    """What tells one study from another."""
    plans = {c.name: _stated_plan(c, "not stated") for c in study.candidates}
    whole = {"plans": plans, "copies": dict(study.copies), "repeats": study.repeats, "seed": str(study.seed)}
    return _digest({**whole, **_common(study)})


def _common(study: Study) -> dict[str, Any]:
    """What every piece of a study depends on."""
    return {
        "data": _data_digest(study.data),
        "intruders": {name: _stated_intruder(who) for name, who in study.intruders.items()},
        "utility": [f"{type(m).__module__}.{type(m).__qualname__} {m!r}" for m in study.measures],
        "threshold": study.threshold,
        "version": __version__,
    }


def _stated_plan(c: Candidate, otherwise: str) -> Any:
    """The plan as a document; `otherwise` where it has parts, such as functions, that no document can hold."""
    try:
        return plan_to_dict(c.plan)
    except InputError:
        return otherwise


def _stated_intruder(who: Intruder) -> Any:
    of = who.membership
    if isinstance(of, Unsure) and of.population is not None:
        return [intruder_to_dict(who, population="population"), _data_digest(to_polars(of.population, "population"))]
    return intruder_to_dict(who)


def _data_digest(frame: pl.DataFrame) -> str:
    """Values, types and order of columns, and what the file's schema says of labels and answer codes."""
    buffer = io.BytesIO()
    frame.write_ipc(buffer, compression="uncompressed")
    content = hashlib.sha256(buffer.getbuffer())
    content.update(repr(sorted(schema(frame).variables.items())).encode())
    return content.hexdigest()


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=repr).encode()).hexdigest()[:32]
