"""The whole way in a browser, on the agency's own machine. Uses confide's public names alone."""
