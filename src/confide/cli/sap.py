"""`confide sap`: read counts or records, publish them by a scheme, attack the result."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import confide as cf
from confide.cli.common import Told, add_use, check_suffix, command, unwritable
from confide.cli.protect import apart
from confide.cli.schemes import add_schemes, scheme_of
from confide.core.errors import InputError, raise_all
from confide.core.files.atomic import atomic_write
from confide.core.random.vault import usual_vault

if TYPE_CHECKING:
    import polars as pl

    from confide.cli.common import Commands
    from confide.tables.risk.areas_attack import TablesAttack
    from confide.tables.schemes.scheme import Scheme

ONE_OF_MANY = (
    "The scheme is random: this is one of the releases it may make. --seed N makes the same one again, a draft that is "
    "not for publication."
)
FROM_VAULT = (
    "The scheme is random, and its draws are keyed by the secret in the vault {}. Keep it private, and keep a copy: "
    "with it the same command makes the same release again, and nobody can without it."
)

EXAMPLE = """\
  confide sap counts.csv --round 5 --margins total --known 0:24
  confide sap wards.csv --area ward --by sex,age --scheme round base=3 how=random --margins total --known 0:10
  confide sap people.csv --records --by sex,age --suppress 5 --margins all --known 3"""


def add(commands: Commands) -> None:
    """Its options."""
    p = command(commands, "sap", "publish a table of counts and say how likely a zero is recovered", EXAMPLE)
    p.add_argument("data", type=Path, help="one row per combination with its count, or per person (--records)")
    p.add_argument("--count", default="count", metavar="COLUMN", help="the column of counts (count)")
    p.add_argument("--records", action="store_true", help="the file has one row per person; count them")
    p.add_argument("--by", metavar="A,B", help="the variables of the table; default: all other columns")
    p.add_argument("--area", metavar="COLUMN", help="one table per area")
    add_schemes(p)
    margins = "none, total, all, or lists such as 'sex;age,sex;total' (none)"
    p.add_argument("--margins", default="none", metavar="WHICH", help=margins)
    p.add_argument("--margins-only", action="store_true", help="publish margins without cells")
    p.add_argument("--summed", action="store_true", help="margins are sums of the published cells")
    who = p.add_mutually_exclusive_group()
    who.add_argument("--known", metavar="N", help="people known: 5, 0:24 (both ends count) or 1,5,10; default 0:20")
    who.add_argument("--people", type=Path, metavar="FILE", help="the people known, one row each")
    p.add_argument("--fractions", action="store_true", help="exact fractions as well")
    p.add_argument("--seed", type=int, metavar="N", help="of a random scheme; without a vault it makes a draft")
    vault = "private folder with the secret that draws are made from; default with --published: one in your home folder"
    p.add_argument("--vault", type=Path, metavar="DIR", help=vault)
    keys = "with --records and --cell-key: what identifies a person, so that the same people have the same noise"
    p.add_argument("--key", metavar="A,B", help=keys)
    p.add_argument("--out", type=Path, metavar="FILE", help="write the probabilities")
    p.add_argument("--chart", type=Path, metavar="FILE", help="draw them: png, svg or html")
    p.add_argument("--published", type=Path, metavar="FILE", help="write the published table, as the public sees it")
    p.add_argument("--force", action="store_true", help="replace existing files")
    add_use(p)


def run(options: argparse.Namespace) -> Told:
    """Publish and attack; text for people, plain data for machines."""
    from confide.show.charts.drawing import check_picture
    from confide.tables.risk.areas_attack import TablesAttack

    raise_all(unwritable(options, [options.out, options.chart, options.published]))
    for path in (options.out, options.published):
        if path is not None:
            check_suffix(path)
    if options.chart is not None:
        check_picture(options.chart)
    scheme = scheme_of(options)
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
    attack: cf.TableAttack | TablesAttack = published.attack(known, **more)
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


def _result(attack: cf.TableAttack | TablesAttack) -> str:
    from confide.tables.risk.areas_attack import TablesAttack

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
    options: argparse.Namespace,
    attack: cf.TableAttack | TablesAttack,
    published: cf.Published | cf.PublishedTables,
) -> None:
    from confide.show.charts.drawing import save_chart

    if options.published is not None:  # for the public: what can be stated of it is not in it
        with atomic_write(options.published, overwrite=options.force) as temporary:
            cf.write(published.public(empty_levels=not options.records), temporary, overwrite=True)
    if options.chart is not None:
        save_chart(attack.chart(), options.chart, overwrite=options.force, private=True)
    if options.out is not None:
        with atomic_write(options.out, overwrite=options.force, private=True) as temporary:
            cf.write(attack.frame, temporary, overwrite=True)


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


def _table(options: argparse.Namespace, scheme: Scheme, vault: Path | None) -> cf.Table | cf.Tables:
    data = cf.read(options.data)
    by, key = _names(options.by), _names(options.key)
    if options.records:
        names = [c for c in data.columns if c not in (options.area, *(key or ()))] if by is None else by
        keys: dict[str, Any] = {"key": key, "vault": vault} if getattr(scheme, "keyed", False) else {}
        if options.area is None:
            return cf.Table.of(data, names, **keys)
        return cf.Tables.of(data, names, options.area, **keys)
    if options.count not in data.columns:
        raise InputError(
            f'{options.data} has no column "{options.count}" of counts. Name it with --count COLUMN, '
            "or give --records for a file with one row per person."
        )
    if options.area is None:
        return cf.Table.from_counts(data, options.count, by)
    return cf.Tables.from_counts(data, options.area, options.count, by)


def _margins(text: str) -> Any:
    if text in ("none", "total", "all"):
        return text
    margins = [[v.strip() for v in part.split(",") if v.strip()] for part in text.split(";")]
    return [[] if m == ["total"] else m for m in margins]


def _known(options: argparse.Namespace) -> Any:
    if options.people is not None:
        return cf.read(options.people)
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
