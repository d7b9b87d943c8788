"""Make a recorded release again, and prove that it is the very same."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from confide.core.documents.files import read_document
from confide.core.errors import InputError
from confide.core.random.origin import Origin, opened
from confide.core.random.vault import BYTES, Vault, existing
from confide.frames.encoded import Encoded
from confide.protect.copies import MOST, Copies
from confide.protect.make import described, make
from confide.protect.plan import Plan
from confide.protect.record import FORMAT, content_digest, link_digest, versions
from confide.protect.release import Release

EARLIER = "confide-record/1"
"""Records with a seed from which streams of numbers were drawn; they are replayed as they were made."""

Place = str | os.PathLike[str]


def replay(data: Any, record: Mapping[str, Any] | Place, vault: Vault | Place | None = None) -> Release:
    """Make a recorded release again from the original data, and check that it is the very same.

    `record` is a private record or its file. What was drawn from a vault needs that `vault`; a record that lies in its
    vault finds it there. Refused: a public record, other data than the record was made from, another vault, and a
    result that differs from the one recorded (as other versions of the libraries could make it, or
    another kind of processor: see `docs/release.md`).

    >>> import confide as cf
    >>> plan = cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"])
    >>> release = plan.protect(cf.demo("heads"))
    >>> again = cf.replay(cf.demo("heads"), release.record(private=True))
    >>> again.data.equals(release.data), bool((again.link == release.link).all())
    (True, True)
    >>> cf.replay(cf.demo("heads"), release.record())
    Traceback (most recent call last):
    confide.InputError: This record is public: it does not say where draws came from. Replay the private one.
    """
    if _is_record(data) and not _is_record(record):
        warnings.warn("data come first: replay(data, record)", DeprecationWarning, stacklevel=3)
        data, record = record, data
    found = record if isinstance(record, Mapping) else read_document(record)
    private = _checked(found)
    file = Encoded.of(data)
    frame = file.frame
    if content_digest(frame) != private["original"]["sha256"]:
        rows = private["original"]["rows"]
        how = "its values, names or types differ" if rows == frame.height else f"that had {rows} rows"
        raise InputError(f"This is not the file the record was made from: {how} (this has {frame.height} rows).")
    plan = Plan.from_dict(found["plan"], "record")
    if found["format"] == EARLIER:  # every category was named then
        plan = replace(plan, public_codebook=True)
    number, copies = None, None
    if "copy" in private:
        number, copies = int(private["copy"][0]), (int(private["copy"][1]), bool(private["copy"][2]))
    beside = None if isinstance(record, Mapping) else Path(record).expanduser().parent
    what = described(plan, file, copies)
    made = make(plan, file, _origin(found, private, what, vault, beside), data, copies)
    release = made[number] if isinstance(made, Copies) and number is not None else made
    assert isinstance(release, Release)
    _check_same(found, private, release)
    return release


def _is_record(given: Any) -> bool:
    return isinstance(given, (str, os.PathLike)) or (isinstance(given, Mapping) and "format" in given)


def _origin(
    found: Mapping[str, Any], private: Mapping[str, Any], what: tuple[str, ...], vault: Vault | Place | None,
    beside: Path | None,
) -> Origin:  # fmt: skip
    """Where the recorded release drew from."""
    if found["format"] == EARLIER:
        return Origin.recorded(int(private["seed"]))
    drawn = private["draws"]
    seed = None if drawn.get("seed") is None else int(drawn["seed"])
    if drawn["from"] == "shared":
        assert seed is not None
        return Origin.shared(seed)
    if drawn["from"] == "stream":
        assert seed is not None
        return Origin.recorded(seed)
    if drawn["from"] != "vault":
        return Origin.of(what, seed, secret=bytes.fromhex(drawn["secret"]) if "secret" in drawn else None)
    if vault is None and (beside is None or not existing(beside)):
        raise InputError("This release was drawn from a vault. Say which: replay(data, record, vault=FOLDER).")
    place = beside if vault is None else vault
    assert place is not None
    if not isinstance(place, Vault) and not existing(place):  # a new one would only be in the way of a copy
        raise InputError(
            f"{place} holds no secret. This release was drawn from a vault: restore it, or say where it is."
        )
    held = opened(place)
    assert held is not None
    if held.fingerprint != drawn["vault"]:
        raise InputError(f"{held.folder} is another vault than the one this release was drawn from.")
    return Origin.of(what, seed, held)


def _check_same(found: Mapping[str, Any], private: Mapping[str, Any], release: Release) -> None:
    same = content_digest(release.frame) == found["released"]["sha256"]
    if same and link_digest(release.link) == private["link_sha256"]:
        return
    then, now = found.get("versions", {}), versions()
    changed = [f"{k} {v} (here {now.get(k)})" for k, v in then.items() if v != now.get(k)]
    hint = f" It was made with {', '.join(changed)}." if changed else ""
    if "processor" not in then:
        hint += " Its processor is not recorded; another kind can give other values where a step fits a model."
    raise InputError(f"The release made again is not the one recorded.{hint}")


def _checked(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """The private part of a record that can be replayed."""
    if found.get("format") not in (FORMAT, EARLIER):
        raise InputError(f'This is not a record of a release: its "format" must be "{FORMAT}".')
    private = found.get("private")
    if private is None:
        raise InputError("This record is public: it does not say where draws came from. Replay the private one.")
    try:
        whole = _whole(found, private)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        whole = False
    if not whole:
        raise InputError("This private record is damaged: parts that Release.save_record writes are missing.")
    assert isinstance(private, Mapping)
    return private


def _whole(found: Mapping[str, Any], private: Mapping[str, Any]) -> bool:
    digests = [part["sha256"] for part in (private["original"], found["released"])]
    if not all(isinstance(d, str) for d in digests) or not isinstance(private["original"]["rows"], int):
        return False
    if "plan" not in found or "link_sha256" not in private:
        return False
    if "copy" in private:
        number, many, linked = private["copy"]
        if not isinstance(linked, bool):
            return False
        if not all(type(x) is int for x in (number, many)) or not 0 <= number < many <= MOST:
            return False
    if found["format"] == EARLIER:
        return int(private["seed"]) >= 0
    drawn = private["draws"]
    kept = bytes.fromhex(drawn.get("secret", "00" * BYTES))
    seed = drawn.get("seed", "0")
    seeded = isinstance(seed, str) and seed.isdecimal() and len(kept) == BYTES
    needs = {"vault": "vault", "fresh": "secret", "draft": "seed", "shared": "seed", "stream": "seed"}
    return seeded and needs[drawn["from"]] in drawn and not (drawn["from"] == "draft" and "secret" in drawn)
