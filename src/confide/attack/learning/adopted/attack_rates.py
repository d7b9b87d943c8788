"""How often an attack succeeds, beside guessing and beside the same attack on people who are not in the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from confide.attack.learning.adopted.rates import Interval, Rate, excess, part_of_the_rest
from confide.attack.learning.adopted.words import beneath, wrapped
from confide.core.result import Result

MAIN, LIKE, NAIVE, CONTROL = "attack", "attack, at the size of the held-out file", "naive guessing", "people held out"


@dataclass(frozen=True, eq=False, repr=False)
class AttackRates(Result):
    """`frame`: one row per line of the printout: what, right, tries, rate, low, high (95%, Wilson); excess and risk
    have no counts. `attack`, `naive`, `control`: the rates (control None without people held out); `like`: the attack
    as it would be on as few people as are held out, where that matters. `notes`: what limits the numbers.

    >>> import confide as cf
    >>> heads = cf.demo("heads").drop("id")
    >>> release = cf.Release.adopt(heads.head(2_000), heads.head(2_000))
    >>> found = cf.SinglingOut(attacks=200).attack(release, held_out=heads.tail(2_000))
    >>> found.attack.value, found.risk[0] > 0.5
    (1.0, True)
    """

    name: str
    attack: Rate
    naive: Rate
    control: Rate | None = None
    like: Rate | None = None
    notes: tuple[str, ...] = ()

    @property
    def compared(self) -> Rate:
        """The rate that is compared with people held out."""
        return self.like or self.attack

    @property
    def _tried(self) -> bool:
        return self.compared.tries > 0 and (self.control is None or self.control.tries > 0)

    @property
    def excess(self) -> Interval | None:
        """attack - control, with its interval; None without people held out."""
        return None if self.control is None or not self._tried else excess(self.compared, self.control)

    @property
    def risk(self) -> Interval | None:
        """(attack - control) / (1 - control), with its interval; None without people held out."""
        return None if self.control is None else part_of_the_rest(self.compared, self.control)

    @property
    def frame(self) -> pl.DataFrame:
        """One row per rate, then excess and risk."""
        rates = {MAIN: self.attack, LIKE: self.like, NAIVE: self.naive, CONTROL: self.control}
        rows: list[tuple[str, float | None, int | None, float, float, float]] = [
            (what, r.right, r.tries, r.value, *r.interval()) for what, r in rates.items() if r is not None
        ]
        for what, found in (("excess over people held out", self.excess), ("risk", self.risk)):
            if found is not None:
                rows.append((what, None, None, *found))
        schema = {"what": pl.String, "right": pl.Float64, "tries": pl.Int64}
        return pl.DataFrame(rows, schema={**schema, **dict.fromkeys(("rate", "low", "high"), pl.Float64)}, orient="row")

    @property
    def doubts(self) -> list[str]:
        """What is to be said about these numbers, in sentences."""
        said = list(self.notes)
        if not self._tried:
            said.append("Nothing could be tried, so that nothing is known: this is no sign of safety.")
        if self.attack.tries and self.attack.interval()[0] <= self.naive.value:
            said.append(
                "The attack is no better than naive guessing, within the noise. That says that this attack fails, not "
                "that the file is safe."
            )
        if self.control is None:
            said.append(
                "No people were held out: part of these successes would be had of anybody. Give held_out people, who "
                "are not in the file, to see what is due to taking part."
            )
        elif self.risk is None and self._tried:
            said.append("The attack always succeeds on people held out: nothing can be said of those in the file.")
        elif self.excess is not None and self.excess[1] <= 0:
            said.append("No more of those in the file than of people held out, within the noise.")
        return said

    def __repr__(self) -> str:
        return "\n".join([*wrapped([self.name]), "", *_lines(self.frame), "", *wrapped(self.doubts)])

    def _repr_html_(self) -> str:
        """The summary as a table, and every sentence of the printout."""
        return beneath(super()._repr_html_(), self.doubts)


def _lines(frame: pl.DataFrame) -> Sequence[str]:
    wide = max(len(w) for w in frame["what"])
    out = []
    for r in frame.iter_rows(named=True):
        counts = "" if r["tries"] is None else f"; {r['right']:,.6g} of {r['tries']:,}"
        out.append(f"{r['what']:<{wide}}  {r['rate']:>8.4f}  (95%: {r['low']:.4f} to {r['high']:.4f}{counts})")
    return out
