"""Risk against utility: means over repeats, the frontier and its uncertainty, the choice and its reason."""
