"""What an intruder learns: attributes, everybody at once, files made elsewhere."""
