"""The way of tables as a script: the same table, the same comparison, the same choice and, with the vault, release."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from confide.app import way_names, ways
from confide.app.counted import REPEATS
from confide.app.state import State
from confide.app.words import slug

VAULT = "vault"


def tables_script(state: State, vault: str = VAULT) -> str:
    """What the screens of the tables do, in Python. `vault`: the private folder whose secret keys the draws."""
    out = f"{slug(PurePath(state.name).stem)}-published.{state.decision.get('format') or 'csv'}"
    return "\n".join(_lines(state, vault, out)) + "\n"


def file_name(state: State) -> str:
    """The file that is published.

    >>> file_name(State(name="States, 2026.csv")), file_name(State(name="x", decision={"format": "parquet"}))
    ('states-2026.csv', 'x.parquet')
    """
    return f"{slug(PurePath(state.name).stem)}.{state.decision.get('format') or 'csv'}"


def headline(now: str, before: str) -> str:
    """Of the lines that a change brought, the one that says most."""
    old = set(before.splitlines())
    new = [line.strip() for line in now.splitlines() if line.strip() and line not in old]
    first = ("cf.write(", "published =", "compared =", "tables =", '"')
    return next((line for start in first for line in new if line.startswith(start)), new[0] if new else "")


def _lines(state: State, vault: str, out: str) -> Iterator[str]:
    table = state.table
    compares = bool(table.get("ways")) and table.get("screen") in ("schemes", "publish")
    if compares:
        yield "import polars as pl"
        yield ""
    yield "import confide as cf"
    yield ""
    source = "demo" if state.source.startswith("demo:") else "read"
    what = "counts" if table.get("holds") == "counts" else "people"
    yield f"{what} = cf.{source}({quoted(state.source.removeprefix('demo:'))})"
    if not table.get("by"):
        return
    yield f"tables = {_table(table, what)}"
    if compares:
        yield from _comparison(table)
    if compares and table.get("publish"):
        yield from _release(table, what, vault, out)


def _table(table: Mapping[str, Any], what: str, keys: str = "") -> str:
    kind = "Tables" if table["area"] else "Table"
    area = f", area={quoted(table['area'])}" if table["area"] else ""
    by = f"by={quoted(list(table['by']))}"
    if table["holds"] == "counts":
        return f"cf.{kind}.from_counts({what}{area}, count={quoted(table['count'])}, {by})"
    return f"cf.{kind}.of({what}, {by}{area}{keys})"


def _comparison(table: Mapping[str, Any]) -> Iterator[str]:
    yield ""
    yield "candidates = {"
    for name, way in way_names.by_name(table["ways"]).items():
        yield f"    {quoted(name)}: {ways.candidate_code(way)},"
    yield "}"
    yield (
        f"compared = cf.compare_schemes(tables, candidates, known={table['known']}, "
        f"margins={quoted(table['margins'])}, repeats={REPEATS})"
    )
    yield 'print(compared.frame.sort("distortion"))'
    hidden = "" if table["hide"] else ' & (pl.col("hidden") == 0)'
    within = f'pl.col("worst") <= {table["limit"]!r}'
    yield f"within = compared.frame.filter({f'({within})' if hidden else within}{hidden})"
    yield 'print("least error within the limit:", within.sort("distortion", "worst")["scheme"].head(1).to_list())'


def _release(table: Mapping[str, Any], what: str, vault: str, out: str) -> Iterator[str]:
    way = way_names.by_name(table["ways"]).get(table["publish"])
    if way is None:
        return
    yield ""
    yield f"# published: {table['publish']}"
    scheme = ways.scheme_of(way)
    options = f"margins={quoted(table['margins'])}"
    if way.get("totals") == ways.SUMMED:
        options += f', totals="{ways.SUMMED}"'
    if scheme.random:
        yield f"vault = cf.Vault({quoted(vault)})    # the project's private folder: its secret keys the draws"
        options += ", vault=vault"
    if table["holds"] == "records" and getattr(scheme, "keyed", False):
        named = f"key={quoted(list(table['key']))}, " if table["key"] else ""
        yield f"tables = {_table(table, what, f', {named}vault=vault')}    # people have keys"
    yield f"published = tables.publish({ways.code_of(way)}, {options})"
    known = str(table["known"]) if table["area"] else f"min({table['known']}, tables.total)"
    yield f'print("sure finding:", published.attack(known={known}).frame["sap"].max())'
    empty = "empty_levels=False" if table["holds"] == "records" else ""
    yield f"cf.write(published.public({empty}), {quoted(out)})"


def quoted(value: Any) -> str:
    """Text, or a list of texts, as Python writes it: every JSON text is one.

    >>> quoted(["sex", 'a "b"'])
    '["sex", "a \\\\"b\\\\""]'
    """
    text = json.dumps(value, ensure_ascii=False)
    return text.replace("\x85", "\\x85").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
