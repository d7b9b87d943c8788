"""Risk against utility: the theory of the R-U map, and studies of candidate releases."""
