"""The JSON Schema of study files."""

from __future__ import annotations

from confide.attack.intruder import Intruder
from confide.core.documents.schema import TEXT, JsonSchema, Schemas, closed, either
from confide.core.registry import known
from confide.protect.plan import Plan
from confide.study.statement.document import SHARED
from confide.study.statement.file_risks import file_risk_schema
from confide.study.statement.learns_document import learns_schema
from confide.study.statement.rule import Rule
from confide.study.statement.study import Study

WHOLE: JsonSchema = {"type": "integer", "minimum": 1}
NUMBER: JsonSchema = {"type": "number"}


def study_schema() -> JsonSchema:
    """What a study file may hold: every method, in plans with ranges, measures, risks, intruders, the rule."""
    schemas = Schemas(instead="range")
    schemas.definitions["range"] = _range()
    schemas.definitions["plan"] = _named(schemas.table(Plan, {"name": TEXT, "copies": WHOLE}))
    shared = {k: v for k, v in schemas.definitions["plan"]["properties"].items() if k in SHARED}
    schemas.instead = ""
    schemas.definitions["intruder"] = _named(schemas.table(Intruder, {"name": TEXT}))
    measure = either({"enum": list(known("measure"))}, schemas.registered("measure"))
    stated = schemas.table(Study, {}, subject=False)["properties"]
    properties = {k: stated[k] for k in ("title", "repeats", "seed", "threshold", "strongest", "groups")} | {
        "$schema": TEXT,
        "data": {**TEXT, "description": "The name of a file beside this one, or demo:heads."},
        "release": closed(shared),
        "plan": schemas.one_or_several("plan"),
        "intruder": schemas.one_or_several("intruder"),
        "utility": either(measure, {"type": "array", "items": measure, "minItems": 1}),
        "choice": schemas.table(Rule, {}),
        "learn": learns_schema(schemas),
        "file_risk": file_risk_schema(schemas),
    }
    return schemas.document("confide study", closed(properties, ["data", "plan", "intruder"]))


def _named(table: JsonSchema) -> JsonSchema:
    return {**table, "required": ["name", *table["required"]]}


def _range() -> JsonSchema:
    """Values that a sweep takes, in the place of one."""
    each = {"values": {"type": "array", "minItems": 1}, "as": TEXT}
    ends = {"from": NUMBER, "to": NUMBER, "steps": {"type": "integer", "minimum": 2}, "log": {"type": "boolean"}}
    parts = [closed(each, ["values"]), closed({**ends, "as": TEXT}, ["from", "to", "steps"])]
    return {"description": "Several values: a sweep.", "anyOf": parts}
