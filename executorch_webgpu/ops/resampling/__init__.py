"""Operators that sample images at other positions."""
