"""Measures of an attack: risk in a few numbers, ranks, calibration, exposure."""
