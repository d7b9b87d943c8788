"""What the loops take: named tuples of arrays, so that no loop has thirty arguments.

Notation as in `common`; d known noisy numbers, s known numbers with errors of unknown size.
"""

from __future__ import annotations

from typing import NamedTuple

from confide.frames.columns import F64, I64, Bools


class Pairs(NamedTuple):
    """Who is compared with whom. `block_of`, `class_of`: per target; the records of block b lie in
    offsets[b]..offsets[b+1]-1; `counts`, `log_m`: per record."""

    block_of: I64
    class_of: I64
    offsets: I64
    counts: F64
    log_m: F64


class Codes(NamedTuple):
    """Categories that match or do not. `t_code`: (targets, V); `code`, `same`, `diff`: (V, records)."""

    t_code: I64
    code: I64
    same: F64
    diff: F64


class Tables(NamedTuple):
    """Likelihoods given by matrices, stored one after another in `log_p`; matrix v has rows of `widths[v]` from
    `starts[v]` on. `t_row`: (targets, V); `column`: (V, records)."""

    t_row: I64
    column: I64
    log_p: F64
    starts: I64
    widths: I64


class Noisy(NamedTuple):
    """Known noisy numbers. `y`, `t_log`, `sd`: (targets, d) the target's value, what is added to its log (minus log
    allowed), and how far it is spread. `noisy`: (blocks, d) whether the block's label leaves the variable uncertain.
    `low`, `high`: (d, records) the cells. `even`: (d,) all cells are finite and of one width, 2 * `half` (d,): then
    only records near the target are visited, and a quadratic serves where cells are small."""

    y: F64
    t_log: F64
    noisy: Bools
    low: F64
    high: F64
    sd: F64
    even: Bools
    half: F64


class Given(NamedTuple):
    """What the loops have been given: pairs, categories, tables and known noisy numbers of all blocks."""

    pairs: Pairs
    codes: Codes
    tables: Tables
    numbers: Noisy


class Errors(NamedTuple):
    """Numbers in which the records carry errors of unknown size. `x`, `add`: (targets, s) the target's value and what
    is added to its log. `z`, `there`, `flat`: (s, records); `coef`, `steep`: (s, K, records), of which `nodes[v]` are
    used, the widest first. `peaks`: logs of each variable's largest density; `most` bounds the first one's variance;
    `whole`: all records have the first one."""

    x: F64
    add: F64
    z: F64
    there: F64
    flat: F64
    coef: F64
    steep: F64
    nodes: I64
    peaks: F64
    most: F64
    whole: bool


class Mixed(NamedTuple):
    """Unknown classes. `w`: (K, records), scaled; `start`, `which`, `weight`: the classes of each target and their
    weights."""

    w: F64
    start: I64
    which: I64
    weight: F64


class Synthetic(NamedTuple):
    """Known synthetic numbers, V of them. `at`: (entries, V), for every target and class that it may have, as `Mixed`
    lists them, where the block's records begin in `log_p` and `u`, flat: log probabilities of the target's bin in that
    class, and normal scores; -1 where there is nothing to say. `pattern`: (targets,) which values are there, by which
    `excess`, (patterns, V, V), and `half_logdet` of their correlation go."""

    at: I64
    log_p: F64
    u: F64
    pattern: I64
    excess: F64
    half_logdet: F64


class Believed(NamedTuple):
    """What records say of D known noisy numbers. `spike`: (targets, D) -1 for none, -2 where nothing is believed;
    `edges`: (targets, D, 2) on the scale of scores; `log_spike`: (D, K, S+1, records); `mu`: (D, K, records); `tau`:
    (D,)."""

    spike: I64
    edges: F64
    log_spike: F64
    mu: F64
    tau: F64


class Near(NamedTuple):
    """d numbers that a naive intruder compares. `y`: (targets, d); `z`: (d, records), in `order`; `scale`: (d,).

    Records that can be near each other at all (those of one block, with the same numbers missing and the same answer
    codes) are a group: order[start[g]]..order[start[g+1]-1], by rising values of the number `by[g]` (-1: none is
    there), which are in `key`. `group`: (targets,) -1 for a target whose group has no record. `total`: (blocks,) how
    many released rows there are."""

    y: F64
    z: F64
    scale: F64
    order: I64
    start: I64
    by: I64
    key: F64
    group: I64
    total: F64


class OneNoisy(NamedTuple):
    """One known noisy number with a constant spread s. `y`, `t_log`: (targets,); `q`: half the precision, 1 / (2 s^2),
    with cells of width h s; `const`: what else a density's log has."""

    y: F64
    t_log: F64
    q: float
    h: float
    const: float


class Shelves(NamedTuple):
    """Records of a block in runs that agree in all but their number z, sorted by it inside each; run s is begin[s] up
    to begin[s+1]. `levels`, `tree`: as `line_trees` lays them out. The block's first record is number `base`, and
    `place` says where each one stands here."""

    z: F64
    g: F64
    c: F64
    begin: I64
    levels: I64
    tree: F64
    base: int
    place: I64


class Boxes(NamedTuple):
    """Even intervals of a block's numbers that hold records, by their `middle`; `edge`, `shift` and `moments` as
    `gauss_sums` fills them."""

    middle: F64
    edge: I64
    shift: F64
    moments: F64


class Own(NamedTuple):
    """The true records of target t are at[start[t]]..at[start[t+1]-1], -1 for one that is no candidate."""

    start: I64
    at: I64


class Into(NamedTuple):
    """Where results go. `tops`: two rows to gather the largest weights in; `out`: (targets, 4, and more where the
    largest weights are gathered) and `truth`: (true records, 3) as `finish` fills them."""

    tops: F64
    out: F64
    truth: F64


class Seen(NamedTuple):
    """Records' values of d noisy numbers: the ends of their cells, each (d, records)."""

    low: F64
    high: F64


class JointNoise(NamedTuple):
    """How d numbers were altered: `sd` (d, G) around each node; the precision of correlated noise."""

    sd: F64
    precision: F64
    half_logdet: float
    correlated: bool


class JointNodes(NamedTuple):
    """Combinations g of d values: `nodes`, `scores`: (d, G); `log_n`, `log_allowed`, `pattern`: (G,); `log_share`:
    (P, cells, K), `mu`: (P, d, cells, K), `precision`: (P, d, d) of the scores' residuals."""

    nodes: F64
    log_allowed: F64
    scores: F64
    log_n: F64
    pattern: I64
    log_share: F64
    mu: F64
    precision: F64


class Nodes(NamedTuple):
    """Values that are believed in: `nodes`, `sd` around each, `log_allowed`: (G,); `edges`: (G+1,) on the normal-score
    scale; `spike`: (G,) which point mass each is, -1 for none; `p_spike`: (cells, K, S+1) of those, and of none;
    `mu`: (cells, K) and `tau` of the scores."""

    nodes: F64
    sd: F64
    log_allowed: F64
    edges: F64
    spike: I64
    p_spike: F64
    mu: F64
    tau: float


class Grid(NamedTuple):
    """Values of mu at even steps from `first` on, M of them: `mass`: (G, M) Pr(node given mu) of what is no spike;
    `lagrange`: weights of the polynomial through neighbouring ones."""

    mass: F64
    first: float
    step: float
    lagrange: F64
