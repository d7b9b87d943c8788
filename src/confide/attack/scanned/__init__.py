"""Attacks on releases that are larger than memory."""
