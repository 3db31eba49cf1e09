"""Random numbers by counter: a pure function of a seed and a position, the same on host and device."""

from __future__ import annotations

_MASK = 0xFFFFFFFF


def hash32(value: int) -> int:
    """Return the PCG output permutation of a 32-bit integer (O'Neill's RXS-M-XS after one step of the generator)."""
    state = (value * 747796405 + 2891336453) & _MASK
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & _MASK
    return (word >> 22) ^ word


def seed_word(seed: int) -> int:
    """Return 32 bits that stand for a 64-bit seed."""
    return hash32(hash32(seed & _MASK) ^ (seed >> 32 & _MASK))


def uniform(seed: int, position: int) -> float:
    """Return the number in [0, 1), a multiple of 2^-24, that belongs to a 64-bit seed and a position."""
    return (hash32(seed_word(seed) ^ (position & _MASK)) >> 8) * 2.0**-24
