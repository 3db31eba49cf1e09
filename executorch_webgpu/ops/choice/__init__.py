"""Choosing the next token from logits on the device."""
