"""The order in which steps of a plan can be carried out together."""

from __future__ import annotations

from collections.abc import Iterable

from confide.protect.seam.mechanism import Mechanism

ROLES = {"coarsen": 0, "select": 1, "random": 2}
"""What is coarser is made first, then records are chosen, so that nothing random hangs on values or people that nobody
sees."""


def in_order(steps: Iterable[Mechanism]) -> list[Mechanism]:
    """Steps by their role; of random ones that which reads a variable after that which alters it.

    Steps that read what each other alters stay as they are: a plan of them is refused.

    >>> import confide as cf
    >>> drawn = cf.CartSynthesis("race", given=["sex"])
    >>> [s.method for s in in_order([drawn, cf.Swap("sex", rate=0.1), cf.Recode("age", width=5)])]
    ['recode', 'swap', 'cart_synthesis']
    """
    left = sorted(steps, key=lambda s: ROLES.get(s.role, max(ROLES.values())))
    done: list[Mechanism] = []
    while left:
        free = (s for s in left if not any(set(s.needs) & set(o.variables) for o in left if o is not s))
        step = next(free, left[0])
        left = [s for s in left if s is not step]
        done.append(step)
    return done
