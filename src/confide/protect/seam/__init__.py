"""The seam: what a protection method must offer, and what it tells an intruder."""
