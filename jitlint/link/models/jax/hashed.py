"""Objects that are called like functions, where JAX keeps what it has compiled under the function (layer: ``link``, room ``models``).

What it does: says of an object that is handed over as the function, and has no hash: a dataclass, a module that holds arrays. What it
does not: speak of bound methods, which Python hashes by the identity of their object, unless a library makes modules of them.
Source: measured, for `jax.jit`, `jax.checkpoint` and the loops and branches of `jax.lax`; `jax.vmap` and `jax.grad` keep nothing.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import TransformMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.objects import is_cold
from jitlint.infer.values import Arr, Bound, ExtInst, Func, Inst, Seq, Tup, Value, alternatives
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import boundaries
from jitlint.link.values.questions import no_arrays

_DEPTH = 4


def refuses(m: Machine, f: Frame, at: int, transform: str, function: Value) -> bool:
    """Record that a function cannot be hashed. Answers whether it certainly cannot."""
    if transform not in lexicon().compilation.hashes_function or m.guards:
        return False
    reasons = [_reason(f, alt) for alt in alternatives(function)]
    if not reasons or not all(reasons):
        return False
    stands_in = any(type(one) is Inst and is_cold(one) for one in map(_receiver, alternatives(function)))
    m.emit(
        f, TransformMisuse, at, None, Confidence.LIKELY if stands_in else None,
        transform=transform, problem="unhashable-function", parameter="", detail=reasons[0],
    )  # fmt: skip
    return True


def _receiver(value: Value) -> Value:
    """The object that is called: of a method that a library makes a module of, as of all but Python's own, its owner."""
    func = value.func if type(value) is Bound else None
    wrapped = type(func) is Func and not func.fn.name.startswith("__")
    owner = value.recv if type(value) is Bound and wrapped else None
    return owner if type(owner) is Inst and owner.cls.role == no_arrays.CALLABLE_LEAVES else value


def _reason(f: Frame, value: Value) -> str:
    value = _receiver(value)
    if type(value) is ExtInst:
        return f"the layer `{value.dotted}`, which holds arrays" if is_heavy(value) else ""
    if type(value) is not Inst or value.cls.extern:
        return ""
    name = str(value.cls.name)
    if value.cls.role == no_arrays.CALLABLE_LEAVES:
        held = _held(value, _DEPTH)
        return f"the module `{name}`, which holds {held}" if held else ""
    if value.cls.role == no_arrays.NO_LEAVES:
        return f"the module `{name}`, which holds variables while it is applied" if _is_applied(f) else ""
    why = boundaries.unhashable(value) if not value.cls.role else ""
    return f"an object of `{why}`" if why else ""


def _is_applied(f: Frame) -> bool:
    """Whether the code that runs is that of a module, while somebody applies it."""
    linen = type(f.recv) is Inst and f.recv.cls.role == no_arrays.NO_LEAVES
    return linen and f.fn is not None and boundaries.runs_module(f.fn)


def is_heavy(value: Value) -> bool:
    """Whether it is a layer of a library that holds arrays, and is hashed by them."""
    return type(value) is ExtInst and value.dotted in lexicon().compilation.weighty


def _held(value: Value, depth: int) -> str:
    """What in a module has no hash, or ""."""
    if type(value) is Arr:
        return "arrays" if value.kind is SEEN and not value.weak and not value.host else ""
    if type(value) is ExtInst:
        return "layers with arrays" if is_heavy(value) else ""
    parts = (
        value.attrs.values() if type(value) is Inst else value.items if isinstance(value, (Seq, Tup)) else ()
    )
    return next((found for part in parts or () if depth and (found := _held(part, depth - 1))), "")
