"""What an attack without a plan learns of one variable, beside what would be known anyway."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from confide.attack.learning.adopted.rates import Interval, Rate, excess, part_of_the_rest, quantile
from confide.attack.learning.adopted.words import beneath, wrapped
from confide.core.result import Result
from confide.core.shares import percent

COLUMNS = ("loss_margin", "loss_relations", "loss", "loss_without_person")
WORDS = {
    "loss_margin": "by the margin alone", "loss_relations": "by published relations", "loss": "by this release",
    "loss_without_person": "without the own row",
}  # fmt: skip
LOSS_WORDS = {
    "zero_one": "share of wrong guesses", "absolute": "mean absolute error", "squared": "mean squared error",
    "within": "share of guesses not within",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class NaiveGuess(Result):
    """A variable guessed from the released values of each target's candidates.

    `frame`: one row per target: target, guess, loss, expected_loss (what the intruder believes), loss_margin (the most
    common value alone), loss_relations (what the original's relations teach, the target left out), loss_without_person
    (the same release without the target's own row; null without a link), p_true (probability of the true value, for
    losses of 0 and 1), found (false: no candidate, guessed by relations). `held_out`: the same for people held out.

    >>> import confide as cf
    >>> heads = cf.demo("heads")
    >>> release = cf.Release.adopt(heads.head(4_000), heads.head(4_000))
    >>> attack = cf.Nearest(["sex", "marital", "age"]).attack(release)
    >>> learnt = attack.guess("tenure", held_out=heads.tail(4_000))
    >>> learnt.excess[0] > 0
    True
    """

    frame: pl.DataFrame
    held_out: pl.DataFrame | None
    variable: str
    loss: str
    within: float
    relations: tuple[str, ...]
    left_out: int
    way: str
    knows: tuple[str, ...]

    @property
    def binary(self) -> bool:
        """Whether a guess is right or wrong."""
        return self.loss in ("zero_one", "within")

    def rate(self, column: str = "loss", held_out: bool = False) -> Rate:
        """Right guesses, of how many; `column`: by which of the losses."""
        frame = self.held_out if held_out and self.held_out is not None else self.frame
        losses = frame[column].drop_nulls()
        return Rate(len(losses) - float(losses.sum()), len(losses))

    @property
    def excess(self) -> Interval | None:
        """What is learnt beyond what is learnt of people held out, with its 95% interval; None without such people.

        For losses of 0 and 1 the difference of the shares of right guesses; for others that of mean losses.
        """
        if self.held_out is None or not self.frame.height or not self.held_out.height:
            return None
        if self.binary:
            return excess(self.rate(), self.rate(held_out=True))
        mine, theirs = (f["loss"].to_numpy() for f in (self.frame, self.held_out))
        gap = float(theirs.mean() - mine.mean())
        half = quantile(0.95) * float(np.sqrt(mine.var() / len(mine) + theirs.var() / len(theirs)))
        return gap, gap - half, gap + half

    @property
    def risk(self) -> Interval | None:
        """(attack - control) / (1 - control), the control being people held out; None without them."""
        if not self.binary or self.held_out is None:
            return None
        return part_of_the_rest(self.rate(), self.rate(held_out=True))

    def summary(self) -> pl.DataFrame:
        """One row per way to guess: who, by, people, loss, low and high (of its 95% interval)."""
        rows = []
        for who, frame in (("in the file", self.frame), ("held out", self.held_out)):
            if frame is None:
                continue
            for column in COLUMNS:
                values = frame[column].drop_nulls()
                if len(values):
                    rows.append((who, WORDS[column], len(values), *self._mean(values)))
        schema = {"people": pl.String, "guessed": pl.String, "n": pl.Int64, "loss": pl.Float64, "low": pl.Float64}
        return pl.DataFrame(rows, schema={**schema, "high": pl.Float64}, orient="row")

    def _mean(self, values: pl.Series) -> Interval:
        x = values.to_numpy()
        if self.binary:
            return float(x.mean()), *Rate(float(x.sum()), len(x)).interval()
        half = quantile(0.95) * float(x.std() / np.sqrt(len(x)))
        return float(x.mean()), float(x.mean()) - half, float(x.mean()) + half

    @property
    def notes(self) -> list[str]:
        """What limits these numbers, in sentences."""
        said, gain = [], self.frame["loss_relations"] - self.frame["loss"]
        by = ", ".join(self.relations) or "no variable, since none helps"
        said.append(f"Published relations: cells of {by}, chosen and counted with each person left out.")
        unit = "people" if self.binary else "units of the loss"
        lost = -float(gain.filter(gain < 0).sum())
        said.append(
            f"Against published relations the release helps for {float(gain.filter(gain > 0).sum()):,.5g} {unit} and "
            f"misleads for {lost:,.5g}: one misled guess does not undo another person's harm."
        )
        nobody = int((~self.frame["found"]).sum())
        if nobody:
            said.append(
                f"{nobody:,} people ({percent(nobody, self.frame.height)}) have no candidate: guessed by relations."
            )
        if self.left_out:
            said.append(f"{self.left_out:,} people have no value of their own and are left out.")
        return [*said, *self._doubts()]

    def _doubts(self) -> list[str]:
        found = self.excess
        if found is None:
            return [
                "No people were held out: part of what is right here would be right of anybody like them. Give "
                "held_out people, who are not in the file, to see what is disclosed of those who are."
            ]
        said = []
        if found[1] <= 0:
            said.append(
                "People in the file are guessed no better than people held out, within the noise: by this attack "
                "nothing of them is disclosed. Other attacks may find more."
            )
        return said

    @property
    def words(self) -> str:
        """The loss in words."""
        return LOSS_WORDS[self.loss] + (f" {self.within:g} of the truth" if self.loss == "within" else "")

    def __repr__(self) -> str:
        head = [f'"{self.variable}" guessed for {self.frame.height:,} people who are known by {", ".join(self.knows)}']
        head += [f"{self.way}; {self.words}", ""]
        rows = self.summary().rows()
        wide = max((len(f"{who}, {by}") for who, by, *_ in rows), default=0)
        for who, by, n, loss, low, high in rows:
            name = f"{who}, {by}"
            head.append(f"{name:<{wide}}  {loss:>10.4g}  ({low:.4g} to {high:.4g}; n = {n:,})")
        if self.excess is not None:
            head.append(f"{'excess over people held out':<{wide}}  {self.excess[0]:>+10.4g}  "
                        f"({self.excess[1]:+.4g} to {self.excess[2]:+.4g})")  # fmt: skip
        if self.risk is not None:
            head.append(f"{'as a part of what was left to gain':<{wide}}  {self.risk[0]:>+10.4g}  "
                        f"({self.risk[1]:+.4g} to {self.risk[2]:+.4g})")  # fmt: skip
        return "\n".join([*head, "", *wrapped(self.notes)])

    def _repr_html_(self) -> str:
        """The summary as a table, and every sentence of the printout."""
        return beneath(super()._repr_html_(), self.notes)
