"""Attention over a KV cache and over plain keys and values."""
