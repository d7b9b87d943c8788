"""What an intruder believes about values it does not know: one joint model."""
