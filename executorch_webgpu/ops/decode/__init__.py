"""Fused operators of a decoding step: one token in, matrix-vector products with what surrounds them."""
