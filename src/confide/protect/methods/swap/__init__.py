"""Swap: exchange values between pairs of records."""
