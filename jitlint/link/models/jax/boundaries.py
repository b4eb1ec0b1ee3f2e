"""Wrong uses of transforms: static specifications, arguments that are no arrays, outputs (layer: ``link``, room ``models``)."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import HigherOrder, Wrap
from jitlint.infer.events import ApiMisuse, TransformMisuse
from jitlint.infer.grounds import GUESSED, SEEN
from jitlint.infer.lattice import traced_modes
from jitlint.infer.objects import is_cold
from jitlint.infer.places import Step
from jitlint.infer.program import ClassInfo, FuncInfo
from jitlint.infer.values import (
    NONE,
    Arr,
    Class,
    Descr,
    ExtInst,
    Func,
    Inst,
    Map,
    Py,
    Seq,
    Tree,
    Tup,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import binding
from jitlint.link.tables import ir_walk
from jitlint.link.values import callbacks, classes, flattening
from jitlint.link.values.questions import no_arrays, signatures
from jitlint.link.values.questions.kinds import constant_strings, mro
from jitlint.link.values.questions.signatures import Signature, describe, signature
from jitlint.syntax import ir


def takes(m: Machine, f: Frame, at: int, spec: Wrap | HigherOrder, args: Args) -> bool:
    """Whether a transform or a loop gets all arguments that it needs, and has all that are given by name; one that no version
    has is recorded, and one that is left out."""
    view = m.catalogue.view
    if args.kw_more is not None or m.guards or not view.is_measured:
        return True
    return not _is_odd(m, f, at, spec, args) and not _lacks_one(m, f, at, spec, args)


def _is_odd(m: Machine, f: Frame, at: int, spec: Wrap | HigherOrder, args: Args) -> bool:
    known = [name.lstrip("*") for name in spec.params]
    given = args.kw if spec.closed else ()
    odd = next((n for n in given if n not in known and not m.catalogue.view.mentions(spec.name, n)), None)
    if odd is None or not binding.is_written(m, f, at):
        return False  # what stands for the transform may take more
    cure = next(iter(difflib.get_close_matches(odd, known, 1)), "")
    m.emit(
        f, ApiMisuse, at, api=spec.name, problem="wrong-call", parameter=odd, detail="name", cure=cure,
        exception="TypeError",
    )  # fmt: skip
    return True


def _lacks_one(m: Machine, f: Frame, at: int, spec: Wrap | HigherOrder, args: Args) -> bool:
    given = {*spec.params[: len(args.pos)], *args.kw}
    missing = next((name for name in spec.needs if name not in given), "")
    if not missing or args.more is not None or not args.pos or not binding.is_written(m, f, at):
        return False
    m.emit(
        f, ApiMisuse, at, api=spec.name, problem="wrong-call", parameter=missing, detail="missing",
        exception="TypeError",
    )  # fmt: skip
    return True


def check_static_spec(m: Machine, f: Frame, at: int, x: Xform) -> None:
    """Static and donated numbers out of range, names that no parameter has: such a function cannot be called."""
    counts = x.spec.static_nums or x.spec.static_names or x.spec.argnums
    sig = signature(x.target, claimed=True) if counts else None
    if sig is None:
        return
    for problem, parameter, detail in (*_wrong_numbers(x, sig), *_wrong_names(x, sig)):
        x.broken = True
        m.emit(
            f,
            TransformMisuse,
            at,
            transform=x.spec.name,
            problem=problem,
            parameter=parameter,
            detail=detail,
        )


def check_static_by_position(
    m: Machine, f: Frame, x: Xform, positional: list[ir.Param], nums: set[int], name: str
) -> None:
    """An argument that a call gives by name, static by its position only: it is traced all the same.

    Of positions and names, each is inferred from the other only where that is missing.
    """
    if x.spec.static_names in x.options and any(
        positional[n].name == name for n in nums if n < len(positional)
    ):
        module, at = x.site
        m.emit(
            f,
            TransformMisuse,
            at,
            where=(module, describe(x.target)),
            transform=x.spec.name,
            problem="static-by-position",
            parameter=name,
            detail="",
        )


_DEPTH: Final = 4
"""How far an object is looked into for what has no hash."""

_Problem = tuple[str, str, str]
"""What is wrong, with which parameter, and what is to be said of it."""


def _wrong_numbers(x: Xform, sig: Signature) -> Iterator[_Problem]:
    yield from _no_number(x.spec.argnums, x.options.get(x.spec.argnums))
    count = len(sig.positional)
    numbers: list[set[int]] = []
    for option in (x.spec.static_nums, "donate_argnums"):
        value = x.options.get(option) if option in x.spec.params else None
        yield from _no_number(option, value)
        found = signatures.constant_ints(value) or () if value is not None else ()
        numbers.append({n % count for n in found if -count <= n < count})
        for n in found if not sig.has_var else ():
            if not -count <= n < count:
                yield "static-out-of-range", str(n), str(count)
    for n in sorted(set.intersection(*numbers)):
        yield "static-and-donated", str(n), sig.positional[n].name


def _no_number(option: str, value: Value | None) -> Iterator[_Problem]:
    """A text in the place of positions."""
    if type(value) is Py and isinstance(value.const, str):
        yield "static-not-a-number", option, value.const


def _wrong_names(x: Xform, sig: Signature) -> Iterator[_Problem]:
    known = {p.name for p in sig.params if p.kind in ("any", "kwonly")} | set(sig.bound_names)
    for option in (x.spec.static_names, "donate_argnames") if not sig.has_kwvar else ():
        value = x.options.get(option) if option in x.spec.params else None
        for name in constant_strings(value) if value is not None else ():
            if name not in known:
                yield "static-unknown-name", name, ""


def unhashable(value: Value, depth: int = _DEPTH) -> str:
    """Why a value cannot be a static argument, or ""."""
    t = type(value)
    a: Any = value
    if not depth:
        return ""
    if t is Seq and a.kind in ("list", "set", "deque"):
        return str(a.kind)
    if t is Map:
        return "dict"
    if t is Arr:
        if a.kind is GUESSED:
            return ""  # a leaf of a tree that nobody knows: a sharding, as well as an array
        if a.host:
            return "numpy.ndarray" if a.rank else ""  # NumPy scalars are hashable
        return "tracer" if traced_modes(value) else "jax.Array"
    if t is Tup:
        return next((found for part in a.items if (found := unhashable(part, depth - 1))), "")
    if t is Inst:
        return _unhashable_part(a, depth - 1) if _is_hashable(a.cls) else str(a.cls.name)
    return ""


def _unhashable_part(value: Inst, depth: int) -> str:
    """The hash of a frozen dataclass is made of those of its fields: why one of them has none, or ""."""
    cls = value.cls
    if not cls.hashed_by_fields or cls.role:
        return ""
    for name, (_, default) in cls.fields.items():
        part = value.attrs.get(name)
        if part is not None and _counts(default) and _is_seen(part) and (why := unhashable(part, depth)):
            return f"{cls.name} with a {why}"
    return ""


def _counts(default: Value | None) -> bool:
    """Whether a field belongs to what is hashed: `field(...)` may leave it out."""
    if type(default) is ExtInst and default.dotted.endswith("field"):
        return all(_is_true(default.attrs.get(name)) for name in ("hash", "compare"))
    return default is None or type(default) in (Inst, Py, Tup)


def _is_true(value: Value | None) -> bool:
    """Whether an option that is on by itself is left on; `None` for ``hash`` follows ``compare``."""
    return value is None or value is NONE or (type(value) is Py and value.const is True)


def _is_seen(value: Value) -> bool:
    """Whether an array is one, and not only called one by an annotation."""
    return type(value) is not Arr or (value.kind is SEEN and not value.weak)


def _is_hashable(info: ClassInfo) -> bool:
    """The nearest class that defines ``__hash__`` or ``__eq__`` decides; the latter alone removes the hash."""
    return next((cls.hashable for cls in mro(info) if cls.hashable is not None), True)


def check_static_value(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> bool:
    """A static argument must be hashable, and is compared. Answers whether it certainly is not."""
    callbacks.run_implied(m, f, at, value, ("__hash__",))
    callbacks.run_implied(m, f, at, value, ("__eq__",), value)
    reasons = [unhashable(a) for a in alternatives(value)]
    if x.spec.static_hash and value is f.recv and f.fn is not None and runs_module(f.fn):
        reasons = [_bound(value)]
    if not x.spec.static_hash or not reasons or not all(reasons):
        return False
    stands_in = _stands_for_what_others_make(value)
    m.emit(
        f,
        TransformMisuse,
        at,
        None,
        transform=x.spec.name,
        problem="method-self-unhashable" if stands_in and " " not in reasons[0] else "unhashable-static",
        parameter=name,
        detail=reasons[0],
        confidence=Confidence.LIKELY if stands_in else None,
    )
    return True


def runs_module(fn: FuncInfo) -> bool:
    """Whether a method is one that ``init`` and ``apply`` of Linen run, if its class is a module."""
    return fn.name == "__call__" or any(ir_walk.last_name(node) == "compact" for node in fn.node.decorators)


def _bound(value: Value) -> str:
    """Why a Linen module cannot be a static argument of what its own methods call."""
    if type(value) is not Inst or value.cls.role != no_arrays.NO_LEAVES or value.cls.extern:
        return ""
    return f"the module `{value.cls.name}`, which holds variables while it is applied"


def plain_receiver(m: Machine, func: Func, name: str) -> Value | None:
    """What ``self`` or ``cls`` of a method is when nobody is seen to call it, if the class alone rules that: it has a constructor,
    and neither it nor a class of the project makes its objects anything else than plain ones.
    """
    owner = func.owner
    if owner is None or _bound_as(func, owner) != name:
        return None
    if owner.stands_for_others or owner.extern or flattening.is_pytree(owner):
        return None
    if owner.role not in ("", no_arrays.NO_LEAVES):
        return None
    if not owner.shape and not any("__init__" in cls.namespace for cls in mro(owner)):
        return None  # what has no data of its own may be meant for others to inherit
    if name == "cls":
        return Class(owner)
    value = classes.cold_instance(m, owner)
    return value if type(value) is Inst and value.cls is owner else None


def _bound_as(func: Func, owner: ClassInfo) -> str:
    """Which name the first parameter of what a class has as a method has by right, "" for one that gets neither."""
    held = owner.namespace.get(func.fn.name)
    kind = held.kind if type(held) is Descr else ""
    return "" if kind == "staticmethod" else "cls" if kind == "classmethod" else "self"


def check_argument(m: Machine, f: Frame, at: int, x: Xform, name: str, value: Value) -> bool:
    """An argument that is not static must be a pytree of arrays. Answers whether it certainly is none."""
    kinds = [no_arrays.not_an_array(m, a) for a in alternatives(value)]
    if not kinds or not all(kinds):
        return False
    sig = signature(x.target)
    first = sig.params[0].name if sig is not None and sig.params else ""
    own_self = sig is not None and sig.func.owner is not None and name == first and name in ("self", "cls")
    if own_self and isinstance(value, (Inst, Class)):
        m.emit(
            f if x.site == (f.module.name, at) else _called_from(f, at, x),
            TransformMisuse,
            x.site[1],
            where=(x.site[0], f.qualname),
            transform=x.spec.name,
            problem="method-self",
            parameter=name,
            detail=kinds[0],
            confidence=Confidence.LIKELY if _stands_for_what_others_make(value) else None,
        )
        return False
    level = Confidence.LIKELY if type(value) is Inst or kinds[0] == no_arrays.TEXTS else None
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
    return level is None


def _called_from(f: Frame, at: int, x: Xform) -> Frame:
    step = Step(f.module.name, at, f"`{describe(x.target)}` is called here")
    return scopes.in_world(f, f.world, (*f.steps, step))


def _stands_for_what_others_make(value: Value) -> bool:
    """Whether nobody is seen to make the object: one may be made differently, and registered, elsewhere."""
    return type(value) is Inst and is_cold(value)


def check_output(m: Machine, f: Frame, x: Xform, result: Value) -> None:
    """What a jitted function returns must be a pytree of arrays; the finding stands at its ``return``."""
    kinds = [no_arrays.not_an_array(m, a) for a in alternatives(result)]
    bad = next((k for k in kinds if k), "")
    if not bad or type(result) is Tree:
        return
    level = None if all(kinds) and bad != no_arrays.TEXTS else Confidence.LIKELY
    _at_return(m, f, x, lambda a: bool(no_arrays.not_an_array(m, a)), level, "non-array-output", bad)


def check_mute(m: Machine, f: Frame, x: Xform, result: Value) -> None:
    """What writes its results into references returns nothing beside."""
    kinds = [_something(alt) for alt in alternatives(result)]
    if all(kinds):
        _at_return(m, f, x, lambda a: a is not NONE, None, "no-result", kinds[0])


def _something(value: Value) -> str:
    """What a value is that is certainly not ``None``; empty if it may be."""
    if type(value) is Tup:
        return f"a tuple of {len(value.items)}"
    return {Seq: "a list", Map: "a dict", Arr: "an array"}.get(type(value), "")


def _at_return(
    m: Machine,
    f: Frame,
    x: Xform,
    is_bad: Callable[[Value], bool],
    level: Confidence | None,
    problem: str,
    detail: str,
) -> None:
    sig = signature(x.target)
    if sig is None or sig.func.fn.node.is_generator:
        return
    returned = sig.func.fn.returned.items()
    place = next((at for at, value in returned if any(is_bad(a) for a in alternatives(value))), None)
    if place is None:
        return
    where = (sig.func.fn.module.name, sig.func.fn.qualname)
    m.emit(
        f, TransformMisuse, place, None, level, where,
        transform=x.spec.name, problem=problem, parameter="", detail=detail,
    )  # fmt: skip
