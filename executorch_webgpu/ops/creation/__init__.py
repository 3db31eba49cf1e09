"""Operators that make tensors from nothing."""
