"""A first look at a file: who could be recognised, by what, and how sure that is, without a plan."""
