"""Likelihoods that several methods use: how probable a released value is, given the true one."""
