"""Synthetic data of a whole file in one call: rules, order and models are chosen and stated."""
