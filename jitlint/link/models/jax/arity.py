"""Functions that a library calls with other arguments than they take (layer: ``link``, room ``models``).

A loop or a branch decides how many arguments its functions get: `jax.lax.fori_loop` hands over a number and a state,
`jax.lax.scan` a carry and a row. What it does: compares that with the parameters of the function. What it does not:
speak of one of several functions, or of what a decorator that is not understood has changed. A kernel of Pallas gets its outputs as
references, too.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.transforms import HigherOrder, Run
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import (
    NONE,
    UNKNOWN,
    Arr,
    Bound,
    ExtInst,
    Func,
    Inst,
    Partial,
    Py,
    Seq,
    Tup,
    Value,
    Xform,
)
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration, pytrees
from jitlint.link.values.questions.kinds import find_method
from jitlint.link.values.questions.signatures import describe, signature
from jitlint.link.values.questions.taking import cannot_bind, with_bound

_DECIDING: Final = frozenset({"scan", "while", "fori", "stack", "branches", "tree_map"})
"""Results of functions that decide what theirs are called with."""

_ON_HOST: Final = -1
_OPTIONS: Final = frozenset({"ordered", "partitioned", "sharding", "vectorized", "vmap_method"})
"""Arguments of callbacks that are not handed on, in any version. Source: `jax.pure_callback`, `jax.experimental.io_callback`,
`jax.debug.callback`, which hand on all others."""


def check(
    m: Machine,
    f: Frame,
    at: int,
    spec: HigherOrder,
    one: Run,
    named: dict[str, Value],
    function: Value,
    args: Args,
) -> None:
    """A library function is about to call one of its arguments."""
    hosted = (one.modes == _ON_HOST and _knows_all(spec, named)) or _is_asked_for_shapes(m, f, at, spec)
    if m.guards or not (hosted or (spec.result in _DECIDING and (args.pos or spec.result == "branches"))):
        return
    if spec.result == "tree_map" and _may_be_empty(named.get("tree", UNKNOWN)):
        return
    if refuses(function, args):
        _report(m, f, at, spec.name, function, args)


def _is_asked_for_shapes(m: Machine, f: Frame, at: int, spec: HigherOrder) -> bool:
    """Whether a call hands its function what is written in it, one by one: ``jax.eval_shape(f, x, y)``."""
    call = m.texts.table(f).calls.get(at) if spec.result == "shapes" else None
    return call is not None and not any(arg.star or arg.name for arg in call.args)


def refuses_references(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Whether a kernel certainly takes more or fewer references than it gets: one for each input, output and place to write."""
    if not x.spec.apart:
        return False
    outputs, places = _count(x.options.get("out_shape")), _count(x.options.get("scratch_shapes", Tup(())))
    if x.options.keys() & {"grid_spec", "**"} or outputs is None or places is None or m.guards:
        return False
    call = m.texts.table(f).calls.get(at)
    if f.confidence is not Confidence.CERTAIN or call is None or any(arg.star for arg in call.args):
        return False  # another function hands on what it is given, to one of several perhaps
    if len(call.args) != len(args.pos):
        return False
    given = Args([*args.pos, *([UNKNOWN] * (outputs + places))])
    if not refuses(x.target, given):
        return False
    _report(m, f, at, x.spec.name, x.target, given)
    return True


def _report(m: Machine, f: Frame, at: int, api: str, function: Value, given: Args) -> None:
    """Record a function that is called with other numbers of arguments than it takes, or with a name that it does not have."""
    sig = signature(function)
    if sig is not None:
        takes = "any number" if sig.has_var else str(len(sig.positional))
        odd = sig.bound_names - {param.name for param in sig.func.fn.node.params} if not sig.has_kwvar else ()
        m.emit(
            f, ApiMisuse, at, None, api=api, problem="wrong-call", parameter=describe(function),
            detail=f"odd {min(odd)}" if odd else f"arity {len(given.pos)} {takes}", exception="TypeError",
        )  # fmt: skip


def _count(shapes: Value | None) -> int | None:
    """How many arrays are described: one, or as many as a tuple or a list has."""
    if isinstance(shapes, (Tup, Seq)):
        items = iteration.known_items(shapes)
        each = [_count(item) for item in items or ()]
        return None if items is None or None in each else len(items)
    return 1 if isinstance(shapes, (ExtInst, Arr)) else None


def _knows_all(spec: HigherOrder, named: dict[str, Value]) -> bool:
    """Whether it is known what a callback hands on: nothing by name."""
    return named.keys() <= {*[name.lstrip("*") for name in spec.params], *_OPTIONS}


def hands_on(x: Xform) -> bool:
    """Whether what a transform gives is called as the function that it got."""
    return x.spec.name in lexicon().contracts.hands_on


def leaves_out(x: Xform, args: Args) -> str:
    """The parameter of a function of the project to which a call of the transformed function certainly gives nothing, or ""."""
    return _left_out(x.target, args) if hands_on(x) and refuses(x.target, args) else ""


def lacks_argument(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Whether a call of a transformed function leaves an argument out. What an argument is made up for is nobody's call. It is
    recorded where it is certain: elsewhere what is called and what it gets may belong to different cases."""
    name = leaves_out(x, args) if x.site != (f.module.name, at) else ""
    if not name or not _is_whole(m, f, at, args):
        return False
    if f.confidence is Confidence.CERTAIN and not m.guards:
        m.emit(
            f, ApiMisuse, at, None, api=describe(x.target), problem="wrong-call", parameter=name,
            detail="missing", exception="TypeError",
        )  # fmt: skip
    return True


def _is_whole(m: Machine, f: Frame, at: int, args: Args) -> bool:
    """Whether a call has all that is written there: a library between, such as `jax.eval_shape`, hands on some of it, and
    what it does with keywords is not known."""
    call = m.texts.table(f).calls.get(at)
    written = call.args if call is not None else ()
    if any(type(value) is Py and value.kind == "ellipsis" for value in args.pos):
        return False  # a template, whose arguments are still to be written
    return call is not None and all(not arg.name or arg.name in args.kw for arg in written)


def _left_out(function: Value, args: Args) -> str:
    """The first parameter without a default that a call gives nothing, or ""."""
    if type(function) is Partial:
        return _left_out(function.func, with_bound(function, args))
    if type(function) is Bound:
        return _left_out(function.func, Args([function.recv, *args.pos], args.kw))
    if type(function) is Xform:
        return _left_out(function.target, args) if hands_on(function) else ""
    if type(function) is not Func:
        return ""
    left = len(args.pos)
    for param in function.fn.node.params:
        if left and param.kind in ("pos", "any"):
            left -= 1
        elif param.kind in ("pos", "any", "kwonly") and param.default is None and param.name not in args.kw:
            return param.name
    return ""


def _may_be_empty(tree: Value) -> bool:
    """Whether a tree may have no leaves, so that nothing is called."""
    return tree is NONE or pytrees.children(tree) == []


def refuses(function: Value, args: Args) -> bool:
    """Whether Python certainly refuses the call."""
    if type(function) is Func:
        return cannot_bind(function, args)
    if type(function) is Partial:
        return refuses(function.func, with_bound(function, args))
    if type(function) is Bound:
        return refuses(function.func, Args([function.recv, *args.pos], args.kw, args.more, args.kw_more))
    if type(function) is Inst:
        method = find_method(function, "__call__")
        return type(method) is Func and refuses(Bound(method, function), args)
    return (
        type(function) is Xform and function.spec.name.startswith("jax.") and refuses(function.target, args)
    )
