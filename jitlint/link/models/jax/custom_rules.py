"""Functions that bring a derivative of their own: `jax.custom_jvp`, `jax.custom_vjp` (layer: ``link``, room ``models``).

What it does: runs the function, and the rules where it is differentiated, perhaps inside a trace; says when there are
none. What it does not: say which form rules have, which is what `demands` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import TransformMisuse
from jitlint.infer.followed import KEPT, REACH
from jitlint.infer.grounds import SEEN
from jitlint.infer.keys import KeyUses
from jitlint.infer.lattice import modes_among, traced_modes
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import (
    BACK,
    BEHIND,
    SMOOTH,
    UNKNOWN,
    Arr,
    Func,
    L,
    S,
    Tree,
    Tup,
    Value,
    Xform,
    mode_letters,
)
from jitlint.link.engine import evaluator, events, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import OWN, TWICE
from jitlint.link.models.jax import arity, demands, lacks, mapping
from jitlint.link.models.jax.cotangents import check_form
from jitlint.link.models.trees import leaf_shapes
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import inner_functions, last_name, names_read
from jitlint.link.tables.results import only_returned
from jitlint.link.values import fitting, keys, pytrees
from jitlint.link.values.questions.signatures import constant_ints, describe, signature
from jitlint.syntax import ir
from jitlint.syntax.children import below

_NAMED: Final = (ir.Attr, ir.Const)
_PAIR: Final = 2
_BACKWARD: Final = "jax.custom_vjp"
_UNEXPECTED: Final = "jax.errors.UnexpectedTracerError"
_NO_SLOPES: Final = ("bool", "int", "complex")
"""The kinds of numbers that no tangent of a float has."""
_DESCRIBING: Final = frozenset({"dtype", "shape", "ndim", "size"})
_ZEROS: Final = frozenset({"zeros", "zeros_like", "full_like"})


def call(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> Value:
    """A function with its own derivative rules: the rules run when it is differentiated, perhaps inside a trace."""
    if x.rules:
        lacks.check(m, f, at, x.spec, args.pos, args.kw)
    elif x.spec.asks_for_rules and x.site != (f.module.name, at):
        m.emit(
            f, TransformMisuse, at, when=(_Bare(m, x),),
            transform=describe(x.target), problem="no-derivative-rule", parameter="", detail=x.spec.name,
        )  # fmt: skip
    if _is_refused(m, f, at, x, args):
        return UNKNOWN
    before = keys.uses_of(f)
    smooth = modes_among((*args.pos, *args.kw.values())) & (L | REACH)
    body = evaluator.call(m, by_own_rule(f), at, x.target, args)
    result = pytrees.remode(body, lambda modes: modes & ~BEHIND | smooth if modes else 0)
    if not f.world.here and not any(traced_modes(v) for v in args.pos):
        return result
    if "nondiff_argnames" in x.options or args.more is not None or args.kw_more is not None:
        return result  # which argument goes where in the rules is not known
    nondiff = constant_ints(x.options["nondiff_argnums"]) if "nondiff_argnums" in x.options else []
    return _run_rules(m, f, at, x, result, _by_position(x, args), nondiff, before)


def _is_refused(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Whether a function with rules gets what these cannot have, or runs where they cannot; it is recorded."""
    if x.spec.name == _BACKWARD:
        return _gets_tracer(m, f, at, x, args, 0) or _is_pushed(m, f, at, x, args)
    return _is_staged_inside(f, args) and _gets_tracer(m, f, at, x, args, f.world.base)


def _is_staged_inside(f: Frame, args: Args) -> bool:
    """Whether the innermost staged code is itself differentiated, as the body of a loop is in a loss: a JVP rule runs when that code
    is done, where none of its tracers means anything."""
    given = [value for value in args.pos if type(value) is Arr and value.level == f.world.base]
    return bool(f.world.modes & BACK) and any(value.modes & S and value.modes & L for value in given)


def _gets_tracer(m: Machine, f: Frame, at: int, x: Xform, args: Args, level: int) -> bool:
    """Whether something is traced, at a level if one is given, where `nondiff_argnums` says that nothing is, as each rule would get it
    from another trace; it is recorded, with a level as what raises later. What the rules of the function hand on is refused where they got it."""
    sig, numbers = signature(x.target), constant_ints(x.options.get("nondiff_argnums", UNKNOWN))
    if sig is None or _is_rule(f, x):
        return False
    names = [param.name for param in sig.positional]
    placed = [n for n in numbers or () if 0 <= n < min(len(args.pos), len(names))]
    placed = [n for n in placed if not level or _is_of_level(args.pos[n], level)]
    late = "late" if level else ""
    return any(
        events.emit_static(m, f, at, describe(x.target), names[n], args.pos[n], _UNEXPECTED, late)
        for n in placed
    )


def _is_of_level(value: Value, level: int) -> bool:
    return type(value) is Arr and value.level == level and bool(value.modes & S)


def _is_pushed(m: Machine, f: Frame, at: int, x: Xform, args: Args) -> bool:
    """Whether a rule calls its own function while it is differentiated forwards itself; it is recorded."""
    if not f.world.modes & TWICE or not _is_rule(f, x):
        return False
    m.emit(
        f, TransformMisuse, at, next(iter(args.pos), None),
        transform=x.spec.name, problem="no-rule", parameter="", detail=mode_letters(L),
    )  # fmt: skip
    return True


def _is_rule(f: Frame, x: Xform) -> bool:
    """Whether the code that runs is that of a rule of the function."""
    return any(type(rule) is Func and rule.fn is f.fn for _, rule in x.rules)


def by_own_rule(f: Frame) -> Frame:
    """Where the body of a function runs that nobody differentiates, since it has a rule for that."""
    return scopes.in_world(f, f.world.but(marks=OWN), f.steps) if f.world.modes & L else f


def _run_rules(
    m: Machine,
    f: Frame,
    at: int,
    x: Xform,
    result: Value,
    tangents: list[Value],
    nondiff: list[int] | None,
    before: KeyUses | None,
) -> Value:
    """The result as the rules give it. nondiff: the positions that are not differentiated, None if they are not known. before:
    the keys that were consumed when the function had not run yet."""
    given = [pytrees.remode(v, not_linear) for v in tangents]
    numbers = nondiff or []
    lead = _leading(given, numbers)
    asked = _is_differentiated(x, tangents)
    backward = dict(x.rules).get("bwd")
    certain = asked and min([-1] if nondiff is None else nondiff, default=0) >= 0
    for kind, rule in x.rules:
        moved = [*lead, _leave_out(numbers, given), _leave_out(numbers, tangents)]
        args = Args(moved if kind == "jvp" else list(given))
        refused = certain and kind != "bwd" and _refuses(m, f, at, x, kind, rule, args)
        pair = UNKNOWN if refused or kind == "bwd" else _instead(m, f, at, before, rule, args)
        if kind == "jvp":
            result = _through(traced_modes(_second(pair)) & BEHIND, result)
            moving, made = (moved[-1], pair) if certain else (UNKNOWN, UNKNOWN)
            _check_tangents(m, f, x, rule, moving)
            _check_tangent(m, f, at, x, made)
        if asked:
            demands.check_rule(m, f, at, x, kind, rule, pair, 2)
        if kind == "fwd" and backward is not None:
            kept, after = _followed(_second(pair), KEPT), _followed(_cotangent(f, result), REACH)
            args = Args([*lead, kept, after])
            primals = [value for i, value in enumerate(tangents) if i not in numbers]
            _run_backwards(m, f, at, x, backward, args, before, asked, certain, primals)
    if asked:
        _check_orders(m, f, at, x, numbers if certain else None)
    return result


def _run_backwards(
    m: Machine,
    f: Frame,
    at: int,
    x: Xform,
    rule: Value,
    args: Args,
    before: KeyUses | None,
    asked: bool,
    certain: bool,
    primals: list[Value],
) -> None:
    """Run a backward rule and look at what it gives. asked, certain: as in `_run_rules`; primals: the arguments with a
    derivative."""
    if certain and _refuses(m, f, at, x, "bwd", rule, args):
        return
    cotangents = _instead(m, f, at, before, rule, args)
    if asked:
        demands.check_rule(m, f, at, x, "bwd", rule, cotangents, len(primals))
        if certain and check_form(m, f, at, x, cotangents, primals):
            return
        _check_shapes(m, f, at, x, cotangents, primals)
        _check_used(m, f, x, rule, cotangents, primals)


def _check_used(m: Machine, f: Frame, x: Xform, rule: Value, cotangents: Value, primals: list[Value]) -> None:
    """Record that a backward rule gives something, and never looks at the cotangent that it gets; or not for all that it gives."""
    params = rule.fn.node.params if type(rule) is Func else []
    if type(rule) is not Func or not params or params[-1].kind not in ("any", "pos"):
        return
    name, fn = params[-1].name, rule.fn
    result = only_returned(fn.parts)
    given: Sequence[ir.Node] = result.elts if type(result) is ir.Tuple else ()
    if result is not None and _pulls_back(fn, result):
        given = (result,)
    if result is None or name.startswith("_") or all(map(_is_nothing, given)):
        return
    read = _is_read(fn, name)
    left = _left_out(fn, name, given, cotangents, primals) if read else result
    if left is not None:
        m.emit(
            f, TransformMisuse, left.at, None, Confidence.LIKELY, where=(fn.module.name, fn.qualname),
            transform=describe(x.target), problem="rule-ignores", parameter=name, detail="one" if read else "",
        )  # fmt: skip


def _pulls_back(fn: FuncInfo, node: ir.Node) -> bool:
    """Whether a rule gives what a function of ``jax.vjp`` makes of something, ``pull_back(x)``."""
    if type(node) is not ir.Call or type(node.func) is not ir.Name:
        return False
    made = bound_once.only_binding(fn, node.func.id)
    return made is not None and type(made.value) is ir.Call and last_name(made.value.func) == "vjp"


def _is_read(fn: FuncInfo, name: str) -> bool:
    """Whether a function, or one in it, mentions a variable."""
    inner = [part for one in inner_functions(fn.module, fn.body) for part in one.parts]
    return any(type(part) is ir.Name and part.id == name for part in (*fn.parts, *inner))


def _left_out(
    fn: FuncInfo, name: str, given: Sequence[ir.Node], cotangents: Value, primals: list[Value]
) -> ir.Node | None:
    """One of the cotangents that a rule gives which certainly hangs on something, and not on the one that it gets, called ``name``."""
    items = cotangents.items if type(cotangents) is Tup else ()
    for item, node, primal in zip(items, given, primals) if len(items) == len(given) == len(primals) else ():
        known = type(item) is Arr and item.kind is SEEN and item.modes & (KEPT | REACH) == KEPT
        written = bound_once.written(fn, node)
        if known and _moves(primal) and written is not None and not _is_nothing(written):
            return None if _is_made_of(fn, node, name) else written
    return None


def _is_made_of(fn: FuncInfo, node: ir.Node, name: str) -> bool:
    """Whether what is computed is made of a variable, as it is written: of more than its dtype and its shape."""
    waiting, seen = [node], {""}
    while waiting:
        parts = below(waiting.pop())
        described = {id(part.obj) for part in parts if type(part) is ir.Attr and part.name in _DESCRIBING}
        if any(type(part) is ir.Lambda for part in parts):
            return True
        for part in parts:
            if type(part) is ir.Name and id(part) not in described and part.id not in seen:
                if part.id == name:
                    return True
                seen.add(part.id)
                waiting += [binding.value for binding in bound_once.bindings(fn, part.id)]
    return any(name in names_read(inner) for inner in inner_functions(fn.module, fn.body))


def _check_tangents(m: Machine, f: Frame, x: Xform, rule: Value, tangents: Value) -> None:
    """Record that a forward rule never looks at the tangent of an argument that somebody differentiates by."""
    if type(rule) is not Func or type(x.target) is not Func or type(tangents) is not Tup:
        return
    fn = rule.fn
    names, result = _unpacked(fn), only_returned(fn.parts)
    if len(names) != len(tangents.items) or result is None:
        return
    code = [*fn.parts, *(part for inner in inner_functions(fn.module, fn.body) for part in inner.parts)]
    read = [part.id for part in code if type(part) is ir.Name]
    for name, value, own in zip(names, tangents.items, x.target.fn.node.params):
        unread = name == "_" or read.count(name) == 1
        if unread and _moves(value) and own.name in names_read(x.target.fn):
            m.emit(
                f, TransformMisuse, result.at, value, Confidence.LIKELY, where=(fn.module.name, fn.qualname),
                transform=describe(x.target), problem="rule-ignores", parameter=own.name, detail="jvp",
            )  # fmt: skip


def _unpacked(fn: FuncInfo) -> list[str]:
    """The variables that a rule takes its last argument apart into, in one statement; none if it does otherwise."""
    last = fn.node.params[-1].name if fn.node.params else None
    found = [
        part.targets[0]
        for part in fn.parts
        if type(part) is ir.Assign and type(part.value) is ir.Name and part.value.id == last
    ]
    target = found[0] if len(found) == 1 else None
    names = [one.id for one in target.elts if type(one) is ir.Name] if type(target) is ir.Tuple else []
    return names if type(target) is ir.Tuple and len(names) == len(target.elts) else []


def _moves(value: Value) -> bool:
    """Whether somebody certainly differentiates by a value."""
    return type(value) is Arr and not value.softness and bool(value.modes & L)


def _followed(value: Value, mark: int) -> Value:
    """A value that a rule gets, marked so that it is seen what hangs on it."""
    return pytrees.remode(value, lambda modes: modes | mark if modes & S else modes)


def _is_nothing(node: ir.Node) -> bool:
    """Whether a cotangent is none, or zero, be it in each leaf."""
    if type(node) is ir.Const:
        return not node.value
    made = [node.func, *(arg.value for arg in node.args)] if type(node) is ir.Call else []
    return any(isinstance(part, (ir.Name, ir.Attr)) and last_name(part) in _ZEROS for part in made)


def _check_shapes(m: Machine, f: Frame, at: int, x: Xform, cotangents: Value, primals: list[Value]) -> None:
    """Record a cotangent that certainly has another shape than the argument that it is for."""
    items = list(cotangents.items) if type(cotangents) is Tup else []
    for primal, cotangent in zip(primals, items) if len(items) == len(primals) else ():
        before, after = _shape(primal), _shape(cotangent)
        if before is None or after is None or fitting.may_be_equal(before, after):
            continue
        if not _is_unchecked(f):
            detail = f"{shape_text(after)} for {shape_text(before)}"
            mapping.report(m, f, at, describe(x.target), "rule-shape", detail, "bwd")
            return


def _check_tangent(m: Machine, f: Frame, at: int, x: Xform, pair: Value) -> None:
    """Record a tangent that certainly has another shape than the result that the same rule gives, or is no number like it."""
    if type(pair) is not Tup or len(pair.items) != _PAIR:
        return
    if all(type(item) is Arr and not item.softness for item in pair.items):
        before, after = map(fitting.kind_of, pair.items)
        if before == "float" and after in _NO_SLOPES:
            mapping.report(m, f, at, describe(x.target), "rule-kind", after, "jvp")
            return
    result, tangent = map(_shape, pair.items)
    if result is not None and tangent is not None and not fitting.may_be_equal(result, tangent):
        detail = f"{shape_text(tangent)} for {shape_text(result)}"
        mapping.report(m, f, at, describe(x.target), "rule-shape", detail, "jvp")


def _is_unchecked(f: Frame) -> bool:
    """Whether the module speaks of the option that switches this check off."""
    words = lexicon().compilation.unchecked
    parts = (part for nodes in f.module.code() for part in nodes)
    named = (getattr(part, "name", getattr(part, "value", None)) for part in parts if type(part) in _NAMED)
    return any(name in words for name in named)


def _shape(value: Value) -> Dims | None:
    """The sizes of what certainly is an array, as far as they are known."""
    return (
        None if type(value) is not Arr or value.softness or value.dtype == "key" else fitting.dims_of(value)
    )


def _leading(given: list[Value], numbers: list[int]) -> list[Value]:
    """The arguments that are not differentiated, which come first in a rule."""
    return [given[n] if n < len(given) else UNKNOWN for n in numbers if n >= 0]


def _is_differentiated(x: Xform, tangents: list[Value]) -> bool:
    """Whether JAX itself runs the rules of a function for what it gets."""
    return x.spec.name.startswith("jax.custom_") and any(traced_modes(v) & L for v in tangents)


def _refuses(m: Machine, f: Frame, at: int, x: Xform, kind: str, rule: Value, args: Args) -> bool:
    """Whether a rule certainly takes another number of arguments than it gets; it is recorded."""
    runs = kind != "bwd" or f.world.modes & BACK
    alone = [other for other, _ in x.rules].count(kind) == 1
    sig = signature(rule)
    if not runs or not alone or sig is None or m.guards or not arity.refuses(rule, args):
        return False
    detail = f"{len(args.pos)} {len(sig.positional)}"
    mapping.report(m, f, at, describe(x.target), "rule-arity", detail, kind)
    return True


def _check_orders(m: Machine, f: Frame, at: int, x: Xform, numbers: list[int] | None) -> None:
    """Record rules whose parameters are called like those of the function, and stand elsewhere. numbers: of those that are not
    differentiated, None if they are not known."""
    first = _parameters(x.target)
    lead = [first[n] for n in numbers or () if n < len(first)]
    for kind, rule in () if m.guards else x.rules:
        names = _parameters(rule)
        wanted = first if kind == "fwd" else [*lead, *[name for name in names if name not in lead]]
        if names != wanted and sorted(names) == sorted(wanted):
            detail = f"{', '.join(names)}; {', '.join(wanted)}"
            mapping.report(m, f, at, describe(x.target), "rule-order", detail, kind)


def _parameters(func: Value) -> list[str]:
    sig = signature(func)
    return [] if sig is None else [param.name for param in sig.positional]


def _instead(m: Machine, f: Frame, at: int, before: KeyUses | None, rule: Value, args: Args) -> Value:
    """What a rule gives. It runs instead of the function, and one backwards makes again what the other one made: that each
    draws the same is meant so."""
    after = keys.uses_of(f)
    keys.rewind(f, before)
    result = evaluator.call(m, by_own_rule(f), at, rule, args)
    keys.rewind(f, keys.merged(after, keys.uses_of(f)))
    return result


def _leave_out(numbers: list[int], values: list[Value]) -> Tup:
    return Tup(tuple([v for i, v in enumerate(values) if i not in numbers]))


def _second(pair: Value) -> Value:
    return pair.items[1] if type(pair) is Tup and len(pair.items) == 2 else UNKNOWN


def _through(loops: int, value: Value) -> Value:
    """A value whose derivative goes through these loops."""
    return pytrees.remode(value, lambda modes: modes | loops if modes & L else modes)


def not_linear(modes: int) -> int:
    """What a derivative rule is run on: nobody differentiates the rule itself."""
    return modes & ~SMOOTH


def _by_position(x: Xform, args: Args) -> list[Value]:
    """The arguments in the order of the parameters, defaults filled in, as the derivative rules get them."""
    sig = signature(x.target)
    out = list(args.pos)
    if sig is None:
        return out
    for param in sig.positional[len(out) :]:
        out.append(args.kw.get(param.name, sig.func.defaults.get(param.name, UNKNOWN)))
    return out


def _cotangent(f: Frame, result: Value) -> Value:
    modes = f.world.here or not_linear(traced_modes(result))
    if result is UNKNOWN:
        return Tree(modes, "the cotangent", f.world.level)
    cotangent = Arr(modes, None, None, "the cotangent", f.world.level)
    return leaf_shapes.shaped_as(pytrees.rebuild(result, cotangent), result)


class _Bare:
    """Nothing in the program gives a function its rules."""

    def __init__(self, m: Machine, x: Xform) -> None:
        self._m = m
        self._x = x

    def holds(self, found: Found) -> bool:
        """Whether no function that was made there got any, and none is given to something that is not understood."""
        if self._x.site in self._m.ruled:
            return False
        if self._m.ruling is None:
            self._m.ruling = list(_giving(self._m))
        others = {fn.name for module in self._m.modules.values() for fn in module.functions}
        others.discard(describe(self._x.target).rpartition(".")[2])
        return all(place in self._m.ruled or name in others for place, name in self._m.ruling)


def _giving(m: Machine) -> Iterator[tuple[tuple[str, int], str]]:
    """Where rules are given, and the name of what they are given to, "" if it has none."""
    names = lexicon().arrays.rule_methods
    for module in m.modules.values():
        parts = [node for code in module.code() for node in code]
        called = {id(node.func): node.at for node in parts if type(node) is ir.Call}
        for node in parts:
            if type(node) is ir.Attr and node.name in names:
                yield (module.name, called.get(id(node), node.at)), last_name(node.obj)
            elif type(node) is ir.Const and node.value in names:
                yield (module.name, node.at), ""
