"""What a released value tells someone who knows the true one.

Evidence has a certain part (a label that released and true value always share) and an uncertain part (a likelihood).
Four likelihoods have compiled kernels: `Match`, `Table`, `Normal` and `Spread`; any other works too and is evaluated in
chunks. `Silent` is the likelihood of what was made without the true value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from confide.core.errors import InputError
from confide.frames.columns import F64, I64, Records
from confide.protect.seam.likelihood import Likelihood


@dataclass(frozen=True, eq=False)
class Labels:
    """The certain part: label(z) = label(y) always.

    `of(records)` gives each record of true values its code, -1 where the release has no such label; `released`
    holds the codes of the r released rows; codes lie in 0..size-1.
    """

    of: Callable[[Records], I64]
    released: I64
    size: int


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one mechanism's variables say about a pair (target, released row).

    `sense` is "z|y" for the likelihood of the released value given the true one; "y|z" for a model of the true
    value given the released one, already divided by its average: that one stays out of A. "pair" is for a method's
    own reading of a pair, which needs no belief about what is not known and brings its own part A: `log_others`, the
    log of one factor a record, shape (r,). `instead`: the likelihood "z|y" for whoever has no value to compare, but an
    interval or one that may be mistaken; None where there is none. `cells`: of a "pair", numbers of the known values
    that `log_others` takes to be as frequent among people who are not in the file; a register of the population says
    how frequent they are. None where the method says nothing of that.
    """

    about: tuple[str, ...]
    labels: Mapping[str, Labels] = field(default_factory=dict)
    likelihood: Likelihood | None = None
    sense: str = "z|y"
    log_others: F64 | None = None
    instead: Likelihood | None = None
    cells: Callable[[Records], I64] | None = None

    def __post_init__(self) -> None:
        if self.likelihood is not None and not isinstance(self.likelihood, Likelihood):
            raise InputError(
                f"Evidence: {type(self.likelihood).__name__} must extend the class Likelihood of confide.extend, which "
                "says what else may be asked of it, and state its scale."
            )
