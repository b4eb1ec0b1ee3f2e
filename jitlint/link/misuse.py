"""Wrong uses of transforms: static specifications, arguments that are no arrays, outputs (layer: ``link``)."""

from __future__ import annotations

from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    Arr,
    Class,
    Func,
    Inst,
    Map,
    Mod,
    Partial,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link import pytrees, xforms
from jitlint.link.kinds import mro
from jitlint.link.machine import Frame, Machine
from jitlint.link.signatures import signature


def check_static_spec(m: Machine, f: Frame, at: int, x: Xform) -> None:
    """Static numbers out of range and static names that no parameter has: such a function cannot be called."""
    sig = signature(x.target)
    if sig is None or sig.func.wraps is not None:
        return
    spec = x.spec
    count = len(sig.positional)
    nums = x.options.get(spec.static_nums) if spec.static_nums else None
    if nums is not None and not sig.has_var:
        for n in xforms.constant_ints(nums) or ():
            if not -count <= n < count:
                m.emit(
                    f,
                    TransformMisuse,
                    at,
                    transform=spec.name,
                    problem="static-out-of-range",
                    parameter=str(n),
                    detail=str(count),
                )
                x.broken = True
    names = x.options.get(spec.static_names) if spec.static_names else None
    if names is not None and not sig.has_kwvar:
        known = {p.name for p in sig.params if p.kind in ("any", "kwonly")} | set(sig.bound_names)
        for name in pytrees.constant_strings(names):
            if name not in known:
                m.emit(
                    f,
                    TransformMisuse,
                    at,
                    transform=spec.name,
                    problem="static-unknown-name",
                    parameter=name,
                    detail="",
                )
                x.broken = True


def unhashable(value: Value) -> str:
    """Why a value cannot be a static argument, or ""."""
    t = type(value)
    a: Any = value
    if t is Seq and a.kind in ("list", "set", "deque"):
        return str(a.kind)
    if t is Map:
        return "dict"
    if t is Arr:
        if a.host:
            return "numpy.ndarray" if a.rank else ""  # NumPy scalars are hashable
        return "tracer" if traced_modes(value) else "jax.Array"
    if t is Tup:
        return next((found for found in map(unhashable, a.items) if found), "")
    if t is Inst and not _is_hashable(a.cls):
        return str(a.cls.name)
    return ""


def _is_hashable(info: ClassInfo) -> bool:
    """The nearest class that defines ``__hash__`` or ``__eq__`` decides; the latter alone removes the hash."""
    return next((cls.hashable for cls in mro(info) if cls.hashable is not None), True)


def check_static_value(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> bool:
    """A static argument must be hashable. Answers whether it certainly is not."""
    reasons = [unhashable(a) for a in alternatives(value)]
    if not reasons or not all(reasons):
        return False
    m.emit(
        f,
        TransformMisuse,
        at,
        None,
        transform=x.spec.name,
        problem="unhashable-static",
        parameter=name,
        detail=reasons[0],
    )
    return True


def not_an_array(value: Value, depth: int = 2) -> str:
    """What a value is that JAX refuses as an array argument or output, or ""."""
    t = type(value)
    a: Any = value
    if t is Py and a.kind in ("str", "bytes"):
        return str(a.kind)
    if t in (Func, Class, Partial, Xform, Mod):
        return "function" if t is not Class else "class"
    if (
        t is Inst
        and not a.cls.extern
        and not pytrees.is_pytree(a.cls)
        and not a.cls.role
        and not _subscribed(a)
    ):
        return str(a.cls.name)
    if depth and t is Tup:
        return next((found for found in (not_an_array(i, depth - 1) for i in a.items) if found), "")
    if depth and t is Map:
        return next(
            (found for found in (not_an_array(i, depth - 1) for i in a.entries.values()) if found), ""
        )
    if depth and t is Seq and a.items is not None and a.kind == "list":
        return next((found for found in (not_an_array(i, depth - 1) for i in a.items) if found), "")
    return ""


def _subscribed(value: Inst) -> bool:
    """Objects that convert themselves, or whose class is registered somewhere by a call that was not followed."""
    names = ("__jax_array__", "__array__", "tree_flatten")
    return any(name in cls.namespace for cls in mro(value.cls) for name in names)


def check_argument(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> None:
    """An argument that is not static must be a pytree of arrays."""
    kinds = [not_an_array(a) for a in alternatives(value)]
    if not kinds or not all(kinds):
        return
    sig = signature(x.target)
    first = sig.params[0].name if sig is not None and sig.params else ""
    own_self = sig is not None and sig.func.owner is not None and name == first and name in ("self", "cls")
    if own_self and type(value) in (Inst, Class):
        m.emit(
            f,
            TransformMisuse,
            x.site[1],
            where=(x.site[0], f.qualname),
            transform=x.spec.name,
            problem="method-self",
            parameter=name,
            detail=kinds[0],
        )
        return
    level = Confidence.LIKELY if type(value) is Inst else None
    m.emit(
        f,
        TransformMisuse,
        at,
        None,
        level,
        transform=x.spec.name,
        problem="non-array-argument",
        parameter=name,
        detail=kinds[0],
    )


def check_output(m: Machine, f: Frame, x: Xform, result: Value) -> None:
    """What a jitted function returns must be a pytree of arrays; the finding stands at its ``return``."""
    kinds = [not_an_array(a) for a in alternatives(result)]
    bad = next((k for k in kinds if k), "")
    if not bad or type(result) is Tree:
        return
    sig = signature(x.target)
    if sig is None or sig.func.fn.node.is_generator:
        return
    returned = sig.func.fn.returned.items()
    place = next((at for at, value in returned if any(map(not_an_array, alternatives(value)))), None)
    if place is None:
        return
    level = None if all(kinds) else Confidence.LIKELY
    where = (sig.func.fn.module.name, sig.func.fn.qualname)
    m.emit(
        f,
        TransformMisuse,
        place,
        None,
        level,
        where,
        transform=x.spec.name,
        problem="non-array-output",
        parameter="",
        detail=bad,
    )
