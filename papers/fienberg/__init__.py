"""Fienberg, Makov and Sanil (1997), on shipped data."""
