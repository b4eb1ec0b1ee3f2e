"""Wrong uses of transforms: static specifications, arguments that are no arrays, outputs (layer: ``link``, room ``models``)."""

from __future__ import annotations

from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import (
    Arr,
    At,
    Class,
    Ext,
    ExtInst,
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
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import pytrees, signatures
from jitlint.link.values.kinds import mro
from jitlint.link.values.signatures import signature


def check_static_spec(m: Machine, f: Frame, at: int, x: Xform) -> None:
    """Static and donated numbers out of range, names that no parameter has: such a function cannot be called."""
    sig = signature(x.target, claimed=True)
    if sig is None:
        return
    spec = x.spec

    def report(problem: str, parameter: str, detail: str = "") -> None:
        x.broken = True
        m.emit(
            f, TransformMisuse, at, transform=spec.name, problem=problem, parameter=parameter, detail=detail
        )

    count = len(sig.positional)
    numbers: list[set[int]] = []
    for option in (spec.static_nums, "donate_argnums"):
        value = x.options.get(option) if option in spec.params else None
        if type(value) is Py and isinstance(value.const, str):
            report("static-not-a-number", option, value.const)
        found = signatures.constant_ints(value) or () if value is not None else ()
        numbers.append({n % count for n in found if -count <= n < count})
        for n in found if not sig.has_var else ():
            if not -count <= n < count:
                report("static-out-of-range", str(n), str(count))
    for n in sorted(set.intersection(*numbers)):
        report("static-and-donated", str(n), sig.positional[n].name)
    known = {p.name for p in sig.params if p.kind in ("any", "kwonly")} | set(sig.bound_names)
    for option in (spec.static_names, "donate_argnames") if not sig.has_kwvar else ():
        value = x.options.get(option) if option in spec.params else None
        for name in pytrees.constant_strings(value) if value is not None else ():
            if name not in known:
                report("static-unknown-name", name)


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
    if not x.spec.static_hash or not reasons or not all(reasons):
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


def not_an_array(m: Machine, value: Value, depth: int = 2) -> str:
    """What a value is that JAX refuses as an array argument or output, or ""."""
    t = type(value)
    a: Any = value
    if t is Py and a.kind in ("str", "bytes", "dtype", "enum", "slice"):
        return str(a.kind)
    if t in (Func, Class, Partial, Xform, Mod):
        return "function" if t is not Class else "class"
    if t is Ext:
        return _library_name(m, a.dotted)
    if t is Seq and a.kind in _NO_PYTREES:
        return _NO_PYTREES[a.kind]
    if t is At or (t is ExtInst and a.dotted == "builtins.object"):
        return "an update reference (`x.at[...]`)" if t is At else "object"
    if (
        t is Inst
        and not a.cls.extern
        and not (a.open and a.cls.stands_for_others)
        and not pytrees.is_pytree(a.cls)
        and not a.cls.role
        and not _subscribed(a)
    ):
        return str(a.cls.name)
    if depth and t is Tup:
        return next((found for found in (not_an_array(m, i, depth - 1) for i in a.items) if found), "")
    if depth and t is Map:
        return next(
            (found for found in (not_an_array(m, i, depth - 1) for i in a.entries.values()) if found), ""
        )
    if depth and t is Seq and a.items is not None and a.kind == "list":
        return next((found for found in (not_an_array(m, i, depth - 1) for i in a.items) if found), "")
    return ""


_NO_PYTREES = {"set": "set", "frozenset": "frozenset", "range": "range", "iter": "an iterator"}


def _library_name(m: Machine, dotted: str) -> str:
    """What a known name of a library stands for when it is no array."""
    if m.catalogue.constant(dotted) == "dtype":
        return "dtype"
    numpy = dotted.startswith("numpy.") and m.catalogue.numpy(dotted) is not None
    known = m.catalogue.function(dotted) is not None or dotted in m.transforms.wraps
    return "function" if numpy or known or dotted in m.transforms.calls else ""


def _subscribed(value: Inst) -> bool:
    """Objects that convert themselves or describe an array, or whose class is registered by a call not followed."""
    names = ("__jax_array__", "__array__", "tree_flatten")
    chain = mro(value.cls)
    if all(name in value.attrs or any(name in c.namespace for c in chain) for name in ("shape", "dtype")):
        return True
    return any(name in cls.namespace for cls in chain for name in names)


def check_argument(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> bool:
    """An argument that is not static must be a pytree of arrays. Answers whether it certainly is none."""
    kinds = [not_an_array(m, a) for a in alternatives(value)]
    if not kinds or not all(kinds):
        return False
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
        return False
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
    return type(value) is not Inst


def check_output(m: Machine, f: Frame, x: Xform, result: Value) -> None:
    """What a jitted function returns must be a pytree of arrays; the finding stands at its ``return``."""
    kinds = [not_an_array(m, a) for a in alternatives(result)]
    bad = next((k for k in kinds if k), "")
    if not bad or type(result) is Tree:
        return
    sig = signature(x.target)
    if sig is None or sig.func.fn.node.is_generator:
        return
    returned = sig.func.fn.returned.items()
    place = next((at for at, value in returned if any(not_an_array(m, a) for a in alternatives(value))), None)
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
