"""Advice: which methods at which strength, found by trying many and attacking each."""
