"""Regressions of beliefs: Newton's method beside the quasi-Newton steps (L-BFGS) that they went by before.

    python benchmarks/beliefs.py            those that attacks on three releases of the shipped file ask for
    python benchmarks/beliefs.py --quick    the same of 6,000 heads

Processor seconds of choosing design and penalty and of the last fit, and how far the loss of the last fit is above its
minimum, in nats per record. The minimum is that of a fit that goes on until rounding ends it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize

import confide as cf
from confide.attack.beliefs import class_model, multinomial
from confide.attack.beliefs.multinomial import PENALTIES, WORSE, judged, log_probabilities, with_constant
from confide.attack.beliefs.newton import minimised
from confide.core.run.threads import one_blas_thread

ROUGH, PRECISE = 1e-6, 1e-8
"""Relative change of the loss at which L-BFGS ended: a fit that is only judged, and the last one."""


def lbfgs(x: sp.csr_matrix, counts: Any, penalty: float, start: Any, precision: float) -> Any:
    """One fit as it was before."""
    x = with_constant(x)
    p, k = x.shape[1], counts.shape[1]
    back, rows, total = x.T.tocsr(), counts.sum(axis=1, keepdims=True), float(counts.sum())
    seen, share = back @ counts, counts.sum(axis=0) / total
    ridge = np.full((p, 1), penalty)
    ridge[0] = 1e-8
    scale = np.sqrt(((back @ rows) * np.maximum(share * (1 - share), 1e-4) + ridge + 1e-3) / total)

    def loss(flat: Any) -> tuple[float, Any]:
        b = flat.reshape(p, k) / scale
        eta = x @ b
        top = eta.max(axis=1, keepdims=True)
        weight = np.exp(eta - top)
        norm = weight.sum(axis=1, keepdims=True)
        value = float((rows * (top + np.log(norm))).sum() - (b * seen).sum() + 0.5 * (ridge * b * b).sum())
        weight *= rows / norm
        return value / total, ((back @ weight - seen + ridge * b) / (total * scale)).ravel()

    if start is None:
        start = np.zeros((p, k))
        start[0] = np.log((counts.sum(axis=0) + 0.5) / (total + 0.5 * k))
    with one_blas_thread():
        options = {"maxiter": 300, "ftol": precision, "gtol": 1e-7}
        found = minimize(loss, (start * scale).ravel(), jac=True, method="L-BFGS-B", options=options)
    return found.x.reshape(p, k) / scale


def before(designs: Sequence[sp.csr_matrix], counts: Any, held: Any, copies: float) -> Any:
    """`multinomial.coefficients` as it was: penalties from the smoothest on."""
    many, best = judged(counts.shape[1]), (-np.inf, designs[0], copies * PENALTIES[-1], None)
    for design in designs:
        start, top = None, -np.inf
        for penalty in PENALTIES[:1] if design.shape[1] == 0 else PENALTIES:
            start = lbfgs(design[:many], counts[:many] - held[:many], copies * penalty, start, ROUGH)
            value = float((held[:many] * log_probabilities(design[:many], start)).sum())
            if value < top - WORSE:
                break
            top = max(top, value)
            best = max(best, (value, design, copies * penalty, start), key=lambda each: each[0])
    _, design, penalty, start = best
    b = lbfgs(design, counts, penalty, start, PRECISE)
    return np.vstack([b, np.full(b.shape[1], penalty)])


def gap(designs: Sequence[sp.csr_matrix], counts: Any, found: Any) -> float:
    """How far a fit is above the minimum, in nats per record."""
    b, penalty = found[:-1], float(found[-1, 0])
    design = next(d for d in designs if d.shape[1] + 1 == len(b))

    def loss(b: Any) -> float:
        b = b - b.mean(axis=1, keepdims=True)
        return float(-(counts * log_probabilities(design, b)).sum() + 0.5 * penalty * (b[1:] ** 2).sum())

    return (loss(b) - loss(minimised(design, counts, penalty, b, 1e-18))) / float(counts.sum())


def asked(rows: int) -> list[tuple[Any, ...]]:
    """What attacks ask for."""
    out: list[tuple[Any, ...]] = []
    own = multinomial.coefficients

    def noted(*given: Any) -> Any:
        out.append(given)
        return own(*given)

    class_model.coefficients = noted
    heads = cf.demo("heads").head(rows)
    swaps = [cf.Swap("race", rate=0.3), cf.Swap("marital", rate=0.3)]
    for steps in (swaps, [cf.Recode("age", width=5), *swaps], [*swaps, cf.Noise("property_value", sd=54_896)]):
        release = cf.Plan(steps, identifiers=["id"], weight="weight").protect(heads, seed=1)
        for level in ("informed", "exact"):
            cf.Intruder.at(level, knows=["sex", "race", "marital", "age"]).attack(release)
    class_model.coefficients = own
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="6,000 heads")
    rows = 6_000 if parser.parse_args().quick else 51_016
    print(f"{'patterns':>9}{'categories':>12}{'columns':>9}{'Newton, s':>11}{'gap':>9}{'L-BFGS, s':>11}{'gap':>9}")
    totals = np.zeros(2)
    for designs, counts, held, copies in asked(rows):
        line = f"{counts.shape[0]:>9,}{counts.shape[1]:>12}"
        for at, way in enumerate((multinomial.coefficients, before)):
            began = time.process_time()
            found = way(designs, counts, held, copies)
            took = time.process_time() - began
            totals[at] += took
            line += f"{len(found) - 2:>9,}" if at == 0 else ""
            line += f"{took:>11.2f}{gap(designs, counts, found):>9.0e}"
        print(line, flush=True)
    print(f"all: Newton {totals[0]:.1f} s, L-BFGS {totals[1]:.1f} s, {totals[1] / totals[0]:.1f} times as much")


if __name__ == "__main__":
    main()
