"""Arithmetic on the numbers of an execution plan."""
