"""How many people of the population share what is known of a target: Poisson log-linear models of a sample's cells."""
