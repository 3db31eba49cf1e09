"""Ints that may change from call to call: affine expressions over live scalars.

A live scalar is a slot in the environment of one call (a position in the KV cache, say). ``Sym`` keeps an expression
in a canonical form, so that the difference of two lengths with equal live parts is a plain ``int`` again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Union

Environment = Mapping[int, int]


@dataclass(frozen=True)
class Slot:
    """One live scalar."""

    index: int


@dataclass(frozen=True)
class FloorDiv:
    """``numerator // denominator``, rounded towards minus infinity."""

    numerator: Sym
    denominator: IntLike


@dataclass(frozen=True)
class Product:
    """The product of two expressions that are both live."""

    left: Sym
    right: Sym


Atom = Slot | FloorDiv | Product


@dataclass(frozen=True)
class Sym:
    """``constant + sum(coefficient * atom)``; never without atoms (see ``affine``)."""

    constant: int
    terms: tuple[tuple[Atom, int], ...]

    def __add__(self, other: IntLike) -> IntLike:
        if isinstance(other, int):
            return Sym(self.constant + other, self.terms)
        return affine(self.constant + other.constant, (*self.terms, *other.terms))

    __radd__ = __add__

    def __neg__(self) -> IntLike:
        return self * -1

    def __sub__(self, other: IntLike) -> IntLike:
        return self + -other

    def __rsub__(self, other: int) -> IntLike:
        return -self + other

    def __mul__(self, other: IntLike) -> IntLike:
        if isinstance(other, int):
            return affine(self.constant * other, [(atom, factor * other) for atom, factor in self.terms])
        return affine(0, [(Product(self, other), 1)])

    __rmul__ = __mul__

    def __floordiv__(self, other: IntLike) -> IntLike:
        if other == 1:
            return self
        return affine(0, [(FloorDiv(self, other), 1)])

    def slots(self) -> frozenset[int]:
        """Return the slots that the value depends on."""
        found: set[int] = set()
        for atom, _ in self.terms:
            parts: tuple[IntLike, ...]
            match atom:
                case Slot(index):
                    found.add(index)
                    continue
                case FloorDiv(numerator, denominator):
                    parts = (numerator, denominator)
                case Product(left, right):
                    parts = (left, right)
            for part in parts:
                if isinstance(part, Sym):
                    found |= part.slots()
        return frozenset(found)

    def evaluate(self, environment: Environment) -> int:
        """Return the value in one call's environment."""
        total = self.constant
        for atom, factor in self.terms:
            match atom:
                case Slot(index):
                    value = environment[index]
                case FloorDiv(numerator, denominator):
                    value = numerator.evaluate(environment) // evaluate(denominator, environment)
                case Product(left, right):
                    value = left.evaluate(environment) * right.evaluate(environment)
            total += factor * value
        return total


IntLike = Union[int, Sym]


def affine(constant: int, terms: Sequence[tuple[Atom, int]]) -> IntLike:
    """Return the canonical expression: equal atoms joined, zero terms dropped, an int where nothing live remains."""
    joined: dict[Atom, int] = {}
    for atom, factor in terms:
        joined[atom] = joined.get(atom, 0) + factor
    kept = tuple(sorted(((a, f) for a, f in joined.items() if f), key=repr))
    return Sym(constant, kept) if kept else constant


def live(slot: int) -> Sym:
    """Return the expression that is one live scalar."""
    return Sym(0, ((Slot(slot), 1),))


def evaluate(value: IntLike, environment: Environment) -> int:
    """Return the value of an int or expression."""
    return value if isinstance(value, int) else value.evaluate(environment)


def ceil_div(value: IntLike, divisor: int) -> IntLike:
    """Return ``value / divisor`` rounded up."""
    return (value + (divisor - 1)) // divisor
