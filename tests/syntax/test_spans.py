"""Spans: agreement with the positions of Python's own parser, and the cases it does not cover."""

from __future__ import annotations

import ast
import warnings
from collections import Counter
from collections.abc import Iterator

import pytest

from jitlint.base.diagnostic import Span
from jitlint.syntax import SyntaxProblem, compute_spans, ir, lower
from jitlint.syntax.concrete.spans import _spans_in_parts as spans_in_parts
from tests.syntax.helpers import corpus, module, walk

# Python's node -> ours.
SAME = {
    "Constant": "Const", "Attribute": "Attr", "Subscript": "Sub", "ListComp": "Comp", "SetComp": "Comp",
    "DictComp": "Comp", "GeneratorExp": "Comp", "JoinedStr": "Fstr", "YieldFrom": "Yield",
    "NamedExpr": "Walrus", "Expr": "ExprStmt", "AsyncFor": "For", "TryStar": "Try", "AsyncWith": "With",
    "Delete": "Del", "Nonlocal": "Global", "FunctionDef": "FuncDef", "AsyncFunctionDef": "FuncDef",
    "ExceptHandler": "Handler", "arg": "Param", "MatchValue": "PatValue", "MatchSingleton": "PatValue",
    "MatchSequence": "PatSeq", "MatchStar": "PatStar", "MatchMapping": "PatMap", "MatchClass": "PatClass",
    "MatchAs": "PatCapture", "MatchOr": "PatOr",
    **{name: name for name in (
        "Name Call Slice BinOp UnaryOp Compare IfExp Lambda Tuple List Set Dict Starred Await Yield Assign AugAssign "
        "AnnAssign If While For Try With Return Raise Assert Import ImportFrom Global Pass Break Continue ClassDef "
        "Match"
    ).split()},
}  # fmt: skip

# What a file can hold, for kinds of nodes that are rare in the corpus, with parentheses in all places.
RARE = """
x = ((a, b), (c,), ((d)), (e)[(f), g:h, ::i], a[b, c], f((a for a in (b))), f(a for a in b), ((yield)))
if (a): pass
elif (b) and (c) or not (d): pass
else:
    (e)
@ (d)
@ e.f
async def f(a, /, b: (int) = 1, *c: (x), d: 'y z' = (2), **e) -> (z):
    async for i in (x): await (y)
    async with (a) as (b), (c): pass
    return (await (x))  # comment
    é = 'ü' + ö; del (x), y
match (x):
    case (1) | (None) | [a, (b), *c] | (d, *_,) if (e): pass
    case {'k': (v), **r} | C((x), k=(y)) as z: pass
    case _: pass
class C((A), metaclass=(B)): pass
with (a as b, c): pass
with (a), b: pass
try: pass
except (A, B) as e: pass
except (C): pass
f(*(a), **(b), c=(d))
lambda a, *b, c=(1): (a)
(a := (b))
assert (a), (b)
raise (a) from (b)
for (x) in (y): pass
{**(a), (b): (c)}, {(a), *(b)}, [*(c)]
a = b = (c) if (d) else (e)
a: (b) = (c)
global q, r
(a) < (b) <= (c)
'a' 'b' "c"
(
    'a'
    'b'
)
"""


def plain(tree: ast.AST, in_function: bool = False) -> Iterator[ast.AnnAssign]:
    """The annotated assignments to variables of functions, which do no more than those without an annotation."""
    for node in ast.iter_child_nodes(tree):
        if (
            isinstance(node, ast.AnnAssign)
            and in_function
            and isinstance(node.target, ast.Name)
            and node.value
        ):
            yield node
        function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        yield from plain(node, function or (in_function and not isinstance(node, ast.ClassDef)))


def python_positions(text: str) -> Counter[tuple[str, Span]]:
    """Every node of Python's tree that has a counterpart in the IR."""
    tree = ast.parse(text)
    left_out: set[int] = set()
    local = {id(node) for node in plain(tree)}
    for node in plain(tree):
        left_out |= {id(child) for child in ast.walk(node.annotation)}
    for node in ast.walk(tree):
        for parameter in getattr(node, "type_params", ()):  # not in the IR
            left_out |= {id(child) for child in ast.walk(parameter)}
        if isinstance(node, ast.JoinedStr):  # positions inside are wrong before Python 3.12
            left_out |= {id(child) for child in ast.walk(node) if child is not node}
        elif isinstance(node, ast.Call):  # a starred argument is no node of the IR
            left_out |= {id(child) for child in node.args if isinstance(child, ast.Starred)}
        elif isinstance(node, ast.ClassDef):
            left_out |= {id(child) for child in node.bases if isinstance(child, ast.Starred)}
        elif isinstance(node, (ast.arg, ast.AnnAssign)):  # a string annotation is parsed: no string remains
            left_out.add(id(node.annotation) if isinstance(node.annotation, ast.Constant) else 0)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            left_out.add(id(node.returns) if isinstance(node.returns, ast.Constant) else 0)
        elif isinstance(node, ast.NamedExpr):  # its target is a mere string
            left_out.add(id(node.target))
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            left_out.add(id(node.slice))  # Python counts a trailing comma in, we do not
    lines = text.split("\n")
    encoded = [line.encode() for line in lines]

    def column(line: int, offset: int) -> int:
        return len(encoded[line - 1][:offset].decode()) + 1

    found: Counter[tuple[str, Span]] = Counter()
    for node in ast.walk(tree):
        kind = "Assign" if id(node) in local else SAME.get(type(node).__name__)
        if kind is None or id(node) in left_out:
            continue
        start, end = node.lineno, node.end_lineno  # type: ignore[attr-defined]
        start_column = column(start, node.col_offset)  # type: ignore[attr-defined]
        found[kind, Span(start, start_column, end, column(end, node.end_col_offset))] += 1  # type: ignore[attr-defined]
    return found


def our_positions(text: str, lowered: ir.Module) -> Counter[tuple[str, Span]]:
    nodes = list(walk(lowered))
    spans = compute_spans(text, [at for _, at in nodes])
    return Counter((kind, spans[at]) for kind, at in nodes)


def test_rare_nodes_stand_where_python_sees_them() -> None:
    assert python_positions(RARE) - our_positions(RARE, module(RARE)) == Counter()


def test_real_files_agree_with_python() -> None:
    compared = 0
    for source in corpus():
        text = source.text.replace("\r\n", "\n")
        lowered = lower(text)
        if isinstance(lowered, SyntaxProblem):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                expected = python_positions(text)
            except SyntaxError:
                continue
        missing = expected - our_positions(text, lowered)
        # Python lets a block end behind a superfluous semicolon.
        lines = text.split("\n")
        missing = Counter(
            {key: n for key, n in missing.items() if not lines[key[1].end_line - 1].rstrip().endswith(";")}
        )
        assert not missing, source.path
        compared += sum(expected.values())
    assert compared > 30_000


SHARED_LINES = """\
a = 1; b = (
  2); c = 3  # three statements, two lines
# jitlint: traced
@a
@b(
  1)
def f(x): return x  # of f
class C: y = 1; z = [
    y]
if a: b; c
else: d
'\x0c text'; e = 'é\x85\u2028'; f = "x\x0cy"
g \\
  = 1
@a
class D(
    b): "text"; h = 2
class E(b, metaclass=c):
    '''Of E.

  less indented'''
    i = 1; j = (
2)
    # jitlint: traced
    @property
    def k(self):
        class F:
            l = 3
        return F
    class G:
            m = 4
    if a: n = 5
class _:
    o = 6
"""


@pytest.mark.parametrize(
    "text", [SHARED_LINES, SHARED_LINES.replace("\n", "\r\n"), RARE, "", "x = 1", "\n\nx"]
)
def test_statement_by_statement_gives_the_same(text: str) -> None:
    lowered = module(text)
    every = range(lowered.origins)
    assert compute_spans(text, every, lowered) == compute_spans(text, every)
    for origin in every:
        assert compute_spans(text, [origin], lowered) == compute_spans(text, [origin])


def test_statement_by_statement_does_not_fall_back_on_the_whole() -> None:
    lowered = module(SHARED_LINES)
    assert spans_in_parts(SHARED_LINES, range(lowered.origins), lowered) is not None


def test_statement_by_statement_in_real_files() -> None:
    for source in corpus()[:60]:
        lowered = lower(source.text)
        if not isinstance(lowered, SyntaxProblem):
            wanted = range(0, lowered.origins, 7)
            assert compute_spans(source.text, wanted, lowered) == compute_spans(source.text, wanted), (
                source.path
            )


def test_a_module_of_another_text_is_not_believed() -> None:
    text = "x = 1\ny = a + b\n"
    for other in ("x = 1\n", "x = 1\ny = a\n"):
        assert compute_spans(text, [1, 2, 3], module(other)) == compute_spans(text, [1, 2, 3])


def text_at(text: str, span: Span) -> str:
    lines = text.split("\n")
    if span.line == span.end_line:
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]
    first, last = lines[span.line - 1][span.column - 1 :], lines[span.end_line - 1][: span.end_column - 1]
    return "\n".join([first, *lines[span.line : span.end_line - 1], last])


def test_parts_of_a_function() -> None:
    text = "@a\n@b(\n 1)\nasync def f(x: int = 1, *args):\n    pass\ng = lambda y: y\n"
    lowered = module(text)
    f, g = lowered.functions
    wanted = [f.at, f.name_at, f.first_at, *(p.at for p in f.params), g.at, g.name_at, g.first_at]
    spans = compute_spans(text, wanted)
    assert [text_at(text, spans[at]) for at in wanted] == [
        "async def f(x: int = 1, *args):\n    pass", "f", "@a", "x: int", "args",
        "lambda y: y", "lambda y: y", "lambda y: y",
    ]  # fmt: skip


def test_parts_of_a_string_annotation_span_the_string() -> None:
    text = "def f(x: 'a.b', y: 'list[c]'): pass\n"
    lowered = module(text)
    annotations = [param.annotation for param in lowered.functions[0].params]
    origins = [[at for _, at in walk(annotation)] for annotation in annotations]
    spans = compute_spans(text, [at for several in origins for at in several])
    assert [{text_at(text, spans[at]) for at in several} for several in origins] == [{"'a.b'"}, {"'list[c]'"}]


def test_inside_f_strings() -> None:
    text = "x = f'é{a.b:>{w}} {c!r}'\n"
    lowered = module(text)
    places = {
        text_at(text, span) for (kind, span), _ in our_positions(text, lowered).items() if kind == "Name"
    }
    assert places == {"x", "a", "w", "c"}


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n\f\n{last}\n",
        "x = \f 1\n{last}\n",
        "x = 1\n\f{last}\n",
        "x = 1\n\f\fa.b; {last}",
        "if a:\n\f    b\n    c\n{last}",
        "if a:\n  \f    b\n\f    c\n\f{last}",
        "x = f'{{a!r  }} {{b!s }}'; {last}",
        "x = f'{{a!r  :>3}}'\n{last}",
    ],
)
def test_white_space_that_libcst_drops(text: str) -> None:
    text = text.format(last="zoo = 'x'")
    last = module(text).body[-1]
    assert text_at(text, compute_spans(text, [last.at])[last.at]) == "zoo = 'x'"


def test_unknown_origins_and_bad_texts() -> None:
    assert compute_spans("x = 1", [-1, 99]) == {}
    assert compute_spans("x = = 1", [0]) == {}
