"""The page of advice: what was tried, what each family could reach, what was not tried, and why."""
