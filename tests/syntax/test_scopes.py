"""Scopes and qualified names: chosen cases, and agreement with Python itself on real files."""

from __future__ import annotations

import ast
import re
import symtable
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from jitlint.syntax import Source, compute_spans, ir, lower
from tests.syntax.helpers import corpus, function, module


@pytest.mark.parametrize(
    ("body", "local"),
    [
        ("a = 1", "a"),
        ("a.b = c[d] = 1", ""),
        ("a, (b, *c) = [d, e] = 1", "a b c d e"),
        ("a += 1", "a"),
        ("a: int", "a"),
        ("for a in b: pass", "a"),
        ("with x as (a, b), y as c.d: pass", "a b"),
        ("try: pass\n    except E as a: b = 1", "a b"),
        ("import a.b, c.d as e", "a e"),
        ("from x import a, b as c", "a c"),
        ("def a(b): c = 1", "a"),
        ("class A:\n        b = 1", "A"),
        ("x = [a for a in b]", "x"),
        ("x = [(y := a) for a in b if (z := a)]", "y z x"),
        ("x = lambda a: (b := a)", "x"),
        ("del a", "a"),
        ("global a, b\n    a = b = c = 1", "c"),
        ("nonlocal a\n    a = b = 1", "b"),
        (
            "match x:\n        case [a, *b] | {'k': a, **b}: pass\n        case C(c, k=d) as e: pass",
            "a b c d e",
        ),
        ("f(a=1)", ""),
        ("type A = int", "A"),
    ],
)
def test_local_names(body: str, local: str) -> None:
    assert sorted(function(f"def f(p, *q):\n    {body}\n", "f").local_names) == sorted(
        ["p", "q", *local.split()]
    )


def test_declared_names() -> None:
    text = """
    def f():
        global b, a
        def g():
            nonlocal c
            global d
    """
    f = function(text, "f")
    assert (f.global_names, f.nonlocal_names, f.local_names) == (["a", "b"], [], ["g"])
    g = function(text, "f.<locals>.g")
    assert (g.global_names, g.nonlocal_names) == (["d"], ["c"])


def test_a_definition_of_a_global_name_has_a_short_qualified_name() -> None:
    text = """
    def f():
        global g, C
        def g(): pass
        class C:
            def m(self): pass
    """
    assert [found.qualname for found in module(text).functions] == ["f", "g", "C.m"]


def test_functions_in_comprehensions() -> None:
    text = """
    def f():
        [lambda: 1 for a in b]
        (lambda: 2 for a in (lambda: 3))
    """
    inside = "f.<locals>.<genexpr>.<lambda>"
    names = sorted(found.qualname for found in module(text).functions)
    assert names == ["f", inside, "f.<locals>.<lambda>", "f.<locals>.<lambda>"]


@pytest.mark.parametrize(
    ("text", "generator"),
    [
        ("def f(): yield", True),
        ("def f(): x = yield from y", True),
        ("def f(): return lambda: (yield)", False),
        ("def f():\n    def g(): yield", False),
        ("def f(): return (x for x in y)", False),
        ("async def f(): yield 1", True),
    ],
)
def test_is_generator(text: str, generator: bool) -> None:
    assert function(text, "f").is_generator is generator


# ---------------------------------------------------------------- agreement with Python on real files


@pytest.fixture(scope="module")
def files() -> list[tuple[Source, ir.Module]]:
    """Files that this Python compiles too."""
    found = []
    for source in corpus():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(source.text, "f", "exec")
        except SyntaxError:
            continue
        lowered = lower(source.text)
        assert isinstance(lowered, ir.Module), (source.path, lowered)
        found.append((source, lowered))
    assert len(found) > 50
    return found


def _code_objects(code: types.CodeType) -> Iterator[Any]:  # Python 3.10 does not know `co_qualname`
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code_objects(constant)


_COMPREHENSION = re.compile(r"<(?:list|set|dict)comp>\.")
_OPTIMIZED = 0x1  # functions have it, modules and class bodies do not
_GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x20, 0x80, 0x200


def test_functions_agree_with_compiled_code(files: list[tuple[Source, ir.Module]]) -> None:
    """Qualified name, first line, kind of every function that Python compiles."""
    compared = 0
    for source, lowered in files:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            top = compile(source.text, "f", "exec", dont_inherit=True)
        nodes = list(ast.walk(ast.parse(source.text)))
        type_variables = {p.name for node in nodes for p in getattr(node, "type_params", ())}
        python: Counter[tuple[str, int, bool, bool]] = Counter()
        for code in _code_objects(top):
            name = code.co_name
            if not code.co_flags & _OPTIMIZED or (name[0] == "<" and name != "<lambda>"):
                continue
            if name in type_variables:  # evaluates the bound of one
                continue
            name = _COMPREHENSION.sub("", code.co_qualname) if sys.version_info >= (3, 11) else name
            generator = bool(code.co_flags & (_GENERATOR | _ASYNC_GENERATOR))
            is_async = bool(code.co_flags & (_COROUTINE | _ASYNC_GENERATOR))
            python[name, code.co_firstlineno, generator, is_async] += 1
        spans = compute_spans(source.text, [f.first_at for f in lowered.functions])
        ours = Counter(
            (
                f.qualname if sys.version_info >= (3, 11) else f.name,
                spans[f.first_at].line,
                f.is_generator,
                f.is_async,
            )
            for f in lowered.functions
        )
        assert not python - ours, source.path
        compared += sum(python.values())
        # What Python does not compile is dead code (``if False``), but it is in the tree.
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        assert len(lowered.functions) == sum(isinstance(node, kinds) for node in nodes), source.path
    assert compared > 1000


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.Function]:
    for child in table.get_children():
        if isinstance(child, symtable.Function) and child.get_name() not in _COMPREHENSION_TABLES:
            yield child
        yield from _tables(child)


_COMPREHENSION_TABLES = {"listcomp", "setcomp", "dictcomp", "genexpr"}
_MANGLED = re.compile(r"__\w*(?<!__)\Z|_\w+?__\w+(?<!__)\Z")


def test_scopes_agree_with_the_symbol_table(files: list[tuple[Source, ir.Module]]) -> None:
    """Local, global and nonlocal names of every function."""
    compared = 0
    for source, lowered in files:
        # From 3.12 on, the targets of inlined comprehensions are among the symbols of the function around.
        inlined: set[str] = set()
        if sys.version_info >= (3, 12):
            for node in ast.walk(ast.parse(source.text)):
                if isinstance(node, ast.comprehension):
                    inlined |= {name.id for name in ast.walk(node.target) if isinstance(name, ast.Name)}

        def kept(names: object, inlined: set[str] = inlined) -> frozenset[str]:
            # Private names of classes are mangled in the symbol table.
            assert isinstance(names, (list, tuple))
            return frozenset(name for name in names if name not in inlined and not _MANGLED.match(name))

        python: Counter[object] = Counter()
        for table in _tables(symtable.symtable(source.text, "f", "exec")):
            declared = [s.get_name() for s in table.get_symbols() if s.is_declared_global()]
            outer = [s.get_name() for s in table.get_symbols() if s.is_nonlocal()]
            name = table.get_name()
            name = "<lambda>" if name == "lambda" else name
            python[name, kept(table.get_locals()), kept(declared), kept(outer)] += 1
        ours: Counter[object] = Counter(
            (f.name, kept(f.local_names), kept(f.global_names), kept(f.nonlocal_names))
            for f in lowered.functions
            if f.name not in _COMPREHENSION_TABLES
        )
        assert ours == python, source.path
        compared += len(lowered.functions)
    assert compared > 1000
