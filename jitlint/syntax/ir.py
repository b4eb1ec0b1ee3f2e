"""The small intermediate representation (IR) that the analysis runs on.

What it is: typed, compact, serialisable trees that say what a module *does*. Layer: ``syntax``.
What it is not: a concrete syntax tree. It holds no libcst node (they pin the whole file in memory), no
whitespace and no positions. Every node carries ``at``, its *origin*: a number that the same lowering of
the same text always assigns to the same node. `jitlint.syntax.spans` turns origins into line/column
spans, only for the files that need them.

The classes are `msgspec.Struct`s encoded as tagged arrays, so that a module can travel between processes
and sit in the cache as bytes, and the body of a function is decoded only when somebody looks into it.
"""

from __future__ import annotations

from typing import ClassVar, Union

import msgspec


class Node(msgspec.Struct, frozen=True, array_like=True, tag=True, gc=False):
    """Base of all IR nodes. ``at`` is the node's origin number in its module."""

    at: int


class Part(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Base of what belongs to a node and has no origin of its own: walks give both. ``at`` is the number that no node has."""

    at: ClassVar[int] = -1


# ---------------------------------------------------------------- expressions


class Name(Node, frozen=True, array_like=True, tag=True, gc=False):
    id: str


class Const(Node, frozen=True, array_like=True, tag=True, gc=False):
    """A literal. ``kind``: none, bool, int, float, complex, str, bytes, ellipsis.

    ``value`` is None for none, ellipsis, bytes, complex and for integers beyond 64 bits.
    """

    kind: str
    value: Union[bool, int, float, str, None] = None


class Attr(Node, frozen=True, array_like=True, tag=True, gc=False):
    obj: Expr
    name: str


class Arg(Part, frozen=True, array_like=True, gc=False):
    """One argument of a call: positional (name None), keyword, ``*value`` (star 1) or ``**value`` (star 2)."""

    value: Expr
    name: Union[str, None] = None
    star: int = 0


class Call(Node, frozen=True, array_like=True, tag=True, gc=False):
    func: Expr
    args: list[Arg]


class Sub(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``obj[index]``. Several indices are a `Tuple`; a slice is a `Slice`."""

    obj: Expr
    index: Expr


class Slice(Node, frozen=True, array_like=True, tag=True, gc=False):
    lo: Union[Expr, None]
    hi: Union[Expr, None]
    step: Union[Expr, None]


class BinOp(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``op`` is the operator's text: + - * / // % ** @ & | ^ << >>."""

    op: str
    left: Expr
    right: Expr


class UnaryOp(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``op`` is one of - + ~ not."""

    op: str
    operand: Expr


class BoolOp(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``op`` is ``and`` or ``or``; chains are left-nested."""

    op: str
    left: Expr
    right: Expr


class Compare(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``ops[i]`` (< <= > >= == != in, not in, is, is not) stands between operand i and ``rights[i]``."""

    left: Expr
    ops: list[str]
    rights: list[Expr]


class IfExp(Node, frozen=True, array_like=True, tag=True, gc=False):
    test: Expr
    body: Expr
    orelse: Expr


class Lambda(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``function`` indexes `Module.functions`."""

    function: int


class Tuple(Node, frozen=True, array_like=True, tag=True, gc=False):
    elts: list[Expr]


class List(Node, frozen=True, array_like=True, tag=True, gc=False):
    elts: list[Expr]


class Set(Node, frozen=True, array_like=True, tag=True, gc=False):
    elts: list[Expr]


class Dict(Node, frozen=True, array_like=True, tag=True, gc=False):
    """A key of None stands for ``**value``."""

    keys: list[Union[Expr, None]]
    values: list[Expr]


class Starred(Node, frozen=True, array_like=True, tag=True, gc=False):
    value: Expr


class CompFor(Part, frozen=True, array_like=True, gc=False):
    target: Expr
    iter: Expr
    ifs: list[Expr]


class Comp(Node, frozen=True, array_like=True, tag=True, gc=False):
    """A comprehension; ``kind`` is list, set, dict or generator. ``value`` is the dict value."""

    kind: str
    elt: Expr
    value: Union[Expr, None]
    fors: list[CompFor]


class FmtPart(Part, frozen=True, array_like=True, gc=False):
    """One ``{value!conv:spec}`` of an f-string. ``spec`` tells whether a non-empty format spec is there."""

    value: Expr
    spec: bool = False
    conv: Union[str, None] = None
    spec_parts: list[FmtPart] = []


class Fstr(Node, frozen=True, array_like=True, tag=True, gc=False):
    parts: list[FmtPart]


class Await(Node, frozen=True, array_like=True, tag=True, gc=False):
    value: Expr


class Yield(Node, frozen=True, array_like=True, tag=True, gc=False):
    value: Union[Expr, None]
    is_from: bool = False


class Walrus(Node, frozen=True, array_like=True, tag=True, gc=False):
    target: str
    value: Expr


Expr = Union[
    Name, Const, Attr, Call, Sub, Slice, BinOp, UnaryOp, BoolOp, Compare, IfExp, Lambda, Tuple, List, Set,
    Dict, Starred, Comp, Fstr, Await, Yield, Walrus,
]  # fmt: skip

# ---------------------------------------------------------------- statements


class ExprStmt(Node, frozen=True, array_like=True, tag=True, gc=False):
    value: Expr


class Assign(Node, frozen=True, array_like=True, tag=True, gc=False):
    targets: list[Expr]
    value: Expr


class AugAssign(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``op`` without the equals sign: ``+`` for ``+=``."""

    target: Expr
    op: str
    value: Expr


class AnnAssign(Node, frozen=True, array_like=True, tag=True, gc=False):
    target: Expr
    annotation: Expr
    value: Union[Expr, None]


class If(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``elif`` is an `If` alone in ``orelse`` with ``is_elif`` set."""

    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_elif: bool = False


class While(Node, frozen=True, array_like=True, tag=True, gc=False):
    test: Expr
    body: list[Stmt]
    orelse: list[Stmt]


class For(Node, frozen=True, array_like=True, tag=True, gc=False):
    target: Expr
    iter: Expr
    body: list[Stmt]
    orelse: list[Stmt]
    is_async: bool = False


class Handler(msgspec.Struct, frozen=True, array_like=True, gc=False):
    at: int
    type: Union[Expr, None]
    name: Union[str, None]
    body: list[Stmt]


class Try(Node, frozen=True, array_like=True, tag=True, gc=False):
    body: list[Stmt]
    handlers: list[Handler]
    orelse: list[Stmt]
    final: list[Stmt]


class WithItem(Part, frozen=True, array_like=True, gc=False):
    value: Expr
    target: Union[Expr, None]


class With(Node, frozen=True, array_like=True, tag=True, gc=False):
    items: list[WithItem]
    body: list[Stmt]
    is_async: bool = False


class Return(Node, frozen=True, array_like=True, tag=True, gc=False):
    value: Union[Expr, None]


class Raise(Node, frozen=True, array_like=True, tag=True, gc=False):
    exc: Union[Expr, None]
    cause: Union[Expr, None]


class Assert(Node, frozen=True, array_like=True, tag=True, gc=False):
    test: Expr
    msg: Union[Expr, None]


class Del(Node, frozen=True, array_like=True, tag=True, gc=False):
    targets: list[Expr]


class ImportName(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """``name`` as written (dotted for `Import`, ``*`` for a star import), ``asname`` or None."""

    name: str
    asname: Union[str, None]
    at: int


class Import(Node, frozen=True, array_like=True, tag=True, gc=False):
    names: list[ImportName]


class ImportFrom(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``level`` counts the leading dots."""

    module: str
    level: int
    names: list[ImportName]


class Global(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``global`` and ``nonlocal``. Scopes already know the names, so execution ignores it."""

    names: list[str]
    nonlocal_: bool = False


class Pass(Node, frozen=True, array_like=True, tag=True, gc=False):
    pass


class Break(Node, frozen=True, array_like=True, tag=True, gc=False):
    pass


class Continue(Node, frozen=True, array_like=True, tag=True, gc=False):
    pass


class FuncDef(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``function`` indexes `Module.functions`."""

    name: str
    function: int


class ClassDef(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``keywords`` are class arguments such as ``metaclass=`` (name set) and ``**options`` (star 2)."""

    name: str
    qualname: str
    bases: list[Arg]
    decorators: list[Expr]
    body: list[Stmt]


# Match patterns, reduced to what execution needs.


class PatValue(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``case 0:`` / ``case Color.RED:`` (compared with ==) and None/True/False (compared with ``is``)."""

    value: Expr
    singleton: bool = False


class PatCapture(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``case name:``, ``case _:`` (name None), ``case pattern as name:``."""

    name: Union[str, None]
    pattern: Union[Pattern, None] = None


class PatSeq(Node, frozen=True, array_like=True, tag=True, gc=False):
    """``case [a, *rest]:``; a `PatStar` may be among the items."""

    items: list[Pattern]


class PatStar(Node, frozen=True, array_like=True, tag=True, gc=False):
    name: Union[str, None]


class PatMap(Node, frozen=True, array_like=True, tag=True, gc=False):
    keys: list[Expr]
    items: list[Pattern]
    rest: Union[str, None]


class PatClass(Node, frozen=True, array_like=True, tag=True, gc=False):
    cls: Expr
    items: list[Pattern]
    names: list[str]
    kw_items: list[Pattern]


class PatOr(Node, frozen=True, array_like=True, tag=True, gc=False):
    items: list[Pattern]


Pattern = Union[PatValue, PatCapture, PatSeq, PatStar, PatMap, PatClass, PatOr]


class Case(Part, frozen=True, array_like=True, gc=False):
    pattern: Pattern
    guard: Union[Expr, None]
    body: list[Stmt]


class Match(Node, frozen=True, array_like=True, tag=True, gc=False):
    subject: Expr
    cases: list[Case]


Stmt = Union[
    ExprStmt, Assign, AugAssign, AnnAssign, If, While, For, Try, With, Return, Raise, Assert, Del, Import,
    ImportFrom, Global, Pass, Break, Continue, FuncDef, ClassDef, Match,
]  # fmt: skip

# ---------------------------------------------------------------- functions and modules


class Param(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """``kind``: pos (positional only), any, var (*args), kwonly, kwvar (**kwargs)."""

    at: int
    name: str
    kind: str
    default: Union[Expr, None] = None
    annotation: Union[Expr, None] = None


class Body(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is decoded lazily: the statements of one function."""

    stmts: list[Stmt]


class Function(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything about a function that is needed at its definition, and its body as encoded bytes.

    at: origin of the ``def`` or ``lambda`` node. name_at: origin that spans the name (a lambda: whole node).
    first_at: origin of the first decorator, or of the def itself: `co_firstlineno` is its line.
    local_names: names bound in the function (parameters included, global/nonlocal ones excluded).
    global_names / nonlocal_names: as declared. traced_pragma: a ``# jitlint: traced`` comment stands on the
    def line or the line above. A lambda's body is a single `Return`.
    """

    at: int
    name_at: int
    first_at: int
    name: str
    qualname: str
    params: list[Param]
    decorators: list[Expr] = []
    returns: Union[Expr, None] = None
    local_names: list[str] = []
    global_names: list[str] = []
    nonlocal_names: list[str] = []
    is_async: bool = False
    is_generator: bool = False
    is_lambda: bool = False
    traced_pragma: bool = False
    body: bytes = b""


class Module(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file. ``functions`` holds every function and lambda of the file in source order.

    mentions: dotted names imported anywhere (``jax``, ``jax.numpy``, ``.utils``), for a quick relevance test.
    origins: how many origin numbers the lowering handed out. firsts: how many it had handed out before each of the
    file's outermost statements (or lines of several). members: the same of the statements in an outermost class,
    by the number of the class among the outermost statements. quoted: the origins in annotations that are strings.
    """

    body: list[Stmt]
    functions: list[Function]
    mentions: list[str]
    origins: int
    firsts: list[int]
    members: dict[int, list[int]]
    quoted: list[int]


_BODY_DECODER = msgspec.msgpack.Decoder(Body)
_MODULE_DECODER = msgspec.msgpack.Decoder(Module)
_ENCODER = msgspec.msgpack.Encoder()


def encode_body(stmts: list[Stmt]) -> bytes:
    """Encode a function body for `Function.body`."""
    return _ENCODER.encode(Body(stmts))


def decode_body(data: bytes) -> list[Stmt]:
    """Decode `Function.body`."""
    return _BODY_DECODER.decode(data).stmts


def encode_module(module: Module) -> bytes:
    """Encode a module for the cache or for another process."""
    return _ENCODER.encode(module)


def decode_module(data: bytes) -> Module:
    """Decode what `encode_module` made. Raises `msgspec.DecodeError` on foreign bytes."""
    return _MODULE_DECODER.decode(data)
