"""What analysts lose by a release: one class per measure, `utility` to ask several at once."""
