"""Runs pieces of work; knows no statistics."""
