"""The JSON Schema of documents: what editors complete and check, and forms ask for, derived from the dataclasses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args, get_origin

from confide.core.documents.hints import one_of, options
from confide.core.documents.settings import (
    SUBJECT,
    Setting,
    classes_in,
    pairs_allowed,
    settings_of,
    sole_table,
    subject_of,
)
from confide.core.registry import first_sentence, known, word_for

JsonSchema: TypeAlias = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES: Mapping[object, JsonSchema] = {
    float: {"type": "number"}, int: {"type": "integer"}, bool: {"type": "boolean"}, str: {"type": "string"},
    type(None): {"type": "null"},
}  # fmt: skip


TEXT: JsonSchema = {"type": "string"}
SECTIONS = ("plan", "intruder", "choice")
"""Tables that may share one file."""


def document_schema(section: str, cls: type[Any]) -> JsonSchema:
    """The schema of a document that states one thing: at its top level, or in tables named by `section`."""
    schemas = Schemas()
    schemas.definitions[section] = schemas.table(cls, {"name": TEXT})
    beside: dict[str, JsonSchema] = {"$schema": TEXT, **{s: {} for s in SECTIONS}}
    bare = schemas.table(cls, {"name": TEXT, **beside, section: False})
    inside = closed({**beside, section: schemas.one_or_several(section)}, [section])
    return schemas.document(f"confide {section}", either(inside, bare))


def closed(properties: Mapping[str, JsonSchema | bool], required: Sequence[str] = ()) -> JsonSchema:
    """A table with these keys and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def either(*schemas: JsonSchema) -> JsonSchema:
    """One of several; a schema that allows anything makes the others idle.

    >>> either({"type": "number"}, either({"type": "string"}, {"type": "null"}))
    {'anyOf': [{'type': 'number'}, {'type': 'string'}, {'type': 'null'}]}
    """
    flat = [part for s in schemas for part in (s["anyOf"] if list(s) == ["anyOf"] else [s])]
    kept = [s for i, s in enumerate(flat) if s not in flat[:i]]
    return {} if {} in kept else kept[0] if len(kept) == 1 else {"anyOf": kept}


@dataclass
class Schemas:
    """Makes schemas from annotations and collects the definitions that they refer to.

    `instead`: the name of a definition that may stand in the place of any value (a study's ranges).
    """

    instead: str = ""
    definitions: dict[str, JsonSchema] = field(default_factory=dict)

    @staticmethod
    def ref(name: str) -> JsonSchema:
        """A reference to a definition."""
        return {"$ref": f"#/$defs/{name}"}

    def one_or_several(self, name: str) -> JsonSchema:
        """A table that a definition describes, or a list of them."""
        return either(self.ref(name), {"type": "array", "items": self.ref(name), "minItems": 1})

    def document(self, title: str, schema: JsonSchema) -> JsonSchema:
        """A whole schema with the definitions so far."""
        return {"$schema": DIALECT, "title": title, **schema, "$defs": self.definitions}

    def table(self, cls: type[Any], more: Mapping[str, JsonSchema | bool], subject: bool = True) -> JsonSchema:
        """A class as a table of its settings, and `more` keys; `subject`: whether the variables may be spelt anyhow."""
        settings, subject_name = settings_of(cls), subject_of(cls) if subject else None
        properties: dict[str, JsonSchema | bool] = dict(more)
        for name, setting in settings.items():
            if name == subject_name:
                properties |= dict.fromkeys(SUBJECT, self.of(str | list[str]))
            else:
                properties[name] = self._setting(setting)
        required = [n for n, s in settings.items() if s.required and n != subject_name]
        told = first_sentence(cls)
        schema: JsonSchema = ({"description": told} if told else {}) | closed(properties, required)
        if subject_name is not None and settings[subject_name].required:
            schema["anyOf"] = [{"required": [n]} for n in SUBJECT]
        return schema

    def _setting(self, setting: Setting) -> JsonSchema:
        schema = self.of(setting.hint)
        if setting.choices:
            parts = schema.get("anyOf", [schema])
            schema = either(*({"enum": list(setting.choices)} if p == TEXT else p for p in parts))
        return schema | ({"default": setting.default} if isinstance(setting.default, (bool, int, float, str)) else {})

    def registered(self, word: str) -> JsonSchema:
        """Any of a kind: the key `word` says which."""
        for name, cls in known(word).items():
            if f"{word}-{name}" not in self.definitions:
                self.definitions[f"{word}-{name}"] = {}  # a method may hold another
                table = self.table(cls, {word: {"const": name}}, subject=word == "method")
                table["required"].insert(0, word)
                self.definitions[f"{word}-{name}"] = table
        return {"anyOf": [self.ref(f"{word}-{name}") for name in known(word)]}

    def of(self, hint: object) -> JsonSchema:
        """What an annotation allows."""
        parts = [self._option(option, hint) for option in options(hint)]
        return either(*parts, *([self.ref(self.instead)] if self.instead else []))

    def _option(self, option: object, hint: object) -> JsonSchema:
        word = word_for([option])
        if word is not None:
            return self.registered(word)
        if get_origin(option) is Literal:
            return {"enum": list(get_args(option))}
        if option in _TYPES:
            return _TYPES[option]
        if (inner := one_of(option, "list")) is not None:
            no_limit = [{"type": "null"}] if inner is float else []
            return {"type": "array", "items": either(self.of(inner), *no_limit)}
        if (inner := one_of(option, "table")) is not None:
            table = {"type": "object", "additionalProperties": self.of(inner)}
            pairs = {"type": "array", "items": {"type": "array", "minItems": 2, "maxItems": 2}}
            return either(table, *([pairs] if get_args(option)[:1] != (str,) and pairs_allowed(hint) else []))
        return self._nested(option, hint)

    def _nested(self, option: object, hint: object) -> JsonSchema:
        """A dataclass inside of another: as a table, or under its tag; anything else judges for itself."""
        classes = classes_in(hint)
        tag = next((t for t, cls in classes.items() if cls is option), None)
        if tag is None:
            return {}
        cls, sole = classes[tag], sole_table(classes[tag])
        table = self.table(cls, {}) if sole is None else self.of(settings_of(cls)[sole].hint)
        bare = len(classes) == 1 and one_of(hint, "table") is None and sole is None
        return table if bare else closed({tag: table}, [tag])
