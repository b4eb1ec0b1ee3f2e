"""What a callable's signature is once bindings, partials and transforms are looked through (layer: ``link``, room ``values``)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from jitlint.infer.values import (
    NONE,
    Bound,
    Class,
    Descr,
    Func,
    Inst,
    Partial,
    Py,
    Value,
    Xform,
)
from jitlint.link.values import iteration
from jitlint.link.values.questions.kinds import find_method, member
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
    if depth == 0:
        return None
    if type(value) is Func:
        if claimed and value.wraps is not None:
            return signature(value.wraps, depth - 1, True)
        return Signature(value, list(value.fn.node.params), frozenset())
    if type(value) is Xform:
        return signature(value.target, depth - 1, claimed)
    if type(value) is Descr:
        return signature(value.func, depth - 1, claimed)
    if type(value) is Partial:
        return _less_given(signature(value.func, depth - 1, claimed), value)
    method = _method_called(value)
    inner = signature(method, depth - 1, claimed) if method is not None else None
    return _drop(inner, 1) if inner is not None else None


def _method_called(value: Value) -> Value | None:
    """The function that a bound method, a class or an object calls, with one argument more."""
    if type(value) is Bound:
        return value.func
    if type(value) is Class:
        return member(value.info, "__init__")
    return find_method(value, "__call__") if type(value) is Inst else None


def _less_given(inner: Signature | None, partial: Partial) -> Signature | None:
    """What a partial application leaves open."""
    if inner is None or "*" in partial.keywords or "**" in partial.keywords:
        return None
    out = _drop(inner, len(partial.args))
    names = frozenset(partial.keywords)
    return Signature(out.func, [p for p in out.params if p.name not in names], out.bound_names | names)


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
        return describe(c.wraps) if type(c.wraps) is Func else str(c.fn.qualname)
    if t is Inst:
        return f"{c.cls.qualname}.__call__"
    if t is Class:
        return str(c.info.qualname)
    return str(getattr(c, "dotted", "function"))


def static_names(
    x: Xform, sig: Signature | None, given: int | None = None, by_parameters: bool = False
) -> tuple[set[int], set[str], bool]:
    """Static positions (non-negative), static names, and whether the specification is fully known.

    Each kind is inferred from the other only when that is missing. Negative numbers count from the positional
    arguments of the call (``given`` many) and say nothing about names; by_parameters: from those of the function instead,
    where it has no others, and then they name them, too.
    """
    spec = x.spec
    nums, names, known = set[int](), set[str](), "**" not in x.options
    shown = signature(x.target, claimed=True)
    positional = shown.positional if shown is not None else []
    by_number = _given(x.options.get(spec.static_nums))
    by_name = _given(x.options.get(spec.static_names))
    if by_number is not None:
        found = _numbers(constant_ints(by_number), shown, by_parameters)
        known = known and found is not None
        nums = places(found or (), given if given is not None else len(positional))
        if spec.static_names and by_name is None:
            names = _names_at(positional, found or [])
    if by_name is not None:
        names, all_known = _written(by_name)
        known = known and all_known
        if by_number is None:
            known = known and (shown is not None or sig is None)
            nums = {i for i, p in enumerate(positional) if p.name in names}
    return nums, names, known


def _given(option: Value | None) -> Value | None:
    """An option that is written down as ``None`` is missing, too."""
    return None if option is NONE else option


def _written(option: Value) -> tuple[set[str], bool]:
    """The names in an option, and whether there are no others: it is one name, or a list of nothing else."""
    items = [option] if type(option) is Py else iteration.known_items(option)
    names = {item.const for item in items or () if type(item) is Py and type(item.const) is str}
    return names, items is not None and len(names) == len(items)


def _numbers(found: list[int] | None, shown: Signature | None, by_parameters: bool) -> list[int] | None:
    """Positions, counted from the parameters if that is how it is done and there are no others than positional ones."""
    if not by_parameters or not found or shown is None or len(shown.positional) < len(shown.params):
        return found
    return sorted(places(found, len(shown.positional)))


def _names_at(positional: list[ir.Param], numbers: list[int]) -> set[str]:
    return {p.name for i, p in enumerate(positional) if i in numbers}


def places(numbers: Iterable[int], count: int) -> set[int]:
    """Positions among so many arguments; negative numbers count from the end."""
    return {n % count if n < 0 and count else n for n in numbers}


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
