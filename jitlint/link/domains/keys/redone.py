"""Calls that are made once more with the same key, and are meant to be (layer: ``link``, room ``domains``).

``(price(key, up) - price(key, down)) / (2 * h)``: noise that both have cancels. What it does: sees whether two results are subtracted
from each other, whether the program asserts that equal keys gave equal numbers, and whether a loop throws away what a turn gave
before it tries again. What it does not: so for draws themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Use
from jitlint.link.engine import surroundings
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, call_at, last_name, same_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_EQUAL: Final = frozenset({"all", "allclose", "array_equal", "array_equiv"})
_KEYS: Final = frozenset({"key", "keys", "rng", "rngs", "seed"})


def are_compared(code: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether what two calls of one function give is subtracted from each other, or known to be equal for equal keys."""
    if this.api or found.api or this.site == found.site or this.site[0] != found.site[0]:
        return False
    one, other = (call_at(code, use.site[1]) for use in (this, found))
    if one is None or other is None or not same_text(one.func, other.func):
        return False
    apart = not same_text(one, other) and _are_subtracted(code, _results(code, one), _results(code, other))
    return apart or _is_asserted(code, one)


def begins_anew(code: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether what a function set up is set up once more under the same name, which forgets the first: ``state = create(key(0))``."""
    if this.api or found.api or this.site == found.site or this.site[0] != found.site[0]:
        return False
    one, other = (call_at(code, use.site[1]) for use in (this, found))
    if one is None or other is None or not same_text(one.func, other.func):
        return False
    names, before = (_results(code, call) for call in (one, other))
    return (
        bool(names) and names == before and naming.begins_with(last_name(one.func), lexicon().keys.setting_up)
    )


def is_discarded(code: Sequence[ir.Node], this: Use) -> bool:
    """Whether a loop that goes on until something holds looks at what a call gives, and keeps only what the last turn gave."""
    loops = [
        node
        for node in code
        if type(node) is ir.While and call_at(below(node.body), this.site[1]) is not None
    ]
    if this.api or not loops:
        return False
    parts = below(max(loops, key=lambda loop: loop.at).body)
    call = call_at(parts, this.site[1])
    names = _results(parts, call) if call is not None else set()
    return bool(names) and any(type(part) is ir.Break for part in parts) and _are_only_tested(parts, names)


def _are_only_tested(parts: Sequence[ir.Node], names: set[str]) -> bool:
    """Whether some variables are read in tests alone."""
    reads = [part for part in parts if type(part) is ir.Name and part.id in names]
    tests = [part.test for part in parts if type(part) is ir.If]
    targets = [target for part in parts if type(part) is ir.Assign for target in part.targets]
    plain = {id(part) for part in below([*tests, *targets])}
    return all(id(read) in plain for read in reads)


def _results(code: Sequence[ir.Node], call: ir.Call) -> set[str]:
    """The variables that hold what a call gives."""
    return {
        name for node in code if type(node) is ir.Assign and node.value is call for name in bound_by(node)
    }


def _are_subtracted(code: Sequence[ir.Node], ones: set[str], others: set[str]) -> bool:
    pairs = [
        {node.left.id, node.right.id}
        for node in code
        if type(node) is ir.BinOp and node.op == "-" and type(node.left) is type(node.right) is ir.Name
    ]
    return any(pair & ones and pair & others and len(pair) > 1 for pair in pairs)


def _is_asserted(code: Sequence[ir.Node], call: ir.Call) -> bool:
    """Whether the program asserts that two calls with the key of this one, or two that are written like it, gave the same."""
    names: set[str] = set()
    for one in code:
        if (
            type(one) is ir.Call
            and same_text(one.func, call.func)
            and (same_text(one, call) or _keys(one) & _keys(call))
        ):
            names |= _results(code, one)
    return any(len(names & read) > 1 for read in map(_asserted, code))


def _keys(call: ir.Call) -> set[str]:
    """The variables among the arguments of a call that are called like keys."""
    given = {arg.value.id for arg in call.args if type(arg.value) is ir.Name}
    return {name for name in given if naming.has_word(name, _KEYS)}


def _asserted(node: ir.Node) -> set[str]:
    """The variables whose numbers an assertion is about: ``assert``, or a call of, or with, a function that asserts."""
    if type(node) is ir.Assert:
        functions = [part.func for part in below(node.test) if type(part) is ir.Call]
        compares = any(last_name(function) in _EQUAL for function in functions)
    else:
        functions = [node.func, *[arg.value for arg in node.args]] if type(node) is ir.Call else []
        compares = any(map(surroundings.mentions_assertion, functions))
    return {part.id for part in below(node) if type(part) is ir.Name} if compares else set()


def is_another_attempt(code: Sequence[ir.Node], this: Use) -> bool:
    """Whether a loop makes a call with the same state again because the last attempt has failed: it ends with the first that has
    not, and gives each something else beside."""
    loops = [node for node in code if isinstance(node, (ir.For, ir.While)) and _ends_in_failure(node)]
    calls = [(loop, call_at(below(loop.body), this.site[1])) for loop in reversed(loops)]
    loop, call = next(((loop, call) for loop, call in calls if call is not None), (None, None))
    if loop is None or call is None or this.api:
        return False
    renewed = {name for part in below(loop.body) for name in bound_by(part)}
    given = {arg.value.id for arg in call.args if type(arg.value) is ir.Name}
    return bool(given & renewed) and not given <= renewed


def _ends_in_failure(loop: ir.For | ir.While) -> bool:
    """Whether a loop that no attempt has left raises."""
    return any(type(part) is ir.Raise for part in below(loop.orelse))
