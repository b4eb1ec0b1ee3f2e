"""What can be run as it stands, and what it reaches by name."""

from __future__ import annotations

import textwrap

from jitlint.confirm.planning.drivers import (
    Module,
    names_in,
    owner_of_decorator,
    reached,
    read_module,
    reads_in,
)


def _read(source: str) -> Module:
    module = read_module(textwrap.dedent(source))
    assert module is not None
    return module


def test_functions_in_deep_code_are_found() -> None:
    deep = "x = " + "-" * 3000 + "1\n"
    module = read_module(deep + "class A:\n    def f(self):\n        return [lambda: 1]\n")
    if module is None:  # this Python reads no code as deep as that
        module = read_module("class A:\n    def f(self):\n        return [lambda: 1]\n")
    assert module is not None
    assert [function.qualname for function in module.functions] == ["A.f", "A.f.<locals>.<lambda>"]


def test_functions_without_required_arguments_are_drivers() -> None:
    module = _read("""
        def case_one(): pass
        def test_two(x=1): pass
        def test_with_fixture(tmp_path): pass
        def helper(): pass
        async def test_later(): pass
        def main(): pass
        class TestThings:
            def test_three(self): pass
            def test_four(self, case): pass
            def other(self): pass
        if __name__ == "__main__":
            main()
    """)
    assert module.drivers == [
        "case_one",
        "test_two",
        "::test_with_fixture",
        "main",
        "TestThings.test_three",
        "::TestThings::test_four",
        "__main__",
    ]


def test_calls_at_module_level_run_at_import() -> None:
    assert _read("def f(): pass\nf()\n").drivers == [""]
    assert _read("X = 3\ndef f(): g()\n").drivers == []


def test_names_are_followed() -> None:
    module = _read("""
        table = make(rows)
        def inner(): return table
        def case_a(): return inner()
        def case_b(): return 1
    """)
    assert {"inner", "table", "make", "rows"} <= reached("case_a", module)
    assert not reached("case_b", module)


def test_reads_of_a_span() -> None:
    module = read_module("y = a.b[0].c + d\nz = f(a)\nw = a[i]\n")
    assert module is not None
    assert reads_in(module, (1, 5, 1, 13)) == ["a.b[0].c"]
    assert reads_in(module, (1, 5, 1, 17)) == []
    assert reads_in(module, (2, 5, 2, 9)) == []
    assert reads_in(module, (3, 5, 3, 9)) == ["a[i]"]


def test_names_in_a_span() -> None:
    module = _read("y = aa + f(bb)\n")
    assert names_in(module, (1, 5, 1, 7)) == ["aa"]
    assert names_in(module, (1, 5, 1, 15)) == ["aa", "bb", "f"]


def test_owner_of_a_decorator() -> None:
    module = _read("@one\n@two(\n    3)\ndef f(): pass\n")
    assert [owner_of_decorator(module, line) for line in (1, 3, 4)] == ["f", "f", ""]


def test_example_comments_belong_to_the_next_function() -> None:
    module = _read("""
        # jitlint: example(f32[3], n=4)
        @jit
        def f(x, n): pass

        def g(x):  # jitlint: example(key)
            pass
        # jitlint: example(nothing)
        y = 1
    """)
    assert module.examples == {3: "f32[3], n=4", 6: "key"}


def test_imports_are_read_with_their_names() -> None:
    module = _read("import a.b\nfrom .c import d\nfrom . import e\n")
    assert module.imports == ["a.b", ".c", ".c.d", ".", ".e"]


def test_what_is_no_python_is_none() -> None:
    assert read_module("def f(:\n") is None
    assert read_module("x = '\0'\n") is None
