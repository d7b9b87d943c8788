"""A comparison as rows of candidates and as a verdict in words: what a study found, held against the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confide.app import rule as rules
from confide.app import words
from confide.app.documents import ANALYSES, DETAIL, PAIRS, choice_table, kept, study_table
from confide.app.state import AS_IT_IS, State

EVERYTHING = "release everything"
LEVELS = {
    "informed": "knows the plan", "exact": "uses every variable", "naive": "takes values as true",
}  # fmt: skip
"""How an intruder reads a release, in words; the one that finds most is shown."""

CHOSEN, WITHIN, FOUND, BELOW, UNKNOWN = "chosen", "within", "too many found", "analyses below", "not known"
Found = Mapping[str, Any]


def asked(state: State) -> dict[str, Any]:
    """The study that compares this state's candidates, whatever the rule."""
    return {k: v for k, v in study_table(state).items() if k != "choice"}


def fits(found: Found, state: State) -> bool:
    """Whether an earlier comparison had the same file, intruders and measures, so that its numbers still hold."""
    then, now = found["table"], asked(state)
    same = all(then[k] == now[k] for k in ("data", "repeats", "seed", "intruder", "utility"))
    return same and _content(then["plan"][0]) == _content(now["plan"][0])


def changed_words(found: Found, state: State) -> str:
    """What changed since an earlier comparison, as a sentence; empty where nothing did that matters."""
    then, now = found["table"], asked(state)
    parts = [
        word
        for key, word in (("intruder", "the intruders"), ("utility", "what analysts need"))
        if then[key] != now[key]
    ]
    if _content(then["plan"][0]) != _content(now["plan"][0]):
        parts.append("the roles of variables")
    old, new = ({str(_content(p)) for p in t["plan"]} for t in (then, now))
    if not parts and new - old:
        many = len(new - old)
        return f"{words.plural(many, 'candidate')} {'was' if many == 1 else 'were'} added or changed since."
    return f"Since then {words.names(parts)} changed, so those numbers no longer hold." if parts else ""


def covers(found: Found, state: State) -> bool:
    """Whether every piece of work of this state's comparison is done already, under whatever names."""
    done = [_content(p) for p in found["table"]["plan"]]
    return fits(found, state) and all(_content(p) in done for p in asked(state)["plan"])


def _content(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in plan.items() if k != "name"}


def rows_of(state: State, found: Found | None, verdict: Found | None) -> list[dict[str, Any]]:
    """One row per candidate with its numbers, those that an earlier comparison has; the file as it is comes last."""
    old = (
        {} if found is None or not fits(found, state) else {str(_content(p)): p["name"] for p in found["table"]["plan"]}
    )
    plans = asked(state)["plan"]
    rows = []
    for order, plan in enumerate([*plans[1:], plans[0]]):
        name = old.get(str(_content(plan)))
        numbers = None if name is None or found is None else found["plans"].get(name)
        rows.append({"name": plan["name"], "order": order, "own": plan["name"] != AS_IT_IS, **_numbers(numbers)})
    picked = None if verdict is None else picked_of(verdict)
    for row in rows:
        row["limits"], row["other"] = limits_of(state, row)
        row["chosen"] = row["name"] == picked
        row["rank"] = rank(row)
    return sorted(rows, key=lambda r: (r["rank"], -(r["kept"].get(rules.by_of(state)) or 0.0), r["order"]))


def picked_of(verdict: Found) -> str | None:
    """The candidate that the rule takes; the study's own anchor is the file as it is."""
    return AS_IT_IS if verdict["plan"] == EVERYTHING else verdict["plan"]


def rank(row: Mapping[str, Any]) -> int:
    """Chosen first, then within the limits, then the others, the file as it is, and what was not compared."""
    if row["chosen"]:
        return 0
    if row["found"] is None:
        return 4
    return 1 if row["limits"] == WITHIN else 2 if row["own"] else 3


def _numbers(numbers: Mapping[str, Any] | None) -> dict[str, Any]:
    """The numbers of one candidate: people found by the worst intruder, and what is kept."""
    out: dict[str, Any] = dict.fromkeys(("found", "low", "high", "half", "share", "top", "top_share", "by", "level"))
    out |= {"kept": {}, "kept_ends": {}, "worst_end": {}, "detail": None, "relations": None, "analyses": None}
    if numbers is None:
        return out
    who = numbers["who"]
    if who and all(w["found"]["mean"] is not None for w in who.values()):
        worst = max(who, key=lambda k: who[k]["found"]["mean"])
        ends, share = who[worst]["found"], who[worst]["found_share"]
        highs = [(w["found"]["high"], w["found_share"]["high"]) for w in who.values()]
        known = all(h is not None for h, _ in highs)
        out |= {
            "found": ends["mean"], "low": ends["low"], "high": ends["high"], "share": share["mean"], "by": worst,
            "level": LEVELS.get(str(who[worst]["level"]), ""), "half": _half(ends),
            "top": max(h for h, _ in highs) if known else None,
            "top_share": max(s for _, s in highs) if known else None,
        }  # fmt: skip
    for measure, ends in numbers["kept"].items():
        out["kept"][measure] = kept(measure, ends["mean"])
        both = [kept(measure, ends[k]) for k in ("low", "high")]
        out["kept_ends"][measure] = sorted(b for b in both if b is not None)
    out |= {
        "detail": out["kept"].get(DETAIL),
        "relations": out["kept"].get(PAIRS),
        "analyses": out["kept"].get(ANALYSES),
    }
    return out


def _half(ends: Mapping[str, float | None]) -> float | None:
    return None if ends["low"] is None or ends["high"] is None else (ends["high"] - ends["low"]) / 2


def limits_of(state: State, row: Mapping[str, Any]) -> tuple[str, bool]:
    """What of the rule a candidate does not keep; and whether it is another limit than that on people found."""
    rule = state.rule
    if row["found"] is None or not rule.get("max_found"):
        return ("" if row["found"] is None and not row["kept"] else UNKNOWN if row["found"] is None else ""), False
    cautious = rule.get("cautious", True)
    found, share = (row["top"], row["top_share"]) if cautious else (row["found"], row["share"])
    many = not rules.within(rule["max_found"], found, share)
    least = rule.get("min_analyses") if state.formula else None
    value = analyses_held(state, row)
    low = least is not None and (value is None or value < least - 1e-12)
    if many:
        return FOUND, low
    return (f"{BELOW} {words.share(least)}", True) if low else (WITHIN, False)


def analyses_held(state: State, row: Mapping[str, Any]) -> float | None:
    """What is held against the limit on analyses: with caution the lower end of the interval."""
    ends = row["kept_ends"].get(ANALYSES)
    return (ends[0] if ends else None) if state.rule.get("cautious", True) else row["analyses"]


def verdict_words(state: State, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The verdict: a heading, a sentence, and whether the rule takes a candidate."""
    rule = choice_table(state)
    if rule is None:
        return {
            "kind": "none",
            "head": "No limit is stated yet.",
            "said": "State above how many people may be found at most: then the rule takes one of these.",
        }
    by = rules.by_of(state)
    picked = next((r for r in rows if r["chosen"]), None)
    if picked is None:
        return _nobody(state, rows)
    near = [r for r in rows if r["limits"] == WITHIN and not r["chosen"]]
    value, what = rules.kept_words(by, picked["kept"].get(by)), rules.most_words(by)
    both = "both limits" if "min_utility" in rule else "the limit"
    said = f"It keeps {value} of {what} and is the only candidate within {both}."
    if near:
        said = f"It keeps the most {what}, {value}, of the {len(near) + 1} candidates within {both}. {_next(near, by)}"
    if picked["name"] == AS_IT_IS:
        said = "These limits ask for no protection: the file may go out as it is, without what identifies directly."
    return {"kind": "chosen", "head": f"The rule takes “{picked['name']}”.", "said": said}


def _next(near: Sequence[Mapping[str, Any]], by: str) -> str:
    best = rules.kept_words(by, near[0]["kept"].get(by))
    same = [r for r in near[:3] if rules.kept_words(by, r["kept"].get(by)) == best]
    names = words.names([f"“{r['name']}”" for r in same])
    return f"Next {'comes' if len(same) == 1 else 'come'} {names} with {best}."


def _nobody(state: State, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """No candidate keeps the rule: which comes nearest, and what it misses."""
    limit, cautious = state.rule["max_found"], state.rule.get("cautious", True)
    known = [r for r in rows if r["found"] is not None]
    safe = [r for r in known if r["limits"] not in (FOUND, "")]
    if safe:
        near = max(safe, key=lambda r: analyses_held(state, r) or 0.0)
        least = words.share(state.rule.get("min_analyses"))
        head = f"No candidate within the limit on people found keeps {least} of analyses."
        return {
            "kind": "nobody",
            "head": head,
            "said": f"“{near['name']}” comes nearest with {words.share(near['analyses'])}.",
        }
    head = f"No candidate has at most {rules.limit_words(limit)} found."
    if not known:
        return {"kind": "nobody", "head": head, "said": "People found could not be computed."}
    key = ("top" if cautious else "found") if not isinstance(limit, str) else "top_share" if cautious else "share"
    near = min(known, key=lambda r: r[key] if r[key] is not None else float("inf"))
    said = f"“{near['name']}” comes nearest with {words.count(near['found'])}"
    if cautious and near["top"] is not None and near["top"] - near["found"] >= 0.5:
        said += f" (up to {words.count(near['top'])}, the upper end, which counts)"
    if isinstance(limit, str):
        said += f", {words.percent(near['share'])} %"
    if cautious and rules.within(limit, near["found"], near["share"]):
        return {
            "kind": "nobody",
            "head": head,
            "said": f"{said}; only the upper end of its interval, {words.count(near['top'])}, is above the limit.",
        }
    return {"kind": "nobody", "head": head, "said": f"{said}."}
