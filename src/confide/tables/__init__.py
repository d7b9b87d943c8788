"""Tables of counts: publish them, bound them, and say what an intruder who knows a few people learns of the rest."""
