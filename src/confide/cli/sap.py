"""What `confide sap` does: read counts or records, publish them by a scheme, attack the result."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import polars as pl

from confide.cli.common import Told, check_suffix, unwritable
from confide.cli.protect import apart
from confide.core.errors import InputError, raise_all
from confide.core.random.vault import usual_vault
from confide.frames import atomic_write, read, write
from confide.show.charts.drawing import check_picture
from confide.tables.areas import Tables
from confide.tables.drafts import marked
from confide.tables.published import Published
from confide.tables.published_areas import PublishedTables
from confide.tables.risk.areas_attack import TablesAttack
from confide.tables.risk.attack_result import TableAttack
from confide.tables.schemes.cellkey.cellkey import CellKey
from confide.tables.schemes.controlled import ControlledRounding
from confide.tables.schemes.exact import Exact
from confide.tables.schemes.rounding import RoundCells
from confide.tables.schemes.scheme import Scheme
from confide.tables.schemes.smallcounts import SmallCounts
from confide.tables.schemes.suppress.suppress import Suppress
from confide.tables.table import Table

ONE_OF_MANY = (
    "The scheme is random: this is one of the releases it may make. --seed N makes the same one again, a draft that is "
    "not for publication."
)
FROM_VAULT = (
    "The scheme is random, and its draws are keyed by the secret in the vault {}. Keep it private, and keep a copy: "
    "with it the same command makes the same release again, and nobody can without it."
)


def run(options: argparse.Namespace) -> Told:
    """Publish and attack; text for people, plain data for machines."""
    raise_all(unwritable(options, [options.out, options.chart, options.published]))
    for path in (options.out, options.published):
        if path is not None:
            check_suffix(path)
    if options.chart is not None:
        check_picture(options.chart)
    scheme = _scheme(options)
    vault = _vault(options, scheme)
    margins = _margins(options.margins)
    table = _table(options, scheme, vault)
    published = table.publish(
        scheme,
        margins,
        cells=not options.margins_only,
        totals="summed" if options.summed else "separate",
        seed=options.seed,
        vault=vault,
    )
    known = _known(options)
    more = {"fractions": True} if options.fractions else {}
    attack: TableAttack | TablesAttack = published.attack(known, **more)
    text = f"{table!r}\n{published!r}\n\n{_result(attack)}"
    if scheme.random:
        text += f"\n\n{ONE_OF_MANY if vault is None else FROM_VAULT.format(vault)}"
    plain: dict[str, Any] = {"table": repr(table), "published": repr(published), "method": attack.method}
    plain |= {"one_of_many": scheme.random, "vault": None if vault is None else str(vault)}
    if isinstance(attack, TablesAttack):
        plain |= {"areas": len(attack.published), "bands": attack.bands().to_dicts()}
    elif attack.people is not None:
        plain |= {"rows": attack.frame.to_dicts(), "recovered": attack.recovered().to_dicts()}
    else:
        plain |= {"smallest": attack.smallest, "rows": attack.frame.to_dicts()}
    for path, what in ((options.out, "out"), (options.chart, "chart"), (options.published, "published_file")):
        if path is not None:
            plain[what] = str(path)
            text += f"\n\nWritten: {path}"
    _write(options, attack, published)
    return text, plain


def _result(attack: TableAttack | TablesAttack) -> str:
    if isinstance(attack, TablesAttack):
        head = "areas by the probability that a zero is recovered (SAP), for n people known"
        return f"{head}\n\n{plain_table(attack.bands())}"
    shown = attack.frame.select("n", "sap", *(["fraction"] if "fraction" in attack.frame.columns else []), "status")
    if not attack.exact:
        shown = attack.frame.select("n", "sap", "lower", "upper", "status")
    lines = ["probability that a zero is recovered (SAP), for n people known", "", plain_table(shown), ""]
    if attack.people is not None:
        zeros = attack.recovered()
        found = plain_table(zeros) if zeros.height else "They recover no zero."
        return "\n".join([*lines, *(["What they recover:", ""] if zeros.height else []), found])
    certificate = attack.certificate()
    if certificate is None:
        lines.append("No number of known people up to this recovers a zero.")
    else:
        fewest = certificate.people > 0 and certificate.smallest
        lines.append(f"{certificate} It cannot be done with fewer." if fewest else f"{certificate}")
    return "\n".join([*lines, f"Computed by: {attack.method}"])


def plain_table(frame: pl.DataFrame) -> str:
    """Columns lined up; probabilities with six digits."""
    rows = [list(frame.columns)]
    for row in frame.iter_rows():
        rows.append([f"{v:.6g}" if isinstance(v, float) else str(v) for v in row])
    widths = [max(len(r[k]) for r in rows) for k in range(frame.width)]
    return "\n".join("  ".join(x.rjust(w) for x, w in zip(r, widths, strict=True)) for r in rows)


def _write(
    options: argparse.Namespace, attack: TableAttack | TablesAttack, published: Published | PublishedTables
) -> None:
    if options.published is not None:  # for the public: what can be stated of it is not in it
        seen = published.frame().drop("entry", "lower", "upper")
        seen = _with_levels_shown(seen) if options.records else seen
        with atomic_write(options.published, overwrite=options.force) as temporary:
            write(marked(seen, published.origin), temporary, overwrite=True)
    if options.chart is not None:
        from confide.show.charts.drawing import save_chart

        save_chart(attack.chart(), options.chart, overwrite=options.force, private=True)
    if options.out is not None:
        with atomic_write(options.out, overwrite=options.force, private=True) as temporary:
            write(attack.frame, temporary, overwrite=True)


def _with_levels_shown(seen: pl.DataFrame) -> pl.DataFrame:
    """Without levels of which nothing but zeros is published: records name them, so that somebody has them."""
    for name in (n for n in seen.columns if n not in ("margin", "published", "mark")):
        shown = seen.filter(pl.col(name).is_not_null()).group_by(name).agg(pl.col("published").fill_null(0).sum())
        empty = shown.filter(pl.col("published") == 0)[name]
        seen = seen.filter(pl.col(name).is_null() | ~pl.col(name).is_in(empty.implode()))
    return seen


def _vault(options: argparse.Namespace, scheme: Scheme) -> Path | None:
    """The vault that was named; for what is published at random, or by keys of people, there is always one."""
    if options.key is not None and not (options.records and getattr(scheme, "keyed", False)):
        raise InputError("--key names what identifies a person: it goes with --records and --cell-key D V.")
    if not scheme.random:
        return None
    folder: Path | None = options.vault
    if folder is None and (options.key is not None or options.published is not None):
        folder = usual_vault()
    if folder is not None:
        raise_all(apart(folder, {"--published": options.published}, options.vault is not None, "--vault"))
    return folder


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [v.strip() for v in text.split(",") if v.strip()]


def _table(options: argparse.Namespace, scheme: Scheme, vault: Path | None) -> Table | Tables:
    data = read(options.data)
    by, key = _names(options.by), _names(options.key)
    if options.records:
        names = [c for c in data.columns if c not in (options.area, *(key or ()))] if by is None else by
        keys: dict[str, Any] = {"key": key, "vault": vault} if getattr(scheme, "keyed", False) else {}
        if options.area is None:
            return Table.of(data, names, **keys)
        return Tables.of(data, names, options.area, **keys)
    if options.count not in data.columns:
        raise InputError(
            f'{options.data} has no column "{options.count}" of counts. Name it with --count COLUMN, '
            "or give --records for a file with one row per person."
        )
    if options.area is None:
        return Table.from_counts(data, options.count, by)
    return Tables.from_counts(data, options.area, options.count, by)


def _scheme(options: argparse.Namespace) -> Scheme:
    if options.marks is not None and options.suppress is None:
        raise InputError("--marks goes with --suppress BELOW.")
    if options.summed and options.margins == "none":
        raise InputError("--summed is about margins; say which with --margins.")
    if options.round is not None:
        if options.ties is not None and (options.random or options.round % 2):
            raise InputError("--ties is for an even base that is not rounded at random: others have no ties.")
        return RoundCells(options.round, "random" if options.random else "conventional", options.ties or "up")
    if options.random or options.ties is not None:
        raise InputError("--random and --ties go with --round BASE.")
    if options.controlled is not None:
        return ControlledRounding(options.controlled)
    if options.small is not None:
        return SmallCounts(options.small)
    if options.suppress is not None:
        return Suppress(below=options.suppress, marks=options.marks or "apart")
    if options.cell_key is not None:
        largest, variance = options.cell_key
        if largest != int(largest):
            raise InputError("--cell-key takes the largest noise, a whole number, and its variance.")
        return CellKey.of(int(largest), variance)
    return Exact()


def _margins(text: str) -> Any:
    if text in ("none", "total", "all"):
        return text
    margins = [[v.strip() for v in part.split(",") if v.strip()] for part in text.split(";")]
    return [[] if m == ["total"] else m for m in margins]


def _known(options: argparse.Namespace) -> Any:
    if options.people is not None:
        return read(options.people)
    if options.known is None:
        return None
    try:
        return _numbers(options.known)
    except ValueError:
        raise InputError(
            "--known is a number of people, a range such as 0:24 (both ends count), or a list such as 1,5,10."
        ) from None


def _numbers(text: str) -> list[int]:
    out: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        out += range(int(first), int(last) + 1) if colon else [int(first)]
    if not out:
        raise ValueError
    return out
