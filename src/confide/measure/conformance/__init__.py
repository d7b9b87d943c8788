"""Whether a protection method keeps what it states."""
