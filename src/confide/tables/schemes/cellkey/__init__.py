"""The cell key method, with its keys and perturbation tables."""
