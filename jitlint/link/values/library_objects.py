"""Objects that libraries make: initialisers, and how many transforms were around the place that made one (layer: ``link``, room ``values``)."""

from __future__ import annotations

import math
from typing import Final

from jitlint.infer.lattice import join, parts
from jitlint.infer.mappings import COLLECTIONS, PARAMETERS
from jitlint.infer.objects import forget_notes
from jitlint.infer.values import NONE, UNKNOWN, Arr, ExtInst, Py, Tree, Value, py
from jitlint.link.engine.frame import Args, Frame

LEVEL: Final = "$level"
"""The attribute in which a library object remembers it."""

VARIABLE: Final = "a variable of"
"""How the reason begins for which what a module keeps is traced."""

COLLECTION: Final = "$collection"
"""The attribute in which a variable of a module remembers its collection."""

HELD: Final = "$held"
"""The attribute in which a variable of a module remembers the array that it was made of."""

PARTITION_SPEC: Final = "jax.sharding.PartitionSpec"

SPLIT: Final = "$split"
"""Where such a specification keeps what it is called with: the axes of the mesh, or None, for each axis of an array."""

COPIES: Final = "$copies parameters"
"""The attribute in which an optimiser remembers which transformation it is, or has inside, whose state holds arrays like the parameters."""

SEVERAL: Final = "$perhaps several"
"""The attribute in which streams of keys remember that they may have been made of several keys each."""

LOWERED: Final = "jax.stages.Lowered"
COMPILED: Final = "jax.stages.Compiled"
"""What `jitted.lower(x)` gives, and what its `compile()` does: a program that is there before it is called."""

APPLIED: Final = "$applied"
"""Where these keep the transformed function."""

INITIALISERS: Final = "jax.nn.initializers."
"""Functions that give functions, which draw from their first argument."""


def makes_initialiser(dotted: str, out: Value) -> bool:
    """Whether a function of `jax.nn.initializers` gave an initialiser, not an array."""
    return out is UNKNOWN and dotted.startswith(INITIALISERS)


def is_initialiser(value: Value) -> bool:
    """Whether something is an initialiser, whose first argument is a key."""
    return type(value) is ExtInst and value.dotted.startswith(INITIALISERS)


def made(f: Frame, dotted: str) -> ExtInst:
    """An object that a library made here."""
    return ExtInst(dotted, {LEVEL: py(f.world.level)} if f.world.level else None)


def level_of(obj: ExtInst) -> int:
    """How many transforms were around the place that made the object."""
    level = obj.attrs.get(LEVEL)
    return level.const if type(level) is Py and type(level.const) is int else 0


def variable(f: Frame, dotted: str, args: Args) -> ExtInst:
    """A variable of a module, which refers to an array if that is what it was made of."""
    first = args.get(0, "value")
    known = type(first) is Arr or (type(first) is Tree and first.evidence == "array")
    number = type(first) is Py and first.kind in ("bool", "int", "float", "complex")
    out = made(f, dotted)
    if first is not None and (known or number):
        out.attrs[HELD] = first
    return out


def constant(name: str, kind: str) -> Py:
    """A number that modules of arrays hold, or None. NaN stays without its value, which is not equal to itself."""
    if kind == "none":
        return NONE
    return Py(kind) if name == "nan" else Py(kind, getattr(math, name))


def keep(owner: Value, name: str, value: Value) -> None:
    """Something is stored into an attribute of an object of a library, which may have held something else."""
    if type(owner) is ExtInst:
        owner.attrs[name] = join(owner.attrs.get(name, value), value)


def entry(tree: Tree, index: Value | None) -> Tree:
    """What a key leads to in a pytree that is a dict, or a record."""
    named = index.const if type(index) is Py else None
    if tree.evidence == COLLECTIONS and named == "params":
        return Tree(tree.modes, tree.why, tree.level, tree.traced, PARAMETERS, tree.kind)
    return Tree(tree.modes, tree.why, tree.level, tree.traced)


def forget_all(value: Value, depth: int) -> None:
    """Forget how the layers in a model were made."""
    forget_notes(value)
    for part in parts(value) if depth else ():
        forget_all(part, depth - 1)
