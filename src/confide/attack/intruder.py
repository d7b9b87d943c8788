"""Intruder: what somebody knows, and how they reason."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import polars as pl

from confide.core.checks import finite, names_of, positive
from confide.core.documents.plain import Document, Reader
from confide.core.documents.statement import Statement
from confide.core.errors import InputError, did_you_mean, raise_all
from confide.core.run.progress import Progress
from confide.protect.plan import Plan
from confide.protect.seam.mechanism import Mechanism

if TYPE_CHECKING:
    from confide.attack.results.attack import Attack
    from confide.attack.results.copies import Averaged
    from confide.attack.results.cost import AttackCost
    from confide.attack.scanned.result import ScannedAttack
    from confide.core.scale.engine import Engine
    from confide.protect.copies import Copies
    from confide.protect.release import Release
    from confide.protect.scanned.release import ScannedRelease

LEVELS = ("sdl", "average", "naive", "ignore", "exact")
LEVEL_WORDS = {
    "sdl": "informed (knows the plan, not the draws)", "average": "average (guesses the plan)",
    "naive": "naive (takes released values as true)", "ignore": "left out",
    "exact": "exact (informed, and uses all that follows from the plan)",
}  # fmt: skip
"""How a level is printed; "informed" is the spelling of "sdl" that people read and may write."""
STATED = f"informed (or sdl), {', '.join(LEVELS[1:])}"
WRITTEN = ("informed", *LEVELS)
MODELS = ("loglinear", "proportional")
"""How `Unsure` estimates N_t from a total or from weights; the first is the default."""
MOST_BYTES = 4 * 2**30
"""For a population that is a scan, beside a file in memory."""
MOST_PEOPLE = 1e15


@dataclass(frozen=True, eq=False)
class Unsure:
    """The intruder does not know whether the target is in the file at all.

    How many people in the population could be the target, N_t, comes from one of: `population`, a frame or a scan of
    the population with the known variables (one row per person, or a `count` column): counted; `total`, the
    population's size, or `weights`, the released survey weight: estimated, by a `model`. Where fewer records are
    released than the file has, their weights are raised to the sum of all the file's weights: they stand for the same
    people.

    - "loglinear": a Poisson log-linear model of the released records' certain labels, with main effects and the pairs
      that Skinner and Shlomo's criterion asks for. Rare combinations of common values are common in the population. For
      the people behind records (the default targets, or targets who are all released) N_t is 1 / E(1/F), else E(F), F
      the number of people with the target's labels.
    - "proportional": N_t = total times the share of released records that agree with the target, or their weights
      added up: every combination is as rare as in the release, and a record that nobody else resembles never likely.

    >>> import confide as cf
    >>> cf.Unsure(total=1_016_437)
    Unsure(total=1016437)
    >>> cf.Unsure(weights="weight", model="proportional")
    Unsure(weights='weight', model='proportional')
    """

    weights: str | None = None
    population: Any = None
    total: float | None = None
    count: str | None = None
    model: str = field(default=MODELS[0], metadata={"choices": MODELS})

    def __post_init__(self) -> None:
        if self.weights is not None and not isinstance(self.weights, str):
            number = isinstance(self.weights, Real) and not isinstance(self.weights, bool)
            meant = f"for the population's size write total={self.weights}" if number else (
                "a file of the population is given as population=file")  # fmt: skip
            raise InputError(f'Unsure: weights is the name of a column, as in weights="weight"; {meant}.')
        given = [n for n in ("weights", "population", "total") if getattr(self, n) is not None]
        if len(given) != 1:
            raise InputError("Unsure takes exactly one of weights, population and total.")
        if self.total is not None and positive(self.total, "Unsure: total") < 1:
            raise InputError(f"Unsure: total is the number of people in the population, not {self.total:g}.")
        if self.total is not None and self.total > MOST_PEOPLE:
            raise InputError("Unsure: total is the number of people in the population; no population has 1e15.")
        if self.count is not None and self.population is None:
            raise InputError("Unsure: count names a column of population.")
        if self.model not in MODELS:
            raise InputError(f'Unsure: model is one of {", ".join(MODELS)}, not "{self.model}".')
        if self.model != MODELS[0] and self.population is not None:
            raise InputError("Unsure: a population is counted; model goes with total or weights.")

    def __repr__(self) -> str:
        model = None if self.model == MODELS[0] else self.model
        shown = {"weights": self.weights, "total": self.total, "count": self.count, "model": model}
        parts = [f"{k}={v!r}" for k, v in shown.items() if v is not None]
        return f"Unsure({', '.join([*(['population=...'] if self.population is not None else []), *parts])})"


@dataclass(frozen=True, eq=False)
class Uniform:
    """A belief that knows nothing but ranges: numbers uniform on theirs, categories all alike.

    >>> import confide as cf
    >>> cf.Uniform({"income": (0, 500_000)}).ranges
    {'income': (0, 500000)}
    """

    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for v, pair in self.ranges.items():
            if len(pair) != 2 or finite(pair[0], f"Uniform: {v}") >= finite(pair[1], f"Uniform: {v}"):
                raise InputError(f'Uniform: the range of "{v}" must be (lowest, highest).')


@dataclass(frozen=True, eq=False)
class Intruder(Statement):
    r"""What somebody knows about a target, and how much of the plan.

    The identification probability of released record j is

    .. math:: \Pr(J=j \mid t, Z) \propto \mathrm{prior}_j \cdot C_j \cdot B_j \cdot A_j

    `knows`: variables whose true values the intruder has; what is not released is no evidence, and the attack goes on
    with the rest. `membership`: "certain" (the target is known to be
    released), "in_file" (known to be surveyed) or `Unsure(...)`. `available`, `unavailable`, `others`: how the
    parts C (known, perturbed), B (unknown, perturbed) and A (how common the record is) are computed:

    - "informed", also spelt "sdl" as in Reiter's paper: with the plan and its parameters, but not the random draws;
    - "average": with the plan the intruder `believes` in, else with each method's own documented guess;
    - "naive": released values are taken as true (B and A are then left out);
    - "ignore": the part is left out;
    - "exact": as "informed", but with all that follows from the plan: unknown variables that are released unaltered
      help to distinguish records (B and A; also which of the values behind a coarser one is a record's), and synthetic
      values are not taken for the target's own.

    `beliefs`: where the model of unknown values is fitted: "original" (prudent), "released", or `Uniform`.
    `errors`: mistakes in the intruder's own values: a probability for a category, a standard deviation for a
    number, or a `Pram`. `between`: variables known as intervals, as {"income": ("low", "high")}, two columns of
    the targets (missing: no limit). `knows_missing`: whether a target's missing value is known to be missing in the
    file, so that it is evidence like any other value: True, False (a missing value means only that nobody asked), or
    the variables for which it is. `as_printed` computes A as Reiter (2005) printed it: a product of one sum per
    variable instead of one joint sum, and numbers lognormal around a regression; to reproduce, not to rely on.
    `guesses`: about what a method does not publish, by the method's own name for it, for all variables or by variable,
    as {"tau": 0.5} or {"window": {"wage": 30}}.

    `unit`: the column that says which rows of the original are of one unit, where units have several (a household seen
    in four quarters, persons in households); by default the plan's. Probabilities are then of units: a target's values
    are those of one row, any of its rows being as likely, and finding its unit is right. The intruder is taken to see
    which released rows belong together, also where no pseudonym is released: rows that share kept values often can be
    put together.

    >>> import confide as cf
    >>> cf.Intruder(knows=["sex", "age"], others="informed").others
    'sdl'
    >>> cf.Intruder(knows=["sex"], others="everything")
    Traceback (most recent call last):
    confide.InputError: others must be one of informed (or sdl), average, naive, ignore, exact, not "everything".
    """

    knows: str | Sequence[str] = ()
    membership: str | Unsure = field(default="certain", metadata={"choices": ("certain", "in_file")})
    available: str = field(default="sdl", metadata={"choices": WRITTEN})
    unavailable: str = field(default="sdl", metadata={"choices": WRITTEN})
    others: str = field(default="sdl", metadata={"choices": WRITTEN})
    beliefs: str | Uniform = field(default="original", metadata={"choices": ("original", "released")})
    believes: Sequence[Mechanism] = ()
    errors: Mapping[str, Any] = field(default_factory=dict)
    between: Mapping[str, Sequence[str]] = field(default_factory=dict)
    as_printed: bool = False
    guesses: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None
    knows_missing: bool | Sequence[str] = True

    _section: ClassVar[str] = "intruder"

    def __post_init__(self) -> None:
        object.__setattr__(self, "knows", names_of(self.knows, "knows") if self.knows else ())
        if not isinstance(self.errors, Mapping):
            raise InputError('errors is a table, as {"age": 2}: a standard deviation or a probability per variable.')
        if not isinstance(self.knows_missing, bool):
            if self.knows_missing is None or isinstance(self.knows_missing, (int, float)):
                raise InputError("knows_missing is True, False, or a list of the variables of which it is known.")
            said = names_of(self.knows_missing, "knows_missing") if self.knows_missing else ()
            object.__setattr__(self, "knows_missing", said or False)
        for part in ("available", "unavailable", "others"):
            if getattr(self, part) == "informed":
                object.__setattr__(self, part, "sdl")
        problems = [
            f'{part} must be one of {STATED}, not "{getattr(self, part)}".'
            for part in ("available", "unavailable", "others")
            if getattr(self, part) not in LEVELS
        ]
        if not isinstance(self.membership, Unsure) and self.membership not in ("certain", "in_file"):
            problems.append(
                'membership is "certain", "in_file" or Unsure(...); in a file {weights = ...}, {total = ...} or '
                "{population = ...}."
            )
        if not isinstance(self.beliefs, Uniform) and self.beliefs not in ("original", "released"):
            problems.append('beliefs is "original", "released" or Uniform({...}).')
        if (self.unavailable == "exact") != (self.others == "exact"):
            problems.append('unavailable="exact" and others="exact" go together: both must see the same variables.')
        if not isinstance(self.guesses, Mapping):
            problems.append('guesses is a table, as {"tau": 0.5}.')
        twice = set(self.knows) & set(self.between)
        if twice:
            problems.append(f"{', '.join(sorted(twice))} is known exactly and as an interval; choose one.")
        for v, pair in self.between.items():
            if isinstance(pair, str) or len(tuple(pair)) != 2:
                problems.append(f'between: "{v}" needs the names of two columns, (low, high).')
        problems += [
            f'errors: "{v}" takes a number (a standard deviation, or the probability of a wrong category) or '
            "a step such as Pram."
            for v, e in self.errors.items()
            if isinstance(e, bool) or not isinstance(e, (int, float, Mechanism))
        ]
        problems += [
            f'errors: "{v}" is not among the known variables.{did_you_mean(v, self.knows)}'
            for v in self.errors
            if v not in self.knows
        ]
        if self.unit is not None and (not isinstance(self.unit, str) or not self.unit):
            problems.append("unit is the name of one column.")
        if not isinstance(self.knows_missing, bool):
            problems += [
                f'knows_missing: "{v}" is not among the known variables.{did_you_mean(v, self.knows)}'
                for v in self.knows_missing
                if v not in self.knows
            ]
        raise_all(problems)
        object.__setattr__(self, "believes", Plan(list(self.believes)).parts if self.believes else ())

    @property
    def told_missing(self) -> tuple[str, ...]:
        """Known variables of which it is also known whether the file has a value."""
        if isinstance(self.knows_missing, bool):
            return tuple(self.knows) if self.knows_missing else ()
        return tuple(self.knows_missing)

    @classmethod
    def at(cls, level: str, **options: Any) -> Intruder:
        """An intruder with all parts at one level; "unaltered" leaves all of them out, so that candidates, who agree in
        what is unaltered, are alike (Huckett and Larsen say "super_naive", which is understood too).

        >>> import confide as cf
        >>> cf.Intruder.at("unaltered", knows=["sex", "age"]).levels
        ('ignore', 'ignore', 'ignore')
        """
        part = "ignore" if level in ("unaltered", "super_naive") else level
        if part not in WRITTEN:
            raise InputError(f'level is one of {STATED}, unaltered and super_naive, not "{level}".')
        return cls(available=part, unavailable=part, others=part, **options)

    @property
    def levels(self) -> tuple[str, str, str]:
        """Levels of C, B and A as used: a naive intruder leaves B and A out."""
        if self.available == "naive":
            return "naive", "ignore", "ignore"
        b = "ignore" if self.unavailable == "naive" else self.unavailable
        a = "ignore" if self.others == "naive" else self.others
        return self.available, b, a

    def to_dict(self, population: str | None = None) -> Document:
        """It as text, numbers, lists and tables; only what differs from the defaults is there.

        A document holds no data: save a frame of the population, and name its file in `population`.

        >>> import confide as cf
        >>> cf.Intruder(knows=["sex"], beliefs=cf.Uniform({"income": (0, 1e6)})).to_dict()
        {'knows': ['sex'], 'beliefs': {'uniform': {'income': [0, 1000000.0]}}}
        """
        from confide.attack.document import with_file

        return super(Intruder, with_file(self, population)).to_dict()

    @classmethod
    def _read(cls, reader: Reader, table: object, where: str, folder: Path) -> Intruder | None:
        from confide.attack.document import build_intruder

        return build_intruder(reader, table, where, folder)

    @overload
    def attack(
        self, release: Release, targets: Any = None, truth: Any = None, *, threads: int | None = None,
        progress: Progress = None,
    ) -> Attack: ...  # fmt: skip
    @overload
    def attack(
        self, release: Copies, targets: Any = None, truth: Any = None, *, threads: int | None = None,
        progress: Progress = None,
    ) -> Attack | Averaged: ...  # fmt: skip
    @overload
    def attack(
        self, release: ScannedRelease, targets: Any = None, truth: Any = None, *, threads: int | None = None,
        progress: Progress = None, out: str | os.PathLike[str] | None = None, engine: Engine | None = None,
    ) -> ScannedAttack: ...  # fmt: skip
    def attack(
        self, release: Release | Copies | ScannedRelease, targets: Any = None, truth: Any = None, *,
        threads: int | None = None, progress: Progress = None, out: str | os.PathLike[str] | None = None,
        engine: Engine | None = None,
    ) -> Attack | Averaged | ScannedAttack:  # fmt: skip
        """Attack a release: the posterior of every target.

        Default targets are the originals of all released rows (all original rows for `membership="in_file"`).
        `targets` is a frame with the known variables; `truth` gives each target's original row, -1 for a person
        who is not in the original file; it is found by identifiers where both files have them.
        `threads` defaults to the machine's cores and never changes a result. `progress` shows a bar (default: on
        a terminal), or is a function, called as `progress(done, total, what)`; what it raises ends the attack.
        Copies whose rows can be told to be the same people are attacked together, as one `Attack`; for others the
        result is `Averaged`, a summary of one attack per copy.

        A release of a scan is attacked in bounded memory, on this machine or where `engine` says (`cf.Local`,
        `cf.Spark`); the result is a `ScannedAttack`. `out` names a new folder for one row per target, private.
        """
        from confide.attack.engine.run import run_attack
        from confide.attack.results.copies import attack_copies
        from confide.protect.copies import Copies
        from confide.protect.scanned.release import ScannedRelease

        if isinstance(release, ScannedRelease):
            from confide.attack.scanned.run import attack_scanned

            return attack_scanned(
                self, release, targets, truth, out=out, engine=engine, threads=threads, progress=progress
            )
        if out is not None or engine is not None:
            raise InputError("out= and engine= are for releases of scans (cf.scan), which may be larger than memory.")
        from confide.attack.scanned.population import counted_population

        met = counted_population(self, MOST_BYTES)
        if met is not self:
            return met.attack(release, targets, truth, threads=threads, progress=progress)
        if isinstance(release, Copies):
            return attack_copies(self, release, targets, truth, threads=threads, progress=progress)
        return run_attack(self, release, targets, truth, threads=threads, progress=progress)

    def cost(self, release: Release, targets: Any = None) -> AttackCost:
        """What `attack` would take, before it is run: time and memory.

        The attack itself is tried on 200 and on 1,000 targets, spread evenly over those of whom not the same is known
        (on a twentieth of them where that tells no difference), and what each adds is taken for all. So the estimate
        takes as long as three or four small attacks, and counts as fast as this machine is now; what is compiled or
        learnt once is not in it. Memory is by a rule, 60 MB and per row 100 bytes and 70 for each known variable,
        beside what the process holds; `benchmarks/cost.py` compares both with what was measured.

        >>> import confide as cf
        >>> release = cf.Plan(identifiers=["id"]).protect(cf.demo("heads").head(400), seed=1)
        >>> cost = cf.Intruder(knows=["sex", "age"]).cost(release)
        >>> cost.rows, cost.targets, cost.bytes, cost.seconds < 60
        (400, 400, 60096000, True)
        """
        from confide.attack.results.cost import cost_of
        from confide.protect.release import Release

        if not isinstance(release, Release):
            raise InputError("cost takes one Release; of copies give one of them, as copies[0].")
        return cost_of(self, release, targets)

    def sweep(
        self, release: Release, believes: Mapping[str, Sequence[Mechanism]], threshold: float = 0.2, **options: Any
    ) -> pl.DataFrame:
        """How results depend on what an "average" intruder believes: one row of the file's risks per belief.

        >>> import confide as cf
        >>> release = cf.Plan([cf.Swap("race", rate=0.3)]).protect(cf.demo("heads").head(500), seed=1)
        >>> who = cf.Intruder(knows=["sex", "race"], available="average", others="average")
        >>> guesses = {f"{r:.0%}": [cf.Swap("race", rate=r)] for r in (0.1, 0.3)}
        >>> who.sweep(release, guesses)["believes"].to_list()
        ['10%', '30%']
        """
        if "average" not in (self.available, self.unavailable, self.others):
            raise InputError('A sweep over beliefs needs a part at level "average"; this intruder has none.')
        if not believes:
            raise InputError("A sweep needs at least one plan to believe in.")
        rows = []
        for name, plan in believes.items():
            attack = replace(self, believes=tuple(plan)).attack(release, **options)
            rows.append({"believes": name, **attack.summary(threshold).to_dict()})
        return pl.DataFrame(rows)


def level_words(levels: Sequence[str]) -> list[str]:
    """Levels as they are printed, each explained where it first occurs.

    >>> level_words(["sdl", "sdl", "ignore"])
    ['informed (knows the plan, not the draws)', 'informed', 'left out']
    """
    first = {level: k for k, level in reversed(list(enumerate(levels)))}
    words = [LEVEL_WORDS[level] for level in levels]
    return [
        w if first[level] == k else w.partition(" (")[0] for k, (level, w) in enumerate(zip(levels, words, strict=True))
    ]
