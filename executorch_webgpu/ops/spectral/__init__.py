"""Fourier transforms and distances."""
