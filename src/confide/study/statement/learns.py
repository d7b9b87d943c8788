"""What must not be learnt of people: a variable, how a guess is judged, and how much better is too much."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from confide.attack.learning.attributes.harm import NAMES as COSTS
from confide.attack.learning.attributes.loss import Loss
from confide.attack.learning.attributes.loss_limits import Exceeds, Within
from confide.attack.learning.attributes.losses import NAMED, loss_of
from confide.core.checks import finite, fraction
from confide.core.errors import InputError, Problems, did_you_mean
from confide.study.tradeoff.risk_names import HARM, LEARNT

CLOSE = Within(share=0.1)
"""How numbers are judged where nothing is said: a guess within 10 percent is right."""
USUAL = 0.5
"""Of a right guess, how much the release must add where nothing is said."""
THRESHOLD = "threshold"


@dataclass(frozen=True)
class Learns:
    r"""Something that must not be learnt of people: what `Study(learns=[...])` lists.

    Of each person, the loss of the best guess with the release is held against that of the best guess by published
    relations, the person's own value left out. The risk `learnt_<variable>` is the share of people with

    .. math:: l_\text{relations} - l_\text{release} > \text{gain}

    `loss`: "zero_one", "absolute", "squared", `Within(...)` or `Exceeds(...)`; where it is left out, a wrong category
    loses 1, and a number that is not within 10 percent of the true one. `gain`: in the unit of the loss. Left out, it
    is half of a right guess (0.5; of `Exceeds` half of its gain); absolute and squared losses are in the variable's own
    unit, so theirs must be stated. `costs`: for the risk `harm_<variable>`, all four of `Guess.harm`, and `threshold`
    if declarations need another probability than the study's `threshold`.

    >>> import confide as cf
    >>> cf.Learns("hh_income", loss=cf.Within(share=0.2)).risks
    ['learnt_hh_income']
    >>> cf.Learns("hh_income", loss="absolute")
    Traceback (most recent call last):
    confide.InputError: Learns: the absolute loss of "hh_income" is in its own unit, and so is gain; state it, such as gain=5000 for a guess that is nearer by more than 5,000.
    """  # noqa: E501

    variable: str
    loss: str | Within | Exceeds | None = None
    gain: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = Problems()
        for check in (self._check_variable, self._check_loss, self._check_gain, self._check_costs):
            with problems:
                check()
        problems.tell()

    @property
    def risks(self) -> list[str]:
        """Names of the risks that come of it: columns of the study's table."""
        return [f"{LEARNT}{self.variable}", *([f"{HARM}{self.variable}"] if self.costs else [])]

    def judged(self, numeric: bool, levels: Sequence[object] = ()) -> tuple[Loss, float]:
        """The loss and the gain that are meant for numbers or for categories."""
        stated = self.loss if self.loss is not None or not numeric else CLOSE
        loss = loss_of(stated, (), numeric, self.variable, tuple(levels))
        if self.gain is not None:
            return loss, float(self.gain)
        return loss, USUAL * (loss.gain if isinstance(loss, Exceeds) else 1.0)

    def paid(self, threshold: float) -> dict[str, float]:
        """The costs with their threshold, as `Guess.harm` takes them; nothing where none are stated."""
        return {THRESHOLD: threshold, **{k: float(v) for k, v in self.costs.items()}} if self.costs else {}

    @property
    def _in_own_unit(self) -> bool:
        return isinstance(self.loss, str) and self.loss in ("absolute", "squared")

    def _check_variable(self) -> None:
        if not isinstance(self.variable, str) or not self.variable:
            raise InputError('Learns: name one variable, as Learns("hh_income"); give each a Learns of its own.')

    def _check_loss(self) -> None:
        known = self.loss is None or isinstance(self.loss, (Within, Exceeds))
        if not known and not (isinstance(self.loss, str) and self.loss in NAMED):
            raise InputError(
                f"Learns: loss is one of {', '.join(NAMED)}, Within(...) or Exceeds(...), which a study file can hold; "
                "for a function of your own use attack.guess."
            )

    def _check_gain(self) -> None:
        own = self._in_own_unit
        if self.gain is None:
            if own:
                square = " squared" if self.loss == "squared" else ""
                raise InputError(
                    f'Learns: the {self.loss} loss of "{self.variable}" is in its own unit{square}, and so is gain; '
                    "state it, such as gain=5000 for a guess that is nearer by more than 5,000."
                )
            return
        if isinstance(self.gain, str):
            raise InputError("Learns: gain is a number in the unit of the loss; of right and wrong guesses 0.5.")
        gain = finite(self.gain, "Learns: gain")
        most = self.loss.cost + self.loss.gain if isinstance(self.loss, Exceeds) else 1.0
        if gain < 0:
            raise InputError("Learns: gain is how much the release may add to what is known, not below 0.")
        if not own and gain >= most:
            raise InputError(
                f"Learns: under this loss nobody can gain more than {most:g}, so a gain of {gain:g} is passed by "
                f"nobody; state one below {most:g}, such as {most / 2:g}."
            )

    def _check_costs(self) -> None:
        if not isinstance(self.costs, Mapping):
            raise InputError(f"Learns: costs is a table of {', '.join(COSTS)}.")
        if not self.costs:
            return
        strange = [k for k in self.costs if k not in (*COSTS, THRESHOLD)]
        if strange:
            raise InputError(
                f'Learns: there is no cost "{strange[0]}".{did_you_mean(str(strange[0]), [*COSTS, THRESHOLD])}'
            )
        lost = [k for k in COSTS if k not in self.costs]
        if lost:
            raise InputError(
                f"Learns: harm needs all four costs, since wrong declarations hurt people too; missing: "
                f"{', '.join(lost)}."
            )
        for name in COSTS:
            if finite(self.costs[name], f"Learns: {name}") < 0:
                raise InputError(f"Learns: {name} is a cost to the person who is declared, not below 0.")
        if THRESHOLD in self.costs:
            fraction(self.costs[THRESHOLD], "Learns: threshold")
        if self._in_own_unit:
            raise InputError(
                "Learns: costs are of right and wrong declarations, and under this loss no guess is right or wrong; "
                "use zero_one, Within(...) or Exceeds(...)."
            )


def as_learns(given: Any) -> Learns:
    """A `Learns`, or the name of a variable, or the fields of one as a table."""
    if isinstance(given, Learns):
        return given
    if isinstance(given, Mapping):
        known = [f.name for f in fields(Learns)]
        strange = [k for k in given if k not in known]
        if strange or "variable" not in given:
            wrong = f'unknown key "{strange[0]}".{did_you_mean(str(strange[0]), known)}' if strange else ""
            raise InputError(f"Learns: {wrong or 'the variable is missing.'}")
        return Learns(**given)
    if not isinstance(given, str):
        raise InputError(f'learns lists variables by name, or as Learns("hh_income", ...), not {type(given).__name__}.')
    return Learns(given)
