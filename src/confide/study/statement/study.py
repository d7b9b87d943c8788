"""Study: candidate releases x intruders x what analysts need, stated before anything is computed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from confide.attack.intruder import Intruder
from confide.core.checks import names_of
from confide.core.documents.plain import Document, Reader
from confide.core.documents.schema import JsonSchema
from confide.core.documents.statement import Statement
from confide.core.errors import raise_all
from confide.core.run.progress import Progress
from confide.core.scale.engine import Engine
from confide.frames import attach, schema, to_polars
from confide.frames.columns import Kind
from confide.frames.encoded import Encoded
from confide.frames.scan.scan import Scan
from confide.measure.risk.file_risks.statement import FileRisk
from confide.measure.utility.measure import Measure
from confide.measure.utility.registry import as_measure
from confide.measure.utility.run import DEFAULT
from confide.protect.plan import Plan
from confide.study.statement.checks import (
    EVERYTHING,
    copies_problems,
    group_problems,
    intruder_problems,
    listed,
    named_problems,
    number_problems,
    plan_problems,
    unwritable,
    utility_problems,
)
from confide.study.statement.file_risks import (
    as_file_risk,
    file_risk_columns,
    file_risk_problems,
    risks_list,
    stated_file_risks,
)
from confide.study.statement.learns import Learns, as_learns
from confide.study.statement.learns_checks import learns_list, learns_problems, stated_problems
from confide.study.statement.rule import Rule
from confide.study.statement.sweep import Candidate, Sweep, candidates_of

if TYPE_CHECKING:
    from confide.study.result import StudyResult


@dataclass(frozen=True, eq=False, repr=False)
class Study(Statement):
    """Candidate releases of one file, met by several intruders, measured by several analysts' needs.

    `data`: the original, a frame or a scan (`cf.scan`), of which there are no groups, copies or `learns`. `plans`: by name, a `Plan` or a `Sweep` of one. `intruders`: by name. `utility`: measures, as
    `utility` takes them. `repeats`: how often a plan with random steps is carried out, each time with a seed of its own
    (the same for all plans, so that they can be compared pair by pair). `seed`: of the whole study; None: fresh entropy.
    `threshold`: targets above this probability are counted. `copies`: by plan, how many copies are released (multiple
    imputation). `choice`: a `Rule` by which a plan will be chosen. `title` and `label` (of the data) are for the report.
    `strongest`: whether each intruder also attacks at the levels that could find more, and is booked at the one that is
    right most often. `groups`: variables by whose groups risk and utility are told as well; risk is always told by what
    intruders know. `learns`: what must not be learnt of people, as `Learns` or as names of variables; each adds the
    risk `learnt_<variable>`, and with costs `harm_<variable>`. `file_risks`: customary risks of each released file,
    such as `cf.measures.KAnonymity(["sex", "age"], k=3)`, which are the same for every intruder; each adds the columns
    that its `columns` names, such as `k_anonymity` and `k_anonymity_share`, as risks.

    >>> import confide as cf
    >>> study = cf.Study(
    ...     cf.demo("heads").head(400),
    ...     plans={"swap": cf.Sweep(lambda rate: cf.Plan([cf.Swap("race", rate=rate)], identifiers=["id"]), rate=[0.1, 0.3])},
    ...     intruders={"neighbour": cf.Intruder(knows=["sex", "race", "age"])},
    ...     utility=["hellinger"], repeats=2, seed=1,
    ... )
    >>> study
    Study: 400 rows; 2 plans, 1 intruder, 1 measure of utility, 2 repeats
    >>> study.run().frame.height
    5
    """  # noqa: E501

    data: Any
    plans: Mapping[str, Plan | Sweep]
    intruders: Mapping[str, Intruder]
    utility: Sequence[Measure | str | Mapping[str, Any]] = DEFAULT
    repeats: int = 5
    seed: int | None = None
    threshold: float = 0.2
    copies: Mapping[str, int] = field(default_factory=dict)
    choice: Rule | None = None
    title: str = ""
    label: str = ""
    strongest: bool = True
    groups: Sequence[str] = ()
    learns: Sequence[Learns | str | Mapping[str, object]] = ()
    file_risks: Sequence[FileRisk | Mapping[str, object]] = ()

    _section: ClassVar[str] = "study"

    def __post_init__(self) -> None:
        if not isinstance(self.data, Scan):
            held = schema(self.data)
            object.__setattr__(self, "data", attach(to_polars(self.data, "data").clone(), held))
        raise_all(self._problems())
        object.__setattr__(self, "groups", names_of(self.groups, "groups") if self.groups else ())
        object.__setattr__(self, "learns", tuple(as_learns(one) for one in learns_list(self.learns)))
        object.__setattr__(self, "file_risks", self.on_file)

    def to_dict(self, data: str | None = None, populations: Mapping[str, str] | None = None) -> Document:
        """The study as text, numbers, lists and tables, as `load` reads them; `save` takes the same arguments.

        A document holds no data. `data` names their file (default: the one that the study was loaded with), and
        `populations`, by intruder or risk of the file, that of a population. A sweep that is made by a function
        cannot be written; one that was stated by ranges in a file can.

        >>> import confide as cf
        >>> study = cf.Study(
        ...     cf.demo("elites"), plans={"noise": cf.Plan([cf.Noise("income", sd=10_000)])},
        ...     intruders={"press": cf.Intruder(knows=["age", "income"])}, utility=["means"], seed=1,
        ... )
        >>> study.to_dict(data="demo:elites")["plan"]
        [{'name': 'noise', 'steps': [{'method': 'noise', 'variable': 'income', 'sd': 10000}]}]
        """
        from confide.study.statement.document import study_to_dict

        return study_to_dict(self, data, populations or {})

    @classmethod
    def json_schema(cls) -> JsonSchema:
        """The JSON Schema of study files, for editors and forms; with all that is registered.

        >>> import confide as cf
        >>> cf.Study.json_schema()["required"]
        ['data', 'plan', 'intruder']
        """
        from confide.study.statement.document_schema import study_schema

        return study_schema()

    @classmethod
    def _read(cls, reader: Reader, table: object, where: str, folder: Path) -> Study | None:  # noqa: ARG003
        from confide.study.statement.document import build_study

        assert isinstance(table, Mapping)
        return build_study(reader, table, folder)

    def run(
        self, folder: str | os.PathLike[str] | None = None, *, progress: Progress = None,
        threads: int | None = None, overwrite: bool = False, engine: Engine | None = None,
    ) -> StudyResult:  # fmt: skip
        """Carry the study out.

        With `folder`, every finished piece is kept there, so that an interrupted study goes on where it stopped; the
        folder is private (it holds the seed), and one process at a time works in it. A folder with another study is
        refused unless `overwrite` is true. `threads` defaults to the machine's cores and never changes a result;
        `progress` shows a bar (default: on a terminal), or is a function, called as `progress(done, total, what)`;
        what it raises ends the run, and what was finished in a folder stays there. `engine`: of a study of a scan,
        where its files are counted and attacked, `cf.Local` (with the memory that it may take and a scratch folder for
        one candidate at a time) or `cf.Spark`.
        """
        from confide.study.run import run_study

        return run_study(self, folder, progress=progress, threads=threads, overwrite=overwrite, engine=engine)

    @cached_property
    def source(self) -> Encoded:
        """The original with its arrays, which all pieces of the study share."""
        return Encoded(self.data, schema(self.data))

    @cached_property
    def candidates(self) -> list[Candidate]:
        """Every plan, sweeps taken apart."""
        return candidates_of(self.plans)

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The measures of utility."""
        return tuple(as_measure(m) for m in listed(self.utility))

    @cached_property
    def everything(self) -> Candidate:
        """The release that nothing is done to: without what no plan releases."""
        plans = [c.plan for c in self.candidates]
        first = plans[0]
        gone = [v for v in (*first.identifiers, *first.drop) if all(v in (*p.identifiers, *p.drop) for p in plans)]
        identifiers = [v for v in gone if v in first.identifiers]
        kinds: dict[str, Any] = {"categorical": first.categorical, "numeric": first.numeric}
        unit = first.unit if all(p.unit == first.unit for p in plans) else None
        drop = [v for v in gone if v not in identifiers]
        plan = Plan([], identifiers=identifiers, drop=drop, weight=first.weight, unit=unit, **kinds)
        return Candidate(EVERYTHING, plan)

    @cached_property
    def items(self) -> dict[str, Kind | None]:
        """What measures compare that name no variables: all that "release everything" releases, each of the kind that
        the plans give it, None where they say none or do not agree."""
        plan, plans = self.everything.plan, [c.plan for c in self.candidates]
        aside = (*plan.identifiers, *plan.drop, plan.weight, plan.unit)
        kinds = {v: {p.kinds[v] for p in plans if v in p.kinds} for v in self.data.columns if v not in aside}
        return {v: kind.pop() if len(kind) == 1 else None for v, kind in kinds.items()}

    @property
    def on_file(self) -> tuple[FileRisk, ...]:
        """The customary risks of the file."""
        return tuple(as_file_risk(one) for one in risks_list(self.file_risks))

    @property
    def own_risks(self) -> list[str]:
        """Names of the risks that this study adds: of what must not be learnt, then of the file."""
        return [*self.learnt, *file_risk_columns(self.on_file)]

    @property
    def learnt(self) -> list[str]:
        """Names of the risks of what must not be learnt."""
        return [risk for one in learns_list(self.learns) for risk in as_learns(one).risks]

    @property
    def learnt_by(self) -> list[tuple[str, str]]:
        """Which intruders would learn which variables: those who do not know them."""
        each = [as_learns(one).variable for one in self.learns]
        return [(name, v) for name, who in self.intruders.items() for v in each if v not in who.knows]

    def copies_of(self, candidate: Candidate) -> int:
        """How many copies a candidate releases."""
        return self.copies.get(candidate.sweep or candidate.name, 1)

    def _problems(self) -> list[str]:
        if not self.data.height or not self.data.width:
            return ["data: the file has no rows." if self.data.width else "data: the file has no columns."]
        problems = [
            *named_problems(self.plans, "plans", (Plan, Sweep)),
            *named_problems(self.intruders, "intruders", (Intruder,)),
            *number_problems(self.repeats, self.seed, self.threshold),
            *utility_problems(self.utility),
            *([] if isinstance(self.strongest, bool) else ["strongest is true or false."]),
            *([] if isinstance(self.data, Scan) else group_problems(self.groups, self.data, self.plans)),
            *stated_problems(self.learns),
            *stated_file_risks(self.file_risks),
            *(p for what in ("title", "label") if (p := unwritable(str(getattr(self, what)), what))),
        ]
        if isinstance(self.plans, Mapping):
            good = {k: p for k, p in self.plans.items() if isinstance(p, (Plan, Sweep))}
            problems += [p for name, plan in good.items() for p in plan_problems(name, plan, self.data)]
            problems += copies_problems(self.copies, self.plans)
        if isinstance(self.intruders, Mapping):
            known = {k: w for k, w in self.intruders.items() if isinstance(w, Intruder)}
            problems += [p for name, who in known.items() for p in intruder_problems(name, who, self.data)]
        if not problems and isinstance(self.data, Scan):
            from confide.study.scanned import scan_problems

            problems += scan_problems(self)
        if not problems and self.learns:
            problems += learns_problems(
                [as_learns(one) for one in learns_list(self.learns)], self.source, self.data.columns,
                [c.plan for c in self.candidates], self.intruders, [m.name for m in self.measures],
            )  # fmt: skip
        if not problems and self.file_risks:
            problems += file_risk_problems(
                self.on_file, self.data.columns,
                [c.plan for c in self.candidates], [*self.learnt, *(m.name for m in self.measures)],
            )  # fmt: skip
        if not problems and self.choice is not None:
            if not isinstance(self.choice, Rule):
                problems.append(f"choice is a Rule(max_risk=..., by=...), not {type(self.choice).__name__}.")
            else:
                problems += self.choice.problems(self.measures, list(self.intruders), learnt=self.own_risks)
        if not problems:
            count = Counter(c.name for c in self.candidates)
            problems += [f'plans: two candidates are named "{n}".' for n, k in count.items() if k > 1]
        return problems

    def __repr__(self) -> str:
        parts = [
            _many(len(self.candidates), "plan"),
            _many(len(self.intruders), "intruder"),
            f"{_many(len(self.measures), 'measure')} of utility",
            _many(self.repeats, "repeat"),
        ]
        return f"Study: {self.data.height:,} rows; {', '.join(parts)}"


def _many(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
