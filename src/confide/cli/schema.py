"""`confide schema`: the JSON Schema of plan, intruder, rule, study and hierarchy files, for editors and forms."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING

import confide as cf
from confide.cli.common import Told, add_use, command

if TYPE_CHECKING:
    from confide.cli.common import Commands

KINDS = {"plan": "Plan", "intruder": "Intruder", "rule": "Rule", "study": "Study", "hierarchy": "Hierarchy"}


def add(commands: Commands) -> None:
    """Its options."""
    about = "print the JSON Schema of a kind of document, for editors and forms"
    p = command(commands, "schema", about, "  confide schema plan > plan.schema.json")
    p.add_argument("kind", choices=KINDS, help="plan, intruder, rule, study or hierarchy file")
    add_use(p)


def run(options: argparse.Namespace) -> Told:
    """The schema, as text and as plain data."""
    schema = getattr(cf, KINDS[options.kind]).json_schema()
    return json.dumps(schema, indent=2), schema
