"""What expressions do to buffers: reads, aliases, calls that give arguments away (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.host_calls import HostCall
from jitlint.infer.program import FuncInfo
from jitlint.link.domains.donation import aliases, elements, keeping, reading, shared
from jitlint.link.domains.donation.state import Kill, Term, fresh, join, root
from jitlint.link.domains.donation.walker import TURNS, Summary, Walker, initial
from jitlint.link.tables.ir_walk import path_text
from jitlint.syntax import ir


def evaluate(w: Walker, node: ir.Node | None) -> Term:
    """The object that an expression gives, after its effects."""
    handler = _EVALUATE.get(type(node))
    return handler(w, node) if handler is not None else fresh()


def use(w: Walker, node: ir.Expr, again: int | None = None, deep: bool = False) -> Term:
    """Evaluate an expression whose contents are read. ``again``: the origin of the call that gets it.

    deep: what a container holds is read too.
    """
    term = evaluate(w, node)
    _read_all(w, node, term, again)
    if deep and w.state.killed(term) is None:
        for (owner, _), value in list(w.state.heap.items()):
            if owner == term and w.state.killed(value) is not None:
                _read(w, value, node.at, again)
                break
    return term


def _read_all(w: Walker, node: ir.Expr, term: Term, again: int | None) -> None:
    if type(node) is ir.Tuple or type(node) is ir.List:
        for i, element in enumerate(node.elts):
            _read_all(w, element, w.state.part(term, f"[{i}]"), again)
    elif type(node) is ir.Dict:
        for key, value in zip(node.keys, node.values):
            if type(key) is ir.Const:
                _read_all(w, value, w.state.part(term, f"[{key.value!r}]"), again)
    else:
        _read(w, term, node.at, again)


def _read(w: Walker, term: Term, at: int, again: int | None = None) -> None:
    if w.excused:
        return
    kill = w.state.killed(term)
    if kill is not None:
        w.report(w.module.name, at, kill, "again" if again is not None and kill.at == again else "read")
        w.state.revive(term)
    elif initial(term):
        w.uses.setdefault(term, at)


def _name(w: Walker, node: ir.Name) -> Term:
    return w.state.name(node.id) if node.id not in w.unstable else fresh()


def _attr(w: Walker, node: ir.Attr) -> Term:
    if w.dotted(node) is not None:
        return fresh()
    owner = evaluate(w, node.obj)
    if node.name in lexicon().buffers.metadata or w.is_computed(node.obj, node.name):
        return fresh()
    return w.state.part(owner, f".{node.name}")


def _sub(w: Walker, node: ir.Sub) -> Term:
    owner = evaluate(w, node.obj)
    use(w, node.index)
    kill = w.state.killed(owner)
    if type(node.obj) is ir.Attr and node.obj.name == "at":
        _read(w, owner, node.obj.obj.at)
    elif kill is not None and kill.array and owner in w.state.dead:
        _read(w, owner, node.obj.at)
    elif isinstance(node.index, (ir.Slice, ir.Tuple)):
        _read(w, owner, node.obj.at) if kill is None else None
    if type(node.index) is ir.Const and node.index.value is not None:
        return w.state.part(owner, f"[{node.index.value!r}]")
    return w.state.part(owner, "[*]") if kill is not None else fresh()


def _slice(w: Walker, node: ir.Slice) -> Term:
    for bound in (node.lo, node.hi, node.step):
        if bound is not None:
            use(w, bound)
    return fresh()


def _operands(*names: str) -> Callable[[Walker, ir.Node], Term]:
    def handler(w: Walker, node: ir.Node | None) -> Term:
        for name in names:
            use(w, getattr(node, name))
        return fresh()

    return handler


def _compare(w: Walker, node: ir.Compare) -> Term:
    quiet = {"is", "is not", "in", "not in"}
    parts = [node.left, *node.rights]
    for i, part in enumerate(parts):
        around = [node.ops[j] for j in (i - 1, i) if 0 <= j < len(node.ops)]
        none = any(type(p) is ir.Const and p.kind == "none" for p in parts)
        if none or all(op in quiet for op in around):
            evaluate(w, part)
        else:
            use(w, part)
    return fresh()


def _boolop(w: Walker, node: ir.BoolOp) -> Term:
    evaluate(w, node.left)
    before = w.state.copy()
    evaluate(w, node.right)
    w.state = join(before, w.state)
    return fresh()


def _ifexp(w: Walker, node: ir.IfExp) -> Term:
    use(w, node.test)
    before = w.state.copy()
    one = evaluate(w, node.body)
    after, w.state = w.state, before
    two = evaluate(w, node.orelse)
    w.state = join(after, w.state)
    return one if one == two else fresh()


def _container(w: Walker, node: ir.Tuple | ir.List | ir.Set) -> Term:
    out = fresh()
    for i, element in enumerate(node.elts):
        value = evaluate(w, element.value if type(element) is ir.Starred else element)
        if type(element) is not ir.Starred and type(node) is not ir.Set:
            w.state.store(out, f"[{i}]", value)
    return out


def _dict(w: Walker, node: ir.Dict) -> Term:
    out = fresh()
    for key, value_node in zip(node.keys, node.values):
        if key is not None:
            evaluate(w, key)
        value = evaluate(w, value_node)
        if type(key) is ir.Const and key.value is not None:
            w.state.store(out, f"[{key.value!r}]", value)
    return out


def _comp(w: Walker, node: ir.Comp) -> Term:
    env = dict(w.state.env)
    for turn in range(TURNS):
        for i, part in enumerate(node.fors):
            if turn == 0 or i > 0:
                evaluate(w, part.iter)
            leaves = elements.bound_to(w, evaluate, part.target, part.iter)
            for target, leaf in [(part.target, fresh()), *leaves]:
                bind(w, target, leaf)
            for test in part.ifs:
                use(w, test)
        for value in filter(None, (node.elt, node.value)):
            evaluate(w, value)
    w.state.env = env
    return fresh()


def _fstr(w: Walker, node: ir.Fstr) -> Term:
    for part in node.parts:
        use(w, part.value)
    return fresh()


def _walrus(w: Walker, node: ir.Walrus) -> Term:
    value = evaluate(w, node.value)
    w.state.env[node.target] = value
    return value


def _inner(w: Walker, node: ir.Await | ir.Yield | ir.Starred) -> Term:
    if node.value is not None:
        evaluate(w, node.value)
    return fresh()


def bind(w: Walker, target: ir.Node | None, value: Term, node: ir.Node | None = None) -> None:
    """Assign an object to a target; ``node`` is the expression that gave it, when there is one."""
    if type(target) is ir.Name:
        w.imported.pop(target.id, None)
        w.state.env[target.id] = value
    elif isinstance(target, (ir.Tuple, ir.List)):
        _bind_parts(w, target.elts, value, node)
    elif type(target) is ir.Attr:
        w.state.store(evaluate(w, target.obj), f".{target.name}", value)
    elif type(target) is ir.Sub:
        owner = evaluate(w, target.obj)
        use(w, target.index)
        if type(target.index) is ir.Const and target.index.value is not None:
            w.state.store(owner, f"[{target.index.value!r}]", value)
        else:
            w.state.forget(owner)
    elif type(target) is ir.Starred:
        bind(w, target.value, value)


def _bind_parts(w: Walker, targets: Sequence[ir.Node], value: Term, node: ir.Node | None) -> None:
    parts = node.elts if isinstance(node, (ir.Tuple, ir.List)) and len(node.elts) == len(targets) else None
    held = [w.state.part(value, f"[{i}]") for i in range(len(targets))]
    starred = any(type(e) is ir.Starred for e in targets)
    for i, element in enumerate(targets):
        if type(element) is ir.Starred:
            bind(w, element.value, fresh())
        else:
            bind(w, element, fresh() if starred else held[i], parts[i] if parts is not None else None)


# Calls


def _call(w: Walker, node: ir.Call) -> Term:
    call: HostCall | None = w.m.host_calls.calls.get((w.module.name, node.at))
    name = w.dotted(node.func)
    receiver = evaluate(w, node.func.obj) if type(node.func) is ir.Attr and name is None else None
    if receiver is None and name is None and type(node.func) is not ir.Name:
        evaluate(w, node.func)
    if call is not None and not call.others:
        if call.jitted and not call.functions:
            return _call_jitted(w, node, call)
        if len(call.functions) == 1 and not call.jitted:
            (fn,) = call.functions
            summary = w.summary_of(fn)
            if summary is not None:
                return _call_known(w, node, call, fn, summary, receiver)
    kept = keeping.kept(w, node, name)
    if kept is not None:
        return _keep(w, node, kept)
    if name is not None:
        return _call_library(w, node, name)
    if receiver is not None and type(node.func) is ir.Attr:
        return _call_method(w, node, node.func, receiver)
    for arg in node.args:
        w.state.forget(evaluate(w, arg.value))
    return fresh()


def _keep(w: Walker, node: ir.Call, kept: list[tuple[str, ...]]) -> Term:
    """An object that holds what it was made of."""
    out = fresh()
    for arg, places in zip(node.args, kept):
        value = evaluate(w, arg.value)
        for place in places:
            w.state.store(out, place, value)
    return out


def _call_jitted(w: Walker, node: ir.Call, call: HostCall) -> Term:
    given: list[tuple[ir.Expr, Term, bool]] = []
    terms: list[tuple[Term, int]] = []
    spread = False  # behind a `*`, nobody knows which argument a position is
    position = call.shift
    for arg in node.args:
        spread = spread or bool(arg.star)
        key: int | str = arg.name if arg.name is not None else position
        position += arg.name is None
        term = use(w, arg.value, again=node.at, deep=True)
        terms.append((term, arg.value.at))
        array = (call.donated or {}).get(key)
        if array is not None and not (spread and arg.name is None):
            given.append((arg.value, term, array))
    for value, term, array in given:
        kill = Kill(w.module.name, node.at, call.target, path_text(value), array)
        again = any(other == term and at != value.at for other, at in terms)
        if array and again and term not in w.state.held:
            w.report(w.module.name, node.at, kill, "twice")
        _check_names(w, node, value, kill)
        w.state.kill(term, kill)
    return fresh()


def _check_names(w: Walker, node: ir.Call, value: ir.Expr, kill: Kill) -> None:
    """What is given away may hold an array twice, or have a second name that the call gets as well."""
    inside = "" if kill.array else shared.name_of(w, value, node.at)
    others = [arg.value for arg in node.args if arg.value is not value]
    if inside:
        w.report(w.module.name, node.at, replace(kill, name=inside), "inside")
    elif aliases.second_name(w.m, w.fn, value, others, node):
        w.report(w.module.name, node.at, kill, "twice")


def _bound(node: ir.Call, call: HostCall, fn: FuncInfo, receiver: ir.Expr) -> dict[str, ir.Expr] | None:
    """Parameter to argument expression; the receiver's under the first. None when that is not plain."""
    if any(arg.star for arg in node.args) or call.shift > 1:
        return None
    out: dict[str, ir.Expr] = {}
    names = [p.name for p in fn.node.params if p.kind in ("pos", "any")]
    if call.shift and names:
        out[names[0]] = receiver
    position = call.shift
    for arg in node.args:
        if arg.name is not None:
            out[arg.name] = arg.value
        else:
            if position < len(names):
                out[names[position]] = arg.value
            position += 1
    return out


def _call_known(
    w: Walker, node: ir.Call, call: HostCall, fn: FuncInfo, summary: Summary, receiver: Term | None
) -> Term:
    plain = _bound(node, call, fn, node.func.obj if type(node.func) is ir.Attr else node.func)
    terms = {id(arg): evaluate(w, arg.value) for arg in node.args}
    if plain is None:
        for term in [*terms.values(), *([receiver] if receiver is not None else [])]:
            w.state.forget(term)
        return fresh()
    by_node = {id(arg.value): terms[id(arg)] for arg in node.args}
    held: dict[str, Term] = {}
    for name, value in plain.items():
        if id(value) in by_node:
            held[name] = by_node[id(value)]
        else:
            held[name] = receiver if receiver is not None else evaluate(w, value)
    _repeat_uses(w, node, fn, summary, plain, held)
    _repeat_changes(w, node, fn, summary, held)
    return fresh()


def _repeat_uses(
    w: Walker, node: ir.Call, fn: FuncInfo, summary: Summary, plain: dict[str, ir.Expr], held: dict[str, Term]
) -> None:
    """What a function reads of what it is given; what was donated before is a mistake."""
    for term, at in summary.uses.items():
        mapped = _mapped(w, fn, term, held)
        if mapped is None:
            continue
        kill = w.state.killed(mapped)
        if kill is not None and not w.excused:
            name = root(term)[1]
            whole = term[0] == "v" or (name in held and w.state.killed(held[name]) is not None)
            direct = plain.get(name) if whole else None
            if direct is not None:
                w.report(w.module.name, direct.at, kill, "read")
            else:
                w.report(fn.module.name, at, kill, "read")
            w.state.revive(mapped)
        elif initial(mapped):
            w.uses.setdefault(mapped, node.at)


def _repeat_changes(w: Walker, node: ir.Call, fn: FuncInfo, summary: Summary, held: dict[str, Term]) -> None:
    """What a function donates and assigns of what it is given; all is looked up before any of it is changed."""
    killed = [(_mapped(w, fn, term, held), kill) for term, kill in summary.kills.items()]
    writes = [(_mapped(w, fn, owner, held), key, kill) for (owner, key), kill in summary.writes.items()]
    for dead, kill in killed:
        if dead is not None:
            w.state.kill(dead, Kill(w.module.name, node.at, kill.callee, kill.name, kill.array))
    for owner, key, gone in writes:
        if owner is None:
            continue
        if key == "*":
            w.state.forget(owner)
            continue
        value = fresh()
        w.state.store(owner, key, value)
        if gone is not None:
            w.state.kill(value, gone)


def _mapped(w: Walker, fn: FuncInfo, term: Term, held: dict[str, Term]) -> Term | None:
    """A term of a called function as one of the caller's; variables that it has from the caller are the same."""
    if term[0] == "v":
        name = term[1]
        if name in fn.node.local_names or name in w.unstable or fn.module is not w.module:
            return held.get(name)
        inside = w.fn is None or fn.qualname.startswith(f"{w.fn.qualname}.<locals>.")
        return w.state.name(name) if inside else None
    if term[0] == "s":
        owner = _mapped(w, fn, term[1], held)
        return None if owner is None else w.state.part(owner, term[2])
    return None


def _call_library(w: Walker, node: ir.Call, name: str) -> Term:
    buffers = lexicon().buffers
    arguments = [arg.value for arg in node.args]
    if name in buffers.tree_maps and arguments:
        return _map_tree(w, arguments[0], arguments[1:])
    reads = reading.reads(name)
    deep = name.startswith(buffers.reading_modules)
    known = name.startswith(("builtins.", "jax."))
    first: Term | None = None
    for argument in arguments:
        term = use(w, argument, deep=deep) if reads else evaluate(w, argument)
        first = term if first is None else first
        if not reads and not known:
            w.state.forget(term)
    if first is not None and name in buffers.holding:
        w.state.held.add(first)
    passed = (
        name in buffers.same_object and len(arguments) == 1 and (w.module.name, node.at) in w.known.passing
    )
    return first if first is not None and passed else fresh()


def _map_tree(w: Walker, function: ir.Expr, trees: list[ir.Expr]) -> Term:
    """A function goes over the leaves of some trees: which of them does it read."""
    all_read = reading.computes(w.dotted(function) or "")
    computed = reading.computed_with(w, function)
    evaluate(w, function)
    for i, tree in enumerate(trees):
        if all_read or i in computed:
            use(w, tree, deep=True)
        else:
            evaluate(w, tree)
    return fresh()


def _call_method(w: Walker, node: ir.Call, func: ir.Attr, receiver: Term) -> Term:
    name = func.name
    of_array = name in lexicon().buffers.reading_methods or w.m.catalogue.array_method(name) is not None
    kill = w.state.killed(receiver)
    if name in lexicon().buffers.metadata:
        return fresh()
    if of_array and (
        name not in lexicon().containers.shared_with_arrays or (kill is not None and kill.array)
    ):
        _read(w, receiver, func.obj.at)
        for arg in node.args:
            use(w, arg.value)
        return receiver if name == "block_until_ready" else fresh()
    for arg in node.args:
        term = evaluate(w, arg.value)
        if name in lexicon().containers.filling:
            w.state.store(receiver, f"+{fresh()[1]}", term)
        else:
            w.state.forget(term)
    containers = lexicon().containers
    if not of_array and name not in containers.filling and name not in containers.viewing:
        w.state.forget(receiver)
    return fresh()


_EVALUATE: Final[dict[type, Callable[[Walker, Any], Term]]] = {
    ir.Name: _name,
    ir.Attr: _attr,
    ir.Sub: _sub,
    ir.Slice: _slice,
    ir.Call: _call,
    ir.BinOp: _operands("left", "right"),
    ir.UnaryOp: _operands("operand"),
    ir.Compare: _compare,
    ir.BoolOp: _boolop,
    ir.IfExp: _ifexp,
    ir.Tuple: _container,
    ir.List: _container,
    ir.Set: _container,
    ir.Dict: _dict,
    ir.Comp: _comp,
    ir.Fstr: _fstr,
    ir.Walrus: _walrus,
    ir.Await: _inner,
    ir.Yield: _inner,
    ir.Starred: _inner,
}
