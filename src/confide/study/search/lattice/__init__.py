"""Full-domain generalisation: one level of a hierarchy for each variable, searched over all combinations."""
