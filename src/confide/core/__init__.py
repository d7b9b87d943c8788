"""What every room stands on: random numbers that nobody outside can guess, and where they come from."""
