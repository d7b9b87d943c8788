"""What a project is at one moment: every choice that was made, as plain data. A change makes a new one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

Table = Mapping[str, Any]
"""A part of a plan or study file, as its document has it."""

DROP = "drop"
"""The step that leaves a variable out. In a plan it is no step but a name under `drop`."""

AS_IT_IS = "as it is"
"""The candidate to which nothing is done, so that what every other one leaves out counts as lost."""

ROLES = {
    "identifier": "Identifies directly", "key": "Can be known", "sensitive": "Private", "weight": "Weight",
    "unit": "Rows of one unit", "other": "Nothing special", "drop": "Not released",
}  # fmt: skip
"""Roles of variables in the words of the screens."""

KINDS = {"categorical": "categories", "numeric": "number"}


@dataclass(frozen=True)
class State:
    """Every choice so far. `way`: "records" or "tables". `source`: the file as its user named it. `roles`, `kinds`: by
    variable; `confirmed`: those somebody looked at. `intruders`, `candidates`: tables with a name. `steps`: of the plan
    in the making, `opened` the one whose settings are shown (from 1; 0 for none). `formula`: the regression that
    analysts need. `rule`: limits and what is then best. `choice`: the candidate to be released. `decision`: the reason,
    who decided, and when. `table`: what the way of tables states.
    """

    way: str = "records"
    source: str = ""
    name: str = ""
    roles: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    confirmed: Sequence[str] = ()
    intruders: Sequence[Table] = ()
    steps: Sequence[Table] = ()
    opened: int = 0
    candidates: Sequence[Table] = ()
    formula: str = ""
    rule: Table = field(default_factory=dict)
    choice: str = ""
    decision: Table = field(default_factory=dict)
    table: Table = field(default_factory=dict)

    def but(self, **changes: Any) -> State:
        """The same with some choices made otherwise."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)

    @classmethod
    def of(cls, plain: Table) -> State:
        """From plain data; what another version wrote beside it is left alone."""
        known = {f.name for f in fields(cls)}
        return cls(**{k: v for k, v in plain.items() if k in known})

    def variables(self, *roles: str) -> list[str]:
        """Variables that have one of these roles, in the order of the file."""
        return [v for v, role in self.roles.items() if role in roles]

    @property
    def knowable(self) -> list[str]:
        """What intruders may know."""
        return self.variables("key")

    def candidate(self, name: str) -> Table | None:
        """A candidate by its name."""
        return next((c for c in self.candidates if c["name"] == name), None)
