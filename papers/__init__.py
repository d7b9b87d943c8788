"""The articles behind confide, redone: runnable, documented, tested; no part of the installed package."""
