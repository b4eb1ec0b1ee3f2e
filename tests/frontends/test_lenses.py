"""Lenses above traced functions: what they say, where they stand, what a click does."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from jitlint.base.config import Settings
from jitlint.driver.why import values
from tests.conftest import Write

pytest.importorskip("pygls", reason="needs pygls")

from lsprotocol import types

from jitlint.frontends.server.hints import lenses
from tests.frontends.editor import GOOD, PATIENCE, TRAIN, Editor, play


def test_what_traces_a_function_stands_above_it_where_that_is_wanted(project: Write) -> None:
    """A function that nothing traces has none; another file counts as soon as it is typed; a click opens the place."""
    losses = "# first\n" + GOOD + "\ndef plain(x):\n    return x\n"
    root = project({"train.py": TRAIN, "losses.py": losses})

    async def scene(editor: Editor) -> None:
        shown: list[types.ShowDocumentParams] = []

        def show(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            shown.append(params)
            return types.ShowDocumentResult(True)

        editor.client.feature(types.WINDOW_SHOW_DOCUMENT)(show)

        async def above(uri: str, *expected: str) -> list[types.Command]:
            """The commands above the functions, as soon as they say what is expected."""
            end = time.monotonic() + PATIENCE
            while True:
                params = types.CodeLensParams(types.TextDocumentIdentifier(uri))
                found = await asyncio.wait_for(editor.client.text_document_code_lens_async(params), PATIENCE)
                assert {each.range.start.line for each in found or ()} <= {3}
                commands = [each.command for each in found or () if each.command]
                if tuple(command.title for command in commands) == expected:
                    return commands
                assert time.monotonic() < end, commands
                await asyncio.sleep(0.05)

        helper, caller = editor.open("losses.py"), editor.open("train.py")
        await above(caller, "traced: step is jitted with jax.jit, line 4")
        (command,) = await above(helper, "traced: step is jitted with jax.jit, train.py line 4")
        asked = types.ExecuteCommandParams(command.command, command.arguments)
        await asyncio.wait_for(editor.client.workspace_execute_command_async(asked), PATIENCE)
        (place,) = shown
        assert (place.uri, place.take_focus) == (caller, True)
        assert place.selection is not None and place.selection.start == types.Position(3, 0)

        told = editor.refreshed
        editor.type(caller, TRAIN + "\n@jax.jit\ndef again(x):\n    return loss(x, 'one')\n")
        await above(helper, "traced: step is jitted with jax.jit, train.py line 4, among others")
        editor.type(caller, TRAIN.replace("@jax.jit\n", ""))
        await above(helper)
        await editor.until_true(lambda: editor.refreshed >= told + 2)

    play(root, scene, codeLens=True)


NESTED = """import jax

class Model:
    @staticmethod
    @jax.jit
    def step(x):
        if True:
            def inner(y):
                return y + 1
        return inner(x)

    def plain(self, y):
        return y

def body(c, x):
    return c, x

@jax.jit
def scanned(xs):
    return jax.lax.scan(body, 0., xs)
"""


def test_lenses_by_qualified_name(project: Write) -> None:
    path = str(project({"nested.py": NESTED}) / "nested.py")
    found = lenses(NESTED, values(path, Settings()), path, 0)
    assert [(lens.line, lens.title) for lens in found] == [
        (4, "traced: Model.step is jitted with jax.jit, line 5"),
        (8, "traced: Model.step is jitted with jax.jit, line 5"),
        (15, "traced: scanned is jitted with jax.jit, line 18"),
        (18, "traced: scanned is jitted with jax.jit, line 18"),
    ]
    assert lenses("def half(", values(path, Settings()), path, 0) == []


def test_lenses_in_cells(project: Write) -> None:
    cells = ["import jax\ndef f(x):\n    return x\n", "@jax.jit\ndef g(x):\n    return f(x)\n"]
    path = project(
        {"a.ipynb": json.dumps({"cells": [{"cell_type": "code", "source": each} for each in cells]})}
    )
    name = str(path / "a.ipynb")
    found = [lenses(text, values(name, Settings()), name, cell) for cell, text in enumerate(cells, 1)]
    assert [[(lens.line, lens.title) for lens in each] for each in found] == [
        [(2, "traced: g is jitted with jax.jit, cell 2 line 1")],
        [(1, "traced: g is jitted with jax.jit, line 1")],
    ]


def test_no_lens_that_nobody_asked_for(project: Write) -> None:
    async def run() -> None:
        editor = Editor(project({}))
        result = await editor.start(codeLens="yes")
        assert result.capabilities.code_lens_provider is None
        await editor.stop()

    asyncio.run(run())
