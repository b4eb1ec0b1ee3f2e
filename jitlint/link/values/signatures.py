"""What a callable's signature is once bindings, partials and transforms are looked through (layer: ``link``, room ``values``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jitlint.infer.values import NONE, UNKNOWN, Bound, Class, Descr, Func, Inst, Partial, Py, Value, Xform
from jitlint.link.values import iteration, pytrees
from jitlint.link.values.kinds import find_method, mro
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


def signature(value: Value, depth: int = 6, claimed: bool = False) -> Signature | None:
    """The open parameters of a callable, or None when it is not a function of the project.

    claimed: those that `inspect.signature` shows, and so `jax.jit`: `functools.wraps` makes a wrapper show those of what
    it wraps.
    """
    c: Any = value
    t = type(value)
    if depth == 0:
        return None
    if t is Func and claimed and c.wraps is not None:
        return signature(c.wraps, depth - 1, True)
    if t is Func:
        return Signature(c, list(c.fn.node.params), frozenset())
    if t is Bound:
        inner = signature(c.func, depth - 1, claimed)
        return _drop(inner, 1) if inner is not None else None
    if t is Partial:
        inner = signature(c.func, depth - 1, claimed)
        if inner is None or "*" in c.keywords or "**" in c.keywords:
            return None
        out = _drop(inner, len(c.args))
        names = frozenset(c.keywords)
        return Signature(out.func, [p for p in out.params if p.name not in names], out.bound_names | names)
    if t is Xform:
        return signature(c.target, depth - 1, claimed)
    if t is Descr:
        return signature(c.func, depth - 1, claimed)
    if t is Class:
        init = next((k.namespace["__init__"] for k in mro(c.info) if "__init__" in k.namespace), None)
        inner = signature(init, depth - 1, claimed) if init is not None else None
        return _drop(inner, 1) if inner is not None else None
    if t is Inst:
        method = find_method(c, "__call__")
        inner = signature(method, depth - 1, claimed) if method is not None else None
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


def static_names(
    x: Xform, sig: Signature | None, given: int | None = None
) -> tuple[set[int], set[str], bool]:
    """Static positions (non-negative), static names, and whether the specification is fully known.

    Each kind is inferred from the other only when that is missing. Negative numbers count from the positional
    arguments of the call (``given`` many) and say nothing about names.
    """
    spec = x.spec
    nums, names, known = set[int](), set[str](), "**" not in x.options
    shown = signature(x.target, claimed=True)
    positional = shown.positional if shown is not None else []
    has_nums = bool(spec.static_nums) and spec.static_nums in x.options
    has_names = bool(spec.static_names) and spec.static_names in x.options
    if has_nums:
        found = constant_ints(x.options[spec.static_nums])
        known = known and found is not None
        count = given if given is not None else len(positional)
        nums = {n % count if n < 0 and count else n for n in found or ()}
        if spec.static_names and not has_names:
            names = {p.name for i, p in enumerate(positional) if found and i in found}
    if has_names:
        value = x.options[spec.static_names]
        names = set(pytrees.constant_strings(value))
        known = known and value is not UNKNOWN
        if not has_nums:
            known = known and (shown is not None or sig is None)
            nums = {i for i, p in enumerate(positional) if p.name in names}
    return nums, names, known


def constant_ints(value: Value) -> list[int] | None:
    """The integers of a constant int, tuple or list, or None when they are not known."""
    if value is NONE:
        return []
    if type(value) is Py and type(value.const) is int:
        return [value.const]
    items = iteration.known_items(value)
    if items is None or not all(type(i) is Py and type(i.const) is int for i in items):
        return None
    return [i.const for i in items if type(i) is Py and type(i.const) is int]
