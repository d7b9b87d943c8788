"""Synthetic values from the leaves of trees."""
