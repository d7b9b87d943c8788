"""What is learnt by an attack: values of unknown variables, and who is who if everybody is matched at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

if TYPE_CHECKING:
    from confide.attack.learning.attributes.losses import Stated
    from confide.attack.learning.attributes.result import Guess, Guesses
    from confide.attack.learning.one_to_one.result import OneToOne
    from confide.attack.results.attack import Attack
    from confide.core.run.progress import Progress


class Learning:
    """Methods of an attack by which more is learnt than who is who."""

    @overload
    def guess(  # type: ignore[overload-overlap]
        self, variables: str, loss: Stated = None, *, grid: Sequence[float] = (), smoothing: float | None = None,
        without: str = "record",
    ) -> Guess: ...  # fmt: skip
    @overload
    def guess(
        self, variables: Sequence[str], loss: Stated = None, *, grid: Sequence[float] = (),
        smoothing: float | None = None, without: str = "record",
    ) -> Guesses: ...  # fmt: skip
    def guess(
        self, variables: str | Sequence[str], loss: Stated = None, *, grid: Sequence[float] = (),
        smoothing: float | None = None, without: str = "record",
    ) -> Guess | Guesses:  # fmt: skip
        """What is learnt of unknown variables: the best guess of each person's value, and what it loses.

        `loss`: "zero_one" (default for categories), "absolute" (default for numbers), "squared", `cf.Within(share=)`,
        `cf.Exceeds(limit=, cost=, gain=)`, or a function(guess, truth), whose guess is sought among the values that
        occur and a `grid`. Beside every loss stand those by the margin, by published relations, and by the same release
        without the person's own row (`without`: "record" leaves the row out, "releases" makes ten releases, each
        without a tenth of the people). `smoothing`: relations by cells of all known variables with so many records'
        worth of the margin, in place of cells of more and more variables.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Recode("age", width=5)], identifiers=["id"]).protect(cf.demo("heads"), seed=1)
        >>> found = cf.Intruder(knows=["sex", "race", "marital", "age"]).attack(release).guess("hh_income", "absolute")
        >>> found.summary().loss < found.summary().relations < found.summary().margin
        True
        """
        from confide.attack.learning.attributes.guess import guess

        return guess(cast("Attack", self), variables, loss, grid, smoothing, without)

    def one_to_one(
        self, *, sweeps: int | None = None, seed: int = 0, threads: int | None = None, progress: Progress = None
    ) -> OneToOne:
        """Everybody matched at once: the best assignment, and probabilities of pairs if no two targets own one record.

        Marginals are exact in components of up to 15 targets (more, where many are alike), else sampled by four chains:
        `sweeps` is how often each visits every target. The same `seed` gives the same result.

        >>> import confide as cf
        >>> plan = cf.Plan([cf.Noise("age", sd=1)], identifiers=["id"])
        >>> release = plan.protect(cf.demo("heads").select("id", "sex", "state", "age").head(300), seed=1)
        >>> matched = cf.Intruder(knows=["sex", "state", "age"]).attack(release).one_to_one()
        >>> matched.frame.columns[:5]
        ['target', 'row', 'p', 'p_error', 'p_independent']
        """
        from confide.attack.learning.one_to_one.run import run_one_to_one

        return run_one_to_one(cast("Attack", self), sweeps, seed, threads, progress)
