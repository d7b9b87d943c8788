"""`cf.offers`: what can be done to which variable of a file, as the methods themselves say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import polars as pl

from confide.core.checks import names_of
from confide.core.errors import InputError
from confide.core.result import Result
from confide.core.visible import visible
from confide.frames.columns import Kind
from confide.frames.encoded import Encoded
from confide.frames.hierarchies.hierarchy import Hierarchy
from confide.frames.roles.result import Roles, roles
from confide.protect.plan import Plan
from confide.protect.seam.dials import Change, Dial
from confide.protect.seam.mechanism import Mechanism
from confide.study.advise.outlook import base_plan, check_there, outlook_of
from confide.study.advise.space import changed, offered

SCHEMA: dict[str, Any] = {
    "offer": pl.Int64, "family": pl.String, "variables": pl.String, "strength": pl.String, "says": pl.String,
    "dear": pl.Boolean,
}  # fmt: skip
UNTRIED: dict[str, Any] = {"family": pl.String, "variables": pl.String, "why": pl.String}


@dataclass(frozen=True, eq=False, repr=False)
class Offers(Result):
    """What can be done to a file, one thing at a time.

    `frame`: one row per offer: `offer`, its number, from 0 (the number of its row); `family`, the method, or "drop";
    `variables`, those that it alters, none for what chooses records; `strength`, as its method counts it; `says`, in
    words; `dear`, whether it takes many seconds on this file. Offers of one way to use a method follow each other, the
    weakest first. `untried`: what methods do not offer, and why. `plan`: what the offers are for.
    """

    frame: pl.DataFrame
    untried: pl.DataFrame
    plan: Plan
    turns: Sequence[tuple[Dial, object]] = field(repr=False)
    kinds: Mapping[str, Kind] = field(repr=False)

    def of(self, variable: str) -> pl.DataFrame:
        """Offers that alter a variable, alone or with others.

        >>> import confide as cf
        >>> cf.offers(cf.demo("heads").head(500), knows=["sex", "age"]).of("sex")["says"][0]
        'drop sex'
        """
        return self.frame.filter(pl.Series([variable in dial.variables for dial, _ in self.turns], dtype=pl.Boolean))

    def steps(self, offer: int) -> list[Mechanism]:
        """The steps of an offer; none where it only drops variables."""
        return list(self._at(offer).steps)

    def drop(self, offer: int) -> tuple[str, ...]:
        """Variables that an offer no longer releases."""
        return self._at(offer).drop

    def change(self, plan: Plan, offer: int) -> Plan:
        """A plan with an offer added. A step of the same method on the same variables is replaced, and what was done to
        variables that are dropped falls away; steps stand in the order in which they must be carried out. What cannot
        be carried out is refused with a sentence.

        >>> import confide as cf
        >>> offers = cf.offers(cf.demo("heads").head(500), knows=["sex", "age"])
        >>> wide = offers.frame.filter(says="age in classes of 10")["offer"][0]
        >>> offers.change(cf.Plan([cf.Swap("sex", rate=0.1)]), wide).words
        ('age in classes of 10', 'swap sex, 10% of records')
        """
        if not isinstance(plan, Plan):
            raise InputError("change takes the Plan to change, then the number of an offer: offers.change(plan, 3).")
        turn = self._at(offer)
        used = {v for step in turn.steps for v in (*step.variables, *step.needs)}
        told = {v: kind for v, kind in self.kinds.items() if v in used and v not in plan.kinds}
        named: dict[str, Any] = {
            kind: (*getattr(plan, kind), *(v for v, k in told.items() if k == kind))
            for kind in ("categorical", "numeric")
        }
        made = changed(replace(plan, **named), turn)
        made.kinds  # noqa: B018 - refused where steps need another kind of a variable than the plan names
        return made

    def summary(self) -> pl.DataFrame:
        """How many offers there are, by family and variables."""
        return self.frame.group_by("family", "variables", maintain_order=True).agg(offers=pl.len())

    def __repr__(self) -> str:
        ways = self.summary()
        head = f"{self.frame.height:,} offers of {ways['family'].n_unique():,} methods"
        wide = max((len(f) for f in ways["family"]), default=0)
        lines = [f"{f.ljust(wide)}  {n:>3}  {visible(v) or 'records'}" for f, v, n in ways.rows()]
        return "\n".join([head, *lines])

    def _turn(self, offer: int) -> tuple[Dial, object]:
        if isinstance(offer, bool) or not isinstance(offer, Integral) or not 0 <= offer < len(self.turns):
            raise InputError(
                f"An offer is told by its number in the frame, from 0 to {len(self.turns) - 1:,}, as in steps(0)."
                if len(self.turns)
                else "There are no offers for this file; `untried` says why."
            )
        return self.turns[int(offer)]

    def _at(self, offer: int) -> Change:
        dial, strength = self._turn(offer)
        return dial.at(strength)


def offers(
    data: Any, plan: Plan | None = None, *, knows: str | Sequence[str] | None = None,
    sensitive: str | Sequence[str] | None = None, hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Offers:  # fmt: skip
    """What can be done to which variable of a file, each at several strengths: what registered methods say that they
    suit. Nothing is carried out or attacked; `cf.advise` and `cf.improve` try such offers.

    `plan` says which variables are identifiers, weight, unit and dropped, and names kinds; its steps do not matter.
    Without it, `cf.roles` guesses. `knows`: variables that an intruder may know; `sensitive`: those it would like to
    learn. Only these are worth altering; both are guessed where they are left out, and with two empty lists all
    variables count. `hierarchies`: groups of values by variable; others are proposed (`Hierarchy.propose`).

    >>> import confide as cf
    >>> heads = cf.demo("heads").head(500)
    >>> plan = cf.Plan(identifiers=["id"], weight="weight")
    >>> found = cf.offers(heads, plan, knows=["sex", "age"], sensitive=["hh_income"])
    >>> found.of("age").filter(family="recode")["says"].to_list()
    ['age in classes of 5', 'age in classes of 10', 'age in classes of 20']
    >>> [step.words for step in found.steps(found.of("hh_income").filter(family="noise")["offer"][0])]
    ['normal noise on hh_income, sd 5% of that of the data']
    """
    if plan is not None and not isinstance(plan, Plan):
        raise InputError(f"offers takes the data, then a Plan or nothing; it was given {type(plan).__name__}.")
    file = Encoded.of(data)
    judged = roles(file.frame)
    stated = _guessed(judged) if plan is None else plan
    stated.check(file.frame)
    out = {*stated.identifiers, *stated.drop, stated.unit, stated.weight}
    asked: dict[str, tuple[str, ...]] = {}
    for what, names, guess in (("knows", knows, judged.keys), ("sensitive", sensitive, judged.sensitive)):
        asked[what] = guess if names is None else names_of(names, what) if len(names) else ()
    check_there(file, **asked)
    outlook = outlook_of(
        file, known=[v for v in asked["knows"] if v not in out],
        sensitive=[v for v in asked["sensitive"] if v not in out], identifiers=(*stated.identifiers, *stated.drop),
        unit=stated.unit, weight=stated.weight, hierarchies=hierarchies, kinds=stated.named_kinds, found=judged,
    )  # fmt: skip
    dials, untried = offered(outlook)
    turns = [(dial, strength) for dial in dials for strength in dial.strengths]
    rows = [
        (k, d.family, ", ".join(d.variables), _said(x), d.says(x), d.dear) for k, (d, x) in enumerate(turns)
    ]  # fmt: skip
    left = [(u.family, ", ".join(u.variables), u.why) for u in untried]
    base = stated if plan is not None else base_plan(outlook, stated.identifiers)
    return Offers(
        pl.DataFrame(rows, schema=SCHEMA, orient="row"), pl.DataFrame(left, schema=UNTRIED, orient="row"), base, turns,
        outlook.kinds,
    )  # fmt: skip


def _guessed(found: Roles) -> Plan:
    """A plan without steps, by guessed roles."""
    return Plan(identifiers=found.identifiers, weight=found.weight, unit=found.unit)


def _said(strength: Any) -> str:
    """A strength as text; empty for what is done or not."""
    if isinstance(strength, bool):
        return ""
    return f"{strength:,g}" if isinstance(strength, float) else str(strength)
