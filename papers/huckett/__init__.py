"""Huckett and Larsen, on shipped data."""
