"""Candidates that are compared under the same random numbers (layer: ``link``, room ``domains``).

``scores = jax.vmap(lambda move: play(move, keys))(moves)``, of which the best is taken: what one candidate is lucky with, all are. What
it does: sees whether the best of what a map gives is chosen, or two results are printed that differ in one argument. What it does
not: so for draws themselves, which are no scores.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.infer.keys import Use
from jitlint.infer.program import FuncInfo
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_by, call_at, last_name, makes, same_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_CHOOSING: Final = frozenset({"argmax", "argmin", "argsort", "nanargmax", "nanargmin", "top_k"})
_MEANS: Final = frozenset({"mean", "average", "nanmean"})
_RANKS: Final = frozenset({"rank", "ranks", "ranked", "ranking"})
_SHOWING: Final = frozenset({"print", "info"})


def are_ranked(f: Frame, code: Sequence[ir.Node], this: Use) -> bool:
    """Whether the best is chosen among what a function written here, which calls another one with the key, gives for each lane."""
    functions = f.module.functions if not this.api and this.module == f.module.name else ()
    inner = next((fn for fn in functions if call_at(fn.parts, this.at) is not None), None)
    if inner is None:
        return False
    found = _names_from(code, this) if inner is f.fn else _names_from(code, inner)
    chosen = [n for n in code if type(n) is ir.Call and _chooses(last_name(n.func))]
    return any(type(part) is ir.Name and part.id in found for call in chosen for part in below(call))


def are_averaged(f: Frame, this: Use) -> bool:
    """Whether several keys, and nothing else, are mapped over for the mean of what they give: a sum over chance that stays the same
    is a function that can be optimised."""
    functions = f.module.functions if this.module == f.module.name and this.key.step[0] == "split" else ()
    inner = next((fn for fn in functions if call_at(fn.parts, this.at) is not None), None)
    means = (n for n in inner.parts if type(n) is ir.Call and last_name(n.func) in _MEANS) if inner else ()
    return any(
        type(part) is ir.Call and part.at == this.at and len(part.args) == 1
        for mean in means
        for part in below(mean)
    )


def _chooses(name: str) -> bool:
    """Whether a function looks for the best, or puts all in the order of how good they are."""
    return name in _CHOOSING or naming.has_word(name, _RANKS)


def _names_from(code: Sequence[ir.Node], source: FuncInfo | Use) -> set[str]:
    """The variables that hold what a function gives where it is mapped, or the call that uses a key, or what is computed from
    that."""
    name = "" if isinstance(source, Use) else source.name
    found = {name}
    for node in sorted((n for n in code if type(n) is ir.Assign), key=lambda n: n.at):
        parts = below(node.value) if type(node) is ir.Assign else []
        if any((type(part) is ir.Name and part.id in found) or _is_source(part, source) for part in parts):
            found.update(bound_by(node))
    return found - {name}


def _is_source(node: ir.Node, source: FuncInfo | Use) -> bool:
    if isinstance(source, Use):
        return type(node) is ir.Call and node.at == source.at
    return makes(node, source)


def are_shown(code: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether one function of the program is called twice, for two things, only to print what it gives for each."""
    if this.api or found.api or this.site == found.site or this.site[0] != found.site[0]:
        return False
    one, other = (call_at(code, use.site[1]) for use in (this, found))
    if one is None or other is None or not _differ_in_a_thing(one, other):
        return False
    return _is_printed(code, one) and _is_printed(code, other)


def _differ_in_a_thing(one: ir.Call, other: ir.Call) -> bool:
    """Whether two calls are the same but for one argument, which has a name in each."""
    if not same_text(one.func, other.func) or len(one.args) != len(other.args):
        return False
    apart = [pair for pair in zip(one.args, other.args) if not same_text(*pair)]
    return len(apart) == 1 and all(isinstance(arg.value, (ir.Name, ir.Attr)) for arg in apart[0])


def _is_printed(code: Sequence[ir.Node], call: ir.Call) -> bool:
    """Whether a call stands in one of `print`."""
    shown = [n.value for n in code if type(n) is ir.ExprStmt and type(n.value) is ir.Call]
    return any(last_name(one.func) in _SHOWING and any(part is call for part in below(one)) for one in shown)
