"""Every kind of expression, lowered."""

from __future__ import annotations

from typing import Any

import pytest

from jitlint.syntax import ir
from tests.syntax.helpers import expr, function, module, plain, stmt

A, B, C, D = (("Name", name) for name in "abcd")


def const(kind: str, value: object = None) -> tuple[str, str, object]:
    return ("Const", kind, value)


def part(value: Any, spec: bool = False, conv: str | None = None, inner: list[Any] | None = None) -> Any:
    return ("FmtPart", value, spec, conv, inner or [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", A),
        ("(a)", A),
        ("None", const("none")),
        ("True", const("bool", True)),
        ("False", const("bool", False)),
        ("...", const("ellipsis")),
        ("7", const("int", 7)),
        ("1_000", const("int", 1000)),
        ("0x_ff", const("int", 255)),
        ("0o17", const("int", 15)),
        ("0b101", const("int", 5)),
        ("00", const("int", 0)),
        ("18446744073709551615", const("int", 2**64 - 1)),
        ("18446744073709551616", const("int")),
        ("9" * 5000, const("int")),
        ("1_0.5e-1", const("float", 1.05)),
        ("1e400", const("float", float("inf"))),
        ("2j", const("complex")),
        ("'text'", const("str", "text")),
        ("''", const("str", "")),
        ("''''''", const("str", "")),
        ('"""a"b"""', const("str", 'a"b')),
        (r"'a\tb\x41\101é\N{BULLET}\'\q'", const("str", "a\tbAAé\u2022'\\q")),
        (r"r'a\tb'", const("str", r"a\tb")),
        ("u'a'", const("str", "a")),
        ("'a\\\nb'", const("str", "ab")),
        ("'a\\\r\nb'", const("str", "ab")),
        ("'''a\r\nb'''", const("str", "a\nb")),
        (r"'\ud800'", const("str")),
        (r"'\N{NO SUCH THING}'", const("str")),
        ("b'abc'", const("bytes")),
        ("Rb'abc'", const("bytes")),
        ("'a' 'b' \"c\"", const("str", "abc")),
        ("b'a' b'b'", const("bytes")),
        ("a.b", ("Attr", A, "b")),
        ("a[b]", ("Sub", A, B)),
        ("a[b, c]", ("Sub", A, ("Tuple", [B, C]))),
        ("a[b,]", ("Sub", A, ("Tuple", [B]))),
        ("a[(b, c)]", ("Sub", A, ("Tuple", [B, C]))),
        ("a[*b]", ("Sub", A, ("Tuple", [("Starred", B)]))),
        ("a[b, *c]", ("Sub", A, ("Tuple", [B, ("Starred", C)]))),
        ("a[b:c:d]", ("Sub", A, ("Slice", B, C, D))),
        ("a[:]", ("Sub", A, ("Slice", None, None, None))),
        ("a[::b]", ("Sub", A, ("Slice", None, None, B))),
        ("a[b:, ...]", ("Sub", A, ("Tuple", [("Slice", B, None, None), const("ellipsis")]))),
        ("a - b - c", ("BinOp", "-", ("BinOp", "-", A, B), C)),
        ("a ** b ** c", ("BinOp", "**", A, ("BinOp", "**", B, C))),
        ("not a", ("UnaryOp", "not", A)),
        ("-a", ("UnaryOp", "-", A)),
        ("+a", ("UnaryOp", "+", A)),
        ("~a", ("UnaryOp", "~", A)),
        ("a and b and c", ("BoolOp", "and", ("BoolOp", "and", A, B), C)),
        ("a or b", ("BoolOp", "or", A, B)),
        ("a < b <= c", ("Compare", A, ["<", "<="], [B, C])),
        ("a not in b", ("Compare", A, ["not in"], [B])),
        ("a in b", ("Compare", A, ["in"], [B])),
        ("a is not b", ("Compare", A, ["is not"], [B])),
        ("a is b", ("Compare", A, ["is"], [B])),
        ("a == b != c", ("Compare", A, ["==", "!="], [B, C])),
        ("a > b >= c", ("Compare", A, [">", ">="], [B, C])),
        ("a if b else c", ("IfExp", B, A, C)),
        ("a, b", ("Tuple", [A, B])),
        ("()", ("Tuple", [])),
        ("(a,)", ("Tuple", [A])),
        ("[a, *b]", ("List", [A, ("Starred", B)])),
        ("{a, *b}", ("Set", [A, ("Starred", B)])),
        ("{a: b, **c}", ("Dict", [A, None], [B, C])),
        ("{}", ("Dict", [], [])),
        ("[a for b in c if d if a]", ("Comp", "list", A, None, [("CompFor", B, C, [D, A])])),
        ("{a for b in c}", ("Comp", "set", A, None, [("CompFor", B, C, [])])),
        ("{a: b for c in d}", ("Comp", "dict", A, B, [("CompFor", C, D, [])])),
        ("(a for b in c for c in d)", ("Comp", "generator", A, None, [("CompFor", B, C, []), ("CompFor", C, D, [])])),
        ("a(b for c in d)", ("Call", A, [("Arg", ("Comp", "generator", B, None, [("CompFor", C, D, [])]), None, 0)])),
        ("[a for b, c in d]", ("Comp", "list", A, None, [("CompFor", ("Tuple", [B, C]), D, [])])),
        ("a()", ("Call", A, [])),
        (
            "a(b, *c, k=d, **a)",
            ("Call", A, [("Arg", B, None, 0), ("Arg", C, None, 1), ("Arg", D, "k", 0), ("Arg", A, None, 2)]),
        ),
        ("f'{a}'", ("Fstr", [part(A)])),
        ("f'text'", ("Fstr", [])),
        ("f'{a!r}'", ("Fstr", [part(A, conv="r")])),
        ("f'{a:>{b}.{c!s}}'", ("Fstr", [part(A, True, None, [part(B), part(C, conv="s")])])),
        ("f'{a:}'", ("Fstr", [part(A)])),
        ("f'{a:.2f} and {b}'", ("Fstr", [part(A, True), part(B)])),
        ("f'{a=}'", ("Fstr", [part(A, conv="r")])),
        ("f'{a=!s}'", ("Fstr", [part(A, conv="s")])),
        ("f'{a=:.2f}'", ("Fstr", [part(A, True)])),
        ("'x' f'{a}' 'y' f'{b}'", ("Fstr", [part(A), part(B)])),
        ("(a := b)", ("Walrus", "a", B)),
        ("await a", ("Await", A)),
        ("(yield)", ("Yield", None, False)),
        ("(yield a)", ("Yield", A, False)),
        ("(yield from a)", ("Yield", A, True)),
        ("lambda: a", ("Lambda", 0)),
    ],
)  # fmt: skip
def test_expression(text: str, expected: tuple[object, ...]) -> None:
    if text.startswith("await"):  # only a keyword inside an async function
        (statement,) = ir.decode_body(function(f"async def f():\n    {text}", "f").body)
        assert isinstance(statement, ir.ExprStmt)
        assert plain(statement.value) == expected
    elif expected[:2] == ("Const", "str"):  # on a line of its own it would be documentation
        assert stmt(f"x = {text}")[2] == expected
    else:
        assert expr(text) == expected


@pytest.mark.parametrize("operator", "+ - * / // % ** @ & | ^ << >>".split())
def test_binary_operators_and_their_assignments(operator: str) -> None:
    assert expr(f"a {operator} b") == ("BinOp", operator, A, B)
    assert plain(module(f"a {operator}= b").body) == [("AugAssign", A, operator, B)]


def test_lambda_has_parameters_and_one_return() -> None:
    lowered = function("x = lambda a, /, b=c, *d, e, **f: a + b", "<lambda>")
    assert [(p.name, p.kind, plain(p.default)) for p in lowered.params] == [
        ("a", "pos", None), ("b", "any", C), ("d", "var", None), ("e", "kwonly", None), ("f", "kwvar", None),
    ]  # fmt: skip
    assert lowered.is_lambda
    assert lowered.at == lowered.name_at == lowered.first_at
    assert plain(ir.decode_body(lowered.body)) == [("Return", ("BinOp", "+", A, B))]


def test_string_annotations_are_parsed() -> None:
    text = """
    x: "jax.Array" = 1
    def f(a: "np.ndarray", b: "list[int] | None", c: "not an annotation", d: "None", e: b"x") -> "T": ...
    """
    lowered = module(text)
    jax_array = ("Attr", ("Name", "jax"), "Array")
    assert plain(lowered.body[0]) == ("AnnAssign", ("Name", "x"), jax_array, const("int", 1))
    (f,) = lowered.functions
    listed = ("Sub", ("Name", "list"), ("Name", "int"))
    assert [plain(p.annotation) for p in f.params] == [
        ("Attr", ("Name", "np"), "ndarray"),
        ("BinOp", "|", listed, const("none")),
        const("str", "not an annotation"),
        const("none"),
        const("bytes"),
    ]
    assert plain(f.returns) == ("Name", "T")
    # A string inside an annotation is data: jaxtyping puts shapes there.
    inside = module("def f(a: Float[Array, 'n m']): ...").functions[0].params[0].annotation
    assert plain(inside) == (
        "Sub", ("Name", "Float"), ("Tuple", [("Name", "Array"), const("str", "n m")]),
    )  # fmt: skip


def test_a_deep_string_annotation_stays_a_string() -> None:
    text = "(" * 400 + ")" * 400
    (param,) = module(f"def f(a: '{text}'): ...").functions[0].params
    assert plain(param.annotation) == const("str", text)


def test_documentation_says_nothing() -> None:
    assert module('"one"\n"two"\n') == module("'''Another.\n'''\n'three'")
    assert expr("'one'") == ("Const", "str", "")
