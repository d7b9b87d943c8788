"""Charts: of attacks, plans, maps, tables and theory."""
