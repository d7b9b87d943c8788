"""Risk in a few numbers: matches, ranks, calibration, exposure."""
