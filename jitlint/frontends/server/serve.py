"""The server: messages of the protocol to projects, and their answers back (layer: ``frontends``).

The loop that talks to the client never analyses: a single worker thread does, some time after the last key. What is typed
meanwhile stops it. Findings are shown for open files, or for all, as the client asks for when it starts.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

import jitlint
from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Finding, Span
from jitlint.base.result import AnalysisError, ValueRow
from jitlint.base.text import split_lines
from jitlint.driver.documents import is_notebook, with_file_lines
from jitlint.driver.project import callers_of, project_root
from jitlint.driver.session import Stopped
from jitlint.frontends.server import fixes
from jitlint.frontends.server.actions import EXPLAIN, actions, explanation
from jitlint.frontends.server.convert import Converter, at_position, file_uri, hover_text
from jitlint.frontends.server.hints import lenses, parameters
from jitlint.frontends.server.project import Findings, Project, inside
from jitlint.frontends.server.worker import Worker

CONFIGURATION = ("jitlint.toml", "pyproject.toml", "setup.cfg")
SHOW = "jitlint.show"
_DEBOUNCE = 0.15


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the client asked for when it started: ``initializationOptions``."""

    inlay_hints: bool = False
    all_files: bool = False
    debounce: float = _DEBOUNCE
    shows_pages: bool = True
    code_lens: bool = False

    @classmethod
    def of(cls, options: object) -> Wishes:
        """Read them; what is not understood is as if it were not there."""
        table = options if isinstance(options, dict) else {}
        delay = table.get("debounce")
        return cls(
            table.get("inlayHints") is True,
            table.get("diagnosticsFor") == "workspace",
            delay / 1000 if isinstance(delay, (int, float)) and 0 <= delay <= 10_000 else _DEBOUNCE,
            table.get("explanations") != "result",
            table.get("codeLens") is True,
        )


@dataclass(slots=True)
class _Open:
    """A project with what waits for it. told: files that the client is told about even if nothing changed.

    stopped: of the work that runs. refresh, reload: files, or the configuration, have changed on the disk.
    """

    project: Project
    edits: dict[str, bytes | None] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    refresh: bool = False
    reload: bool = False
    timer: asyncio.TimerHandle | None = None
    stopped: threading.Event = field(default_factory=threading.Event)


class Server(LanguageServer):
    """jitlint for editors."""

    def __init__(self) -> None:
        notebooks = types.NotebookDocumentSyncOptions(
            [
                types.NotebookDocumentFilterWithNotebook(
                    notebook=types.NotebookDocumentFilterNotebookType(notebook_type="jupyter-notebook"),
                )
            ]
        )
        super().__init__("jitlint", jitlint.__version__, notebook_document_sync=notebooks)
        self.wishes = Wishes()
        self._open: dict[str, _Open] = {}
        self._documents: dict[str, str] = {}
        self._worker = Worker()
        self._register()

    def _register(self) -> None:
        handlers: dict[str, Callable[..., object]] = {
            types.INITIALIZE: self._initialize,
            types.INITIALIZED: self._initialized,
            types.SHUTDOWN: self._end,
            types.TEXT_DOCUMENT_DID_OPEN: self._opened,
            types.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            types.TEXT_DOCUMENT_DID_SAVE: self._saved,
            types.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            types.NOTEBOOK_DOCUMENT_DID_OPEN: self._notebook_changed,
            types.NOTEBOOK_DOCUMENT_DID_CHANGE: self._notebook_changed,
            types.NOTEBOOK_DOCUMENT_DID_CLOSE: self._notebook_closed,
            types.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._files_changed,
            types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self._folders_changed,
            types.TEXT_DOCUMENT_HOVER: self._hover,
        }
        for name, handler in handlers.items():
            self.feature(name)(_free(handler))
        kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.Empty, fixes.FIX_ALL]
        options = types.CodeActionOptions(kinds, resolve_provider=True)
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_free(self._actions))
        self.feature(types.CODE_ACTION_RESOLVE)(_free(self._resolve))
        self.command(EXPLAIN)(_free(self._explain))
        self.command(SHOW)(_free(self._show))

    # ------------------------------------------------------------ life

    def _initialize(self, params: types.InitializeParams) -> None:
        self.wishes = Wishes.of(params.initialization_options)
        if self.wishes.inlay_hints:
            self.feature(types.TEXT_DOCUMENT_INLAY_HINT)(_free(self._inlay_hints))
        if self.wishes.code_lens:
            self.feature(types.TEXT_DOCUMENT_CODE_LENS)(_free(self._code_lenses))

    def _initialized(self, params: types.InitializedParams) -> None:
        watching = (
            self.client_capabilities.workspace and self.client_capabilities.workspace.did_change_watched_files
        )
        if watching and watching.dynamic_registration:
            names = "{*.py,*.ipynb,.gitignore," + ",".join(CONFIGURATION) + "}"
            options = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(f"**/{names}")])
            wanted = types.Registration("jitlint-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(types.RegistrationParams([wanted]))
        if self.wishes.all_files:
            for folder in self.workspace.folders.values():
                path = _path_of(folder.uri)
                if path:
                    self._schedule(self._project(path), 0)

    def _end(self, params: object) -> None:
        for one in self._open.values():
            one.stopped.set()
            if one.timer is not None:
                one.timer.cancel()

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        for folder in params.event.removed:
            gone = self._open.pop(_path_of(folder.uri) or "", None)
            if gone is not None:
                gone.stopped.set()
                self._publish(gone.project, {path: [] for path in gone.project.shown})

    # ------------------------------------------------------------ buffers

    def _opened(self, params: types.DidOpenTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = _path_of(uri)
        if path is not None:
            self._documents[path] = uri
            self._edited(path, self.workspace.get_text_document(uri).source.encode("utf-8", "replace"), 0)

    def _changed(self, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        path = _path_of(uri)
        if path is not None and path in self._documents:
            source = self.workspace.get_text_document(uri).source
            self._edited(path, source.encode("utf-8", "replace"), self.wishes.debounce)

    def _saved(self, params: types.DidSaveTextDocumentParams) -> None:
        path = _path_of(params.text_document.uri)
        if path is not None and os.path.basename(path) in CONFIGURATION:
            self._on_disk([path])

    def _closed(self, params: types.DidCloseTextDocumentParams) -> None:
        path = _path_of(params.text_document.uri)
        if path is not None and path in self._documents:
            one = self._project(path)
            if not self.wishes.all_files:
                self._publish(one.project, {path: []})
            del self._documents[path]
            self._edited(path, None, self.wishes.debounce)

    def _notebook_changed(
        self, params: types.DidOpenNotebookDocumentParams | types.DidChangeNotebookDocumentParams
    ) -> None:
        uri = params.notebook_document.uri
        path = _path_of(uri)
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if path is None or notebook is None:
            return
        is_new = path not in self._documents
        self._documents[path] = uri
        cells = [
            {
                "cell_type": "code" if cell.kind is types.NotebookCellKind.Code else "markdown",
                "source": self.workspace.get_text_document(cell.document).source,
            }
            for cell in notebook.cells
        ]
        self._edited(path, json.dumps({"cells": cells}).encode(), 0 if is_new else self.wishes.debounce)

    def _notebook_closed(self, params: types.DidCloseNotebookDocumentParams) -> None:
        for cell in params.cell_text_documents:
            self._tell(cell.uri, [])
        path = _path_of(params.notebook_document.uri)
        if path is not None and path in self._documents:
            del self._documents[path]
            self._edited(path, None, self.wishes.debounce)

    def _edited(self, path: str, data: bytes | None, delay: float) -> None:
        if is_notebook(path) or path.endswith((".py", ".pyi", ".md", ".rst")) or data is None:
            one = self._project(path)
            one.edits[path] = data
            one.told.add(path)
            self._schedule(one, delay)

    # ------------------------------------------------------------ the disk

    def _files_changed(self, params: types.DidChangeWatchedFilesParams) -> None:
        paths = [path for event in params.changes if (path := _path_of(event.uri))]
        self._on_disk([path for path in paths if path not in self._documents or not path.endswith(".py")])

    def _on_disk(self, paths: list[str]) -> None:
        for one in self._open.values():
            mine = [path for path in paths if inside(path, one.project.root)]
            one.reload |= any(os.path.basename(path) in CONFIGURATION for path in mine)
            one.refresh |= bool(mine)
            if mine:
                self._schedule(one, self.wishes.debounce)

    # ------------------------------------------------------------ work

    def _project(self, path: str) -> _Open:
        """The project that a file belongs to: a folder of the workspace; without any, what looks like its project's top.

        A file outside of all of them is looked at with what it imports: nobody asked for the folder that it is in.
        """
        folders = [_path_of(folder.uri) or "" for folder in self.workspace.folders.values()]
        around = [folder for folder in folders if folder and inside(path, folder)]
        root = max(around, key=len) if around else path
        if not folders and callers_of([path]):
            root = project_root([path])
        if root not in self._open:
            self._open[root] = _Open(Project(root))
        return self._open[root]

    def _schedule(self, one: _Open, delay: float) -> None:
        if one.timer is not None:
            one.timer.cancel()
        one.stopped.set()
        one.timer = asyncio.get_running_loop().call_later(delay, self._start, one)

    def _start(self, one: _Open) -> None:
        one.timer = None
        one.stopped = threading.Event()
        edits, one.edits = one.edits, {}
        told, one.told = one.told, set()
        refresh, reload = one.refresh, one.reload
        one.refresh = one.reload = False
        loop, stop = asyncio.get_running_loop(), one.stopped.is_set
        apply = functools.partial(one.project.apply, edits, stop, refresh=refresh, reload=reload)
        done = self._worker.submit(apply)
        done.add_done_callback(
            lambda future: (
                None if loop.is_closed() else loop.call_soon_threadsafe(self._done, one, told, future)
            )
        )

    def _done(self, one: _Open, told: set[str], future: Future[Findings]) -> None:
        if future.cancelled():
            return
        try:
            changed = future.result()
        except Stopped:
            one.told |= told  # somebody is typing: the next answer says it
            return
        except (ConfigError, AnalysisError) as error:
            one.told |= told
            self._complain(str(error))
            if isinstance(error, ConfigError):
                self._schedule(one, self.wishes.debounce)  # without it
            return
        except Exception as error:
            self._complain(f"internal error: {type(error).__name__}: {error}")
            return
        shown = one.project.shown
        self._publish(one.project, {**{path: shown.get(path, []) for path in told}, **changed})
        about = self.client_capabilities.workspace
        if self.wishes.code_lens and about and about.code_lens and about.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)  # another file may trace what this one traced

    def _complain(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"jitlint: {message}"))

    # ------------------------------------------------------------ findings

    def _publish(self, project: Project, changed: Findings) -> None:
        for path, found in changed.items():
            if path not in self._documents and not self.wishes.all_files:
                continue
            uri = self._documents.get(path, file_uri(path))
            notebook = self.workspace.get_notebook_document(notebook_uri=uri)
            converter = self._converter(project)
            if notebook is not None:
                for number, cell in enumerate(notebook.cells, 1):
                    mine = [finding for finding in found if finding.span.cell == number]
                    self._tell(cell.document, [converter.diagnostic(path, f) for f in mine])
                continue
            if is_notebook(path):
                found = [_in_file(finding) for finding in with_file_lines(found, project.unsaved)]
            self._tell(uri, [converter.diagnostic(path, finding) for finding in found])

    def _tell(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    def _converter(self, project: Project) -> Converter:
        known: dict[str, list[str]] = {}

        def lines(place: str) -> list[str]:
            if place not in known:
                known[place] = project.lines(place)
            return known[place]

        return Converter(self.workspace.position_codec, lines, self._uri_of)

    def _uri_of(self, path: str, span: Span) -> str:
        uri = self._documents.get(path, file_uri(path))
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is not None and 1 <= span.cell <= len(notebook.cells):
            return notebook.cells[span.cell - 1].document
        return uri

    # ------------------------------------------------------------ questions

    def _where(self, uri: str) -> tuple[str, int] | None:
        """The file, and the cell, that a document stands for."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        if notebook is None:
            path = _path_of(uri)
            return (path, 0) if path is not None and path in self._documents else None
        path = _path_of(notebook.uri)
        numbers = [n for n, cell in enumerate(notebook.cells, 1) if cell.document == uri]
        return (path, numbers[0]) if path is not None and numbers else None

    async def _values(self, path: str) -> list[ValueRow]:
        project = self._project(path).project
        try:
            return await asyncio.wrap_future(self._worker.submit(lambda: project.values(path)))
        except (ConfigError, AnalysisError, OSError):
            return []

    async def _hover(self, params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        where = self._where(uri)
        if where is None:
            return None
        lines = split_lines(self.workspace.get_text_document(uri).source)
        place = self.workspace.position_codec.position_from_client_units(lines, params.position)
        rows = at_position(await self._values(where[0]), place.line + 1, place.character + 1, where[1])
        text = hover_text([row for row in rows if not row.code] or rows)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def _inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        uri = params.text_document.uri
        where = self._where(uri)
        if where is None:
            return []
        source = self.workspace.get_text_document(uri).source
        lines, codec = split_lines(source), self.workspace.position_codec
        found = []
        for (line, column), status in parameters(source, await self._values(where[0]), where[1]).items():
            if params.range.start.line <= line - 1 <= params.range.end.line:
                place = codec.position_to_client_units(lines, types.Position(line - 1, column - 1))
                found.append(
                    types.InlayHint(place, f"‹{status}›", kind=types.InlayHintKind.Type, padding_left=True)
                )
        return found

    async def _code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        where = self._where(params.text_document.uri)
        if where is None:
            return []
        source = self.workspace.get_text_document(params.text_document.uri).source
        found = []
        for lens in lenses(source, await self._values(where[0]), *where):
            start, reason = types.Position(lens.line - 1, 0), lens.reason
            span = Span(reason.line, 1, reason.line, 1, reason.cell)
            place = {"uri": self._uri_of(os.path.abspath(reason.path), span), "line": reason.line - 1}
            command = types.Command(lens.title, SHOW, arguments=[place])
            found.append(types.CodeLens(types.Range(start, start), command))
        return found

    async def _show(self, place: dict[str, Any]) -> None:
        """Open the place that traces a function."""
        start = types.Position(int(place["line"]), 0)
        params = types.ShowDocumentParams(
            str(place["uri"]), take_focus=True, selection=types.Range(start, start)
        )
        await self.window_show_document_async(params)

    async def _actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        where = self._where(uri)
        if where is None:
            return []
        path, cell = where
        project = self._project(path).project
        converter = self._converter(project)
        text = self.workspace.get_text_document(uri).source
        here = [
            finding
            for finding in project.shown.get(path, ())
            if finding.span.cell == cell and _meets(converter.range(path, finding.span), params.range)
        ]
        found: list[types.CodeAction] = []
        for offer in await fixes.suggested(self._worker, project, here) if here and not cell else ():
            found.append(fixes.fixing(offer, uri, converter.diagnostic(path, offer.finding)))
        if fixes.wants_all(params.context.only) and not cell:
            found.append(fixes.fixing_all(uri))
        if not self._resolves():
            found = [each for each in [await self._resolve(each) for each in found] if each.edit is not None]
        for finding in here:
            found += actions(text, finding, uri, converter.diagnostic(path, finding))
        return found

    def _resolves(self) -> bool:
        """Whether the client asks again for what an action does, when somebody has chosen it."""
        about = self.client_capabilities.text_document
        support = about.code_action.resolve_support if about and about.code_action else None
        return support is not None and "edit" in support.properties

    async def _resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Make what an action does, now that it is wanted, if it is proved."""
        wish = fixes.Wish.of(action.data)
        where = self._where(wish.uri) if wish is not None else None
        if wish is None or where is None:
            return action
        one = self._project(where[0])
        text = self.workspace.get_text_document(wish.uri).source
        convert = self._converter(one.project).range
        edits = await fixes.edits(
            self._worker, one.project, where[0], wish, text, convert, one.stopped.is_set
        )
        return fixes.chosen(action, wish, edits)

    def _explain(self, code: str) -> str:
        text = explanation(code)
        if text and self.wishes.shows_pages:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return text


def _path_of(uri: str) -> str | None:
    """The file that a URI names, if it names one."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.normpath(path) if path else None


def _in_file(finding: Finding) -> Finding:
    """A finding in a notebook that the editor shows as text: at the line of the file."""

    def placed(span: Span) -> Span:
        line = span.file_line or 1
        return Span(line, 1, line, 1_000) if span.cell else span

    related = tuple(replace(step, span=placed(step.span)) for step in finding.related)
    return replace(finding, span=placed(finding.span), related=related)


def _meets(one: types.Range, other: types.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line


def _free(handler: Callable[[Any], object]) -> Callable[..., object]:
    """A method as a function: the registry marks what it is given, which methods do not allow."""
    if asyncio.iscoroutinefunction(handler):

        async def asked(params: Any) -> object:
            return await handler(params)

        return asked

    def told(params: Any) -> object:
        return handler(params)

    return told
