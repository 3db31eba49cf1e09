"""Operators that read elements where an index tensor says."""
