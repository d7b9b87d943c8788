"""Pram: change categories at random by a known matrix."""
