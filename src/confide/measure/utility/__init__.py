"""What analysts lose by a release: one class a measure, `utility` to ask several at once."""
