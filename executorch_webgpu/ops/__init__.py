"""What to compute: references in numpy and lowerings that describe GPU dispatches as plain data."""
