"""Attack: what an intruder knows, and the probability that a released record is the target."""
