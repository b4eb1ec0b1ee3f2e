"""Library functions that run their function arguments at once: scan, cond, while_loop, tree.map (layer: ``link``, room ``models``)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import msgspec

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.transforms import HigherOrder, Run
from jitlint.infer.grounds import GUESSED, RULED, SEEN
from jitlint.infer.lattice import join, joined, modes_among, or_unknown
from jitlint.infer.places import Step
from jitlint.infer.spreading import MAY_VARY, VARIES
from jitlint.infer.values import (
    BEHIND,
    NONE,
    UNKNOWN,
    Arr,
    B,
    ExtInst,
    L,
    Py,
    S,
    Seq,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
)
from jitlint.link.engine import evaluator, events, scopes
from jitlint.link.engine.domain import Repeat, Turn
from jitlint.link.engine.frame import BY_CHOICE, Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import BOTH, HOST, OWN, World
from jitlint.link.models.jax import (
    arity,
    carries,
    demands,
    directions,
    hosted,
    lacks,
    operands,
    turning,
    xforms,
)
from jitlint.link.models.jax.references import references
from jitlint.link.models.trees import abstract, leaf_shapes, leaves, prefixes, structures
from jitlint.link.values import iteration, keys, pytrees
from jitlint.link.values.questions import counting
from jitlint.link.values.questions.key_paths import FIXED
from jitlint.link.values.questions.kinds import is_sequence
from jitlint.link.values.questions.signatures import describe, signature

ALL_MODES = S | B | L | VARIES | MAY_VARY
PULLBACK = "jax.vjp.pullback"

REPEATING = frozenset({"scan", "while", "fori", "stack", "tree_map"})
"""Results of functions that run their argument many times."""
CARRYING = frozenset({"scan", "while", "fori"})

EAGER = -2
"""Not traced at all: a plain call."""


def run(m: Machine, f: Frame, at: int, spec: HigherOrder, args: Args) -> Value:
    """Call a higher-order library function."""
    if spec.name == "jax.lax.cond" and len(args.pos) == 5:
        args = operands.each_with_its_own(f, at, args)
    named = bind(spec, args)
    for name in spec.static:
        if name in named:
            events.emit_static(m, f, at, spec.name, name, named[name])
    demands.check_functions(m, f, at, spec, named)
    operands.check(m, f, at, spec, named)
    hosted.check(m, f, at, spec, named)
    if _refuses(m, f, at, spec, named):
        for one in spec.run:
            xforms.mark_called(named.get(one.function, UNKNOWN))
        return UNKNOWN
    if spec.lacks and args.kw_more is None:
        lacks.check(m, f, at, spec, args.pos[len(spec.params) - 1 :], args.kw)
    dispatched = f.dispatched
    if any(type(named.get(one.function)) is Union for one in spec.run):
        f.dispatched = BY_CHOICE
    result = _run_all(m, f, at, spec, named)
    f.dispatched = dispatched
    return result


def _refuses(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> bool:
    """Whether a loop certainly gets what it cannot work with, so that its body never runs."""
    if spec.result == "tree_map":
        return structures.refuses(m, f, at, spec, named)
    if spec.result in ("scan", "stack"):
        return demands.refuses_rows(m, f, at, spec, named)
    return spec.result == "fori" and demands.refuses_bounds(m, f, at, spec, named)


def _run_all(
    m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value], again: bool = False
) -> Value:
    """Run the functions. again: not only on this part of a tree."""
    mapped = _map_parts(m, f, at, spec, named, again) if spec.result == "tree_map" else None
    if mapped is not None:
        return mapped
    results: list[Value] = []
    given: list[list[Value]] = []
    branches: list[Value] = []
    alternative, first = spec.result == "branches", m.keys.count
    before, after = keys.uses_of(f), None
    for one in spec.run:
        if alternative:
            keys.rewind(f, before)
        result, used, each = _run_one(m, f, at, spec, one, named, again)
        after = keys.merged(after, keys.uses_of(f))
        results.append(result)
        given.append(used)
        branches.extend(each)
    if spec.result == "tree_map":
        results = [keys.Apart(first).value(result) for result in results]
    keys.rewind(f, after)
    if spec.result == "jvp" and spec.name == "jax.jvp":
        directions.check_tangents(m, f, at, spec, named)
    hosted.check_result(m, f, at, spec, named, results[0])
    if alternative and not f.world.eager_jit:
        demands.check_choice(m, f, at, spec, named)
        carries.check_branches(m, f, at, spec, branches)
    return _result(m, f, at, spec, named, results, given)


def _map_parts(
    m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value], again: bool
) -> Value | None:
    """`jax.tree.map` where one call of the function does not say it all; None where it does."""
    if "is_leaf" in named:
        return _map_told(m, f, at, spec, named)
    if NONE in alternatives(named.get("tree", UNKNOWN)):
        return _map_leaves(m, f, at, spec, named, again)
    split = leaves.split(named)
    if split is None:
        return None
    tree, children = split
    again = again or not leaves.holds_keys(tree)
    return leaves.with_children(tree, [_run_part(m, f, at, spec, child, again) for child in children])


def _run_part(
    m: Machine, f: Frame, at: int, spec: HigherOrder, child: dict[str, Value], again: bool
) -> Value:
    """The function of `jax.tree.map` for a child of a tree: None has no leaves."""
    return NONE if child["tree"] is NONE else _run_all(m, f, at, spec, child, again)


def _map_leaves(
    m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value], again: bool
) -> Value:
    """The same of a tree that is None, or may be."""
    tree, rest = _without_none(named["tree"]), named.get("rest", Tup(()))
    if tree is None:
        return NONE
    if type(rest) is Tup:
        rest = Tup(tuple([or_unknown(_without_none(part)) for part in rest.items]))
    return join(NONE, _run_all(m, f, at, spec, {**named, "tree": tree, "rest": rest}, again))


def _without_none(value: Value) -> Value | None:
    return joined([alt for alt in alternatives(value) if alt is not NONE])


def _map_told(m: Machine, f: Frame, at: int, spec: HigherOrder, named: dict[str, Value]) -> Value:
    """`jax.tree.map` with ``is_leaf``: what that takes for a leaf is handed over whole."""
    asks, tree = named["is_leaf"], named.get("tree", UNKNOWN)
    plain = {name: value for name, value in named.items() if name != "is_leaf"}
    told = leaves.Told(m, f, at, asks)
    if asks is NONE or told.takes_none(tree):
        return _run_all(m, f, at, spec, plain)
    answer = told.is_leaf(tree)
    if answer is True:
        whole = [
            msgspec.structs.replace(one, args=tuple([text.removeprefix("leaf:") for text in one.args]))
            for one in spec.run
        ]
        return _run_all(m, f, at, msgspec.structs.replace(spec, run=tuple(whole), result="mapped"), plain)
    rest = named.get("rest", Tup(()))
    trees = leaves.columns([tree, *rest.items]) if answer is False and type(rest) is Tup else None
    if trees is not None:
        parts = [{**named, "tree": column[0], "rest": Tup(tuple(column[1:]))} for column in trees]
        return pytrees.with_children(tree, [_map_told(m, f, at, spec, part) for part in parts])
    confidence, f.confidence = f.confidence, Confidence.POSSIBLE
    _run_all(m, f, at, spec, plain)
    f.confidence = confidence
    return UNKNOWN


def bind(spec: HigherOrder, args: Args) -> dict[str, Value]:
    """Arguments by parameter name; ``*rest`` gets a tuple."""
    named: dict[str, Value] = dict(args.kw)
    pos = list(args.pos)
    for name in spec.params:
        if name.startswith("*"):
            rest = tuple(pos)
            named[name[1:]] = (
                Tup(rest)
                if args.more is None
                else Seq("tuple", None, or_unknown(joined([*rest, args.more])), 0)
            )
            if name[1:] == "operands" and "operand" in named:
                named["operands"] = Tup((named["operand"],))
            pos = []
        elif pos and name not in named:
            named[name] = pos.pop(0)
    return named


def _run_one(
    m: Machine, f: Frame, at: int, spec: HigherOrder, one: Run, named: dict[str, Value], again: bool
) -> tuple[Value, list[Value], list[Value]]:
    """What the function gave, what it got, and what each one gave when several are certain to be branches."""
    w = f.world
    if w.eager_jit and one.modes > 0 and one.modes & S:
        one = msgspec.structs.replace(one, modes=EAGER)
    if one.modes == -1:
        inner = scopes.in_world(f, HOST, ())
    elif one.modes <= 0:
        inner = scopes.in_world(f, w, f.steps)
        inner.token = object()
    else:
        inner = scopes.in_world(f, _world_inside(w, spec, one, named), f.steps)
        inner.steps = (*f.steps, Step(f.module.name, at, f"{xforms.RUN} `{spec.name}` here", RULED.word))
    out: Value | None = None
    used: list[Value] = []
    each: list[Value] = []
    functions = named.get(one.function, UNKNOWN)
    for function in keys.exclusive(f, _functions(functions)):
        if inner.steps and one.modes > 0:
            step = Step(
                f.module.name, at, f"`{describe(function)}` {xforms.RUN} `{spec.name}` here", RULED.word
            )
            inner.steps = (*f.steps, step)
        call_args, used = _arguments(m, f, inner, at, one, named, function)
        counting.begin(m, f, at, spec.result, named, used, demands.rows)
        if spec.result in REPEATING and (again or type(named.get("tree")) is not Arr):
            m.domains.on_repeat(inner, Repeat(call_args.pos))
        xforms.mark_called(function)
        if type(functions) is not Union:
            arity.check(m, f, at, spec, one, named, function, call_args)
        value = evaluator.call(m, inner, at, function, call_args)
        if spec.result in CARRYING:
            turn = Turn(used[-1 if spec.result == "fori" else 0], value, spec.result == "scan")
            m.domains.on_turn(inner, turn)
            value = turning.again(m, inner, at, function, call_args, turn)
        each.append(value)
        out = value if out is None else join(out, value)
    if not used:
        used = _arguments(m, f, inner, at, one, named, UNKNOWN)[1]
    result = out if out is not None else UNKNOWN
    return result, used, each if type(functions) is not Union else [result]


def _functions(value: Value) -> list[Value]:
    out: list[Value] = []
    for alt in alternatives(value):
        items = iteration.known_items(alt) if is_sequence(alt) else None
        if items is not None:
            out.extend(items)
        elif type(alt) is Seq:
            out.extend(alternatives(alt.rest) if alt.rest is not None else [])
        else:
            out.append(alt)
    return out


def _world_inside(w: World, spec: HigherOrder, one: Run, named: dict[str, Value]) -> World:
    """The transforms in force where a function runs. A choice may be made for each mapped element by itself."""
    world = w.inside(one.modes, S, spec.looks, spec.kernel, spec.forward, spec.pushes)
    decides = named.get(spec.params[0]) if spec.result == "branches" else None
    each = type(decides) is Arr and decides.modes & B and not decides.weak and not decides.host
    marks = (OWN if spec.solves else 0) | (BOTH if each else 0)
    return world.but(marks=marks) if marks else world


def _arguments(
    m: Machine, f: Frame, inner: Frame, at: int, one: Run, named: dict[str, Value], function: Value
) -> tuple[Args, list[Value]]:
    pos: list[Value] = []
    more: Value | None = None
    for text in one.args:
        kind, _, name = text.rpartition(":")
        if name.startswith("*"):
            rest = named.get(name.lstrip("*"), Tup(()))
            items = iteration.known_items(rest)
            if items is None:
                more = _shape_argument(m, f, inner, one, kind, iteration.element(m, f, at, rest, quiet=True))
            elif kind == "leaf":
                pos.extend(prefixes.leaf_beside(named.get("tree", UNKNOWN), item) for item in items)
            else:
                pos.extend(_shape_argument(m, f, inner, one, kind, item) for item in items)
        elif text == "int":
            pos.append(Arr(max(one.modes, 0), "int", 0, "the loop index", inner.world.level))
        elif text in FIXED:
            pos.append(FIXED[text])
        elif text == "refs":
            sig = signature(function)
            for param in sig.positional if sig is not None else ():
                why = f"parameter `{param.name}` of `{describe(function)}`"
                pos.append(references(UNKNOWN, one.modes, inner.world.level, why))
        else:
            pos.append(_shape_argument(m, f, inner, one, kind, named.get(name, UNKNOWN), name))
    return Args(pos, {}, more), pos


def _shape_argument(
    m: Machine, f: Frame, inner: Frame, one: Run, kind: str, value: Value, name: str = ""
) -> Value:
    if kind == "leaf":
        return pytrees.leaf(value)
    if kind in ("elem", "part"):
        value = pytrees.with_rank(value, -1, axis=0 if kind == "elem" else None)
    if kind in ("number", "part"):
        value = pytrees.with_rank(value, None if kind == "number" else 1, axis=None)
    if one.modes == -1:
        return on_host(value)
    if one.modes <= 0:
        return value
    if value is UNKNOWN:
        value = Tree(0)
    why = f"`{name}` of the traced loop" if name else "an operand of the traced branch"
    return pytrees.lift(value, one.modes, inner.world.level, why, one.filter, sized=True)


def on_host(value: Value) -> Value:
    """What a host callback receives: concrete arrays."""
    return _to_numpy(pytrees.lower(value, ALL_MODES, 0, 0))


def _to_numpy(value: Value) -> Value:
    if type(value) is Tree:
        return UNKNOWN  # NumPy arrays in an unknown structure
    if type(value) is Arr:
        out = Arr(0, value.dtype, value.rank, "", 0, SEEN, True, value.key)
        out.dims, out.about = value.dims, value.about
        return out
    if type(value) is Union:
        return or_unknown(joined([_to_numpy(alt) for alt in value.alts]))
    parts = pytrees.children(value)
    return pytrees.with_children(value, [_to_numpy(part) for part in parts]) if parts else value


@dataclass(frozen=True, slots=True)
class _Ran:
    """A higher-order function whose functions have run: its arguments, what each run gave and what it was given.

    outer: the modes that the arguments had outside.
    """

    m: Machine
    f: Frame
    at: int
    spec: HigherOrder
    named: dict[str, Value]
    results: list[Value]
    given: list[list[Value]]
    outer: int

    def out(self, value: Value) -> Value:
        """A result of a run as it is outside."""
        w = self.f.world
        outer = self.outer if w.here else self.outer & ~S
        return pytrees.lower(value, max(self.spec.run[0].modes, 0), w.here, w.level, outer)


def _result(
    m: Machine,
    f: Frame,
    at: int,
    spec: HigherOrder,
    named: dict[str, Value],
    results: list[Value],
    given: list[list[Value]],
) -> Value:
    outer = modes_among(named.values())
    made = _RESULTS.get(spec.result)
    return UNKNOWN if made is None else made(_Ran(m, f, at, spec, named, results, given, outer))


def _of_scan(ran: _Ran) -> Value:
    carry, ys = _pair(ran.results[0])
    init = ran.given[0][0] if ran.given[0] else UNKNOWN
    if not ran.f.world.eager_jit:
        carries.check_pair(ran.m, ran.f, ran.at, ran.spec, ran.named.get("init", UNKNOWN), ran.results[0])
        carries.check_carry(ran.m, ran.f, ran.at, ran.spec, ran.named.get("init", UNKNOWN), carry)
    turns = demands.rows(ran.named)
    given = ran.named.get("init", UNKNOWN)
    either = carries.through_branches([carry], _either(init, carry))
    left = leaf_shapes.shaped_as(ran.out(either), given)
    return Tup((left, pytrees.with_rank(ran.out(ys), 1, size=turns)))


def _of_loop(ran: _Ran) -> Value:
    init = ran.given[-1][-1] if ran.given[-1] else UNKNOWN
    body = ran.results[-1]
    if not ran.f.world.eager_jit:
        if ran.spec.result == "while":
            carries.check_condition(ran.m, ran.f, ran.at, ran.spec, ran.results[0])
        carries.check_carry(ran.m, ran.f, ran.at, ran.spec, ran.named.get("init_val", UNKNOWN), body)
    left = ran.out(carries.through_loop(ran.spec, ran.named, _either(init, body)))
    return leaf_shapes.shaped_as(left, ran.named.get("init_val", UNKNOWN))


def _of_branches(ran: _Ran) -> Value:
    known = [r for r in ran.results if r is not UNKNOWN]
    return (
        ran.out(carries.through_branches(known, or_unknown(joined(known))))
        if known
        else _opaque(ran.f, ran.outer)
    )


def _of_pairs(ran: _Ran) -> Value:
    if not ran.f.world.eager_jit:
        carries.check_combined(
            ran.m, ran.f, ran.at, ran.spec, ran.named.get("elems", UNKNOWN), ran.results[0]
        )
    return _of_rows(ran)


def _of_rows(ran: _Ran) -> Value:
    if ran.results[0] is UNKNOWN:
        return _opaque(ran.f, ran.outer)
    stacked = ran.spec.result == "stack"
    return pytrees.with_rank(
        ran.out(ran.results[0]), 1 if stacked else 0, size=demands.rows(ran.named) if stacked else None
    )


def _of_tree_map(ran: _Ran) -> Value:
    tree = ran.named.get("tree", UNKNOWN)
    return ran.results[0] if type(tree) is Arr else pytrees.rebuild(tree, ran.results[0])


def _of_jvp(ran: _Ran) -> Value:
    value = ran.out(ran.results[0])
    return Tup((value, value))


def _of_vjp(ran: _Ran) -> Value:
    value, inside = ran.out(ran.results[0]), ran.results[0]
    aux = ran.named.get("has_aux")
    has_aux = type(aux) is Py and aux.const is True and type(value) is Tup and len(value.items) == 2
    if has_aux and type(inside) is Tup:
        inside = inside.items[0]
    loop = Py("str", carries.loop_behind(inside))
    pullback = ExtInst(PULLBACK, {"loop": loop}) if ran.spec.name.endswith("vjp") else UNKNOWN
    if type(pullback) is ExtInst and ran.spec.name == "jax.vjp" and (has_aux or aux is None):
        pullback.attrs |= {directions.RESULT: inside, directions.INPUTS: ran.named.get("primals", UNKNOWN)}
    if has_aux and type(value) is Tup:
        return Tup((value.items[0], pullback, value.items[1]))
    return Tup((value, pullback))


_RESULTS: Final[dict[str, Callable[[_Ran], Value]]] = {
    "scan": _of_scan,
    "while": _of_loop,
    "fori": _of_loop,
    "branches": _of_branches,
    "stack": _of_rows,
    "first": _of_rows,
    "pairs": _of_pairs,
    # of a solver, whose derivative is a rule of its own
    "last": lambda ran: ran.out(pytrees.remode(ran.results[-1], lambda modes: modes & ~BEHIND)),
    "tree_map": _of_tree_map,
    "mapped": lambda ran: ran.results[0],
    "jvp": _of_jvp,
    "vjp": _of_vjp,
    "array": lambda ran: Tree(ran.f.world.here | ran.outer, "", ran.f.world.level),
    "none": lambda ran: NONE,
    "shapes": lambda ran: abstract.described(ran.results[0]),
}


def _opaque(f: Frame, outer: int) -> Value:
    return Tree(f.world.here | outer, "", f.world.level, GUESSED) if f.world.here or outer else UNKNOWN


def _either(init: Value, out: Value) -> Value:
    if init is UNKNOWN:
        return out
    return init if out is UNKNOWN else join(init, out)


def _pair(value: Value) -> tuple[Value, Value]:
    items = iteration.known_items(value) if type(value) is Tup else None
    if items is not None and len(items) == 2:
        return items[0], items[1]
    element = Tree(value.modes, value.why, value.level, value.traced) if type(value) is Tree else UNKNOWN
    return element, element
