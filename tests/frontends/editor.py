"""A client of the protocol, for tests of the server."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.client import LanguageClient

import jitlint

TRAIN = "import jax\nfrom losses import loss\n\n@jax.jit\ndef step(x, n):\n    return loss(x, n)\n"
LOSSES = "def loss(x, n):\n    if x > 0:\n        return x\n    return -x\n"
GOOD = "import jax.numpy as jnp\n\ndef loss(x, n):\n    return jnp.abs(x)\n"
PATIENCE = 60.0


class Editor:
    """A client that remembers what it was told."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.client = LanguageClient("editor", "1")
        self.told: dict[str, list[types.Diagnostic]] = {}
        self.count: dict[str, int] = {}
        self.messages: list[str] = []
        self.refreshed = 0
        self.pulls_again = 0
        self.progress: list[dict[str, Any]] = []
        self._versions: dict[str, int] = {}
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._tell(params))
        self.client.feature(types.WORKSPACE_CODE_LENS_REFRESH)(lambda _: self._refresh())
        self.client.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)(lambda _: self._refresh_diagnostics())
        self.client.feature(types.PROGRESS)(lambda params: self.progress.append(params.value))
        self.client.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)(lambda _: None)
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))

    def _refresh(self) -> None:
        self.refreshed += 1

    def _refresh_diagnostics(self) -> None:
        self.pulls_again += 1

    def _tell(self, params: types.PublishDiagnosticsParams) -> None:
        self.told[params.uri] = list(params.diagnostics)
        self.count[params.uri] = self.count.get(params.uri, 0) + 1

    async def start(self, port: int = 0, resolves: bool = True, **options: object) -> types.InitializeResult:
        if port:
            await self.client.start_tcp("127.0.0.1", port)
        else:
            await self.client.start_io(sys.executable, "-m", "jitlint", "server", env=ENVIRONMENT)
        folder = types.WorkspaceFolder(uri=self.root.as_uri(), name="project")
        actions = types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(["edit"])
        )
        about = types.TextDocumentClientCapabilities(code_action=actions)
        lenses = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
        pulled = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
        result = await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(
                    text_document=about if resolves else None,
                    workspace=types.WorkspaceClientCapabilities(code_lens=lenses, diagnostics=pulled),
                    window=types.WindowClientCapabilities(work_done_progress=True),
                ),
                workspace_folders=[folder],
                initialization_options={"debounce": 1, **options},
            )
        )
        self.client.initialized(types.InitializedParams())
        return result

    async def stop(self) -> None:
        await asyncio.wait_for(self.client.shutdown_async(None), PATIENCE)
        self.client.exit(None)
        await asyncio.wait_for(self.client.stop(), PATIENCE)

    def uri(self, name: str) -> str:
        return uris.from_fs_path(str(self.root / name)) or ""

    def open(self, name: str, text: str | None = None) -> str:
        uri = self.uri(name)
        text = (self.root / name).read_text(encoding="utf-8") if text is None else text
        self._versions[uri] = 1
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return uri

    def type(self, uri: str, text: str) -> None:
        self._versions[uri] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[uri], uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))

    def codes(self, uri: str) -> list[tuple[object, int]] | None:
        """Code and line of what was told last; None if nothing was told yet."""
        told = self.told.get(uri)
        return None if told is None else sorted((d.code, d.range.start.line) for d in told)  # type: ignore[type-var]

    async def until(self, uri: str, expected: list[tuple[object, int]]) -> list[types.Diagnostic]:
        await self._wait(
            lambda: self.codes(uri) == expected, lambda: f"{uri}: {self.codes(uri)}, not {expected}"
        )
        return self.told[uri]

    async def _wait(self, condition: Callable[[], bool], what: Callable[[], str]) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, what()
            await asyncio.sleep(0.02)

    async def until_true(self, condition: Callable[[], bool]) -> None:
        await self._wait(condition, lambda: "waited in vain")

    async def until_said(self, part: str) -> None:
        await self._wait(
            lambda: any(part in message for message in self.messages), lambda: str(self.messages)
        )


ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}

Scene = Callable[[Editor], Awaitable[None]]


def play(root: Path, scene: Scene, **options: object) -> None:
    async def run() -> None:
        editor = Editor(root)
        await editor.start(**options)  # type: ignore[arg-type]
        try:
            await scene(editor)
        finally:
            await editor.stop()

    asyncio.run(run())
