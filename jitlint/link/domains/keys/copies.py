"""Arrays that hold one PRNG key several times (layer: ``link``, room ``domains``).

What it does: sees how such an array is made, of a key that is repeated or of a list with nothing else in it. What it
does not: say what becomes of it; who maps over it gives all lanes the same key, and `calls` says so.
"""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import COPIES, Key
from jitlint.infer.values import Arr, Seq, Tup, Value
from jitlint.link.domains.keys.ledger import Ledger
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.tables.ir_walk import bound_names, nodes
from jitlint.link.values.keys import with_key
from jitlint.syntax import ir


def makes(dotted: str) -> bool:
    """Whether a function may make such an array."""
    words = lexicon().keys
    return dotted in words.copying or dotted in words.gathering or dotted in words.filling


def made(k: Ledger, f: Frame, at: int, dotted: str, args: Args, result: Value) -> Value | None:
    """An array with copies of one key: every part of it is that key."""
    words = lexicon().keys
    given = args.get(1, "fill_value") if dotted in words.filling else args.pos[0] if args.pos else None
    if args.more is not None:
        return None
    one = _only(k, f, at, given) if dotted in words.gathering else given
    if type(one) is not Arr or one.key is None:
        return None
    out = with_key(result if type(result) is Arr else one, k.m.keys.derived(one.key, COPIES))
    out.rank = None
    return out


def is_copy(key: Key | None) -> bool:
    """Whether a key is one of several copies, or was derived from one."""
    while key is not None and key.step[0] != COPIES:
        key = key.parent
    return key is not None


def copied(node: ir.Node | None, dotted: str) -> ir.Node | None:
    """What a call of a function makes copies of, as it is written."""
    words = lexicon().keys
    if type(node) is not ir.Call or any(arg.star or arg.name for arg in node.args[:2]):
        return None
    place = 1 if dotted in words.filling else 0
    given = node.args[place].value if len(node.args) > place else None
    if dotted in words.gathering:
        return None if given is None else repeated(given)
    if type(given) is ir.Sub and type(given.index) is ir.Const and given.index.kind == "none":
        given = given.obj  # `key[None]`
    return given if makes(dotted) else None


def _only(k: Ledger, f: Frame, at: int, given: Value | None) -> Value | None:
    """What a list holds several times, and nothing beside."""
    if type(given) is not Seq and type(given) is not Tup:
        return None
    if given.items is None:
        call = k.m.texts.table(f).calls.get(at)
        return given.rest if type(given) is Seq and call is not None and _repeats(call) else None
    first = given.items[0] if len(given.items) > 1 else None
    key = first.key if type(first) is Arr else None
    alike = key is not None and all(type(one) is Arr and one.key == key for one in given.items)
    return first if alike else None


def _repeats(call: ir.Call) -> bool:
    """``stack([key] * n)``, ``stack([key for _ in range(n)])``: however long the list is."""
    return bool(call.args) and repeated(call.args[0].value) is not None


def repeated(node: ir.Node) -> ir.Node | None:
    """The variable that a list is written to hold again and again, if it is."""
    if type(node) is ir.BinOp and node.op == "*":
        for side in (node.left, node.right):
            if isinstance(side, (ir.List, ir.Tuple)) and len(side.elts) == 1:
                return side.elts[0]
    if type(node) is ir.Comp and isinstance(node.elt, (ir.Name, ir.Attr)):
        own = {name.id for one in node.fors for name in bound_names([one.target])}
        if own.isdisjoint(n.id for n in nodes(node.elt) if type(n) is ir.Name):
            return node.elt
    return None
