"""Which functions the calls of untraced code reach: the ground that donation and timing stand on (layer: ``link``, room ``core``).

What it does: while the interpreter runs, it notes at each call expression outside of any transform whether a jitted
function or a function of the project was called, and which arguments that call gives away. What it does not:
follow values; `donation` and `timing` do that afterwards, only in functions where such a call was noted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.host_calls import HostCall, HostCalls
from jitlint.infer.lattice import seq_element
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Ext,
    ExtInst,
    Func,
    Inst,
    Map,
    Partial,
    Py,
    Seq,
    Tup,
    Union,
    Value,
    Xform,
    alternatives,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import names_read, nodes
from jitlint.link.values.library_objects import APPLIED, COMPILED
from jitlint.link.values.questions import signatures
from jitlint.link.values.questions.kinds import constant_strings, find_method
from jitlint.link.values.questions.signatures import Signature, describe, signature
from jitlint.syntax import ir

_NOTED: Final = frozenset({Xform, Func, Bound, Partial, Union, Inst})

_MOST_LAYERS: Final = 20

_WORK: Final = (ir.Call, ir.BinOp, ir.Compare, ir.UnaryOp, ir.Comp, ir.Sub, ir.Attr)
"""Expressions that may compute something."""


_HOST_DATA: Final = Arr(0, host=True)
"""What a host iterator gives, as far as donation goes: JAX copies it to the device, and gives the copy away."""


def is_noted(callee: Value) -> bool:
    """Whether `note` wants to see a call of something."""
    return type(callee) in _NOTED or (type(callee) is ExtInst and callee.dotted == COMPILED)


def note(m: Machine, f: Frame, node: ir.Call, callee: Value, args: Args, result: Value) -> None:
    """Note a call that was just made in the host world."""
    notes: HostCalls = m.host_calls
    call = notes.at((f.module.name, node.at))
    args = _with_host_data(notes, f, node, args)
    for alt in alternatives(callee):
        _note_one(notes, f, call, alt, args, result)


def _with_host_data(notes: HostCalls, f: Frame, node: ir.Call, args: Args) -> Args:
    """The arguments, of which those that nobody knows and that an iterator gave may live on the host."""
    if UNKNOWN not in args.pos and UNKNOWN not in args.kw.values():
        return args
    pos, kw = list(args.pos), dict(args.kw)
    for i, arg in enumerate(node.args):
        if arg.star:
            return args
        key: Any = i if arg.name is None else arg.name
        box: Any = pos if arg.name is None else kw
        if box[key] is UNKNOWN and type(arg.value) is ir.Name and _is_drawn(notes, f, arg.value.id):
            box[key] = _HOST_DATA
    return Args(pos, kw, args.more, args.kw_more)


def _is_drawn(notes: HostCalls, f: Frame, name: str) -> bool:
    """Whether a variable is what a loop or ``next`` took out of an iterator."""
    place = (f.module.name, f.fn)
    drawn = notes.drawn.get(place)
    if drawn is None:
        parts = f.fn.parts if f.fn is not None else nodes(f.module.tree.body)
        drawn = notes.drawn[place] = _drawn_names(parts)
    return name in drawn


def _drawn_names(parts: Iterable[ir.Node]) -> frozenset[str]:
    found: set[str] = set()
    for node in parts:
        if type(node) is ir.For:
            targets: list[Any] = [node.target]
        elif type(node) is ir.Assign and _is_next(node.value):
            targets = list(node.targets)
        else:
            continue
        found.update(part.id for target in targets for part in nodes(target) if type(part) is ir.Name)
    return frozenset(found)


def _is_next(source: ir.Node | None) -> bool:
    return type(source) is ir.Call and type(source.func) is ir.Name and source.func.id == "next"


def _note_one(notes: HostCalls, f: Frame, call: HostCall, callee: Value, args: Args, result: Value) -> None:
    inner, before, keywords = _innermost(callee)
    call.shift = len(before)
    here = (f.module.name, f.fn)
    ahead = inner.attrs.get(APPLIED) if type(inner) is ExtInst and inner.dotted == COMPILED else None
    if type(ahead) is Xform:
        call.works = call.works or not _only_hands_back(ahead.target)
        call.target = describe(ahead.target)
        call.note_jitted(None, {})
    elif type(inner) is Func:
        call.functions[inner.fn] = None
        notes.callers.setdefault(inner.fn.id, {})[here] = None
    elif type(inner) is Xform and inner.spec.modes and not inner.spec.custom:
        call.works = call.works or not _only_hands_back(inner.target)
        call.fills = call.fills or inner.spec.name.startswith(lexicon().timing.filling)
        whole = Args([*before, *args.pos], {**keywords, **args.kw}, args.more, args.kw_more)
        given = _given_away(inner, whole, result) if may_donate(inner) and not f.world.eager_jit else {}
        if given and call.donated is None:
            notes.users[here] = None
        call.target = describe(inner.target)
        call.note_jitted(inner, given)
    else:
        call.others = True


def _only_hands_back(target: Value) -> bool:
    """Whether a function does nothing, or gives back what it was given."""
    return type(target) is Func and all(
        type(node) is ir.Pass
        or (
            isinstance(node, (ir.Return, ir.ExprStmt))
            and not any(isinstance(part, _WORK) for part in nodes(node))
        )
        for node in target.fn.body
    )


def _innermost(callee: Value) -> tuple[Value, list[Value], dict[str, Value]]:
    """What a call runs in the end, and the arguments that bindings on the way put before and beside its own."""
    before: list[Value] = []
    keywords: dict[str, Value] = {}
    for _ in range(_MOST_LAYERS):  # an object's __call__ may be the object itself
        if type(callee) is Bound:
            before.insert(0, callee.recv)
            callee = callee.func
        elif type(callee) is Partial:
            before[:0] = callee.args
            keywords = {**callee.keywords, **keywords}
            callee = callee.func
        else:
            method = find_method(callee, "__call__") if type(callee) is Inst else None
            if method is None:
                break
            before.insert(0, callee)
            callee = method.func if type(method) is Bound else method
    return callee, before, keywords


def managed(m: Machine, f: Frame, at: int, manager: Value) -> list[Inst]:
    """An object around the block of a ``with`` statement: a trace runs its ``__exit__`` too; untraced code notes it."""
    if type(manager) is not Inst:
        return []
    if f.world.level:
        return [manager]
    enter, leave = (_function(find_method(manager, name)) for name in ("__enter__", "__exit__"))
    if leave is not None:
        known = m.host_calls.managers.setdefault((f.module.name, at), {})
        known.setdefault((enter, leave), {})[f.module.name, f.fn] = None
    return []


def _function(method: Value | None) -> FuncInfo | None:
    target = method.func if type(method) is Bound else method
    return target.fn if type(target) is Func else None


def may_donate(x: Xform) -> bool:
    """Whether a compiled function may take over buffers of what it is given."""
    options = x.options
    return x.spec.name in lexicon().buffers.donors and (
        "donate_argnums" in options or "donate_argnames" in options or "donate" in options
    )


def _given_away(x: Xform, args: Args, result: Value) -> dict[int | str, bool]:
    """The arguments whose buffers are gone after the call, or nothing when that is not certain."""
    sig = signature(x.target)
    positional = [p.name for p in sig.positional] if sig is not None else []
    nums, names = donated(x, positional, len(args.pos))
    if args.more is not None or args.kw_more is not None:
        return {}
    found: dict[int | str, Value] = {i: v for i, v in enumerate(args.pos) if i in nums}
    found |= {name: v for name, v in args.kw.items() if name in names}
    found = {key: v for key, v in found.items() if _goes(x, v) and _is_read(sig, positional, key)}
    if not found or not _fits(list(found.values()), result):
        return {}
    return {key: type(value) is Arr for key, value in found.items()}


def donated(x: Xform, positional: list[str], given: int) -> tuple[set[int], set[str]]:
    """Positions and names; each is inferred from the other only when that is missing, as for static arguments."""
    options = x.options
    whole = options.get("donate")
    if type(whole) is Py and whole.const in ("all", "all-except-first"):
        return set(range(0 if whole.const == "all" else 1, given)), set(positional[whole.const != "all" :])
    nums: set[int] = set()
    names: set[str] = set()
    if "donate_argnums" in options:
        count = len(positional) or given
        nums = signatures.places(signatures.constant_ints(options["donate_argnums"]) or (), count)
    if "donate_argnames" in options:
        names = set(constant_strings(options["donate_argnames"]))
    if not names:
        names = {name for i, name in enumerate(positional) if i in nums}
    if not nums:
        nums = {i for i, name in enumerate(positional) if name in names}
    return nums, names


def _goes(x: Xform, value: Value) -> bool:
    """Whether an argument is given away. Who takes all kinds of arguments takes the buffers of the arrays among them."""
    return _on_device(value) and not ("donate" in x.options and _is_obscure(value))


def _is_obscure(value: Value) -> bool:
    """Whether nobody knows if a value is an array, or what has arrays inside."""
    return any(alt is UNKNOWN or isinstance(alt, (ExtInst, Ext, Func, Class)) for alt in alternatives(value))


def _on_device(value: Value) -> bool:
    """Whether the value may be a JAX array and is certainly nothing else that would survive."""
    if value is UNKNOWN:
        return True
    for alt in alternatives(value):
        if type(alt) is Arr and alt.host:
            return False
        if type(alt) is Py and alt is not NONE:
            return False
        if type(alt) in (Tup, Seq, Map) and not all(_on_device(part) for part in _parts(alt)):
            return False
    return True


def _parts(value: Any) -> list[Value]:
    if type(value) is Tup:
        return list(value.items)
    if type(value) is Map:
        return [*value.entries.values(), *([value.rest] if value.rest is not None else [])]
    element = seq_element(value)
    return [] if element is None else [element]


def _is_read(sig: Signature | None, positional: list[str], key: int | str) -> bool:
    """An argument that the function never looks at is dropped by JAX, not donated."""
    if sig is None:
        return True
    if isinstance(key, int):
        if key >= len(positional):
            return True
        key = positional[key]
    return key in names_read(sig.func.fn)


def _fits(given: list[Value], result: Value) -> bool:
    """Whether the results can take over the buffers: JAX keeps a donated array that matches no result in bytes."""
    room: list[Arr] = []
    if not _known_leaves(result, room):
        return True
    wanted: list[Arr] = []
    known = _all_known(given, wanted)
    if len(wanted) > len(room):
        return False
    large = [a for a in room if a.rank != 0 and a.dtype != "bool"]
    if not known:
        return bool(large)
    need = [a for a in wanted if a.rank != 0]
    if len(need) > len(large) and any(a.dtype != "bool" for a in need):
        return False
    return bool(room)


def _known_leaves(value: Value, out: list[Arr]) -> bool:
    """Collect the arrays of a value; False when some part of it is not known."""
    if type(value) is Arr:
        out.append(value)
        return True
    if value is NONE:
        return True
    if type(value) is Tup or (type(value) is Seq and value.items is not None):
        return _all_known(list(value.items or ()), out)
    if type(value) is Map and value.rest is None:
        return _all_known(list(value.entries.values()), out)
    return False


def _all_known(values: list[Value], out: list[Arr]) -> bool:
    known = [_known_leaves(value, out) for value in values]
    return all(known)
