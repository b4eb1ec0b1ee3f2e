"""Variables of modules of `flax.linen`: what ``apply`` gets, and what its layers read and write (layer: ``link``, room ``domains``).

What it does: compares what certainly came out of ``init`` with where it is handed in, the collections that layers read with those
that a dict of them has, and says which variables are written where only ``apply`` can allow that. What it does not: speak of
variables from elsewhere, such as a file, or of writing under a condition that nobody can answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.mappings import COLLECTIONS, PARAMETERS
from jitlint.infer.values import (
    NO_CONST,
    NONE,
    Arr,
    ExtInst,
    Map,
    Py,
    Tree,
    Value,
    alternatives,
    const_of,
)
from jitlint.link.domains.contracts.needs import Need
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library, Store
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once, ir_walk
from jitlint.link.values import paths
from jitlint.link.values.library_objects import COLLECTION
from jitlint.syntax import ir

_APPLY: Final = "flax.linen.Module.apply"
_VARIABLE: Final = "flax.linen.Variable"
_AFTERWARDS: Final = "has_variable"
"""The question that is answered with yes where a module runs again."""
_AT_FIRST: Final = "is_initializing"
"""The question that is answered with yes where it runs for the first time."""


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A module is applied, or initialised."""
    first = library.args.pos[0] if library.args.pos else library.args.kw.get("variables")
    if first is None:
        return
    applied = library.dotted == _APPLY
    found = {_wrong(alt) if applied else _no_key(alt) for alt in alternatives(first)}
    problem, detail = found.pop() if len(found) == 1 else ("", "")
    if problem:
        m.emit(f, ApiMisuse, library.at, api=library.dotted, problem=problem, parameter=detail)


def _wrong(given: Value) -> tuple[str, str]:
    """What is certainly wrong about variables, and where in them."""
    if type(given) is Tree and given.kind is SEEN and given.evidence == PARAMETERS:
        return "bare-variables", ""
    if type(given) is Arr and given.kind is SEEN and not given.softness:
        return "swapped-variables", ""
    entries = given.entries.items() if type(given) is Map else ()
    wrapped = (name for name, part in entries if _is_whole(part))
    name = next(wrapped, "")
    return ("wrapped-variables", str(name)) if name else ("", "")


def _is_whole(value: Value) -> bool:
    """Whether something is certainly a whole dict of collections."""
    return all(
        type(alt) is Tree and alt.kind is SEEN and alt.evidence == COLLECTIONS for alt in alternatives(value)
    )


def _no_key(given: Value) -> tuple[str, str]:
    """What is certainly wrong about the keys of a first run."""
    certain = type(given) is Arr and given.kind is SEEN and not given.softness
    is_data = certain and type(given) is Arr and given.dtype in ("float", "complex", "bool")
    return ("swapped-key", "") if is_data else ("", "")


def lacks(args: Args, need: Need) -> bool:
    """Whether an ``apply`` is certainly given variables without a collection that a layer reads."""
    given, mutable = args.get(0, "variables"), args.kw.get("mutable")
    if mutable is not None and mutable is not NONE:
        return False  # what is missing may be made
    return type(given) is Map and given.rest is None and not given.open and need.name not in given.entries


def written(m: Machine, f: Frame, store: Store) -> Need | None:
    """A variable of a module is written, as it is in every run but the first: ``apply`` has to allow that."""
    owner = store.owner
    if type(owner) is not ExtInst or owner.dotted != _VARIABLE or store.key != "value" or store.form:
        return None
    collection = owner.attrs.get(COLLECTION)
    name = const_of(collection) if collection is not None else NO_CONST
    if not isinstance(name, str) or f.loops or not _runs_again(m, f):
        return None
    return Need("mutable", name, "", f.module.name, store.at, f.qualname, f.confidence)


def _runs_again(m: Machine, f: Frame) -> bool:
    """Whether the current statement certainly runs wherever the module is not run for the first time."""
    around = surroundings.around(f)
    if f.fn is None or not around or _ends_early(around[0][1], f.at):
        return False
    return all(_is_entered(m, f, node, block) for node, block in around[1:])


def _ends_early(body: Sequence[ir.Node], at: int) -> bool:
    """Whether a function may return before a statement."""
    return any(type(node) is ir.Return and node.at < at for node in ir_walk.nodes(list(body)))


def _is_entered(m: Machine, f: Frame, node: ir.Node | None, block: Sequence[ir.Node]) -> bool:
    """Whether a block certainly runs in a later run of the module, if the statement that it belongs to does."""
    if type(node) is not ir.If:
        return type(node) is ir.With
    test, side = node.test, block is node.body
    while type(test) is ir.UnaryOp and test.op == "not":
        test, side = test.operand, not side
    asked = _question(f, test)
    if asked:
        return side == (asked == _AFTERWARDS)
    value = paths.peek(m, f, test)
    return value is not None and type(value) is Py and const_of(value) is not NO_CONST


def _question(f: Frame, test: ir.Node) -> str:
    """Which of the two questions a test asks a module, or what a variable is that was set to the answer."""
    asked = bound_once.written(f.fn, test)
    name = ir_walk.last_name(asked.func) if type(asked) is ir.Call else ""
    return name if name in (_AFTERWARDS, _AT_FIRST) else ""
