"""How many records of a sample are unique in the population: what can be said from the sample and its weights."""
