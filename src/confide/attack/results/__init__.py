"""What an attack found, and what can be asked of it."""
