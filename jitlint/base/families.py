"""The families of jitlint's own rules, by the first digit of their codes (layer: ``base``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Family:
    """Rules about one kind of mistake: a title, and one sentence on what they have in common."""

    title: str
    words: str


FAMILIES: Final[Mapping[str, Family]] = {
    "0": Family("The tool itself", "What jitlint could not read, and comments to it that mean nothing."),
    "1": Family(
        "Values",
        "While JAX traces a function, arrays have a shape and a type but no value yet; this code asks for one.",
    ),
    "2": Family(
        "Shapes",
        "JAX has to know every shape and every length before the program runs; this code does not say.",
    ),
    "3": Family(
        "Purity",
        "A traced function runs in Python once, not at each call; what it does besides computing happens only then.",
    ),
    "4": Family("Arrays", "JAX arrays cannot be changed in place, and take other arguments than NumPy's."),
    "5": Family(
        "Compilation", "JAX compiles this again and again, refuses the arguments of `jit`, or lacks the name."
    ),
    "6": Family("Random numbers", "A key gives the same numbers each time that it is used."),
    "7": Family("Measuring and idiom", "JAX runs in the background, and it is not NumPy."),
}


def family_of(code: str) -> Family | None:
    """The family that a code of jitlint's own belongs to, or a prefix such as ``JIT1`` means."""
    return FAMILIES.get(code[3:4]) if code.startswith("JIT") else None
