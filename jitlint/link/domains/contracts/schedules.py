"""Schedules that are laid out over epochs, and go on by a step in each batch (layer: ``link``, room ``domains``).

What it does: remembers which variable a schedule got that says how many epochs there are, and looks for a loop over just as many with
another in it, in which the state of the optimiser goes on that was made with the schedule. What it does not: speak of steps that are
computed, of optimisers that gather gradients, or of states whose way from the optimiser is not plain.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OddOptimiser
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import ExtInst, Py, Value, py
from jitlint.link.domains.contracts import epochs, nnx
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import code_of, last_name, nodes, path_text, same_text
from jitlint.link.tables.storing import places, targets_of
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EPOCHS: Final = "$epochs"
_SITE: Final = "$laid out"
_MODULE: Final = "$laid out in"
_FUNCTION: Final = "$laid out by"
"""The attributes in which a schedule remembers the variable with its epochs, and where it was made."""
_GATHERING: Final = frozenset({"MultiSteps", "apply_every"})
"""What makes one step of several batches."""
_WARMING: Final = "warmup_cosine_decay_schedule"
_LOOPS: Final = (ir.For, ir.While)
_ROUNDS: Final = 3
_SELF: Final = "self."


def made(m: Machine, f: Frame, library: Library) -> None:
    """A schedule is made, or an optimiser, perhaps of one."""
    words, dotted, out = lexicon().contracts, library.dotted, library.result
    if library.owner is not None or f.module.is_test:
        return
    if dotted in words.schedules and type(out) is ExtInst:
        counts_on(m, f, library)
        call = m.texts.table(f).calls.get(library.at)
        written = [path_text(arg.value) for arg in call.args] if call is not None else []
        found = [path for path in written if epochs.says_so(path.rpartition(".")[2])]
        if found:
            place = {_SITE: library.at, _MODULE: f.module.name, _FUNCTION: f.qualname}
            out.attrs |= {name: py(value) for name, value in {_EPOCHS: found[-1], **place}.items()}
    elif dotted in words.complete | words.pairs_functions:
        schedule = library.args.pos[0] if library.args.pos else library.args.kw.get("learning_rate")
        _taken(m, f, schedule)


def counts_on(m: Machine, f: Frame, library: Library) -> None:
    """Record ``decay_steps=total - warmup`` of a schedule that begins with the warm-up, which it counts as well."""
    call = m.texts.table(f).calls.get(library.at) if library.dotted.endswith(_WARMING) else None
    steps, warmup = (derivatives.argument(call, *one) for one in ((3, "decay_steps"), (2, "warmup_steps")))
    if type(steps) is ir.BinOp and steps.op == "-" and warmup is not None and same_text(steps.right, warmup):
        m.emit(
            f, OddOptimiser, steps.at, None, Confidence.LIKELY, problem="counted-twice", name=library.dotted
        )


def _taken(m: Machine, f: Frame, schedule: Value | None) -> None:
    """Record a schedule that an optimiser takes, if each batch of an epoch is one of its steps."""
    if type(schedule) is not ExtInst or _EPOCHS not in schedule.attrs:
        return
    path, site, module, function = (_known(schedule, name) for name in (_EPOCHS, _SITE, _MODULE, _FUNCTION))
    functions: list[FuncInfo | None] = [None, *f.module.functions]
    start = next((fn for fn in functions if fn is not None and fn.qualname == function), None)
    if module != f.module.name or any(
        last_name(part) in _GATHERING for fn in functions for part in code_of(f.module, fn)
    ):
        return
    if any(_is_one(f, start, fn, str(path)) and _steps_in(m, f, fn, str(path)) for fn in functions):
        m.emit(
            f, OddOptimiser, int(str(site)), None, Confidence.LIKELY, where=(str(module), str(function)),
            problem="laid-out", name=str(path),
        )  # fmt: skip


def _known(schedule: ExtInst, name: str) -> object:
    value = schedule.attrs.get(name)
    return value.const if type(value) is Py else ""


def _is_one(f: Frame, one: FuncInfo | None, other: FuncInfo | None, path: str) -> bool:
    """Whether a variable or attribute is the same in two functions of a module, and stays so."""
    root = path.partition(".")[0]
    own = [fn is not None and _is_own(fn, root) for fn in (one, other)]
    alike = one is other or not any(own) or (path != root and all(own))
    return alike and all(
        _sets(code_of(f.module, fn), path, root) <= 1 - _is_given(fn, path) for fn in (one, other)
    )


def _is_own(fn: FuncInfo, name: str) -> bool:
    return name in fn.node.local_names or _is_given(fn, name)


def _is_given(fn: FuncInfo | None, name: str) -> bool:
    return fn is not None and any(param.name == name for param in fn.node.params)


def _sets(code: Sequence[ir.Node], path: str, root: str) -> int:
    """How often some code sets a variable, or an attribute of it."""
    found = [path_text(place) for part in code for target in targets_of(part) for place in places(target)]
    return found.count(path) + (found.count(root) if path != root else 0)


def _steps_in(m: Machine, f: Frame, fn: FuncInfo | None, path: str) -> bool:
    """Whether a function goes through epochs, and takes a step of the optimiser that is made in a loop inside."""
    loops = [
        part for part in code_of(f.module, fn) if type(part) is ir.For and path in epochs.bounds_of(part)
    ]
    inner = [part for loop in loops for part in nodes(loop.body) if isinstance(part, _LOOPS)]
    if not inner:
        return False
    made_here = _names(f, fn)
    states = _follow(f, fn, made_here)
    steps = [part for loop in inner for part in nodes(loop.body)]
    return any(_goes_on(part, states) for part in steps) or (
        _holds_state(m, f) and any(type(part) is ir.Call and _given(part) & made_here for part in steps)
    )


def _names(f: Frame, fn: FuncInfo | None) -> set[str]:
    """What a function calls that which the current statement makes the optimiser for."""
    own = {name for name in _targets(surroundings.statement(f)) if _is_seen(f.fn, fn, name)}
    maker = f.fn.name if f.fn is not None else ""
    for part in code_of(f.module, fn) if maker else ():
        call = part.value if type(part) is ir.Assign else None
        if type(call) is ir.Call and last_name(call.func) == maker:
            own |= _targets(part)
    return own


def _is_seen(setter: FuncInfo | None, fn: FuncInfo | None, name: str) -> bool:
    """Whether a name that one function, or a module, sets means the same in another function of the module."""
    hidden = fn is not None and _is_own(fn, name.partition(".")[0])
    return setter is fn or (setter is None and not hidden) or name.startswith(_SELF)


def _follow(f: Frame, fn: FuncInfo | None, names: set[str]) -> set[str]:
    """These names, and those of what is made of them before any loop."""
    found, module = set(names), f.module.tree.body
    for setter in (None, f.fn, fn) * _ROUNDS:
        for part in _before_loops(module if setter is None else setter.body):
            if type(part.value) is ir.Call and _given(part.value) & found:
                found |= {name for name in _targets(part) if _is_seen(setter, fn, name)}
    return found


def _targets(part: ir.Node | None) -> set[str]:
    """The variables and attributes that a statement sets."""
    targets = targets_of(part) if part is not None else ()
    return {path_text(place) for target in targets for place in places(target)} - {""}


def _before_loops(body: Sequence[ir.Node]) -> Iterator[ir.Assign]:
    for node in body:
        if type(node) is ir.Assign:
            yield node
        elif not isinstance(node, _LOOPS):
            for block in surroundings.blocks(node):
                yield from _before_loops(block)


def _given(call: ir.Call) -> set[str]:
    """What a call is given, or is a method of."""
    given = {path_text(part) for arg in call.args for part in below(arg.value)}
    return (given | {path_text(call.func.obj)} if type(call.func) is ir.Attr else given) - {""}


def _goes_on(part: ir.Node, states: set[str]) -> bool:
    """Whether a statement hands a state on: ``params, state = step(params, state, x)``, ``state = state.apply_gradients(...)``."""
    call = part.value if type(part) is ir.Assign else None
    if type(call) is not ir.Call:
        return False
    given = {path_text(arg.value) for arg in call.args}
    if type(call.func) is ir.Attr and call.func.name == "apply_gradients":
        given.add(path_text(call.func.obj))
    return bool(given & states & _targets(part))


def _holds_state(m: Machine, f: Frame) -> bool:
    """Whether the current statement makes an object that keeps the state of the optimiser itself."""
    node = surroundings.statement(f)
    call = node.value if type(node) is ir.Assign else None
    return type(call) is ir.Call and paths.dotted(m, f, call.func).startswith(nnx.OPTIMISER)
