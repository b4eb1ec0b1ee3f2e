"""Calls that a function of arrays refuses for their form (layer: ``link``, room ``models``).

What it does: says where a call gives an argument that no version of the function has, more by position than it takes, none
where it needs one, or an array or a number where a data type or an axis is wanted, an iterator where arrays are, as in
`zeros(2, 3)`, `stack(x, y)`, `sum(x, dim=0)` and `stack(f(x) for x in xs)`.
What it does not: know which version has an argument, which is for the domain of versions.
"""

from __future__ import annotations

from typing import Final, Optional, TypeGuard

from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.schema import POSITIONAL, POSITIONAL_ONLY, VAR_KEYWORD, VAR_POSITIONAL, ApiFunction
from jitlint.infer.events import ApiMisuse
from jitlint.infer.values import Arr, Ext, Py, Scope, Seq, Tup, Value
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import results
from jitlint.link.values import fitting, paths
from jitlint.link.values.pytrees import NUMBERS
from jitlint.syntax import ir

_AXES: Final = ("axis", "dimension")
_ARRAYS: Final = ("arrays", "tup", "object", "a")
_ITERATORS: Final = ("map", "zip", "filter", "enumerate", "reversed", "iter")
_MEASURED: Final = "jax."
_REST: Final = (VAR_POSITIONAL, VAR_KEYWORD)
_ATTRIBUTES: Final = ("static", "array", "updater")


def check(
    m: Machine,
    f: Frame,
    at: int,
    fn: ApiFunction,
    args: Args,
    bound: results.Bound,
    receiver: Arr | None,
) -> bool:
    """Whether a call is refused for its form. receiver: of a method."""
    if args.more is not None or args.kw_more is not None or m.guards:
        return False
    if receiver is not None:
        return not receiver.host and (
            _method(m, f, at, fn, args, receiver)
            or (fitting.is_array(receiver) and _numbered(m, f, at, fn, bound[: len(args.pos)]))
        )
    return (
        fn.name.startswith(_MEASURED)
        and fn.name not in m.replaced
        and (
            _unknown(m, f, at, fn, args)
            or _iterator(m, f, at, fn, bound)
            or _misplaced(m, f, at, fn, bound[: len(args.pos)])
            or _one_or_several(m, f, at, fn, bound)
            or _too_many(m, f, at, fn, args)
            or _missing(m, f, at, fn, args, bound)
        )
    )


def _method(m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, receiver: Arr) -> bool:
    """Of methods other arrays may have more arguments; what tensors call theirs is wrong for arrays of all kinds."""
    foreign = lexicon().arrays.foreign_parameters
    name = next((name for name in args.kw if name in foreign and fn.parameter(name) is None), "")
    return bool(name) and _report(m, f, at, fn, "name", name, receiver, _instead(fn, name))


def _unknown(m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args) -> bool:
    """An argument by a name that no version has; of private ones nothing is known."""
    view = m.catalogue.view
    for name in args.kw:
        if name.startswith("_"):
            continue
        if fn.parameter(name) is None and view.is_measured and not view.mentions(fn.name, name):
            return _report(m, f, at, fn, "name", name, None, _instead(fn, name))
    return False


def _instead(fn: ApiFunction, name: str) -> str:
    """What an argument is called here."""
    other = lexicon().arrays.foreign_parameters.get(name, "")
    return other if other and fn.parameter(other) is not None else ""


def _misplaced(m: Machine, f: Frame, at: int, fn: ApiFunction, placed: results.Bound) -> bool:
    """A number or an array as the data type, an array as the axis. placed: the arguments by position."""
    for param, value in placed:
        asked = param.name == "dtype" and fn.name not in lexicon().arrays.any_dtype
        if asked and (_is_number(value) or _is_array(value)):
            return _report(m, f, at, fn, "dtype", param.name, value)
        if param.name in _AXES and _is_array(value) and value.rank:
            return _report(m, f, at, fn, "axis", param.name, value)
    return False


def _one_or_several(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Several axes where a function goes along one, or a number where it takes a tuple."""
    arrays = lexicon().arrays
    for param, value in bound:
        if (
            param.name == "axis"
            and fn.name in arrays.single_axis
            and type(value) is Tup
            and len(value.items) != 1
        ):
            return _report(m, f, at, fn, "axes", param.name, value)
        if arrays.no_number.get(fn.name) == param.name and _is_number(value):
            return _report(m, f, at, fn, "number", param.name, value)
    return False


def _numbered(m: Machine, f: Frame, at: int, fn: ApiFunction, placed: results.Bound) -> bool:
    """A number as the data type that a method takes; of an array, older versions of JAX took the data type."""
    found = next((value for param, value in placed if param.name == "dtype" and _is_number(value)), None)
    return found is not None and _report(m, f, at, fn, "dtype", "dtype", found)


def _iterator(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Arrays come one by one, from what has no length."""
    given = (p for p, v in bound if p.name in _ARRAYS and type(v) is Seq and v.kind == "iter")
    found = next(given, None)
    call = m.texts.table(f).calls.get(at) if found is not None else None
    if found is None or call is None or not any(_gives_once(arg.value) for arg in call.args):
        return False
    return _report(m, f, at, fn, "iterator", found.name)


def _gives_once(node: ir.Node) -> bool:
    """Whether an expression makes an iterator, other than a view or a range, which have a length."""
    if type(node) is ir.Comp:
        return node.kind == "generator"
    func = node.func if type(node) is ir.Call else None
    return type(func) is ir.Name and func.id in _ITERATORS


def _is_number(value: Value) -> bool:
    return type(value) is Py and value.kind in NUMBERS


def _is_array(value: Value) -> TypeGuard[Arr]:
    return type(value) is Arr and not value.host


def _too_many(m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args) -> bool:
    """More arguments by position than any version takes."""
    kinds = [param.kind for param in fn.parameters]
    most = sum(kind in (POSITIONAL, POSITIONAL_ONLY) for kind in kinds)
    view = m.catalogue.view
    if VAR_POSITIONAL in kinds or len(args.pos) <= most or not view.is_measured:
        return False
    return not view.mentions_positions(fn.name) and _report(m, f, at, fn, f"count {most} {len(args.pos)}", "")


def _missing(m: Machine, f: Frame, at: int, fn: ApiFunction, args: Args, bound: results.Bound) -> bool:
    """An argument without a default that is not given; only where the call names the function, and not another one that
    calls it with what is not known here."""
    given = {param.name for param, _ in bound}
    belonging = lexicon().arrays.belonging.get(fn.name, "").split()
    together = () if given.isdisjoint(belonging) else belonging
    needed = [p.name for p in fn.parameters if not (p.optional or p.kind in _REST)]
    name = next((name for name in (*needed, *together) if name not in given), "")
    if (
        not name
        or not fn.name.startswith(tuple(lexicon().arrays.of_arrays))
        or len(given) < len(args.pos) + len(args.kw)
        or not m.catalogue.view.is_measured
    ):
        return False
    call = m.texts.table(f).calls.get(at)
    called = call is not None and m.catalogue.canonical(paths.dotted(m, f, call.func)) == fn.name
    return called and _report(m, f, at, fn, "missing", name)


def attribute_called(m: Machine, f: Frame, at: int) -> None:
    """What is called is no function: say so if it is an attribute of an array, as in `x.shape()` and `x.size(0)`."""
    call = m.texts.table(f).calls.get(at)
    func = call.func if call is not None else None
    if type(func) is not ir.Attr or m.catalogue.array_attribute(func.name) not in _ATTRIBUTES:
        return
    array = paths.peek(m, f, func.obj)
    if type(array) is Arr and not array.host and not array.weak:
        m.emit(
            f, ApiMisuse, at, array, api=f"array.{func.name}", problem="wrong-call", detail="attribute",
            exception="TypeError",
        )  # fmt: skip


def is_written(m: Machine, f: Frame, at: int) -> bool:
    """Whether the call names the function itself and all of its arguments: of what a variable stands for, or `**kwargs`
    brings, each may go with another."""
    call = m.texts.table(f).calls.get(at)
    if call is None or any(arg.star for arg in call.args):
        return False
    root: ir.Node | None = call.func
    while type(root) is ir.Attr:
        root = root.obj
    if type(root) is not ir.Name:
        return False
    return type(scopes.lookup(f, root.id)) is Ext if root is not call.func else _is_global(f, root.id)


def _is_global(f: Frame, name: str) -> bool:
    scope: Scope | None = f.scope
    while scope is not None and scope.fn is not None and name not in scope.vars:
        scope = scope.parent
    return scope is None or scope.fn is None


def _report(
    m: Machine,
    f: Frame,
    at: int,
    fn: ApiFunction,
    detail: str,
    parameter: str,
    value: Optional[Value] = None,
    cure: str = "",
) -> bool:
    if fn.name.startswith(_MEASURED) and not is_written(m, f, at):
        return False
    m.emit(
        f, ApiMisuse, at, value, api=fn.name, problem="wrong-call", parameter=parameter, detail=detail, cure=cure,
        exception="TypeError",
    )  # fmt: skip
    return True
