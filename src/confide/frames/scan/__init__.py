"""Files larger than memory: one file or many, seen as one and read in parts."""
