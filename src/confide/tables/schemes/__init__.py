"""Schemes for tables of counts: one file or folder per scheme."""
