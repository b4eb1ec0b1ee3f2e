"""Optimisers whose update needs their state, or the parameters, and whose state has an array for each leaf (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse, DroppedUpdate, TransformMisuse
from jitlint.infer.mappings import MAPPINGS
from jitlint.infer.values import (
    NONE,
    TRUE,
    Arr,
    ExtInst,
    Inst,
    Map,
    Py,
    Tree,
    Tup,
    Union,
    Value,
    alternatives,
    py,
)
from jitlint.link.domains.contracts import gradients, restarts, usage
from jitlint.link.domains.contracts.starts import Starts
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import changed_in, last_name
from jitlint.link.values import fitting
from jitlint.link.values.library_objects import COPIES
from jitlint.link.values.questions import derivatives, no_arrays
from jitlint.syntax import ir

OPTAX: Final = "optax."
_NEEDY: Final = "$needs parameters"
"""The attribute in which an optimiser remembers which transformation it is, or has inside, that needs them."""
_PERHAPS: Final = "$perhaps"
"""Where that one is inside depends on a choice."""
_VALUED: Final = "$needs the value"
_SEARCHES: Final = "$searches"
_SIGNED: Final = "$goes down"
_UPDATES: Final = "optax.apply_updates"


def heard(m: Machine, f: Frame, library: Library, starts: Starts) -> None:
    """An optimiser is made, or one updates."""
    dotted, args, owner = library.dotted, library.args, library.owner
    if dotted == _UPDATES:
        _applies(m, f, library, starts)
    elif owner is None:
        if type(library.result) is ExtInst:
            _remember(library.result, dotted, args)
            if COPIES in library.result.attrs:
                starts.made(f, library.at, library.result)
            usage.made(m, f, library)
    elif type(owner) is ExtInst and args.more is None and args.kw_more is None:
        if dotted.endswith(".update"):
            starts.updated(m, f, library.at, owner, args.get(0, "updates"))
            _updates(m, f, library.at, owner, args)
            gradients.updated(m, f, library)
        elif dotted.endswith(".init"):
            starts.started(m, owner, args.get(0, "params"))
            _starts(m, f, library.at, owner, args.get(0, "params"))


def _updates(m: Machine, f: Frame, at: int, owner: ExtInst, args: Args) -> None:
    if args.pos and args.get(1, "state") is None:
        m.emit(f, ApiMisuse, at, api=owner.dotted, problem="missing-argument", parameter="state")
        return
    if _inside(owner, COPIES):
        _keeps_state(m, f, at)
    usage.updated(m, f, at, bool(_inside(owner, _SIGNED)), bool(_inside(owner, COPIES)))
    unread = _unread(f, at)
    if unread:
        m.emit(f, DroppedUpdate, at, None, Confidence.LIKELY, what=owner.dotted, unread=unread)
    name = _inside(owner, _NEEDY)
    given = args.get(2, "params")
    if name and (given is None or given is NONE):
        level = Confidence.LIKELY if _PERHAPS in owner.attrs else None
        m.emit(f, ApiMisuse, at, None, level, api=name, problem="missing-argument", parameter="params")
    _gives_value(m, f, at, owner, args)


def _gives_value(m: Machine, f: Frame, at: int, owner: ExtInst, args: Args) -> None:
    """An optimiser that looks at the value of the function has to get it."""
    searching, valued = _inside(owner, _SEARCHES), _inside(owner, _VALUED)
    if (searching or valued) and "value" not in args.kw:
        parameter = "value_fn" if searching else "value"
        m.emit(f, ApiMisuse, at, api=searching or valued, problem="missing-argument", parameter=parameter)


def _applies(m: Machine, f: Frame, library: Library, starts: Starts) -> None:
    """Updates are added to the parameters: they must not be the pair that an optimiser gives, nor its second half."""
    params, updates = library.args.get(0, "params"), library.args.get(1, "updates")
    node = derivatives.argument(m.texts.table(f).calls.get(library.at), 1, "updates")
    if type(node) is not ir.Name or updates is None or m.guards:
        return
    is_pair = type(updates) is Tup and updates.cls is None and len(updates.items) == 2
    known = type(params) in (Arr, Map, Inst) or (type(params) is Tree and params.evidence in MAPPINGS)
    call = bound_once.written(f.fn, node) if is_pair and known else None
    found = ""
    if type(call) is ir.Call and last_name(call.func) == "update":
        found = "the pair of updates and the new state that `update` gives"
    elif starts.is_state(f, node.id):
        found = "the new state, which `update` gives behind the updates"
    if found:
        fitting.report(m, f, library.at, _UPDATES, "trees", f"the parameters and {found}", updates)


def _unread(f: Frame, at: int) -> str:
    """The variable with the updates, if the function never reads it: the parameters go another way."""
    pair, fn = surroundings.bound_pair(f, at), f.fn
    first = pair[0].elts[0] if pair is not None else None
    if fn is None or type(first) is not ir.Name or first.id.startswith("_"):
        return ""
    return first.id if first.id in fn.node.local_names and not bound_once.is_read(fn, first.id) else ""


def _keeps_state(m: Machine, f: Frame, at: int) -> None:
    """The new state of an optimiser that has one is thrown away, and the next turn gets the old one again."""
    pair, loop = surroundings.bound_pair(f, at), f.loops[-1] if f.loops else None
    if pair is None or not isinstance(loop, (ir.For, ir.While)):
        return
    target, call = pair
    given = call.args[1].value if len(call.args) > 1 else None
    thrown = target.elts[1]
    if type(given) is not ir.Name or type(thrown) is not ir.Name or thrown.id != "_":
        return
    if given.id not in changed_in(loop):
        m.emit(f, DroppedUpdate, at, None, Confidence.LIKELY, kept=given.id)


def _starts(m: Machine, f: Frame, at: int, owner: ExtInst, params: Value | None) -> None:
    """The state is made: arrays like the parameters cannot be made of functions."""
    usage.started(m, f, at, owner, params)
    name = _inside(owner, COPIES)
    if not name or params is None:
        return
    restarts.check(m, f, at)
    kinds = [no_arrays.not_an_array(m, alt) for alt in alternatives(params)]
    flags = [no_arrays.flag_in(alt) if type(alt) is Inst else "" for alt in alternatives(params)]
    if all(flags):
        m.emit(
            f, TransformMisuse, at, None, Confidence.LIKELY, transform=f"{name}.init", problem="flag-leaf",
            parameter="params", detail=flags[0],
        )  # fmt: skip
    elif all(kind.endswith(no_arrays.HOLDS_FUNCTION) or kind == "function" for kind in kinds):
        level = Confidence.LIKELY if isinstance(params, Inst) else None
        m.emit(
            f, TransformMisuse, at, None, level, transform=f"{name}.init", problem="function-leaf",
            parameter="params", detail=kinds[0],
        )  # fmt: skip


def _remember(made: ExtInst, dotted: str, args: Args) -> None:
    """What an optimiser, or one of those that it is made of, does with the parameters."""
    contracts, parts = lexicon().contracts, args.pos
    told = "linesearch" in args.kw or args.kw_more is not None or args.more is not None
    whole = contracts.composing - contracts.choosing
    for mark, names, around in (
        (_NEEDY, contracts.needs_parameters, contracts.composing),
        (_SEARCHES, contracts.searching if not told else frozenset(), contracts.composing),
        (_VALUED, contracts.needs_value, contracts.composing),
        (COPIES, contracts.copies_parameters, whole),
        (_SIGNED, contracts.complete, contracts.composing),
    ):
        inside = next(filter(None, (_inside(part, mark) for given in parts for part in _each(given))), "")
        found = dotted if dotted in names else inside if dotted in around else ""
        if found:
            made.attrs[mark] = py(found)
    if dotted in contracts.composing:
        _remember_choice(made, parts)
    option = contracts.copies_given.get(dotted)
    if option is not None and args.kw.get(option, NONE) is not NONE:
        made.attrs[COPIES] = py(dotted)


def _remember_choice(made: ExtInst, parts: Sequence[Value]) -> None:
    """What a composed optimiser needs if one is chosen of those that it may be made of."""
    one_of = [alt for given in parts if type(given) is Union for alt in given.alts]
    perhaps = next(filter(None, (_inside(alt, _NEEDY) for alt in one_of)), "")
    if perhaps and _NEEDY not in made.attrs:
        made.attrs.update({_NEEDY: py(perhaps), _PERHAPS: TRUE})
    elif any(type(part) is ExtInst and _PERHAPS in part.attrs for part in parts):
        made.attrs[_PERHAPS] = TRUE


def _each(given: Value) -> list[Value]:
    """The transformations in an argument: itself, those of a named pair, or one for each label."""
    if type(given) is Map:
        return list(given.entries.values())
    return list(given.items) if type(given) is Tup else [given]


def _inside(value: Value | None, mark: str) -> str:
    name = value.attrs.get(mark) if type(value) is ExtInst else None
    return str(name.const) if type(name) is Py else ""
