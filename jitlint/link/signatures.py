"""What a callable's signature is once bindings, partials and transforms are looked through (layer: ``link``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitlint.infer.values import Bound, Class, Descr, Func, Inst, Partial, Value, Xform
from jitlint.link.kinds import find_method, mro
from jitlint.syntax import ir


@dataclass(slots=True)
class Signature:
    """The parameters still open. func: the innermost project function. dropped: leading ones already bound."""

    func: Func
    params: list[ir.Param]
    bound_names: frozenset[str]

    @property
    def positional(self) -> list[ir.Param]:
        """The parameters that an argument without a name can fill."""
        return [p for p in self.params if p.kind in ("pos", "any")]

    @property
    def has_var(self) -> bool:
        """Whether it takes any number of arguments."""
        return any(p.kind == "var" for p in self.params)

    @property
    def has_kwvar(self) -> bool:
        """Whether it takes arguments of any name."""
        return any(p.kind == "kwvar" for p in self.params)


def signature(value: Value, depth: int = 6) -> Signature | None:
    """The open parameters of a callable, or None when it is not a function of the project."""
    c: Any = value
    t = type(value)
    if depth == 0:
        return None
    if t is Func:
        return Signature(c, list(c.fn.node.params), frozenset())
    if t is Bound:
        inner = signature(c.func, depth - 1)
        return _drop(inner, 1) if inner is not None else None
    if t is Partial:
        inner = signature(c.func, depth - 1)
        if inner is None or "*" in c.keywords or "**" in c.keywords:
            return None
        out = _drop(inner, len(c.args))
        names = frozenset(c.keywords)
        return Signature(out.func, [p for p in out.params if p.name not in names], out.bound_names | names)
    if t is Xform:
        return signature(c.target, depth - 1)
    if t is Descr:
        return signature(c.func, depth - 1)
    if t is Class:
        init = next((k.namespace["__init__"] for k in mro(c.info) if "__init__" in k.namespace), None)
        inner = signature(init, depth - 1) if init is not None else None
        return _drop(inner, 1) if inner is not None else None
    if t is Inst:
        method = find_method(c, "__call__")
        inner = signature(method, depth - 1) if method is not None else None
        return _drop(inner, 1) if inner is not None else None
    return None


def _drop(sig: Signature, count: int) -> Signature:
    params = list(sig.params)
    gone: set[str] = set()
    while count and params and params[0].kind in ("pos", "any"):
        gone.add(params.pop(0).name)
        count -= 1
    return Signature(sig.func, params, sig.bound_names | gone)


def describe(value: Value) -> str:
    """A short name of a callable for messages."""
    c: Any = value
    for _ in range(16):
        t = type(c)
        if t is Bound or t is Partial:
            c = c.func
        elif t is Xform:
            c = c.target
        else:
            break
    t = type(c)
    if t is Func:
        return str(c.fn.qualname)
    if t is Inst:
        return f"{c.cls.qualname}.__call__"
    if t is Class:
        return str(c.info.qualname)
    return str(getattr(c, "dotted", "function"))
