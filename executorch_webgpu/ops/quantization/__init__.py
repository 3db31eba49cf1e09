"""Quantize, dequantize and the choice of scales and zero points."""
