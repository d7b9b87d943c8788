"""Protecting files larger than memory: the same release as in memory, made in passes over batches."""
