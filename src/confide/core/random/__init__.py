"""Random numbers that nobody outside can guess, and where they come from."""
