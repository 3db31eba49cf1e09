"""Operators that move, repeat, join or rename elements without changing them."""
