"""Laws: distributions of several people's unknown value, with and without their own record."""

from __future__ import annotations

from dataclasses import dataclass

from confide.frames.columns import F64, I64


@dataclass(frozen=True, eq=False)
class Law:
    """Distributions of some people (`who`): `values` (V,) rising, `p` (rows, V + 1), missing last; `of`: whose row.

    `without` (n, V + 1): the same without each person's own record; or `at`, `share`: the place at which the own record
    lies, and how much of the distribution goes with it; nothing changes where there is neither. `place` (n,): of the
    true value, -1 where it is not among them; `inside` (n,): its share of that place. `worth` (n,): what the own record
    would weigh beside the others, NaN where there are none.
    """

    who: I64
    values: F64
    p: F64
    of: I64
    place: I64
    inside: F64
    without: F64 | None = None
    at: I64 | None = None
    share: F64 | None = None
    worth: F64 | None = None

    def only(self, some: I64) -> Law:
        """The laws of some of them."""
        if len(some) == len(self.who):
            return self
        cut = {n: None if (x := getattr(self, n)) is None else x[some] for n in ("without", "at", "share", "worth")}
        return Law(self.who[some], self.values, self.p, self.of[some], self.place[some], self.inside[some], **cut)
