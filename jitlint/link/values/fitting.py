"""What operands an operation refuses for their dtypes, axes and sizes, traced or not (layer: ``link``, room ``values``).

What it does: knows the operators, as measured, and which sizes two arrays have together. What it does not: guess; a size, a
number of axes or a kind that is not known fits everything. What functions refuse is asked by `arrays`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NO_CONST, Arr, At, ExtInst, Py, Tree, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values.array_references import REFERENCE
from jitlint.link.values.questions import pairing, widening, wrapping
from jitlint.syntax import ir
from jitlint.syntax.children import below

_NUMBERS: Final = ("bool", "int", "float", "complex")
_BITS: Final = ("&", "|", "^", "<<", ">>")
_INEXACT: Final = ("float", "complex")
SIZE: Final = "jax.export.SymbolicSize"
"""A size that has a name and no number; the library gives its class no name."""
SCOPE: Final = "scope"
CLASH: Final = (-1,)
"""Instead of sizes: there are none that two arrays have together."""


def check_binary(m: Machine, f: Frame, at: int, op: str, left: Value, right: Value) -> bool:
    """Record two operands that an operator refuses. Answers whether it does."""
    pair = (left, right)
    if is_reference(f, left) or is_reference(f, right):
        return _with_reference(m, f, at, op, pair)
    if _have_no_numbers(m, f, at, op, pair):
        return True
    wrapping.check(m, f, at, op, pair)
    if not (is_sure(left) or is_sure(right)) or not all(is_array(v) or is_number(v) for v in pair):
        return False
    kinds = [kind_of(value) for value in pair]
    wrong = _refused(op, kinds)
    if wrong:
        return report(m, f, at, op, "kind", wrong, pair[kinds.index(wrong)])
    if op == "@" and 0 in (rank_of(left), rank_of(right)):
        return report(m, f, at, op, "number", "", left if type(left) is Arr else right)
    widening.check(m, f, at, op, pair)
    return check_sizes(m, f, at, op, pair)


def _have_no_numbers(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> bool:
    """Record operands that are no numbers: places, sizes of other scopes, keys."""
    if check_places(m, f, at, op, pair) or _of_two_scopes(m, f, at, op, pair):
        return True
    return check_keys(m, f, at, op, pair)


def _with_reference(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> bool:
    if not all(isinstance(value, (Arr, Tree, Py)) or is_reference(f, value) for value in pair):
        return False
    return report(m, f, at, op, "reference", "", pair[0] if is_reference(f, pair[0]) else pair[1])


def check_keys(m: Machine, f: Frame, at: int, op: str, operands: Sequence[Value]) -> bool:
    """Record a PRNG key that something is to be computed with. Answers whether it is refused: which of two equal keys comes first,
    or what their sum is, nobody knows."""
    key = next((value for value in operands if is_typed_key(m, value)), None)
    if key is None or not all(is_array(v) or (type(v) is Py and v.kind in _NUMBERS) for v in operands):
        return False
    return report(m, f, at, op, "key-operand", "", key)


def is_typed_key(m: Machine, value: Value) -> bool:
    """Whether something is certainly a key with a data type of its own, which only JAX knows."""
    if type(value) is not Arr or value.key is None:
        return False
    return is_array(value) and m.keys.is_typed(value.key)


def _of_two_scopes(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> bool:
    """Record two sizes without a number, which were not named together."""
    scopes = [v.attrs[SCOPE] if type(v) is ExtInst and v.dotted == SIZE else None for v in pair]
    known = [scope.const for scope in scopes if type(scope) is Py]
    return len(set(known)) == 2 and report(m, f, at, op, "scopes", "", pair[0])


def check_places(m: Machine, f: Frame, at: int, op: str, pair: tuple[Value, Value]) -> bool:
    """Record operands that only say which element is to be replaced, ``x.at[i] + 1``. Answers whether they are refused:
    two of them, or one and an array, are never equal, and nobody says so."""
    place = next((value for value in pair if is_place(value)), None)
    if place is None or not all(isinstance(value, (Arr, Tree, Py, At)) for value in pair):
        return False
    return report(m, f, at, op, "place", "", place)


def _refused(op: str, kinds: list[str | None]) -> str:
    """The kind of numbers, of those of the operands, that an operator refuses, or ""."""
    if op in _BITS:
        return next((kind for kind in kinds if kind in _INEXACT), None) or ""
    return "bool" if op == "-" and kinds == ["bool", "bool"] else ""


def check_sizes(m: Machine, f: Frame, at: int, op: str, pair: Sequence[Value]) -> bool:
    """Record operands of sizes that do not fit. op: as of an operator; "@" and "dot" for products of matrices."""
    sizes = [dims_of(value) for value in pair]
    is_product = op in ("@", "dot") and len(sizes) == 2
    clash = product(sizes[0], sizes[1], op == "@") if is_product else together(sizes)
    if clash is not CLASH:
        if len(sizes) == 2 and sizes[0] and sizes[1] and len(sizes[0]) != len(sizes[1]):
            pairing.check(m, f, at, op, (sizes[0], sizes[1]))
        return False
    known = [shape_text(dims) for dims in sizes if dims is not None]
    witness = next((value for value in pair if type(value) is Arr and value.modes), pair[0])
    return report(m, f, at, op, "sizes", " and ".join(known[-2:]), witness)


def check_unary(m: Machine, f: Frame, at: int, op: str, value: Value) -> bool:
    """Record an operand that an operator refuses. Answers whether it does."""
    if is_reference(f, value):
        return report(m, f, at, op, "reference", "", value)
    if is_place(value):
        return op != "not" and report(m, f, at, op, "place", "", value)
    if op != "not" and check_keys(m, f, at, op, [value]):
        return True
    kind = kind_of(value)
    if not is_sure(value) or not ((op == "~" and kind in _INEXACT) or (op == "-" and kind == "bool")):
        return False
    return report(m, f, at, op, "kind", str(kind), value)


def check_truth(m: Machine, f: Frame, at: int, form: str, value: Value) -> bool:
    """Record an array that is asked for True or False and has several answers. Answers whether it has."""
    if type(value) is not Arr or not is_sure(value):
        return False
    dims = dims_of(value) or ()
    several = any(size not in (None, 1) for size in dims) and 0 not in dims
    return several and report(m, f, at, form, "truth", shape_text(dims), value)


_RAISED: Final = {
    **dict.fromkeys(("axis", "number", "scopes", "exported", "truth", "window-axes"), "ValueError"),
    "size-of": "IndexError",
}
"""What is raised otherwise than as a ``TypeError``."""


def report(m: Machine, f: Frame, at: int, api: str, how: str, detail: str, value: Value) -> bool:
    """Record operands that do not fit, unless the function asks which dtype it has: another branch is for this one."""
    if how in ("kind", "dtypes", "integers") and asks_for_dtype(f):
        return False
    m.emit(
        f, ApiMisuse, at, value, api=api, problem="unfit", parameter=how, detail=detail,
        exception=_RAISED.get(how, "TypeError"),
    )  # fmt: skip
    return True


def asks_for_dtype(f: Frame) -> bool:
    """Whether a function asks of which dtype something is: what another dtype would hurt has another branch."""
    return f.fn is not None and any(map(_asks_for_dtype, f.fn.parts))


def asks_for_axes_of_keys(f: Frame) -> bool:
    """Whether the function asks how many axes a key has, or goes another way for other axes."""
    if f.fn is None:
        return False
    tests = [p.test for p in f.fn.parts if isinstance(p, (ir.If, ir.IfExp, ir.While))]
    return any(map(_asks_for_axes, below(tests))) or any(
        _asks_for_axes(p) and type(p) is ir.Attr and _is_key(f, p.obj) for p in f.fn.parts
    )


def _asks_for_axes(node: ir.Node) -> bool:
    return type(node) is ir.Attr and node.name in ("ndim", "shape")


def _is_key(f: Frame, node: ir.Node) -> bool:
    part: object = node.name if type(node) is ir.Attr else None
    while type(node) is ir.Sub and part is None:
        part = node.index.value if type(node.index) is ir.Const else None
        node = node.obj
    if isinstance(part, str):
        return naming.has_word(part, lexicon().keys.called)
    value = f.scope.vars.get(node.id) if type(node) is ir.Name else None
    return type(value) is not Arr or value.dtype in (None, "key")


def _asks_for_dtype(node: ir.Node) -> bool:
    if type(node) is ir.Call:
        return last_name(node.func) in lexicon().arrays.dtype_questions
    return type(node) is ir.Compare and any(last_name(part) in ("dtype", "kind") for part in below([node]))


def is_sure(value: Value) -> bool:
    """Whether something is certainly an array of JAX."""
    return type(value) is Arr and not value.host and not value.weak and value.kind is SEEN


def is_array(value: Value) -> bool:
    """Whether something is certainly an array of JAX or of NumPy, which functions of JAX take alike."""
    return type(value) is Arr and not value.weak and value.kind is SEEN


def is_reference(f: Frame, value: Value) -> bool:
    """Whether something is certainly a reference to an array, whose numbers have to be read first; variables of modules,
    which are references outside of kernels, compute with what they hold."""
    if type(value) is ExtInst:
        return value.dotted == REFERENCE
    known = type(value) is Tree and value.evidence == "ref" and value.kind is SEEN and not value.weak
    return known and f.world.kernel


def is_place(value: Value) -> bool:
    """Whether something is certainly the place of an element, ``x.at[i]``, and not the element."""
    return type(value) is At and value.index is not None and not value.problem and type(value.arr) is Arr


def is_number(value: Value) -> bool:
    """Whether something is a known number of Python's own."""
    return type(value) is Py and value.kind in _NUMBERS and value.const is not NO_CONST


def int_of(value: Value | None) -> int | None:
    """The integer that a value certainly is."""
    return value.const if type(value) is Py and type(value.const) is int else None


def kind_of(value: Value) -> str | None:
    """Of which kind the numbers of an operand are."""
    if type(value) is Arr:
        return "int" if value.dtype == "number" else value.dtype
    return value.kind if type(value) is Py and value.kind in _NUMBERS else None


def rank_of(value: Value) -> int | None:
    """How many axes an operand has."""
    if type(value) is Arr:
        return value.rank if value.dtype != "key" else None
    return 0 if is_number(value) else None


def shape_of(array: Arr) -> Dims | None:
    """The sizes of the axes of an array, of keys too; None if even their number is not known."""
    if array.dims is not None and len(array.dims) == array.rank:
        return array.dims
    return None if array.rank is None else (None,) * array.rank


def dims_of(value: Value) -> Dims | None:
    """The sizes of the axes of an operand, as far as they are known."""
    if type(value) is Arr:
        return shape_of(value) if value.dtype != "key" else None
    return () if is_number(value) else None


def may_be_equal(one: Dims, other: Dims) -> bool:
    """Whether two shapes are not certainly different ones."""
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other))


def together(sizes: Sequence[Dims | None]) -> Dims | None:
    """The sizes that arrays have when they are combined element by element; `CLASH` if they cannot be."""
    out: Dims | None = ()
    for dims in sizes:
        if dims is None or out is None:
            out = None
            continue
        joined = [_one(a, b) for a, b in zip_longest(reversed(out), reversed(dims), fillvalue=1)]
        if -1 in joined:
            return CLASH
        out = tuple(reversed(joined))
    return out


def _one(a: int | None, b: int | None) -> int | None:
    if a == 1 or a == b:
        return b
    if b == 1:
        return a
    if a is None or b is None:
        return a if b is None else b
    return -1


def product(left: Dims | None, right: Dims | None, is_batched: bool = True) -> Dims | None:
    """The sizes of a product of matrices or vectors; `CLASH` if there is none. is_batched: of more axes, those in front are put
    together, as by ``@``; else each matrix is multiplied with each, as by `jax.numpy.dot`."""
    if not left or not right:
        return None
    inner, outer = left[-1], right[-2] if len(right) > 1 else right[0]
    if inner is not None and outer is not None and inner != outer:
        return CLASH
    rows, columns = left[-2:-1], right[-1:] if len(right) > 1 else ()
    if not is_batched:
        return (*left[:-1], *right[:-2], *columns)
    batch = together([left[:-2], right[:-2]])
    return CLASH if batch is CLASH else (*(batch or ()), *rows, *columns)


def known(dims: Dims | None) -> Dims | None:
    """Sizes worth remembering: None if none of them is known, or one is negative, as those of no array are."""
    return dims if min((size for size in dims or () if size is not None), default=-1) >= 0 else None
