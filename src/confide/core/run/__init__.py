"""Running work: threads, compiled loops and where they are kept, forks. Knows no statistics."""
