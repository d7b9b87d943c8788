"""What workers do: one file per task, each with `run(work)`, which gives back plain data without records."""
