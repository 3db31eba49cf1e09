"""Convolutions in one and two dimensions."""
