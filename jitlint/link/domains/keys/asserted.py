"""What a program draws twice to assert that it comes to the same (layer: ``link``, room ``domains``).

What it does: reads the assertions of the code at hand, and of what it does leaf by leaf, ``jax.tree.map(lambda a, b: assert_allclose(a, b),
x, y)``. What it does not: ask what the numbers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.infer.keys import Use
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_names, call_at, last_name, same_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_SPLIT: Final = ".split"
_THROWS: Final = frozenset({"throw", "check_error"})
"""What raises the errors that `checkify` has collected."""
_LOOPS: Final = (ir.For, ir.While)
_FORMS: Final = frozenset({"shape", "dtype", "ndim", "size"})


def is_only_asserted(code: Sequence[ir.Node], this: Use) -> bool:
    """Whether what a procedure gives is asserted, or bound, and read by nothing but assertions."""
    call = call_at(code, this.site[1]) if not this.api else None
    names = set(bound(binding(code, call))) if call is not None else set[str]()
    told = [part for node in code if asserts(node) for part in below(node)]
    if call is not None and any(part is call for part in told):
        return True
    in_assertions = {part.at for part in told if type(part) is ir.Name}
    begins = _begins(code, call, this.site[1])
    read = [at for name, at in reads(code) if name in names and at > begins]
    return bool(read) and in_assertions.issuperset(read)


def _begins(code: Sequence[ir.Node], call: ir.Call | None, at: int) -> int:
    """Where what a call gives may be read first: behind it, or where the loop around it begins."""
    around = (
        node.at for node in code if isinstance(node, _LOOPS) and any(part is call for part in below(node))
    )
    return min((at, *around))


def meet(f: Frame, code: Sequence[ir.Node], this: Use, found: Use) -> bool:
    """Whether one assertion is about what comes of both calls, not both draws themselves: that they agree is what the code is
    there to see."""
    one, other = (call_at(code, use.site[1]) for use in (this, found))
    if this.site[0] != found.site[0] or this.site == found.site or one is None or other is None:
        return False
    assertions = [_numbers(node) for node in code if asserts(node)]
    drawn = bool(this.api and found.api)
    again = _are_one(one, other) and (not drawn or this.api.endswith(_SPLIT))
    direct = (again or not drawn) and _are_asserted(code, one, other, assertions)
    return direct or (again and _are_compared(f, code, one, other, assertions))


def _are_asserted(
    code: Sequence[ir.Node], one: ir.Call, other: ir.Call, assertions: list[list[ir.Node]]
) -> bool:
    first, second = (set(bound(binding(code, call))) for call in (one, other))
    return any(_tells(told, first, one) and _tells(told, second, other) for told in assertions)


def _are_compared(
    f: Frame, code: Sequence[ir.Node], one: ir.Call, other: ir.Call, assertions: list[list[ir.Node]]
) -> bool:
    """Whether one assertion is about what is made of one call alone, and of the other alone."""
    first, second = _made_of(code, one), _made_of(code, other)
    leaves = [_numbers(node) for node in code if _asserts_leaves(f, node)]
    return any(
        _tells(told, first - second, one) and _tells(told, second - first, other)
        for told in (*assertions, *leaves)
    )


def _tells(told: Sequence[ir.Node], names: set[str], call: ir.Call) -> bool:
    return any((type(part) is ir.Name and part.id in names) or part is call for part in told)


def _are_one(one: ir.Call, other: ir.Call) -> bool:
    """Whether two calls are the same, word by word: what the second gives is what the first gave."""
    return last_name(one.func) == last_name(other.func) and same_text(one.args, other.args)


def _made_of(code: Sequence[ir.Node], call: ir.Call) -> set[str]:
    """The variables that are made of what a call gives, one after the other."""
    found = set[str]()
    for node in sorted((node for node in code if type(node) is ir.Assign), key=lambda node: node.at):
        parts = below(node.value)
        if any(part is call or (type(part) is ir.Name and part.id in found) for part in parts):
            found |= set(bound(node))
    return found


def _numbers(node: ir.Node) -> list[ir.Node]:
    """The parts of an assertion, without what only shows a shape or dtype."""
    told = below(node)
    shown = [part.obj for part in told if type(part) is ir.Attr and part.name in _FORMS]
    forms = {id(part) for obj in shown for part in below(obj)}
    return [part for part in told if id(part) not in forms]


def asserts(node: ir.Node) -> bool:
    """Whether a statement or a call asserts something, or that there was no error."""
    name = last_name(node.func) if type(node) is ir.Call else ""
    return type(node) is ir.Assert or name.startswith("assert") or name in _THROWS


def _asserts_leaves(f: Frame, node: ir.Node) -> bool:
    """Whether a call asserts something of each leaf of trees."""
    inner = node.args[0].value if type(node) is ir.Call and len(node.args) > 1 else None
    return type(inner) is ir.Lambda and any(map(asserts, below(f.module.functions[inner.function].body)))


def binding(code: Sequence[ir.Node], call: ir.Call) -> ir.Node | None:
    """The assignment of what a call gives."""
    return next((n for n in code if type(n) is ir.Assign and n.value is call), None)


def bound(node: ir.Node | None) -> list[str]:
    """The variables that an assignment binds."""
    return [target.id for target in bound_names(node.targets)] if type(node) is ir.Assign else []


def reads(code: Sequence[ir.Node]) -> Iterator[tuple[str, int]]:
    """The names that code reads, and where."""
    stored = {id(target) for n in code if type(n) is ir.Assign for target in bound_names(n.targets)}
    for node in code:
        if type(node) is ir.Name and id(node) not in stored:
            yield node.id, node.at
