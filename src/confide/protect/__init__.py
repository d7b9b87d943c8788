"""Protect: plans, the methods they are made of (one file each), and the releases they make."""
