"""Microaggregate: release means of small groups."""
