"""What clients of the language server may ask for beside findings: tokens, pulled diagnostics, progress, proofs, other folders."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from tests.conftest import Write

pytest.importorskip("pygls", reason="needs pygls")

from lsprotocol import types

from jitlint.frontends.server.tokens import MODIFIERS
from jitlint.frontends.server.wishes import Wishes
from tests.frontends.editor import GOOD, LOSSES, PATIENCE, TRAIN, Editor, play

BAD = "import jax\n\n@jax.jit\ndef f(x, n=3):\n    if x > 0:\n        return x\n    return -x * n\n"


def _names(text: str, data: list[int]) -> list[tuple[int, str, str]]:
    """Line, text and modifier of each token, in a client that counts UTF-16 units."""
    found, line, column = [], 0, 0
    for at in range(0, len(data), 5):
        lines, columns, length, kind, modifiers = data[at : at + 5]
        line, column = line + lines, columns + (0 if lines else column)
        assert kind == 0
        units = text.split("\n")[line].encode("utf-16-le")[2 * column : 2 * (column + length)]
        (modifier,) = [name for bit, name in enumerate(MODIFIERS) if modifiers >> bit & 1]
        found.append((line, units.decode("utf-16-le"), modifier))
    return found


def test_names_as_tokens_where_that_is_wanted(project: Write) -> None:
    text = "import jax\n\n@jax.jit\ndef f(x, n=3):\n    y = '𝒳', x; return x * n\n\ndef g(z):\n    return z\n"
    text += "\ndef h(a):\n    return a\n\n@jax.jit\ndef both(b):\n    return h(b) + h(1)\n"
    root = project({"a.py": text})

    async def scene(editor: Editor) -> None:
        uri = editor.open("a.py")
        params = types.SemanticTokensParams(types.TextDocumentIdentifier(uri))
        answer = await asyncio.wait_for(
            editor.client.text_document_semantic_tokens_full_async(params), PATIENCE
        )
        assert answer is not None
        found = _names(text, list(answer.data))
        assert [each for each in found if each[0] < 8] == [
            (3, "x", "traced"),
            (3, "n", "static"),
            (4, "y", "mixed"),  # a tuple of which one is
            (4, "x", "traced"),
            (4, "x", "traced"),
            (4, "n", "static"),
        ]
        assert (10, "a", "mixed") in found and (14, "b", "traced") in found
        editor.type(uri, "import jax\ndef f(")
        answer = await asyncio.wait_for(
            editor.client.text_document_semantic_tokens_full_async(params), PATIENCE
        )
        assert answer is not None and list(answer.data) == []

    play(root, scene, semanticTokens=True)


def test_a_client_that_pulls_is_not_pushed_to(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        async def pulled(uri: str) -> list[tuple[object, int]]:
            params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
            report = await asyncio.wait_for(editor.client.text_document_diagnostic_async(params), PATIENCE)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            return [(each.code, each.range.start.line) for each in report.items]

        helper, caller = editor.open("losses.py"), editor.open("train.py")
        assert await pulled(helper) == [("JIT101", 1)]
        assert await pulled(caller) == []
        before = editor.pulls_again
        editor.type(caller, TRAIN.replace("@jax.jit\n", ""))
        assert await pulled(caller) == []
        await editor.until_true(lambda: editor.pulls_again > before)
        assert await pulled(helper) == []
        editor.type(helper, "# one more\n" + LOSSES)
        editor.type(caller, TRAIN)
        assert await pulled(helper) == [("JIT101", 2)]
        assert await pulled("untitled:nothing") == []
        assert editor.told == {}

    play(root, scene, diagnostics="pull")


def test_long_work_is_shown(project: Write) -> None:
    function = "@jax.jit\ndef f{0}(x):\n    y = x + {0}\n    return y * x\n\n"
    big = "import jax\n\n" + "".join(function.format(number) for number in range(8000))
    root = project({"a.py": big})

    async def scene(editor: Editor) -> None:
        await editor.until(editor.open("a.py"), [])
        await editor.until_true(lambda: len(editor.progress) >= 2)
        first, last = editor.progress[:2]
        assert (first["kind"], last["kind"]) == ("begin", "end")
        assert (first["title"], first["message"]) == ("jitlint", f"looking at {root.name}")

    play(root, scene)


def test_hover_over_a_function(project: Write) -> None:
    root = project({"a.py": BAD.replace("@jax.jit", "@jax.jit  # 𝒳") + "\ndef plain(x):\n    return x\n"})

    async def scene(editor: Editor) -> None:
        uri = editor.open("a.py")

        async def hover(line: int, character: int) -> str | None:
            params = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(line, character))
            answer = await asyncio.wait_for(editor.client.text_document_hover_async(params), PATIENCE)
            return answer.contents.value if answer else None  # type: ignore[union-attr]

        assert await hover(3, 4) == (
            "`f` is traced: f is jitted with jax.jit, line 3\n\n- `x`: **traced**\n- `n`: **static**"
        )
        assert await hover(8, 5) is None

    play(root, scene)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="running code needs forks")
def test_a_click_confirms_with_jax_and_an_edit_ends_what_that_says(project: Write) -> None:
    pytest.importorskip("jax", reason="runs JAX")
    root = project({"a.py": BAD + "\n@jax.jit\ndef fine(x):\n    return x\n"})

    async def scene(editor: Editor) -> None:
        uri = editor.open("a.py")
        (told,) = await editor.until(uri, [("JIT101", 4)])
        assert len(told.related_information or ()) == 1
        params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
        found = await asyncio.wait_for(editor.client.text_document_code_lens_async(params), PATIENCE)
        commands = [each.command for each in found or () if each.command]
        (command,) = [each for each in commands if each.title == "confirm with JAX (runs the code)"]
        asked = types.ExecuteCommandParams(command.command, command.arguments)
        await asyncio.wait_for(editor.client.workspace_execute_command_async(asked), PATIENCE)
        (told,) = editor.told[uri]
        *_, proof = told.related_information or ()
        assert proof.message.startswith("confirmed by running it under JAX ")
        assert "TracerBoolConversionError" in proof.message
        assert proof.location.range == told.range
        titles = [each["title"] for each in editor.progress if each["kind"] == "begin"]
        assert titles[-1] == "jitlint confirm: a.py" and editor.progress[-1]["kind"] == "end"

        editor.type(uri, "# typed\n" + BAD)
        (told,) = await editor.until(uri, [("JIT101", 5)])
        assert len(told.related_information or ()) == 1
        await asyncio.wait_for(editor.client.workspace_execute_command_async(asked), PATIENCE)
        await editor.until_said("save a.py first")
        assert len(editor.told[uri][0].related_information or ()) == 1

    play(root, scene, codeLens=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="running code needs forks")
def test_a_proof_that_takes_long_is_cancelled(project: Write) -> None:
    pytest.importorskip("jax", reason="runs JAX")
    root = project({"a.py": BAD + "import time\nopen('started', 'w').close()\ntime.sleep(600)\n"})

    async def scene(editor: Editor) -> None:
        tokens: list[int | str] = []
        uri = editor.open("a.py")
        await editor.until(uri, [("JIT101", 4)])
        editor.client.protocol.fm.features.pop(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        editor.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(
            lambda params: tokens.append(params.token)
        )
        place = {"uri": uri, "first": 3, "last": 7}
        asked = types.ExecuteCommandParams("jitlint.confirm", [place])
        running = asyncio.ensure_future(editor.client.workspace_execute_command_async(asked))
        await editor.until_true(lambda: bool(tokens))
        await asyncio.sleep(1)
        assert not running.done()
        await asyncio.wait_for(editor.client.workspace_execute_command_async(asked), PATIENCE)
        await editor.until_said("another proof is running")
        editor.client.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(tokens[0]))
        await asyncio.wait_for(running, PATIENCE)
        await editor.until_said("not confirmed")

    play(root, scene)


def test_folders_come_and_go(tmp_path: Path, project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": GOOD})
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "losses.py").write_text(LOSSES, encoding="utf-8")
    (other / "train.py").write_text(TRAIN, encoding="utf-8")

    def change(editor: Editor, added: list[Path], removed: list[Path]) -> None:
        def folders(paths: list[Path]) -> list[types.WorkspaceFolder]:
            return [types.WorkspaceFolder(uri=path.as_uri(), name=path.name) for path in paths]

        event = types.WorkspaceFoldersChangeEvent(folders(added), folders(removed))
        editor.client.workspace_did_change_workspace_folders(types.DidChangeWorkspaceFoldersParams(event))

    async def scene(editor: Editor) -> None:
        helper = editor.open("losses.py")
        await editor.until(helper, [])
        outside = (other / "losses.py").as_uri()
        item = types.TextDocumentItem(outside, types.LanguageKind.Python, 1, LOSSES)
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await editor.until(outside, [])  # nobody asked for the folder, so nobody is its caller
        change(editor, [other], [])
        await editor.until(outside, [("JIT101", 1)])
        change(editor, [], [other])
        await editor.until(outside, [])
        await editor.until(helper, [])

    play(root, scene)


def test_wishes_change_while_it_runs(project: Write) -> None:
    root = project({"train.py": TRAIN, "losses.py": LOSSES})

    async def scene(editor: Editor) -> None:
        helper, caller = editor.uri("losses.py"), editor.open("train.py")
        await editor.until(caller, [])
        assert editor.codes(helper) is None
        for files, expected in (("workspace", [("JIT101", 1)]), ("open", []), ("workspace", [("JIT101", 1)])):
            settings = {"jitlint": {"diagnosticsFor": files}}
            editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
            await editor.until(helper, expected)

    play(root, scene)


@pytest.mark.parametrize(
    "options", [None, [], {"debounce": "x"}, {"debounce": -1}, {"debounce": True}, {"codeLens": 1}]
)
def test_wishes_that_mean_nothing(options: object) -> None:
    assert Wishes.of(options) == Wishes()
