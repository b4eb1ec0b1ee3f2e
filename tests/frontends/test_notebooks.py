"""Notebooks and texts on the command line: found in folders, read in order, shown by cell and line in every format."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from jitlint.frontends.cli import main
from tests.conftest import Write
from tests.notebooks import notebook

Capture = pytest.CaptureFixture[str]

SCRIPT = """\
# %% [markdown]
# A title
# %%
import jax
%matplotlib inline
# %%
@jax.jit
def f(x):
    if x > 0:
        return x
    return -x
# %%
%timeit -n 10 f(1.0)
"""
NOTEBOOK = notebook(SCRIPT)


def _check(capsys: Capture, *arguments: str) -> tuple[int, list[str]]:
    code = main(["check", "--jobs", "1", *arguments])
    return code, capsys.readouterr().out.splitlines()


def _concise(capsys: Capture, *arguments: str) -> list[str]:
    """Place and code of every finding."""
    _, lines = _check(capsys, "--output-format", "concise", "-q", *arguments)
    return [" ".join(line.split(" ")[:3]) if ":cell " in line else line[: line.index("`")] for line in lines]


def test_in_full(project: Write, capsys: Capture) -> None:
    project({"n.ipynb": NOTEBOOK})
    code, lines = _check(capsys)
    assert code == 1
    assert lines[:9] == [
        "n.ipynb:cell 3:3:8: error[JIT101] `if` needs a concrete True or False, but `x > 0` is traced",
        "  |",
        "3 |     if x > 0:",
        "  |        ^^^^^",
        "  = traced because:",
        "    n.ipynb:cell 3:1: `f` is jitted with `jax.jit` here",
        "    n.ipynb:cell 4:1: and called here",
        lines[7],
        "",
    ]


def test_in_json(project: Write, capsys: Capture) -> None:
    project({"n.ipynb": NOTEBOOK})
    (found,) = json.loads("".join(_check(capsys, "--output-format", "json")[1]))
    assert [found[key] for key in ("path", "cell", "line", "column", "end_column")] == [
        "n.ipynb",
        3,
        3,
        8,
        13,
    ]
    assert [(step["cell"], step["line"], step["column"]) for step in found["related"]] == [
        (3, 1, 2),
        (4, 1, 15),
    ]


def test_where_only_files_are_known_the_line_is_that_of_the_file(project: Write, capsys: Capture) -> None:
    root = project({"n.ipynb": NOTEBOOK})
    lines = (root / "n.ipynb").read_text(encoding="utf-8").split("\n")
    line = 1 + next(number for number, text in enumerate(lines) if "if x > 0" in text)
    (github,) = _check(capsys, "--output-format", "github", "-q")[1]
    assert github.startswith(f"::error file=n.ipynb,line={line},endLine={line},title=")
    assert "::n.ipynb:cell 3:3:8: JIT101 " in github
    (gitlab,) = json.loads("\n".join(_check(capsys, "--output-format", "gitlab")[1]))
    assert gitlab["location"]["lines"] == {"begin": line, "end": line}
    assert gitlab["description"].startswith("cell 3, line 3: JIT101: ")
    (run,) = json.loads("\n".join(_check(capsys, "--output-format", "sarif")[1]))["runs"]
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["region"] == {"startLine": line}
    assert place["logicalLocations"] == [{"name": "cell 3, line 3, column 8", "kind": "module"}]
    junit = "\n".join(_check(capsys, "--output-format", "junit")[1])
    assert 'name="JIT101 traced-branch:cell 3:3:8"' in junit


def test_traced_functions(project: Write, capsys: Capture) -> None:
    project({"n.ipynb": NOTEBOOK})
    assert main(["traced", "--jobs", "1", "--show-path"]) == 0
    assert capsys.readouterr().out.splitlines()[1:4] == [
        "n.ipynb:cell 3:1  f         compiled  your code  traced: x",
        "    n.ipynb:cell 3:1: `f` is jitted with `jax.jit` here",
        "    n.ipynb:cell 4:1: and called here",
    ]


def test_a_cell_that_changes_what_an_earlier_one_compiled(project: Write, capsys: Capture) -> None:
    script = """\
# %%
import jax
scale = 1.0
@jax.jit
def f(x):
    return x * scale
# %%
f(1.0)
# %%
scale = 2.0
f(1.0)
"""
    project({"n.ipynb": notebook(script)})
    assert _concise(capsys) == ["n.ipynb:cell 1:5:16: JIT306"]


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ("key, drawn = jax.random.split(key)", ["n.ipynb:cell 3:1:14: JIT601"]),
        ("y = jax.random.normal(key, (3,))", ["n.ipynb:cell 3:1:5: JIT601"]),
    ],
)
def test_a_key_that_was_drawn_from_is_used_up_in_later_cells(
    later: str, found: list[str], project: Write, capsys: Capture
) -> None:
    script = f"""\
# %%
import jax
key = jax.random.key(0)
# %%
x = jax.random.normal(key, (3,))
# %%
{later}
"""
    project({"n.ipynb": notebook(script)})
    assert _concise(capsys) == found


def test_in_timeit_names_are_its_own(project: Write, capsys: Capture) -> None:
    script = """\
# %%
import jax
scale = 1.0
@jax.jit
def f(x):
    return x * scale
f(1.0)
# %%
%%timeit scale = 2.0
f(scale)
"""
    project({"n.ipynb": notebook(script)})
    assert _concise(capsys) == []


def test_one_bad_cell_hides_nothing_in_the_others(project: Write, capsys: Capture) -> None:
    project({"n.ipynb": notebook(SCRIPT + "# %%\nprint 'x'\n"), "bad.ipynb": '{"cells": [jax'})
    code, lines = _check(capsys, "--output-format", "concise")
    assert code == 2
    assert [line.split(" `")[0] for line in lines] == [
        "bad.ipynb:1:12: JIT002 not a notebook: invalid JSON (expecting value)",
        "n.ipynb:cell 3:3:8: JIT101",
        lines[2],
        "Found 3 errors in 2 files (2 files checked). 2 files could not be analysed.",
    ]
    assert lines[2].startswith("n.ipynb:cell 5:1:1: JIT001 syntax error: ")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    if x > 0:", "    if x > 0:  # noqa: JIT101"),
        ("@jax.jit", "@jax.jit  # jitlint: ignore[JIT101]"),
        ("    return -x", "    return -x  # jitlint: ignore-cell[JIT101]"),
        ("import jax", "import jax  # jitlint: ignore-file[JIT101]"),
    ],
)
def test_comments_silence(old: str, new: str, project: Write, capsys: Capture) -> None:
    project({"n.ipynb": notebook(SCRIPT.replace(old, new))})
    assert _concise(capsys, "--extend-select", "JIT004") == []


def test_a_comment_for_a_cell_covers_no_other(project: Write, capsys: Capture) -> None:
    script = SCRIPT.replace("import jax", "import jax  # jitlint: ignore-cell")
    project({"n.ipynb": notebook(script), "s.py": script.replace("%", "# %")})
    assert _concise(capsys, "n.ipynb", "--extend-select", "JIT004") == [
        "n.ipynb:cell 2:1:13: JIT004",
        "n.ipynb:cell 3:3:8: JIT101",
    ]


def test_a_cell_that_is_meant_to_raise_is_no_error(project: Write, capsys: Capture) -> None:
    """The call stands in that cell; the function, as often, in another."""
    project({"n.ipynb": notebook(SCRIPT.replace("# %%\n%timeit", "# %% raises\n%timeit"))})
    assert _concise(capsys) == []
    assert _concise(capsys, "--severity", "info") == ["n.ipynb:cell 3:3:8: JIT101"]


def test_what_ends_a_cell_is_shown(project: Write, capsys: Capture) -> None:
    """Its value is looked at, so that nothing is thrown away; what stands before it is."""
    script = """# %%
import jax.numpy as jnp

x = jnp.zeros(3)
x.at[0].set(1.0)
# %%
x.at[1].set(
    2.0
)
print(x)
# %%
def first(x):
    x.at[0].set(1.0)
"""
    project({"n.ipynb": notebook(script), "n.md": "```python\n" + script.split("# %%\n")[1] + "```\n"})
    assert _concise(capsys, "--select", "JIT403") == [
        "n.ipynb:cell 2:1:1: JIT403",
        "n.ipynb:cell 3:2:5: JIT403",
    ]
    assert _concise(capsys, "--select", "JIT403", "n.md") == []


def test_the_cache_knows_a_notebook_by_its_code(project: Write, capsys: Capture) -> None:
    root = project({"n.ipynb": NOTEBOOK})
    path = root / "n.ipynb"
    before = _concise(capsys)
    for script, expected in (
        (SCRIPT, before),
        ("# %% [markdown]\nMore.\n" + SCRIPT, ["n.ipynb:cell 4:3:8: JIT101"]),
        (SCRIPT.replace("# %%\n@", "# %%\n\n@"), ["n.ipynb:cell 3:4:8: JIT101"]),
        (SCRIPT.replace("# %%\n%", "# %% raises\n%"), []),
    ):
        path.write_text(notebook(script), encoding="utf-8")
        assert _concise(capsys) == expected
        assert _concise(capsys) == expected
    content = json.loads(NOTEBOOK)
    content["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["a\n"] * 9}]
    path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    (github,) = _check(capsys, "--output-format", "github", "-q", "-v")[1]
    line = int(github.split("line=")[1].split(",")[0])
    assert "if x > 0" in path.read_text(encoding="utf-8").split("\n")[line - 1]


def test_a_baseline_recognises_cells_by_content(project: Write, capsys: Capture) -> None:
    root = project({"n.ipynb": NOTEBOOK})
    _check(capsys, "--write-baseline", "known.json")
    (root / "n.ipynb").write_text(notebook("# %%\nimport os\n" + SCRIPT), encoding="utf-8")
    assert _concise(capsys, "--baseline", "known.json") == []


def test_changed_lines(project: Write, capsys: Capture) -> None:
    root = project({"n.ipynb": notebook(SCRIPT), ".gitignore": ".jitlint_cache\n"})

    def git(*arguments: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "start")
    more = "# %%\n@jax.jit\ndef g(x):\n    return float(x)\n"
    (root / "n.ipynb").write_text(notebook(SCRIPT + more), encoding="utf-8")
    assert _concise(capsys, "--diff", "HEAD") == ["n.ipynb:cell 5:3:12: JIT108"]


def test_comments_are_not_written_into_notebooks(project: Write, capsys: Capture) -> None:
    root = project({"n.ipynb": NOTEBOOK})
    assert main(["check", "--jobs", "1", "--add-noqa"]) == 2
    assert "n.ipynb: left alone: comments are written into Python files only" in capsys.readouterr().err
    assert (root / "n.ipynb").read_text(encoding="utf-8") == NOTEBOOK


def test_a_notebook_may_import_files_and_share_their_names(project: Write, capsys: Capture) -> None:
    helper = "def g(x):\n    if x > 0:\n        return x\n    return -x\n"
    script = "# %%\nimport jax\nfrom helper import g\n# %%\njax.jit(g)(1.0)\n"
    project({"helper.py": helper, "helper.ipynb": notebook(script)})
    _, lines = _check(capsys, "helper.py", "--show-path")
    assert lines[0].startswith("helper.py:2:8: error[JIT101] ")
    assert any("::: helper.ipynb:cell 2:1: " in line for line in lines)


DOCUMENT = """\
# Words
```python
import jax

@jax.jit
def f(x):
    return float(x)
```
Then
```
>>> f(1.0)
```
"""


def test_texts_are_read_where_that_is_asked_for(project: Write, capsys: Capture) -> None:
    root = project({"docs/a.md": DOCUMENT, "b.py": "import jax\n"})
    found = ["docs/a.md:7:12: JIT108 "]
    assert _concise(capsys) == []
    assert _concise(capsys, "docs/a.md") == found
    (root / "jitlint.toml").write_text('documents = ["docs/*.md"]\n', encoding="utf-8")
    assert _concise(capsys) == found


def test_flake8_gets_lines_of_the_file(project: Write) -> None:
    from argparse import Namespace

    from jitlint.frontends.flake8_plugin import Plugin

    root = project({"n.ipynb": NOTEBOOK})
    options = Namespace(
        select=["JIT"],
        extend_select=[],
        filenames=["n.ipynb"],
        stdin_display_name="stdin",
        jitlint_config="",
        jitlint_no_cache=True,
        jitlint_min_confidence=None,
        jitlint_severity=None,
        jitlint_min_severity=None,
    )
    Plugin.parse_options(options)
    ((line, _, text, _),) = Plugin(None, "n.ipynb", []).run()
    lines = (root / "n.ipynb").read_text(encoding="utf-8").split("\n")
    assert text.startswith("JIT101 ")
    assert "if x > 0" in lines[line - 1]


def test_confirm_runs_notebooks_and_names_cells(project: Write, capsys: Capture) -> None:
    pytest.importorskip("jax", reason="needs JAX")
    project({"n.ipynb": NOTEBOOK})
    assert main(["confirm", "--jobs", "1"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("confirmed  n.ipynb:cell 3:3  JIT101 ")
    assert lines[1].strip().startswith("jax.errors.TracerBoolConversionError: ")


def test_standard_input_may_be_a_notebook(
    project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    import io

    project({})
    stream = io.TextIOWrapper(io.BytesIO(NOTEBOOK.encode()))
    monkeypatch.setattr("sys.stdin", stream)
    _, lines = _check(capsys, "-", "--stdin-filename", "n.ipynb")
    assert lines[2] == "3 |     if x > 0:"


def test_the_hook_takes_notebooks() -> None:
    yaml = pytest.importorskip("yaml")
    hooks = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"
    (hook,) = yaml.safe_load(hooks.read_text(encoding="utf-8"))
    assert hook["types_or"] == ["python", "jupyter"]
