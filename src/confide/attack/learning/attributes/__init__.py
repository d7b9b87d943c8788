"""Attribute disclosure: what is believed of an unknown value after a release, and what guesses of it lose."""
