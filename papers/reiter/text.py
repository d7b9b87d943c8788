"""Tables 2 to 6 of Reiter (2005) as text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl


def table2_text(frame: pl.DataFrame) -> str:
    """The four people, original and altered."""
    head = ["unit", "data", "sex", "race", "marital status", "age", "home value", "income"]
    rows = [[*map(str, r[:5]), str(r[5]), *(_money(v) for v in r[6:])] for r in frame.iter_rows()]
    return _titled("Table 2. The units of study, original and altered", _grid(head, rows, left=6))


def table3_text(frame: pl.DataFrame) -> str:
    """Own probability by strategy, P not known, for both kinds of membership."""
    parts = []
    for (membership,), part in frame.group_by("membership", maintain_order=True):
        counts = not str(membership).startswith("unsure")
        parts.append(f"Intruder {membership}:\n{_units_grid(part, counts)}")
    title = "Table 3. Probability of the own record, P not known (others at least as likely)"
    return _titled(title, "\n\n".join(parts))


def table4_text(frame: pl.DataFrame) -> str:
    """Own probability by strategy, P known."""
    title = "Table 4. Probability of the own record, P known (others at least as likely)"
    return _titled(title, _units_grid(frame))


def table5_text(frame: pl.DataFrame) -> str:
    """Big P by topcode."""
    head = ["topcode, dollars", "records covered", "probability of Big P"]
    rows = [
        [f"{r['cutpoint']:,}", f"{r['records']:,}", probability(r["p_true"], r["as_likely"])]
        for r in frame.iter_rows(named=True)
    ]
    return _titled("Table 5. Big P under a topcode, P known and not perturbed", _grid(head, rows))


def table6_text(frame: pl.DataFrame) -> str:
    """Risks of the file, P not known and known side by side."""
    names = ("over_threshold", "expected_matches", "unique_matches")
    top = ["", *(t for n in ("prob. > 0.2", "expected matches", "unique matches") for t in (n, ""))]
    head = ["strategy", *(["no P", "P known"] * 3)]
    rows = [
        [str(strategy), *(f"{v:,.0f}" for n in names for v in part.sort("money_known")[n])]
        for (strategy,), part in frame.group_by("strategy", maintain_order=True)
    ]
    title = f"Table 6. Risk of the file, {frame['targets'][0]:,} targets (P: value of the home)"
    return _titled(title, _grid(head, rows, top=top))


def choices_text(frame: pl.DataFrame) -> str:
    """How the intruder reasons, and what the file's risk then is."""
    head = ["strategy", "P known", "intruder", "prob. > 0.2", "claimed", "true", "unique"]
    rows = [[r[0], "yes" if r[1] else "no", r[2], *(f"{v:,.0f}" for v in r[3:])] for r in frame.iter_rows()]
    return _titled("The same releases, other ways of reasoning", _grid(head, rows, left=3))


def probability(p: float | None, as_likely: int | None = None) -> str:
    """Two digits that count, never in powers of ten, with the number of others at least as likely.

    >>> probability(0.00219, 454), probability(0.00000032), probability(1.0, 0)
    ('0.0022 (454)', '0.00000032', '1 (0)')
    """
    if p is None:
        return "unknown"
    shown = np.format_float_positional(p, precision=2, fractional=False, trim="-")
    return shown if as_likely is None else f"{shown} ({as_likely:,})"


def _money(value: str) -> str:
    """Dollars with separators, as far as the text is a whole number."""
    return f"{int(value):,}" if value.lstrip("-").isdigit() else value


def _units_grid(frame: pl.DataFrame, counts: bool = True) -> str:
    strategies = list(dict.fromkeys(frame["strategy"]))
    rows = []
    for (unit,), part in frame.group_by("unit", maintain_order=True):
        both = part.rows_by_key("strategy", unique=True, named=True)
        cells = (probability(both[s]["p_true"], both[s]["as_likely"] if counts else None) for s in strategies)
        rows.append([str(unit), *cells])
    return _grid(["unit", *strategies], rows)


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1, top: Sequence[str] = ()) -> str:
    """Columns two spaces apart: the first `left` flush left, the others flush right."""
    lines = [*([top] if top else []), head, *rows]
    widths = [max(len(line[k]) for line in (head, *rows)) for k in range(len(head))]
    if top:  # a heading over two columns may be wider than both
        for k in range(1, len(head), 2):
            widths[k] += max(0, len(top[k]) - widths[k] - widths[k + 1] - 2)
    out = []
    for line in lines:
        if line is top:
            cells = [f"{line[k]:>{widths[k] + 2 + widths[k + 1]}}" for k in range(1, len(line), 2)]
            out.append("  ".join([" " * widths[0], *cells]))
            continue
        sides = ["<"] * left + [">"] * (len(line) - left)
        cells = [f"{c:{side}{w}}" for c, side, w in zip(line, sides, widths, strict=True)]
        out.append("  ".join(cells).rstrip())
    return "\n".join(out)


def _titled(title: str, body: str) -> str:
    return f"{title}\n\n{body}"
