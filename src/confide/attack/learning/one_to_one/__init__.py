"""Everybody matched at once: no two targets own the same record."""
