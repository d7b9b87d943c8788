"""What is learnt beyond who is who, one target at a time."""
