"""File formats: one module per family."""
