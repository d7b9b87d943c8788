"""Searches: the best parameters of a plan under a limit on risk, and protection for the risky few only."""
