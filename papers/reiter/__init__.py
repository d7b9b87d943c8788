"""Reiter (2005), on the shipped householders."""
