"""The folder of a study: finished pieces, kept so that nothing is computed twice or taken for another."""
