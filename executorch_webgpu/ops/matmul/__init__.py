"""Matrix products in floating point."""
