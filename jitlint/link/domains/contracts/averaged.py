"""Averages that are given in the place of what they follow (layer: ``link``, room ``domains``).

``optax.incremental_update(new, old, step_size)`` gives ``step_size * new + (1 - step_size) * old``. What it does: reads from names
which of both follows slowly, and from what becomes of the result that it stays that one. What it does not: speak of step sizes that
are not known, or of a half or more, as those of a program that means the share that is kept.
Source: https://optax.readthedocs.io/en/latest/api/apply_updates.html#optax.incremental_update
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OddOptimiser
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Value, const_of
from jitlint.link.engine import callers, surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import by_parameter, path_text
from jitlint.link.tables.storing import places
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.syntax import ir
from jitlint.syntax.children import below

_SMALL: Final = 0.5
"""Who gives a share of so much may mean what is kept."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """Record a call that takes a small share of what its result is to follow with."""
    call = m.texts.table(f).calls.get(library.at)
    if library.dotted not in lexicon().arrays.averaging or call is None or f.module.is_test:
        return
    share = _share(m, f, derivatives.argument(call, 2, "step_size"), library.args.get(2, "step_size"))
    first, second = (derivatives.argument(call, *one) for one in ((0, "new_tensors"), (1, "old_tensors")))
    slow = path_text(first)
    if not 0 < share < _SMALL or not _says_slow(slow) or _mentions_slow(second):
        return
    if _stays(m, f, call, slow, path_text(second)):
        m.emit(
            f, OddOptimiser, library.at, None, Confidence.LIKELY, problem="replaced", name=slow,
            detail=f"{share:g}",
        )  # fmt: skip


def _share(m: Machine, f: Frame, node: ir.Expr | None, value: Value | None) -> float:
    """The step size, 0 if it is not known. Of a compiled function that is given one, the largest that the program writes."""
    const = const_of(value) if value is not None else None
    if type(node) is ir.BinOp and node.op == "-":
        whole, kept = paths.constant(m, f, node.left), paths.constant(m, f, node.right)
        const = whole - kept if isinstance(whole, (int, float)) and isinstance(kept, float) else const
    elif type(value) is Arr and type(node) is ir.Name and f.fn is not None:
        const = _given(m, f.fn, node.id)
    return const if isinstance(const, float) else 0


def _given(m: Machine, fn: FuncInfo, name: str) -> float:
    """The largest number that all calls of a function write for a parameter, 0 if some write none."""
    params, found = fn.node.params, []
    if all(param.name != name for param in params):
        return 0
    for module, _, call in callers.calls(m, fn):
        node = dict(by_parameter(call, params)).get(name)
        number = node.value if type(node) is ir.Const else 0
        found += [number if isinstance(number, float) else 0] if not module.is_test else []
    return max(found) if found and min(found) > 0 else 0


def _stays(m: Machine, f: Frame, call: ir.Call, slow: str, other: str) -> bool:
    """Whether the result of a call takes the place of its first argument, here or where a function gives it back."""
    node, fn = surroundings.statement(f), f.fn
    if type(node) is not ir.Return or node.value is not call:
        return any(_takes_place(target, slow) for target in _targets(node, call))
    names = {param.name for param in fn.node.params} if fn is not None else set()
    if fn is None or not {slow, other} <= names:
        return False
    ways = list(_ways(m, fn, slow, other))
    named = naming.has_word(fn.name, lexicon().arrays.averages) and naming.has_word(slow, _plainly_slow())
    return all(ways) and (bool(ways) or named)


def _ways(m: Machine, fn: FuncInfo, slow: str, other: str) -> Iterator[bool]:
    """For each statement that binds what a function gives: does it go on from the one argument, and not the other."""
    for _, _, code in callers.bodies(m, fn.name, fn.module):
        for part in code:
            for call in below(part) if type(part) is ir.Assign else ():
                if type(call) is ir.Call and path_text(call.func).rpartition(".")[2] == fn.name:
                    given = {name: path_text(value) for name, value in by_parameter(call, fn.node.params)}
                    targets = list(_targets(part, call))
                    if targets:
                        yield any(_takes_place(one, given.get(slow, "")) for one in targets)


def _targets(node: ir.Node | None, call: ir.Call) -> Iterator[str]:
    """What a statement calls the result of a call: a variable or attribute, or the argument that it is for another call."""
    if type(node) is ir.Assign and node.value is call:
        yield from (path_text(one) for target in node.targets for one in places(target))
    for part in below(node):
        if type(part) is ir.Call:
            yield from (arg.name for arg in part.args if arg.name and arg.value is call)


def _takes_place(target: str, slow: str) -> bool:
    """Whether a name is that of an average, or of what it is next."""
    last, before = target.rpartition(".")[2], slow.rpartition(".")[2]
    again = _says_slow(before) and (last == before or last.endswith(f"_{before}"))
    return bool(slow) and (target == slow or again or _both_plain(last, slow))


def _both_plain(name: str, slow: str) -> bool:
    return any(_has_word(name, {word}) and _has_word(slow, {word}) for word in _plainly_slow())


def _plainly_slow() -> frozenset[str]:
    """Words for what follows something else, and is no mean of numbers."""
    return lexicon().keys.copies | lexicon().keys.references


def _says_slow(path: str) -> bool:
    return _has_word(path, lexicon().arrays.averages | _plainly_slow())


def _has_word(path: str, words: Set[str]) -> bool:
    return any(naming.has_word(part, words) for part in path.split("."))


def _mentions_slow(node: ir.Node | None) -> bool:
    """Whether an expression speaks of an average."""
    return any(_says_slow(path_text(part)) for part in below(node))
