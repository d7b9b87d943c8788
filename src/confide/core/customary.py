"""Names that others use for methods and measures: what they are called here, or what comes nearest.

Spelling does not matter: "k-anonymity", "KAnonymity" and "k_anonymity" are one name.
"""

from __future__ import annotations

from collections.abc import Iterable

from confide.core.errors import did_you_mean

HERE = {
    "method": {
        "bottomcode": "bottom coding",
        "cart_synthesis": "cart, synthpop, syn, synthesis, synthetic data, sequential synthesis",
        "hot_deck": "hotdeck, statistical matching, donor imputation",
        "local_suppression": "suppression, cell deletion, blanking, local suppress",
        "logistic_synthesis": "polytomous regression, polyreg, logreg, multinomial regression, logistic regression",
        "lognormal_noise": "multiplicative noise, noise multiplication",
        "matrix_mask": "matrix masking, masking",
        "microaggregate": "microaggregation, mdav, aggregation",
        "noise": "additive noise, add noise, noise addition, correlated noise, gaussian noise",
        "normal_synthesis": "ipso, copula, normal synthesis, information preserving synthesis",
        "pram": "post-randomisation, post-randomization, randomised response",
        "rank_swap": "rank swapping",
        "recode": "global recoding, global recode, recoding, generalisation, generalization, banding, binning",
        "round": "rounding",
        "sample": "sampling, subsampling",
        "swap": "swapping, data swapping, record swapping, targeted record swapping",
        "topcode": "top coding, top and bottom coding, top bottom coding, winsorise, winsorize",
    },
    "measure": {
        "ci_overlap": "cio, overlap, interval overlap, confidence interval overlap",
        "entropy": "entropy based information loss, ebil",
        "hellinger": "hellinger distance",
        "il1s": "il1, information loss",
        "inverse_mse": "mse, rmse, mean squared error",
        "propensity": "pmse, pmse ratio, spmse, standardised pmse, standardized pmse, propensity score",
        "total_variation": "tvd, total variation distance, tabae, voas, average absolute difference",
    },
    "risk": {
        "household_risk": "hierarchical risk, household unique, risk of households",
        "individual_risk": "individual risk, benedetti franconi, global risk, indivrisk",
        "k_anonymity": "k-anonymity, kanon, k anonymous, sample frequency, frequency counts, freqcalc",
        "k_map": "k-map, k-map risk",
        "l_diversity": "l-diversity, ldiv, distinct l-diversity, entropy l-diversity, recursive l-diversity",
        "population_uniques":
            "population uniqueness, data intrusion simulation, dis, pitman, ewens, zayatz, snb, modrisk, "
            "log-linear model, poisson model, skinner shlomo",
        "suda": "suda2, special uniques, minimal sample uniques, dis-suda",
        "t_closeness": "t-closeness, earth mover distance, emd",
        "unsafe_combinations": "mu-argus, mu argus, unsafe combinations of keys, threshold rule",
    },
    "scheme": {
        "cell_key": "cell key method, ckm, tabular perturbation",
        "controlled": "controlled rounding, zero restricted controlled rounding",
        "round": "random rounding, conventional rounding",
        "suppress": "cell suppression, secondary suppression, complementary suppression",
    },
}  # fmt: skip
"""By kind and short name: what else it is called."""

RISKS = {
    "re-identification risk, identification risk": "p_true of attack.units, for each person",
    "hitting rate, hit rate, correct matches, expected re-identifications":
        "found and expected_matches of attack.summary()",
    "sample uniques, uniques, uniqueness": "unique_matches of attack.summary(), for an intruder who knows the keys",
    "record linkage, distance based record linkage, dbrl":
        "an attack by cf.Nearest(...), or by Intruder.at(\"naive\", ...), who take released values as true",
    "interval disclosure, rounding tolerance": "an attack by cf.Radius(...): every record within a share of the value",
    "cap, dcap, tcap, disco, repu, correct attribution probability, replicated uniques":
        "a line of cf.customary_risks(original, released, keys=..., target=...)",
    "anonymeter, singling out risk, linkability risk, inference risk":
        "that of cf.SinglingOut(...), cf.Linkability(...) or cf.Inference(...), each with .attack(release, held_out)",
}  # fmt: skip
"""Measures of risk, which an attack reports."""

NONE_YET = {
    "incognito, ola, flash, mondrian, full domain generalisation, full domain generalization, lattice":
        "searches levels of recoding hierarchies by cf.generalise(data, hierarchies=..., until=...)",
    "local recoding": "has no local recoding; nearest are Recode, for a whole variable, and LocalSuppression, which "
        "hides single values",
    "key variables, quasi-identifiers, key variable selection":
        "proposes keys by cf.roles(data), and goes on with them in cf.look(data)",
    "risk report, first look, initial risk assessment": "gives a first report by cf.look(data), or confide look FILE",
    "attribute disclosure, attribute risk, inference":
        "measures what is learnt of a variable by attack.guess(variable)",
    "shuffling, shuffle, data shuffling":
        "has no shuffling; nearest are RankSwap, and NormalSynthesis with scale=\"ranks\"",
    "differential privacy, dp, laplace noise, laplace":
        "has no differential privacy; Noise adds normal noise, whose risk an attack measures",
    "kolmogorov smirnov, ks, ks distance":
        "has no Kolmogorov-Smirnov distance; nearest is the measure \"total_variation\"",
    "kullback leibler, kl, kl divergence": "has no Kullback-Leibler divergence; nearest is the measure \"hellinger\"",
    "gower, gower distance": "has no Gower distance; nearest is the measure \"il1s\"",
    "tapas, adversarial random forest, gan, ctgan": "makes no data by such models; nearest is CartSynthesis",
}  # fmt: skip
"""What confide has not, and what comes nearest."""


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def _each(names: str) -> Iterable[str]:
    return (_plain(n) for n in names.split(","))


def customary(name: str) -> str:
    """A sentence that says what a customary name is called here, or that there is none; empty for other names.

    >>> customary("PMSE")
    'What others call "PMSE" is the measure "propensity" here.'
    >>> customary("k-anonymity").partition(":")[0], customary("rase")
    ('What others call "k-anonymity" is a risk of the file, "k_anonymity" here', '')
    """
    asked = _plain(name)
    for word, table in HERE.items():
        for here, others in table.items():
            if asked in _each(others):
                if word == "risk":
                    return (
                        f'What others call "{name}" is a risk of the file, "{here}" here: '
                        f"cf.measures.{_class_name(here)}(...).of(data), or file_risks=[...] of a study."
                    )
                return f'What others call "{name}" is the {word} "{here}" here.'
    for others, here in RISKS.items():
        if asked in _each(others):
            return f'What others call "{name}" is a risk: {here}.'
    return next((f"confide {said}." for names, said in NONE_YET.items() if asked in _each(names)), "")


def _class_name(short: str) -> str:
    """The class of a risk of the file, by its short name: "k_anonymity" is KAnonymity."""
    return "".join(part.capitalize() for part in short.split("_"))


def hint(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant by the name of a method or a measure: never cut, and with customary names.

    >>> hint("shuffling", ["swap", "noise"]).endswith("There are: swap, noise."), hint("swop", ["swap", "noise"])
    (True, ' Did you mean "swap"?')
    """
    names = list(known)
    said = customary(name)
    if said.startswith("What"):
        return f" {said}"
    return f" {said} There are: {', '.join(names)}." if said else did_you_mean(name, names, most=None)
