"""The engine: from evidence and beliefs to the posterior of every target."""
