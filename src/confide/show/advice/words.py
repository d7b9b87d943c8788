"""The sentences of advice: the answer first, how sure it is, what to confirm, and what a search cannot know."""

from __future__ import annotations

from confide.core.visible import visible
from confide.show.advice.view import AdviceView, span
from confide.show.names import capital, said
from confide.study.evaluate import is_random
from confide.study.statement.checks import EVERYTHING
from confide.study.tradeoff.question import amount, number
from confide.study.tradeoff.risk_names import counted, is_share

MOST_CAUTIONS = 4
"""Cautions about claims that are printed; the report has all."""

CANNOT_KNOW = (
    "What intruders know. Advice holds for those who were stated. Somebody who knows more finds more: state every "
    "intruder you can think of, also one who knows the sensitive values.",
    "What analysts need. A plan is good by the measures that were stated; what they do not see is given away for "
    "nothing. Name the analyses that matter, and look at the others in the report.",
    "Whether the limit is right. It weighs people against use, which is for the agency to decide, not for a search.",
    "What nobody tried. The methods offered what they could state of themselves; a plan of your own may be better. Add "
    "it to the study and compare.",
    "Other releases. What was published before, or will be, of the same people adds to what an intruder knows.",
)
"""What advice cannot know, wherever it is given."""

RUNGS = {
    1: "on a sample of the people, one draw",
    2: "on all people, one draw",
    3: "on all people, with several draws where they draw at random",
    4: "in the study, draws that the search had not seen",
}
"""How candidates were compared on the rungs of the search."""


def answer(view: AdviceView) -> list[str]:
    """What to release, who finds how many, what is kept: the first sentence stands out."""
    aside = [visible(view.advice.aside)] if view.advice.aside else []
    return [headline(view), *_found(view), *aside, kept(view)]


def headline(view: AdviceView) -> str:
    """What to do, in one sentence."""
    a = view.advice
    if a.plan is None:
        limits = " and ".join(f"{view.limit_words(r)} ({said(r)})" for r in a.limits)
        more = "; the budget ended the search, and a larger one may find more" if _short(view) else ""
        return f"Nothing that was tried keeps the limit: at most {limits}{more}."
    if _unaltered(view):
        return "Release it as it is, without identifiers: that keeps the limit already."
    return f"Release it so: {visible(str(a.name))}."


def _found(view: AdviceView) -> list[str]:
    """Risk of the plan that is spoken of, beside the limit and the file as it is."""
    plan = view.best
    if plan is None:
        return []
    out = []
    for risk in view.advice.limits:
        row, before = view.risk_row(plan, risk), view.risk_row(EVERYTHING, risk)
        who = view.strongest(plan, risk)
        many = len(view.advice.study.intruders)
        by = "" if who is None else f'the strongest of {many} intruders, "{visible(who)}", ' if many > 1 else (
            f'the intruder, "{visible(who)}", ')  # fmt: skip
        told = view.risk_words(row, view.targets(plan))
        then = f"; in the file as it is, {view.risk_words(before, view.targets(EVERYTHING), False)}" if before else ""
        nearest = "" if view.advice.plan is not None else f"The nearest is: {visible(plan)}. There "
        if counted(risk) == "found" and by:
            text = f"{by}finds {_of_people(risk, told)}{_against(view, risk, row)}{then}."
        else:
            text = f"{said(risk)} is {told}{_against(view, risk, row)}{then}."
        out.append(nearest + text if nearest else capital(text))
    return out


def _of_people(risk: str, told: str) -> str:
    """ "0.96% (490 of 51,016)" as a share of people."""
    first, _, rest = told.partition(" ")
    return f"{first} of people {rest}".strip() if risk != "found" else f"{first} people {rest}".strip()


def _against(view: AdviceView, risk: str, row: object) -> str:
    mean = row.get("mean") if isinstance(row, dict) else None
    if mean is None:
        return ""
    side = "within the limit of" if mean <= view.advice.limits[risk] * (1 + 1e-12) else "above the limit of"
    return f", {side} {view.limit_words(risk)}"


def kept(view: AdviceView) -> str:
    """What is kept for analysts, by every measure."""
    plan = view.best
    if plan is None:
        return ""
    parts = []
    for m in view.measures:
        best = f"{m.direction} is better, {number(float(m.best))} is unaltered"
        told = view.kept_words(view.kept_row(plan, m.name))
        told = f"{told[:-1]}; {best})" if told.endswith(")") else f"{told} ({best})"
        parts.append(f"{said(m.name)} {told}")
    return f"What is kept: {'; '.join(parts)}."


def sure(view: AdviceView) -> list[str]:
    """How sure the numbers are, and how close the runner-up came."""
    if view.best is None:
        return []
    plan = view.plan
    drawn = "These numbers are of fresh draws, which neither chose the plan nor were seen by the search."
    if view.advice.plan is None:
        drawn = "These numbers are of draws that the search had not seen."
    if plan is not None and not is_random(plan):
        drawn = "The plan draws nothing at random, so its numbers do not vary from draw to draw."
    return [drawn, *runner_up(view)]


def runner_up(view: AdviceView) -> list[str]:
    """How close the second came."""
    second = view.advice.runner_up
    if second is None:
        return ["No other candidate within the limit was compared to the end."] if view.advice.plan is not None else []
    d, by = second.difference, said(view.measure.name)
    if _unaltered(view):
        return [f"Second comes: {visible(second.name)}. Nothing can lose less than a file that is not altered."]
    side, mean, low, high = ("worse", d.mean, d.low, d.high) if d.mean >= 0 else (
        "better", -d.mean, None if d.high is None else -d.high, None if d.low is None else -d.low)  # fmt: skip
    if mean == 0 and low == high:
        return [f"Second comes: {visible(second.name)}, which is the same in {by}: take whichever suits you."]
    known = low != high
    ends = "" if low is None or high is None or not known else f" (95% interval {number(low)} to {number(high)})"
    fresh = "" if side == "worse" else " with fresh draws"
    head = f"Second comes: {visible(second.name)}, {side} by {number(mean)}{ends} in {by}{fresh}"
    if low is None:
        return [f"{head}, by one draw: whether that is more than their spread, only more repeats tell."]
    if second.apart:
        return [f"{head}: beyond the spread of draws." if known else f"{head}; neither varies from draw to draw."]
    if second.ahead:
        return [f"{head}, beyond their spread. Draws that confirm choose nothing: compare both with more repeats."]
    return [f"{head}. That is within the spread of draws, so the two cannot be told apart: take whichever suits you."]


def confirm(view: AdviceView) -> list[str]:
    """What was guessed or taken by default, and should be confirmed."""
    return [visible(s) for s in view.advice.asked if _open(s)]


def stated(view: AdviceView) -> list[str]:
    """What was stated, and how it was understood."""
    return [visible(s) for s in view.advice.asked if not _open(s)]


def _open(sentence: str) -> bool:
    """Whether a sentence says that nobody stated something."""
    return any(words in sentence.lower() for words in ("guess", "not stated", "no limit was stated"))


def cautions(view: AdviceView) -> list[str]:
    """What limits these numbers: variables that are lost, claims that are off, measures that see little."""
    a, plan = view.advice, view.plan
    out = [
        f"A limit of 100% ({said(r)}) limits nothing. If 1 percent is meant, write \"1%\" or 0.01."
        for r, limit in a.limits.items() if is_share(r) and limit >= 1
    ]  # fmt: skip
    if plan is not None and plan.drop:
        out.append(f"Not released at all: {', '.join(map(visible, plan.drop))}. No analysis can use them.")
    out += [*_reaching(view), *_measures(view)]
    mine = [s for s in a.study.cautions() if view.best is not None and f'"{view.best}"' in s]
    more = len(mine) - MOST_CAUTIONS
    out += [visible(s) for s in mine[:MOST_CAUTIONS]]
    return out + ([f"{more} more cautions are in the report."] if more > 0 else [])


def _reaching(view: AdviceView) -> list[str]:
    """Means that keep a limit, and may not."""
    if view.advice.plan is None or view.best is None:
        return []
    out = []
    for risk, limit in view.advice.limits.items():
        high = view.risk_row(view.best, risk).get("high")
        if high is not None and high > limit * (1 + 1e-12):
            out.append(
                f"The interval of {said(risk)} reaches {amount(risk, high)}, above the limit of "
                f"{view.limit_words(risk)}: on average the limit is kept, but that is not sure. "
                "More draws (repeats=...) would tell."
            )
    return out


def _measures(view: AdviceView) -> list[str]:
    """Utility is seen coarsely by one measure."""
    names = [m.name for m in view.advice.study.measures]
    if len(names) > 1:
        return []
    return [
        f"Only {said(names[0])} speaks for analysts here. What this measure does not see costs the search nothing: "
        "name the analyses that matter (utility=[...])."
    ]


def worked(view: AdviceView) -> str:
    """How much was tried, and how to do the same again."""
    a, n = view.advice, view.tried
    within = sum(r["within"] is True for r in view.candidates)
    looked = "none" if not within else "one" if within == 1 else f"{within:,}"
    short = " The budget ended the search: a larger one may find better." if _short(view) else ""
    tried = f"{_many(n, 'candidate')} of {_many(a.families.height, 'family')} {'was' if n == 1 else 'were'} tried"
    return (
        f"{tried} in {span(a.seconds)}: {_many(a.evaluations, 'release')} made and attacked; {looked} of the "
        f"candidates looked to be within the limit. The same again: budget={a.evaluations}, seed={a.seed}.{short}"
    )


def _many(n: int, what: str) -> str:
    """A number of things.

    >>> _many(1, "family"), _many(1_200, "family"), _many(2, "release")
    ('1 family', '1,200 families', '2 releases')
    """
    several = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n:,} {what if n == 1 else several}"


def _short(view: AdviceView) -> bool:
    """Whether there was more to try than the budget allowed, and something could be better than what is advised."""
    return "the budget ended" in view.advice.reason and not _unaltered(view)


def _unaltered(view: AdviceView) -> bool:
    """Whether the file is advised to be released as it is."""
    plan = view.advice.plan
    return plan is not None and not plan.steps and not plan.drop


def cut(view: AdviceView) -> list[str]:
    """How the field was cut, rung by rung, and what became of candidates."""
    rungs = [f"{many:,} were tried {RUNGS.get(rung, f'on rung {rung}')}" for rung, many in view.rungs.iter_rows()]
    first = f"{capital('; of these '.join(rungs))}." if rungs else ""
    counts = view.counts
    told = {
        "beaten": "lost more than another that keeps the limit, beyond noise",
        "breaks the limit": "broke the limit",
        "budget": "were left when the budget was spent",
    }
    became = [f"{counts[k]:,} {words}" for k, words in told.items() if counts.get(k)]
    never = counts.get("cannot be carried out", 0)
    more = f"{never:,} more were thought of and could not be carried out on this file." if never else ""
    return [s for s in (first, f"Of those tried, {'; '.join(became)}." if became else "", more) if s]


def give_up(view: AdviceView) -> list[str]:
    """Where nothing meets the limits: what would have to be given up."""
    near = view.advice.nearest
    return [] if near is None else [visible(s) for s in near.give_up]


def limit_line(view: AdviceView) -> str:
    """What was asked for, in a line."""
    limits = " and ".join(f"{said(r)} at most {amount(r, limit)}" for r, limit in view.advice.limits.items())
    return f"{limits}, by the strongest intruder; then the best {said(view.measure.name)}"
