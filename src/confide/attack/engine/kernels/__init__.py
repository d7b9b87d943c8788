"""Compiled loops. Numbers in, numbers out: nothing here knows what a variable or a mechanism is."""

from confide.attack.engine.kernels.common import finish, finish_each
from confide.attack.engine.kernels.gauss_sums import attack_boxes, fill_boxes
from confide.attack.engine.kernels.helped import attack_helped
from confide.attack.engine.kernels.integrals import log_joint_sums, log_node_sums, log_node_sums_between
from confide.attack.engine.kernels.known_pairs import add_normal_pairs, log_mix, log_mix_pairs, weigh_pairs
from confide.attack.engine.kernels.line_trees import grow, lay_out
from confide.attack.engine.kernels.nearest import attack_nearest
from confide.attack.engine.kernels.pairs import attack_mixture, attack_noisy, attack_plain
from confide.attack.engine.kernels.products import finish_rows, log_on_grid
from confide.attack.engine.kernels.unknown_errors import attack_spread

__all__ = [
    "add_normal_pairs",
    "attack_boxes",
    "attack_helped",
    "attack_mixture",
    "attack_nearest",
    "attack_noisy",
    "attack_plain",
    "attack_spread",
    "fill_boxes",
    "finish",
    "finish_each",
    "finish_rows",
    "grow",
    "lay_out",
    "log_joint_sums",
    "log_mix",
    "log_mix_pairs",
    "log_node_sums",
    "log_node_sums_between",
    "log_on_grid",
    "weigh_pairs",
]
