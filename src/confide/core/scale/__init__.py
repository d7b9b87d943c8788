"""Work on files larger than memory: where it is done, and what an engine must do."""
