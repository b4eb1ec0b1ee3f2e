"""The language server, asked by a client of the protocol: what it tells of buffers, across files, of notebooks."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Write

pytest.importorskip("pygls", reason="needs pygls")

from lsprotocol import types

from tests.frontends.editor import ENVIRONMENT, GOOD, LOSSES, PATIENCE, TRAIN, Editor, play


def test_a_helper_and_its_callers(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        helper = editor.open("losses.py")
        (told,) = await editor.until(helper, [("JIT101", 1)])
        assert told.range == types.Range(types.Position(1, 7), types.Position(1, 12))
        assert (told.severity, told.source) == (types.DiagnosticSeverity.Error, "jitlint")
        assert told.message.startswith("`if` needs a concrete True or False")
        assert told.code_description is not None
        assert [(r.location.uri, r.location.range.start.line) for r in told.related_information or []] == [
            (editor.uri("train.py"), 3),
            (editor.uri("train.py"), 5),
        ]
        caller = editor.open("train.py")
        await editor.until(caller, [])
        editor.type(caller, TRAIN.replace("@jax.jit\n", ""))
        await editor.until(helper, [])
        editor.type(caller, TRAIN)
        await editor.until(helper, [("JIT101", 1)])
        editor.type(helper, GOOD)
        await editor.until(helper, [])
        editor.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(helper))
        )
        editor.open("losses.py")
        await editor.until(helper, [("JIT101", 1)])

    play(root, scene)


def test_half_a_statement_is_no_news(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        caller, helper = editor.open("train.py"), editor.open("losses.py")
        await editor.until(helper, [("JIT101", 1)])
        told = editor.count[helper]
        editor.type(helper, "y = (\n" + LOSSES)
        await editor.until(helper, [("JIT001", 0), ("JIT101", 2)])
        editor.type(caller, TRAIN + "\nstep(1.,")
        await editor.until(caller, [("JIT001", 7)])
        assert editor.codes(helper) == [("JIT001", 0), ("JIT101", 2)]
        editor.type(caller, TRAIN)
        editor.type(helper, LOSSES)
        await editor.until(helper, [("JIT101", 1)])
        assert editor.count[helper] > told

    play(root, scene)


def test_a_broken_buffer_keeps_no_other_from_news(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES, "other.py": "x = 1\n"})

    async def scene(editor: Editor) -> None:
        broken, helper = editor.open("other.py", "import jax\nx = ("), editor.open("losses.py")
        await editor.until(broken, [("JIT001", 1)])
        await editor.until(helper, [("JIT101", 1)])
        editor.type(helper, "\n" + LOSSES)
        await editor.until(helper, [("JIT101", 2)])
        editor.type(broken, "import jax\nx = (1 +")
        editor.type(helper, GOOD)
        await editor.until(helper, [])
        assert editor.codes(broken) == [("JIT001", 1)]

    play(root, scene)


def test_what_a_value_is(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        uri = editor.open("losses.py", "# 𝒳\n" + LOSSES.replace("if x", "if '𝒳' and x"))
        await editor.until(uri, [("JIT101", 2)])
        (told,) = editor.told[uri]
        assert told.range.end.character == 21  # two units for a letter beyond the first plane

        async def hover(line: int, character: int) -> str | None:
            place = types.TextDocumentPositionParams(
                types.TextDocumentIdentifier(uri), types.Position(line, character)
            )
            params = types.HoverParams(place.text_document, place.position)
            answer = await asyncio.wait_for(editor.client.text_document_hover_async(params), PATIENCE)
            return answer.contents.value if answer else None  # type: ignore[union-attr]

        assert await hover(2, 16) == (
            "`x`: **traced** array, from parameter `x` of `step`\n\n"
            "- train.py:4: `step` is jitted with `jax.jit` here\n"
            "- train.py:6: `loss` is called here"
        )
        assert await hover(0, 0) is None

    play(root, scene)


def test_actions(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        uri = editor.open("losses.py")
        (told,) = await editor.until(uri, [("JIT101", 1)])
        params = types.CodeActionParams(
            types.TextDocumentIdentifier(uri), told.range, types.CodeActionContext([told])
        )
        found = await editor.client.text_document_code_action_async(params)
        *_, silence, explain = found or []
        assert isinstance(silence, types.CodeAction) and silence.edit is not None
        assert silence.edit.changes is not None
        (edit,) = silence.edit.changes[uri]
        lines = LOSSES.split("\n")
        lines[1] = lines[1][: edit.range.start.character] + edit.new_text
        assert lines[1] == "    if x > 0:  # noqa: JIT101"
        editor.type(uri, "\n".join(lines))
        await editor.until(uri, [])
        assert explain.title == "Explain JIT101"
        asked = types.ExecuteCommandParams("jitlint.explain", ["JIT101"])
        page = await editor.client.workspace_execute_command_async(asked)
        assert page.startswith("# JIT101 traced-branch")
        await editor.until_said("# JIT101 traced-branch")

    play(root, scene)


IN_PLACE = """import jax
import jax.numpy as jnp

@jax.jit
def fill(n):
    x = jnp.zeros(3) + n
    x[0] = 1.0
    if n > 0:
        y = x
    else:
        y = -x
    return y
"""


def _applied(
    text: str, edits: Sequence[types.TextEdit | types.AnnotatedTextEdit | types.SnippetTextEdit]
) -> str:
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines) + 1)]
    for edit in sorted(
        edits, key=lambda each: (each.range.start.line, each.range.start.character), reverse=True
    ):
        assert isinstance(edit, types.TextEdit)
        start, stop = (starts[place.line] + place.character for place in (edit.range.start, edit.range.end))
        text = text[:start] + edit.new_text + text[stop:]
    return text


def _asked(uri: str, told: types.Diagnostic, *only: str) -> types.CodeActionParams:
    context = types.CodeActionContext([told], only=list(only) or None)
    return types.CodeActionParams(types.TextDocumentIdentifier(uri), told.range, context)


@pytest.mark.parametrize("lazily", [True, False])
def test_fixes_are_offered_and_proved_when_chosen(project: Write, lazily: bool) -> None:
    root = project({"fill.py": IN_PLACE})

    async def scene(editor: Editor) -> None:
        uri = editor.open("fill.py")
        in_place, branch = await editor.until(uri, [("JIT101", 7), ("JIT401", 6)])
        titles = {}
        for told in (in_place, branch):
            for action in await editor.client.text_document_code_action_async(_asked(uri, told)) or ():
                if action.title.startswith("Fix "):
                    assert isinstance(action, types.CodeAction)
                    assert (action.edit is None) is lazily
                    titles[told.code] = action.title
                    fix = await editor.client.code_action_resolve_async(action) if lazily else action
                    assert fix.edit is not None and fix.edit.changes is not None, action.title
                    fixed = _applied(IN_PLACE, fix.edit.changes[uri])
                    if told.code == "JIT401":
                        assert "    x = x.at[0].set(1.0)\n" in fixed
        assert sorted(titles) == ["JIT101", "JIT401"]
        assert titles["JIT101"].endswith("(may change results)")

        (every,) = [
            action
            for action in await editor.client.text_document_code_action_async(_asked(uri, in_place, "source"))
            or ()
            if isinstance(action, types.CodeAction) and action.kind == "source.fixAll.jitlint"
        ]
        done = await editor.client.code_action_resolve_async(every) if lazily else every
        assert done.edit is not None and done.edit.changes is not None
        fixed = _applied(IN_PLACE, done.edit.changes[uri])
        assert "x.at[0].set(1.0)" in fixed and "if n > 0:" in fixed
        editor.type(uri, fixed)
        await editor.until(uri, [("JIT101", 7)])
        if lazily:
            stale = await editor.client.code_action_resolve_async(every)
            assert stale.edit is None and stale.disabled is not None

    play(root, scene, resolves=lazily)


def test_hints_beside_parameters_where_they_are_wanted(project: Write) -> None:
    source = TRAIN.replace("@jax.jit", "@functools.partial(jax.jit, static_argnames='n')")
    source = source.replace("import jax\n", "import functools, jax\n")
    root = project({"train.py": source, "losses.py": GOOD})

    async def scene(editor: Editor) -> None:
        uri = editor.open("train.py")
        everything = types.Range(types.Position(0, 0), types.Position(9, 0))
        params = types.InlayHintParams(types.TextDocumentIdentifier(uri), everything)
        hints = await asyncio.wait_for(editor.client.text_document_inlay_hint_async(params), PATIENCE)
        assert [(h.position.line, h.position.character, h.label) for h in hints or []] == [
            (4, 10, "‹traced›"),
            (4, 13, "‹static›"),
        ]

    play(root, scene, inlayHints=True)


def test_the_configuration_is_read_again(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        uri = editor.open("losses.py")
        await editor.until(uri, [("JIT101", 1)])

        def change(text: str) -> None:
            (root / "jitlint.toml").write_text(text, encoding="utf-8")
            event = types.FileEvent(editor.uri("jitlint.toml"), types.FileChangeType.Changed)
            editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))

        change('ignore = ["JIT1"]\n')
        await editor.until(uri, [])
        change('ignore = ["nonsense"]\n')
        await editor.until_said("nonsense")
        change("")
        await editor.until(uri, [("JIT101", 1)])

    play(root, scene)


def test_a_file_that_changes_on_the_disk(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": GOOD})

    async def scene(editor: Editor) -> None:
        (root / "losses.py").write_text(LOSSES, encoding="utf-8")
        event = types.FileEvent(editor.uri("losses.py"), types.FileChangeType.Changed)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        await editor.until(editor.uri("losses.py"), [("JIT101", 1)])

    play(root, scene, diagnosticsFor="workspace")


def test_a_notebook_is_told_by_cell(project: Write) -> None:
    root = project({})
    path = root / "n.ipynb"
    texts = ["import jax", "# words", "@jax.jit\ndef f(x):\n    return float(x)", "%timeit f(1.0)"]
    kinds = [types.NotebookCellKind.Code, types.NotebookCellKind.Markup, *[types.NotebookCellKind.Code] * 2]

    async def scene(editor: Editor) -> None:
        names = [f"vscode-notebook-cell:{path}#{number}" for number in range(4)]
        cells = [types.NotebookCell(kind, name) for kind, name in zip(kinds, names)]
        documents = [
            types.TextDocumentItem(name, types.LanguageKind.Python, 1, text)
            for name, text in zip(names, texts)
        ]
        notebook = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, cells)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(notebook, documents))
        (told,) = await editor.until(names[2], [("JIT108", 2)])
        assert [r.location.uri for r in told.related_information or []] == [names[2], names[3]]
        place = types.HoverParams(types.TextDocumentIdentifier(names[2]), types.Position(2, 17))
        answer = await asyncio.wait_for(editor.client.text_document_hover_async(place), PATIENCE)
        assert answer is not None and "**traced**" in str(answer.contents)

        changed = types.NotebookDocumentCellContentChanges(
            types.VersionedTextDocumentIdentifier(2, names[2]),
            [types.TextDocumentContentChangeWholeDocument(texts[2].replace("float(x)", "x"))],
        )
        event = types.NotebookDocumentChangeEvent(
            cells=types.NotebookDocumentCellChanges(text_content=[changed])
        )
        identifier = types.VersionedNotebookDocumentIdentifier(2, path.as_uri())
        editor.client.notebook_document_did_change(types.DidChangeNotebookDocumentParams(identifier, event))
        await editor.until(names[2], [])

    play(root, scene)


def test_much_typing_ends_with_what_a_check_says(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        uri = editor.open("losses.py")
        for end in range(1, len(LOSSES), 3):
            editor.type(uri, LOSSES[:end])
            await asyncio.sleep(0.002)
        editor.type(uri, "\n\n" + LOSSES)
        await editor.until(uri, [("JIT101", 3)])

    play(root, scene)


def _children(process: int) -> list[str]:
    """The command lines of a process' children."""
    listed = Path(f"/proc/{process}/task").glob("*/children")
    numbers = [number for path in listed for number in path.read_text().split()]
    return [Path(f"/proc/{number}/cmdline").read_text() for number in numbers]


@pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="nobody tells here which processes there are"
)
@pytest.mark.parametrize("ahead", [True, False])
def test_a_large_project_is_answered_early_and_then_exactly(project: Write, ahead: bool) -> None:
    functions = "".join(
        f"def part{n}(x, w):\n    y = loss(x, w) + {n}\n    return y * w\n\n\n" for n in range(30)
    )
    parts = {f"part{n}.py": f"from losses import loss\n\n\n{functions}" for n in range(30)}
    root = project({"train.py": TRAIN, "losses.py": LOSSES, **parts})

    async def scene(editor: Editor) -> None:
        uri = editor.open("losses.py")
        await editor.until(uri, [("JIT101", 1)])
        process = int(editor.client._server.pid)
        if ahead:
            await editor.until_true(lambda: any("checkpoint" in line for line in _children(process)))
            await asyncio.sleep(1)  # it gets ready
        for number in range(3):
            editor.type(uri, LOSSES.replace("    return -x", f"    y = {number}\n\n    return float(x)"))
            await editor.until(uri, [("JIT101", 1), ("JIT108", 5)])
            editor.type(uri, LOSSES.replace("x > 0", f"x.ndim > {number}"))
            await editor.until(uri, [])
        await asyncio.sleep(2)  # the exact answer has come, too
        assert editor.codes(uri) == []
        assert any("checkpoint" in line for line in _children(process)) == ahead

    play(root, scene, ahead=ahead)


def test_a_client_that_shows_explanations_itself(project: Write) -> None:
    async def scene(editor: Editor) -> None:
        asked = types.ExecuteCommandParams("jitlint.explain", ["JIT101"])
        page = await editor.client.workspace_execute_command_async(asked)
        assert page.startswith("# JIT101 traced-branch")
        assert editor.messages == []

    play(project({}), scene, explanations="result")


def test_messages_that_mean_nothing(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        nowhere = types.TextDocumentIdentifier("untitled:nothing")
        place = types.HoverParams(nowhere, types.Position(99, 99))
        assert await editor.client.text_document_hover_async(place) is None
        change = types.TextDocumentContentChangeWholeDocument("x")
        unknown = types.VersionedTextDocumentIdentifier(7, editor.uri("never_opened.py"))
        editor.client.text_document_did_change(types.DidChangeTextDocumentParams(unknown, [change]))
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(nowhere))
        writer: Any = editor.client.protocol.writer
        for body in (b"{bad}", b"[]", b'{"jsonrpc": "2.0", "method": "no/such", "params": 3}'):
            writer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        outside = editor.open("../elsewhere.py", "import jax\n")
        await editor.until(outside, [])
        await editor.until(editor.open("losses.py"), [("JIT101", 1)])

    play(root, scene)


def test_over_tcp_on_this_machine(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "jitlint", "server", "--tcp", str(port)], env=ENVIRONMENT, cwd=root
    )
    try:

        async def run() -> None:
            editor = Editor(root)
            end = time.monotonic() + PATIENCE
            while True:
                try:
                    await editor.start(port)
                    break
                except OSError:
                    assert time.monotonic() < end
                    await asyncio.sleep(0.1)
            await editor.until(editor.open("losses.py"), [("JIT101", 1)])

        asyncio.run(run())
    finally:
        process.kill()
        process.wait(PATIENCE)


def test_without_what_it_needs_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    from jitlint.frontends.cli import main

    find = importlib.util.find_spec

    def without(name: str, *more: Any) -> Any:
        return None if name == "pygls" else find(name, *more)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    assert main(["server"]) == 2
    assert "pip install 'jitlint[lsp]'" in capsys.readouterr().err
