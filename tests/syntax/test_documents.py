"""Notebooks and texts become modules, and every line of the module knows where it comes from."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jitlint.base.diagnostic import Span
from jitlint.syntax.documents import is_document, read_document
from jitlint.syntax.documents.document import Document
from jitlint.syntax.documents.magics import plain_lines
from jitlint.syntax.documents.notebook import cell_lines, file_lines


def notebook(*cells: str, tags: Sequence[int] = (), **more: object) -> bytes:
    """A notebook of code cells, as Jupyter writes it; those with a tag may raise."""
    listed = [
        {
            "cell_type": "code",
            "metadata": {"tags": ["raises-exception"]} if number in tags else {},
            "outputs": [],
            "source": cell.splitlines(keepends=True),
        }
        for number, cell in enumerate(cells, 1)
    ]
    return json.dumps({"cells": listed, "metadata": {}, "nbformat": 4, **more}, indent=1).encode()


def _plain(cell: str) -> list[str]:
    return [row.text for row in plain_lines(cell.split("\n")) if row.text]


def _places(document: Document) -> dict[str, tuple[int, int, int]]:
    """Every line that is code: cell, line and column of its first character in the file."""
    found = {}
    for number, text in enumerate(document.text.split("\n"), 1):
        if text.strip() and not text.startswith("#"):
            column = len(text) - len(text.lstrip()) + 1
            span = document.place(Span(number, column, number, column + 1))
            found[text.strip()] = (span.cell, span.line, span.column)
    return found


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%timeit -n100 -r 3 f(x)", ["f(x)"]),
        ("%time y = f(x)", ["y = f(x)"]),
        ("%prun -l 7 f(x)", ["f(x)"]),
        ("x = %timeit -o f(x)", ["f(x)", "x = get_ipython()"]),
        ("%timeit -x", ["pass"]),
        ("files = !ls", ["files = get_ipython()"]),
        ("a, b = %env HOME", ["a, b = get_ipython()"]),
        ("!pip install \\\n  jax\nf()", ["pass", "f()"]),
        ("f?\nf.g??\n?f\n%timeit?", ["pass"] * 4),
        ("%config A.b = False\n%matplotlib inline", ["pass", "pass"]),
        ("%run other.py", ["from __magic__ import *"]),
        ("if x:\n    %time f()\n    !ls", ["if x:", "    f()", "    pass"]),
        ("%%time\nf(x)\n%time g(x)", ["f(x)", "g(x)"]),
        ("\n%%capture out\n%%time\nf(x)", ["f(x)"]),
        ("%%bash\nls 'it", []),
        ("%%unheard of\nls", ["from __magic__ import *"]),
        ("%%timeit -n 2 y = 1\nf(y)", ["def __timeit__():", " y = 1", " f(y)", " pass", "__timeit__()"]),
        ("%timeit y = f(x)", ["def __timeit__():", " y = f(x)", " pass", "__timeit__()"]),
        ("  a = 1\n  !ls", ["a = 1", "pass"]),
        ('s = """\n%time f()\n"""\n%time g()', ['s = """', "%time f()", '"""', "g()"]),
        ("s = ('%s'\n % 3)\n!ls", ["s = ('%s'", " % 3)", "pass"]),
        ("s = 'a' \\\n % b\n!ls 'it", ["s = 'a' \\", " % b", "pass"]),
        ("await f(x)", ["await f(x)"]),
    ],
)
def test_what_ipython_understands(cell: str, expected: list[str]) -> None:
    assert _plain(cell) == expected
    ast.parse("\n".join(_plain(cell)))


def test_lines_know_their_cells() -> None:
    document = read_document("a.ipynb", notebook("a = 1\n\nb = 2", "%timeit -n 3 c\n  \nd", "%%timeit e\nf"))
    assert _places(document) == {
        "a = 1": (1, 1, 1),
        "b = 2": (1, 3, 1),
        "c": (2, 1, 14),
        "d": (2, 3, 1),
        "def __timeit__():": (3, 1, 1),
        "e": (3, 1, 10),
        "f": (3, 2, 1),
        "pass": (3, 2, 2),
        "__timeit__()": (3, 1, 1),
    }


def test_cells_are_numbered_as_the_file_has_them() -> None:
    cells = [
        {"cell_type": "markdown", "source": "# title"},
        {"cell_type": "code", "source": "a = 1\r\nb = 2"},
        {"cell_type": "raw", "source": ["x"]},
        "nonsense",
        {"cell_type": "code", "source": ["c", "\n", 3, "d"], "metadata": {"tags": None}},
    ]
    data = json.dumps({"cells": cells}).encode()
    document = read_document("a.ipynb", data)
    assert _places(document) == {
        "a = 1": (2, 1, 1),
        "b = 2": (2, 2, 1),
        "c": (5, 1, 1),
        "d": (5, 2, 1),
    }
    assert (cell_lines(data, 2), cell_lines(data, 7)) == (["a = 1", "b = 2"], [])


def test_format_3_keeps_cells_in_worksheets() -> None:
    sheets = [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b"]}]}]
    data = json.dumps({"worksheets": sheets, "nbformat": 3}, indent=1).encode()
    assert _places(read_document("a.ipynb", data)) == {"a = 1": (1, 1, 1), "b": (1, 2, 1)}
    lines = data.decode().split("\n")
    assert {place: lines[at - 1].strip() for place, at in file_lines(data).items()} == {
        (1, 1): '"a = 1\\n",',
        (1, 2): '"b"',
    }


def test_lines_of_the_file() -> None:
    data = notebook("a\n\nb", '"""source"""\n[{"cells": 1}]')
    lines = data.decode().split("\n")
    found = {place: json.loads(lines[at - 1].strip().rstrip(",")) for place, at in file_lines(data).items()}
    assert found == {
        (1, 1): "a\n",
        (1, 2): "\n",
        (1, 3): "b",
        (2, 1): '"""source"""\n',
        (2, 2): '[{"cells": 1}]',
    }
    compact = json.dumps({"cells": [{"source": "a\nb\nc", "cell_type": "code"}]}).encode()
    assert file_lines(compact) == {(1, 1): 1, (1, 2): 1, (1, 3): 1}


def test_a_cell_that_is_no_python_is_left_out_and_told() -> None:
    document = read_document("a.ipynb", notebook("a = 1", "b = 2\nprint 'x'", "c = 3"))
    assert _places(document) == {"a = 1": (1, 1, 1), "c = 3": (3, 1, 1)}
    (problem,) = document.problems
    span = document.place(Span(problem.line, problem.column, problem.line, problem.column + 1))
    assert (problem.code, span.cell, span.line) == ("JIT001", 2, 2)


def test_other_problems_give_another_text() -> None:
    """What a cache knows of a notebook is its text."""
    texts = [
        read_document("a.ipynb", data).text
        for data in (
            notebook("print 'x'"),
            notebook("\nprint 'x'"),
            notebook("f(x)"),
            notebook(" f(x)"),
            notebook("f(x)", tags=[1]),
            notebook("", "f(x)"),
            b"{",
            b"[]",
        )
    ]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(
    ("data", "line", "why"),
    [
        (b'{"cells": [\n1,\n}', 3, "invalid JSON"),
        (b"", 1, "invalid JSON"),
        (b"[]", 1, "no cells"),
        (b'{"cells": {}}', 1, "no cells"),
        (b'{"cells": "\xff"}', 1, "not UTF-8"),
        (b'{"a":' * 200_000, 1, "not a notebook"),
        (notebook("x", metadata={"language_info": {"name": "R"}}), 1, "the language r"),
    ],
)
def test_what_is_no_notebook(data: bytes, line: int, why: str) -> None:
    failure = read_document("a.ipynb", data).failure
    assert failure is not None
    assert (failure.code, failure.line) == ("JIT002", line)
    assert why in failure.message


MARKDOWN = """\
# Text
```python
a = 1
```
- item
  ```{code-cell} ipython3
  :tags: [raises-exception]

  b = 2
  if b:
      c
  ```
```bash
ls
```
~~~ py
no python here
~~~
::::{tab-set}
```{code-block} python
d = 4
```
::::
```
>>> e(5)
5
>>> for f in g:
...     h
```
```{python}
#| echo: false
i
```
`````markdown
```python
inner
```
`````
    >>> no
```python
last
"""


def test_markdown() -> None:
    document = read_document("a.md", MARKDOWN.encode())
    assert _places(document) == {
        "a = 1": (0, 3, 1),
        "b = 2": (0, 9, 3),
        "if b:": (0, 10, 3),
        "c": (0, 11, 7),
        "d = 4": (0, 21, 1),
        "e(5)": (0, 25, 5),
        "for f in g:": (0, 27, 5),
        "h": (0, 28, 9),
        "i": (0, 32, 1),
        "last": (0, 41, 1),
    }
    assert document.problems == ()
    assert {row.line for row in document.rows if row.raising} == {9, 10, 11}


def test_a_cell_of_a_text_has_to_be_python() -> None:
    document = read_document("a.md", b"```{code-cell}\nno code\n```\n```python\nno code\n```\n")
    assert [document.rows[problem.line - 1].line for problem in document.problems] == [2]


RESTRUCTURED = """\
Title
=====

.. code-block:: python
   :linenos:

   a = 1

   b = 2

Text::

   not looked at

>>> c(3)
Traceback (most recent call last):
   ...
.. note::
   >>> d
   ... e f
"""


def test_restructured_text() -> None:
    document = read_document("a.rst", RESTRUCTURED.encode())
    assert _places(document) == {"a = 1": (0, 7, 4), "b = 2": (0, 9, 4), "c(3)": (0, 15, 5)}
    assert [row.line for row in document.rows if row.raising] == [15, 15]


def test_names_decide() -> None:
    assert [is_document(name) for name in ("a.ipynb", "A.MD", "a.rst", "a.py", "ipynb", "a.txt")] == [
        *(True,) * 3,
        *(False,) * 3,
    ]


_ODD = st.text(alphabet="%!?\\'\"#()[]{}=-;,/`:>. \n\ttimeab", max_size=60)


@settings(max_examples=200, deadline=None)
@given(st.lists(_ODD, max_size=4), st.sampled_from(["a.ipynb", "a.md", "a.rst"]))
def test_any_text_gives_a_module_whose_lines_have_places(pieces: list[str], name: str) -> None:
    if name == "a.ipynb":
        data = notebook(*pieces)
    else:
        data = "".join(f"```python\n{piece}\n```\n>>> {piece}\n" for piece in pieces).encode()
    document = read_document(name, data)
    ast.parse(document.text)
    assert len(document.rows) == document.text.count("\n")
    if name == "a.ipynb":
        for row in document.rows:
            assert row.cell == 0 or row.line <= max(1, len(cell_lines(data, row.cell)))
