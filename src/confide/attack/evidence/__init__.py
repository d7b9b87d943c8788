"""What an intruder can use: the files as arrays, what is certain and uncertain about a target and a record."""
