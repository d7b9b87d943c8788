"""What each variable of a file is, guessed from names, labels and values: identifier, key, sensitive and so on."""
