"""Noise: add normal noise to numbers."""
