"""Synthetic values, from models of one variable given others."""
