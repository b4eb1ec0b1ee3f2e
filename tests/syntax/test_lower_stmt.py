"""Every kind of statement, lowered."""

from __future__ import annotations

import pytest

from jitlint.syntax import ir
from tests.syntax.helpers import function, module, plain, stmt

A, B, C, D = (("Name", name) for name in "abcd")
ONE = ("Const", "int", 1)
PASS = [("Pass",)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ("ExprStmt", A)),
        ("a = b = c", ("Assign", [A, B], C)),
        ("a, *b = c", ("Assign", [("Tuple", [A, ("Starred", B)])], C)),
        ("[a, b] = c", ("Assign", [("List", [A, B])], C)),
        ("a.x[b] = c", ("Assign", [("Sub", ("Attr", A, "x"), B)], C)),
        ("a @= b", ("AugAssign", A, "@", B)),
        ("a: b", ("AnnAssign", A, B, None)),
        ("a.x: b = c", ("AnnAssign", ("Attr", A, "x"), B, C)),
        ("type a = b", ("Assign", [A], B)),
        ("if a: pass", ("If", A, PASS, [], False)),
        (
            "if a: pass\nelif b: pass\nelif c: pass\nelse: d",
            ("If", A, PASS, [("If", B, PASS, [("If", C, PASS, [("ExprStmt", D)], True)], True)], False),
        ),
        ("if a: pass\nelse:\n    if b: pass", ("If", A, PASS, [("If", B, PASS, [], False)], False)),
        ("while a: pass\nelse: b", ("While", A, PASS, [("ExprStmt", B)])),
        ("for a, b in c: pass\nelse: d", ("For", ("Tuple", [A, B]), C, PASS, [("ExprStmt", D)], False)),
        ("for a in b:\n  break\n", ("For", A, B, [("Break",)], [], False)),
        ("while a:\n  continue\n", ("While", A, [("Continue",)], [])),
        (
            "try: pass\nexcept (a, b) as c: a\nexcept: pass\nelse: b\nfinally: c",
            (
                "Try", PASS,
                [("Handler", ("Tuple", [A, B]), "c", [("ExprStmt", A)]), ("Handler", None, None, PASS)],
                [("ExprStmt", B)], [("ExprStmt", C)],
            ),
        ),
        ("try: pass\nexcept* a: b", ("Try", PASS, [("Handler", A, None, [("ExprStmt", B)])], [], [])),
        ("with a as b, c: pass", ("With", [("WithItem", A, B), ("WithItem", C, None)], PASS, False)),
        ("with (a as (b, c)): pass", ("With", [("WithItem", A, ("Tuple", [B, C]))], PASS, False)),
        ("return", ("Return", None)),
        ("return a", ("Return", A)),
        ("raise", ("Raise", None, None)),
        ("raise a from b", ("Raise", A, B)),
        ("assert a, b", ("Assert", A, B)),
        ("assert a", ("Assert", A, None)),
        ("del a, b.c", ("Del", [A, ("Attr", B, "c")])),
        ("del (a, b[c])", ("Del", [A, ("Sub", B, C)])),
        ("del a", ("Del", [A])),
        ("import a, b.c as d", ("Import", [("ImportName", "a", None), ("ImportName", "b.c", "d")])),
        ("from a.b import c as d", ("ImportFrom", "a.b", 0, [("ImportName", "c", "d")])),
        ("from ..a import (b, c,)", ("ImportFrom", "a", 2, [("ImportName", "b", None), ("ImportName", "c", None)])),
        ("from ... import *", ("ImportFrom", "", 3, [("ImportName", "*", None)])),
        ("global a, b", ("Global", ["a", "b"], False)),
        ("nonlocal a", ("Global", ["a"], True)),
        ("def a(): pass", ("FuncDef", "a", 0)),
        (
            "@a\nclass C(b, *c, metaclass=d, **a): pass",
            (
                "ClassDef", "C", "C",
                [("Arg", B, None, 0), ("Arg", C, None, 1), ("Arg", D, "metaclass", 0), ("Arg", A, None, 2)],
                [A], PASS,
            ),
        ),
    ],
)  # fmt: skip
def test_statement(text: str, expected: object) -> None:
    assert stmt(text) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("1", ("PatValue", ONE, False)),
        ("-1", ("PatValue", ("UnaryOp", "-", ONE), False)),
        ("'s'", ("PatValue", ("Const", "str", "s"), False)),
        ("a.b", ("PatValue", ("Attr", A, "b"), False)),
        ("None", ("PatValue", ("Const", "none", None), True)),
        ("True", ("PatValue", ("Const", "bool", True), True)),
        ("x", ("PatCapture", "x", None)),
        ("_", ("PatCapture", None, None)),
        ("1 as x", ("PatCapture", "x", ("PatValue", ONE, False))),
        ("[x, *rest]", ("PatSeq", [("PatCapture", "x", None), ("PatStar", "rest")])),
        ("x, *_", ("PatSeq", [("PatCapture", "x", None), ("PatStar", None)])),
        ("1 | None", ("PatOr", [("PatValue", ONE, False), ("PatValue", ("Const", "none", None), True)])),
        ("{1: x, **rest}", ("PatMap", [ONE], [("PatCapture", "x", None)], "rest")),
        ("{}", ("PatMap", [], [], None)),
        ("a(x, k=1)", ("PatClass", A, [("PatCapture", "x", None)], ["k"], [("PatValue", ONE, False)])),
    ],
)
def test_match(pattern: str, expected: object) -> None:
    text = f"match a:\n    case {pattern} if b:\n        pass\n"
    assert stmt(text) == ("Match", A, [("Case", expected, B, PASS)])


def test_function_definition() -> None:
    text = """
    @a
    @b(1)
    async def f(x, /, y: int = 1, *args: c, z=a, **kw) -> d:
        '''Doc.'''
        async for i in x: pass
        async with y: pass
        return [i async for i in x]
    """
    f = function(text, "f")
    assert [(p.name, p.kind, plain(p.default), plain(p.annotation)) for p in f.params] == [
        ("x", "pos", None, None),
        ("y", "any", ONE, ("Name", "int")),
        ("args", "var", None, C),
        ("z", "kwonly", A, None),
        ("kw", "kwvar", None, None),
    ]
    assert plain(f.decorators) == [A, ("Call", B, [("Arg", ONE, None, 0)])]
    assert plain(f.returns) == D
    assert (f.is_async, f.is_generator, f.is_lambda) == (True, False, False)
    _, loop, block, result = ir.decode_body(f.body)
    assert isinstance(loop, ir.For)
    assert loop.is_async
    assert isinstance(block, ir.With)
    assert block.is_async
    assert isinstance(result, ir.Return)


def test_functions_stand_in_source_order() -> None:
    text = """
    @d(lambda: 0)
    def f(a=lambda: 1):
        def g(): pass
        return lambda: g
    class C:
        def m(self): pass
    """
    names = [f.qualname for f in module(text).functions]
    locals_ = "f.<locals>."
    assert names == ["<lambda>", "f", "<lambda>", f"{locals_}g", f"{locals_}<lambda>", "C.m"]


def test_mentions_are_the_modules_imported_anywhere() -> None:
    text = """
    import jax.numpy as jnp, os
    from . import a
    def f():
        from ..b.c import d
        import jax.numpy
        from e import *
    """
    assert module(text).mentions == ["jax.numpy", "os", ".", "..b.c", "e"]


TRACED = "# jitlint: traced"


@pytest.mark.parametrize(
    "text",
    [
        f"def f(x):  {TRACED}\n    pass\n",
        f"def f(x): pass  {TRACED}\n",
        f"{TRACED}\ndef f(x):\n    pass\n",
        f"'''doc'''\n{TRACED}\ndef f(x):\n    pass\n",
        f"# other\n\n{TRACED}\ndef f(x):\n    pass\n",
        f"if a:\n    {TRACED}\n    def f(x):\n        pass\n",
        f"a = 1\n\n# other\n{TRACED}\ndef f(x):\n    pass\n",
        f"{TRACED}\n@d\ndef f(x):\n    pass\n",
        f"@d  {TRACED}\n@e\ndef f(x):\n    pass\n",
        f"@d\n@e  {TRACED} (by hand)\ndef f(x):\n    pass\n",
        f"@d\n{TRACED}\ndef f(x):\n    pass\n",
        f"def f(  {TRACED}\n    x,\n):\n    pass\n",
        "def f(\n    x,\n):  #jitlint:traced\n    pass\n",
        f"class C:\n    a = 1\n    {TRACED}\n    def f(x):\n        pass\n",
    ],
)
def test_traced_pragma(text: str) -> None:
    (f,) = module(text).functions
    assert f.traced_pragma


@pytest.mark.parametrize(
    "text",
    [
        f"{TRACED}\n\ndef f(x):\n    pass\n",
        f"{TRACED}\na = 1\ndef f(x):\n    pass\n",
        f"{TRACED}\n# other\ndef f(x):\n    pass\n",
        f"def f(x):\n    pass  {TRACED}\n",
        f"def f(x):\n    {TRACED}\n    pass\n",
        f"a = '''\n{TRACED}\n'''\ndef f(x):\n    pass\n",
        "def f(x):  # jitlint: tracedness\n    pass\n",
    ],
)
def test_no_traced_pragma(text: str) -> None:
    (f,) = module(text).functions
    assert not f.traced_pragma
