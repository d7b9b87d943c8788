"""What an intruder learns: attributes of people, beyond which record is theirs."""
