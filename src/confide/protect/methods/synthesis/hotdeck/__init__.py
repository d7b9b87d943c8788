"""HotDeck: values of a near record."""
