"""Bounds and probabilities: trees, flows, programmes."""
