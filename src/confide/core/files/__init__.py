"""Files that are written whole or not at all, and folders that nobody else can look into."""
