"""The language server, asked by a client that others have written: pytest-lsp checks what both sides say against the protocol."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="needs pygls")
pytest.importorskip("pytest_lsp", reason="needs pytest-lsp")

from lsprotocol import types
from pytest_lsp import LanguageClient, client_capabilities, make_test_lsp_client

from tests.frontends.editor import ENVIRONMENT, GOOD, LOSSES, PATIENCE, TRAIN


async def _started(root: Path, name: str) -> LanguageClient:
    client = make_test_lsp_client()
    await client.start_io(sys.executable, "-m", "jitlint", "server", env=ENVIRONMENT)
    folder = types.WorkspaceFolder(uri=root.as_uri(), name="project")
    await client.initialize_session(
        types.InitializeParams(
            client_capabilities(name), workspace_folders=[folder], initialization_options={"debounce": 1}
        )
    )
    return client


async def _until(client: LanguageClient, uri: str, expected: list[tuple[object, int]]) -> None:
    async def wait() -> None:
        while [(each.code, each.range.start.line) for each in client.diagnostics[uri]] != expected:
            await asyncio.wait_for(
                client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), PATIENCE
            )

    if uri not in client.diagnostics:
        await asyncio.wait_for(
            client.wait_for_notification(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS), PATIENCE
        )
    await asyncio.wait_for(wait(), PATIENCE)


@pytest.mark.parametrize("editor", ["visual_studio_code", "neovim", "emacs"])
def test_a_helper_is_fixed_and_its_finding_goes(editor: str, tmp_path: Path) -> None:
    """With the capabilities that the editor of this name announces."""
    for name, text in {"pyproject.toml": "", "train.py": TRAIN, "losses.py": LOSSES}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    async def run() -> None:
        client = await _started(tmp_path, editor)
        uri = (tmp_path / "losses.py").as_uri()
        item = types.TextDocumentItem(uri, types.LanguageKind.Python, 1, LOSSES)
        client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await _until(client, uri, [("JIT101", 1)])
        (told,) = client.diagnostics[uri]
        assert [each.location.uri for each in told.related_information or ()] == [
            (tmp_path / "train.py").as_uri()
        ] * 2
        place = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(1, 7))
        hover = await asyncio.wait_for(client.text_document_hover_async(place), PATIENCE)
        assert hover is not None and "**traced**" in str(hover.contents)
        context = types.CodeActionContext([told])
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), told.range, context)
        actions = await asyncio.wait_for(client.text_document_code_action_async(params), PATIENCE)
        assert [each.title for each in actions or ()][-1] == "Explain JIT101"
        document = types.VersionedTextDocumentIdentifier(2, uri)
        change = types.TextDocumentContentChangeWholeDocument(GOOD)
        client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await _until(client, uri, [])
        await client.shutdown_session()

    asyncio.run(run())
