"""Local suppression: single values hidden, so that nobody stands alone."""
