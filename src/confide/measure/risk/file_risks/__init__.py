"""Customary risks of a file: k-anonymity and its kin, each stated once, computed on any file, and a risk of a study."""
