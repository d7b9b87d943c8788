"""The protection methods: one file or folder per method, with all that is its own beside it."""
