"""Products and look-ups with 4-bit weights."""
