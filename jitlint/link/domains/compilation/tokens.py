"""Texts that a loop goes through, and that become arrays as long as they are (layer: ``link``, room ``domains``).

``for prompt in prompts: ids = jnp.array(tokenizer.encode(prompt))`` has another shape for each text. What it does: knows what makes a
list of a text, an element for each character or word. What it does not: speak of tokenizers that are told how long the result is to
be, of fields between separators, whose number may be the same, or of texts that are written down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jitlint.infer.values import NO_CONST, Py
from jitlint.link.engine import scopes
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name, whole
from jitlint.syntax import ir
from jitlint.syntax.children import below

if TYPE_CHECKING:
    from jitlint.link.domains.compilation.variation import Variation

_ENCODING: Final = frozenset({"encode", "tokenize", "encode_as_ids", "encode_ordinary"})
_TOKENIZERS: Final = frozenset(
    {"tokenizer", "tokeniser", "tokenizers", "tok", "bpe", "sp", "vocab", "tiktoken"}
)
"""Words in the names of what encodes texts, and no arrays as an encoder does."""
_WORDS: Final = "split"
_TOLD: Final = frozenset({"padding", "max_length", "pad", "length"})
_HOW: Final = "a list as long as its text, which is another one each time"
_LINES: Final = frozenset({"splitlines", "readlines", "open"})
_NUMBERS: Final = frozenset({"float", "int"})
_AXES: Final = frozenset({"newaxis"})


def shape(around: Variation, node: ir.Call, depth: int) -> str:
    """How the length of what a call makes of a text changes from turn to turn; "" if it does not, as far as known."""
    func = node.func
    if type(func) is not ir.Attr or depth <= 0:
        return ""
    found = (
        _is_split(around, func) if func.name == _WORDS and not node.args else _is_encoded(around, func, node)
    )
    return _HOW if found and not _looks_at_lengths(around) else ""


def _is_split(around: Variation, func: ir.Attr) -> bool:
    """Whether the words of a text are taken apart, which are no numbers."""
    return is_text(around, func.obj) and not _are_numbers(around)


def _is_encoded(around: Variation, func: ir.Attr, node: ir.Call) -> bool:
    """Whether a tokenizer gets a text, and is not told how many tokens are wanted."""
    texts = [arg.value for arg in node.args if arg.name is None and not arg.star]
    told = any(arg.name in _TOLD or arg.star for arg in node.args)
    if func.name not in _ENCODING or not texts or told or not _is_of_turn(around, texts[0]):
        return False
    return naming.has_word(last_name(func.obj), _TOKENIZERS) or is_text(around, texts[0])


def is_text(around: Variation, node: ir.Node | None) -> bool:
    """Whether an expression is a text of the turn, of which it is not known how long it is."""
    if type(node) is not ir.Name or not _is_of_turn(around, node):
        return False
    if node.id in around.given and node.id not in around.table.bound:
        outer, given = around.given[node.id]
        return is_text(outer, given)
    value = scopes.lookup(around.f, node.id)
    if type(value) is Py:
        return value.kind == "str" and value.const is NO_CONST
    lines = (
        loop
        for loop in around.loops
        if type(loop) is ir.For and type(loop.target) is ir.Name and loop.target.id == node.id
    )
    return any(type(loop.iter) is ir.Call and last_name(loop.iter.func) in _LINES for loop in lines)


def counted(around: Variation, node: ir.Expr, depth: int) -> str:
    """How the length of what a list is made of changes: of numbers that are counted, or the characters of a text."""
    changes = around.varying_range(node, depth) or (is_text(around, node) and not _looks_at_lengths(around))
    return "a list whose length changes" if changes else ""


def fills_up(node: ir.Node) -> bool:
    """Whether a list gets as many elements as are missing, ``ids + [0] * (length - len(ids))``."""
    if type(node) is not ir.BinOp or node.op != "+":
        return False
    return any(_is_repeated(side) or fills_up(side) for side in (node.left, node.right))


def _is_repeated(node: ir.Node) -> bool:
    """Whether an expression is a list that is repeated so often as a number says that is not written down."""
    if type(node) is not ir.BinOp or node.op != "*":
        return False
    sides = (node.left, node.right)
    return any(type(side) is ir.List for side in sides) and not any(type(side) is ir.Const for side in sides)


def is_new_axis(node: ir.Node) -> bool:
    """Whether an index adds an axis, ``ids[None]``."""
    if type(node) is ir.Const:
        return node.value is None
    return type(node) is ir.Attr and node.name in _AXES


def _is_of_turn(around: Variation, node: ir.Node) -> bool:
    """Whether an expression is what the innermost loop goes through, or a part of it: no number that it counts."""
    root = whole(node)
    if type(root) is not ir.Name:
        return False
    if root.id in around.given and root.id not in around.table.bound:
        outer, given = around.given[root.id]
        return _is_of_turn(outer, given)
    return any(around.target(loop, root.id) == "" for loop in around.loops)


def _looks_at_lengths(around: Variation) -> bool:
    """Whether a function compares how long something is, or computes what is missing, so that it may fill it up or leave it out."""
    parts = (
        around.f.fn.parts
        if around.f.fn is not None
        else [part for nodes in around.f.module.code() for part in nodes]
    )
    sums = (part for part in parts if type(part) is ir.Compare or (type(part) is ir.BinOp and part.op == "-"))
    return any(
        type(inner) is ir.Call and last_name(inner.func) == "len" for one in sums for inner in below(one)
    )


def _are_numbers(around: Variation) -> bool:
    """Whether a function reads words as numbers: of these, each line of a table has as many."""
    return any(
        type(call.func) is ir.Name and call.func.id in _NUMBERS for call in around.table.calls.values()
    )
