"""Statements as documents: TOML or JSON that a person can read, write and keep."""
