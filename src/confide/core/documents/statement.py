"""What a user states (a plan, an intruder, a rule, a study) can be kept in a file, and described to an editor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Self

from confide.core.documents.files import read_document, write_document
from confide.core.documents.plain import Document, Reader, Writer
from confide.core.documents.schema import SECTIONS, JsonSchema, document_schema
from confide.core.errors import did_you_mean, raise_all


class Statement:
    """What plans, intruders, rules and studies share: `load`, `save`, and the same without a file.

    `_section` names the table of a document that states one; `_read` makes it from that table.
    """

    _section: ClassVar[str]

    @classmethod
    def load(cls, path: str | os.PathLike[str], name: str | None = None) -> Self:
        """Read a TOML or JSON file that states it: at its top level, or in a table such as `[plan]`.

        `name` picks one of several (`[[plan]]` tables with names). Files that the document names are looked for beside
        it. All that is wrong is said at once, each with its place.

        >>> import tempfile, confide as cf
        >>> plan = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     cf.Plan.load(plan.save(f"{folder}/plan.toml")) == plan
        True
        """
        source = Path(path).expanduser()
        return cls.from_dict(read_document(path), source.name, name, source.parent)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False, **files: str | Mapping[str, str]) -> Path:
        """Write it to a file whose name ends in .toml or .json, for its owner alone to read; `load` reads it.

        An existing file is refused unless `overwrite` is true. What no document can hold (a function, a matrix in
        sparse form) is refused with its place. A document holds no data, but can name files of them, here in `files`.

        >>> import tempfile, pathlib, confide as cf
        >>> who = cf.Intruder(knows=["sex", "age"], membership=cf.Unsure(total=1_016_437))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(who.save(f"{folder}/who.toml").read_text(), end="")
        knows = ["sex", "age"]
        membership = { total = 1016437 }
        """
        return write_document(self.to_dict(**files), path, overwrite)

    @classmethod
    def from_dict(
        cls, doc: Mapping[str, object], source: str = "", name: str | None = None, folder: str | os.PathLike[str] = "."
    ) -> Self:
        """What a document describes, as `load` reads it. `source` names the document in errors.

        >>> import confide as cf
        >>> cf.Plan.from_dict({"steps": [{"method": "swap", "variables": ["race"], "rate": 0.3}]}).steps[0].rate
        0.3
        >>> cf.Plan.from_dict({"steps": [{"method": "swap", "variable": "race", "rat": 0.3}]})
        Traceback (most recent call last):
        confide.InputError: Several things are wrong:
          - steps[0] (swap): unknown key "rat". Did you mean "rate"?
          - steps[0] (swap): "rate" is missing.
        """
        reader = Reader()
        table, where = _found(reader, doc, cls._section, name)
        made = None if reader.problems else cls._read(reader, table, where, Path(folder))
        raise_all(f"{source}: {p}" if source else p for p in reader.problems)
        assert made is not None
        return made

    def to_dict(self) -> Document:
        """It as text, numbers, lists and tables; only what differs from the defaults is there.

        >>> import confide as cf
        >>> cf.Plan([cf.Swap("race", rate=0.3)], identifiers=["id"]).to_dict()
        {'steps': [{'method': 'swap', 'variable': 'race', 'rate': 0.3}], 'identifiers': ['id']}
        """
        return Writer().table(self)

    @classmethod
    def json_schema(cls) -> JsonSchema:
        """The JSON Schema of its documents, for editors and forms; with all methods that are registered.

        >>> import confide as cf
        >>> cf.Rule.json_schema()["$defs"]["choice"]["required"]
        ['max_risk']
        """
        return document_schema(cls._section, cls)

    @classmethod
    def _read(cls, reader: Reader, table: object, where: str, folder: Path) -> Self | None:  # noqa: ARG003
        return reader.build(cls, table, where, also=("name",))


def _found(reader: Reader, doc: object, kind: str, name: str | None) -> tuple[object, str]:
    """The part of a document that describes a plan (or an intruder), and its place for messages."""
    if not isinstance(doc, Mapping):
        reader.blame("", f"A {kind} document must be a table of keys and values.")
        return {}, ""
    if kind not in SECTIONS:
        if name is not None:
            reader.blame("", f"A file holds one {kind}; leave name out.")
        return doc, ""
    if kind not in doc:
        bare = {k: v for k, v in doc.items() if k not in SECTIONS}
        if not bare and doc:
            reader.blame("", f"There is no [{kind}] here, only {', '.join(f'[{k}]' for k in doc)}.")
        if name is not None and bare.get("name") != name:
            reader.blame("", f'There is no {kind} named "{name}" here, only one without that name.')
        return bare, ""
    for stray in (k for k in doc if k not in SECTIONS):
        reader.blame("", f'"{stray}" stands outside of [{kind}]; move it into the table it belongs to.')
    found = doc[kind]
    several = found if isinstance(found, list) else [found]
    return _picked(reader, several, kind, name)


def _picked(reader: Reader, several: list[object], kind: str, name: str | None) -> tuple[object, str]:
    names = [str(t.get("name", "")) if isinstance(t, Mapping) else "" for t in several]
    if name is None and len(several) == 1:
        return several[0], kind
    if name is None:
        reader.blame("", f"There are {len(several)} [[{kind}]] tables; pick one by its name: {', '.join(names)}.")
    elif names.count(name) != 1:
        found = "more than one" if name in names else "no"
        hint = "" if name in names else did_you_mean(name, [n for n in names if n])
        reader.blame("", f'There is {found} {kind} named "{name}".{hint}')
    else:
        return several[names.index(name)], f'{kind} "{name}"'
    return {}, kind
