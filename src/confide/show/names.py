"""Names of risks and measures in the words of a reader: the one table that pages and charts speak from."""

from __future__ import annotations

from confide.core.registry import known

RISK_WORDS = {
    "found": "people found",
    "found_share": "share of people found",
    "wrong": "people declared wrongly",
    "expected_matches": "expected right matches",
    "over_threshold": "people over the threshold",
    "unique_matches": "unique right matches",
    "unique_declared": "people with a single likeliest record",
    "claimed_matches": "matches that the intruder expects",
    "false_match_rate": "share of declared matches that are wrong",
}
"""Risks, by the names that a study gives them."""

LEARNING_WORDS = {"learnt_": "share of people of whom {} would be learnt", "harm_": "expected harm by {}"}
"""Risks of what must not be learnt, by how their names begin; the variable follows."""

MEASURE_WORDS = {
    "ci_overlap": "overlap of confidence intervals",
    "coefficient_difference": "differences of coefficients",
    "correlations": "differences of correlations",
    "covariances": "differences of covariances",
    "eigenvalues": "differences of eigenvalues",
    "entropy": "detail lost",
    "hellinger": "distance of distributions (Hellinger)",
    "il1s": "mean change of a value (IL1s)",
    "inverse_mse": "precision of estimates",
    "means": "differences of means",
    "pmse": "how well records are told apart (pMSE)",
    "total_variation": "distance of distributions (total variation)",
    "variances": "differences of variances",
}
"""Measures of utility, by the names that they carry in tables."""

KEPT = {"ci_overlap": "of intervals' overlap is kept", "entropy": "of detail is kept"}
"""What a share that is kept is a share of; others are "of 1" by their words."""

ENDINGS = {"_cart": ", by trees", "_ratio": ", 1 by chance", "_pairs": ", of pairs of variables"}
"""What a measure adds to its name."""


def said(name: str) -> str:
    """A risk or a measure in words; a name of somebody's own stays as it is.

    >>> said("ci_overlap"), said("found"), said("income by age")
    ('overlap of confidence intervals', 'people found', 'income by age')
    >>> said("pmse_ratio")
    'how well records are told apart (pMSE, 1 by chance)'
    >>> said("k_anonymity_share")
    'share of records below k (k-anonymity)'
    """
    for head, words in LEARNING_WORDS.items():
        if name.startswith(head):
            return words.format(name.removeprefix(head))
    if (of_file := _of_file(name)) is not None:
        return of_file
    every = RISK_WORDS | MEASURE_WORDS
    stem, more = name, ""
    for ending, words in ENDINGS.items():
        if stem not in every and stem.endswith(ending):
            stem, more = stem.removesuffix(ending), words + more
    found = every.get(stem)
    if found is None:
        return name
    return f"{found[:-1]}{more})" if found.endswith(")") else found + more


def _of_file(name: str) -> str | None:
    """A customary risk of the file in words: what its class is called, and the end of its column; None for others."""
    heads = [n for n in known("risk") if name == n or name.startswith(f"{n}_")]
    if not heads:
        return None
    head = max(heads, key=len)
    words = getattr(known("risk")[head], "in_words", "") or head.replace("_", " ")
    share = name.endswith("_share")
    label = name.removeprefix(head).removesuffix("_share").strip("_").replace("_", " ")
    return f"{'share of ' * share}{words}{f', {label}' * bool(label)}"


def both(name: str) -> str:
    """The words with the raw name beside them.

    >>> both("entropy"), both("income by age")
    ('detail lost (entropy)', 'income by age')
    """
    words = said(name)
    return words if words == name else f"{words} ({name})"


def capital(words: str) -> str:
    """Words that begin a line; the other letters stay as they are.

    >>> capital("distance of distributions (Hellinger)")
    'Distance of distributions (Hellinger)'
    """
    return words[:1].upper() + words[1:]
