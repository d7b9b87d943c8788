"""Suppression of small counts, and of others to protect them."""
