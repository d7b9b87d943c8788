"""Hierarchies of values: ever broader groups of one variable, by rule or by table, and the tree that they make."""
