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
import time
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
from jitlint.base.result import AnalysisError
from jitlint.driver.documents import is_notebook, with_file_lines
from jitlint.driver.project import callers_of, project_root
from jitlint.driver.session import Stopped
from jitlint.frontends.server import fixes
from jitlint.frontends.server.actions import EXPLAIN
from jitlint.frontends.server.convert import Converter, file_uri
from jitlint.frontends.server.progress import Progress
from jitlint.frontends.server.project import Findings, Project, Stop, inside
from jitlint.frontends.server.questions import CONFIRM, SHOW, Questions
from jitlint.frontends.server.tokens import LEGEND
from jitlint.frontends.server.wishes import Wishes
from jitlint.frontends.server.worker import Worker

SETTLED = 1.0
"""Seconds without a key after which an early answer is followed by the exact one."""

CONFIGURATION = ("jitlint.toml", "pyproject.toml", "setup.cfg")


@dataclass(slots=True)
class _Open:
    """A project with what waits for it. told: files that the client is told about even if nothing changed.

    stopped: of the work that runs. refresh, reload: files, or the configuration, have changed on the disk. running: how much
    was given to the worker and has not come back. idle: all that was told is answered. took: seconds of the last answer.
    settling: waits to ask for the exact answer.
    """

    project: Project
    edits: dict[str, bytes | None] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    refresh: bool = False
    reload: bool = False
    timer: asyncio.TimerHandle | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    running: int = 0
    took: float = 1.0
    idle: asyncio.Event = field(default_factory=asyncio.Event)
    shown: asyncio.Task[None] | None = None
    settling: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """Let go of all that runs or waits."""
        self.stopped.set()
        for waiting in (self.timer, self.settling):
            if waiting is not None:
                waiting.cancel()
        self.timer = self.settling = None


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
        self.worker = Worker()
        self.long_work = Progress(self)
        self._questions = Questions(self)
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
            types.WORKSPACE_DID_CHANGE_CONFIGURATION: self._wishes_changed,
            types.TEXT_DOCUMENT_HOVER: self._questions.hover,
        }
        for name, handler in handlers.items():
            self.feature(name)(_free(handler))
        kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.Empty, fixes.FIX_ALL]
        options = types.CodeActionOptions(kinds, resolve_provider=True)
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION, options)(_free(self._questions.actions))
        self.feature(types.CODE_ACTION_RESOLVE)(_free(self._questions.resolve))
        self.command(EXPLAIN)(_free(self._questions.explain))
        self.command(SHOW)(_free(self._questions.show))
        self.command(CONFIRM)(_free(self._questions.confirm))

    # ------------------------------------------------------------ life

    def _initialize(self, params: types.InitializeParams) -> None:
        self.wishes = Wishes.of(params.initialization_options)
        asked = self._questions
        if self.wishes.inlay_hints:
            self.feature(types.TEXT_DOCUMENT_INLAY_HINT)(_free(asked.inlay_hints))
        if self.wishes.code_lens:
            self.feature(types.TEXT_DOCUMENT_CODE_LENS)(_free(asked.code_lenses))
        if self.wishes.semantic_tokens:
            self.feature(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)(_free(asked.semantic_tokens))
        if self.wishes.pulls:
            options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False)
            self.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)(_free(self._pulled))

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
                    self._schedule(self.project_of(path), 0)

    def _end(self, params: object) -> None:
        self._questions.prover.stop()
        for one in self._open.values():
            one.stop()
            self.worker.submit(one.project.close)

    def _folders_changed(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        """Folders have come or gone: buffers belong to other projects now, which are told what is in them."""
        for folder in params.event.removed:
            gone = self._open.pop(_path_of(folder.uri) or "", None)
            if gone is not None:
                gone.stop()
                self.worker.submit(gone.project.close)
                self._publish(gone.project, {path: [] for path in gone.project.shown})
                for path, text in {**gone.project.unsaved, **gone.edits}.items():
                    self._edited(path, text, 0)
        for path in self._documents:
            self._moved(path, self.project_of(path))
        if self.wishes.all_files:
            for folder in params.event.added:
                self._schedule(self.project_of(_path_of(folder.uri) or folder.uri), 0)

    def _moved(self, path: str, holder: _Open) -> None:
        """A buffer belongs to this project now."""
        for other in self._open.values():
            text = other.edits.get(path) or other.project.unsaved.get(path)
            if other is not holder and text is not None:
                other.edits[path] = None
                self._edited(path, text, 0)

    def _wishes_changed(self, params: types.DidChangeConfigurationParams) -> None:
        table = params.settings.get("jitlint") if isinstance(params.settings, dict) else None
        before, self.wishes = self.wishes, self.wishes.changed(table)
        for one in self._open.values():
            if before.all_files and not self.wishes.all_files:
                for path in one.project.shown.keys() - self._documents.keys():
                    self._tell(file_uri(path), [])
            one.told |= set(one.project.shown)
            self._schedule(one, 0)

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
            one = self.project_of(path)
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
            one = self.project_of(path)
            one.edits[path] = data
            one.told |= {path, *one.project.proofs}
            one.project.proofs.clear()  # of another text
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
                one.told |= set(one.project.proofs)
                one.project.proofs.clear()
                self._schedule(one, self.wishes.debounce)

    # ------------------------------------------------------------ work

    def project_of(self, path: str) -> _Open:
        """The project that a file belongs to: a folder of the workspace; without any, what looks like its project's top.

        A file outside of all of them is looked at with what it imports: nobody asked for the folder that it is in.
        """
        folders = [_path_of(folder.uri) or "" for folder in self.workspace.folders.values()]
        around = [folder for folder in folders if folder and inside(path, folder)]
        root = max(around, key=len) if around else path
        if not folders and callers_of([path]):
            root = project_root([path])
        if root not in self._open:
            self._open[root] = _Open(Project(root, self.wishes.ahead))
        return self._open[root]

    def _schedule(self, one: _Open, delay: float) -> None:
        """Look at it, soon: where answers are quick, there is no use in waiting for the next key."""
        one.stop()
        one.idle.clear()
        wait = 0 if one.took < delay else delay
        one.timer = asyncio.get_running_loop().call_later(wait, self._start, one)

    def _start(self, one: _Open) -> None:
        one.timer = None
        one.stopped = threading.Event()
        edits, one.edits = one.edits, {}
        told, one.told = one.told, set()
        refresh, reload = one.refresh, one.reload
        one.refresh = one.reload = False
        stop = one.stopped.is_set
        apply = functools.partial(_timed, one, edits, stop, refresh=refresh, reload=reload)
        one.running += 1
        if self.long_work.is_wanted and (one.shown is None or one.shown.done()):
            name = os.path.basename(one.project.root)
            one.shown = asyncio.get_running_loop().create_task(
                self.long_work.until(one.idle, "jitlint", f"looking at {name}")
            )
        self._work(apply, lambda future: self._done(one, told, future))

    def _work(self, work: Callable[[], Findings], done: Callable[[Future[Findings]], None]) -> None:
        """Give work to the worker, and what became of it to this loop."""
        loop = asyncio.get_running_loop()
        self.worker.submit(work).add_done_callback(
            lambda future: None if loop.is_closed() else loop.call_soon_threadsafe(done, future)
        )

    def _done(self, one: _Open, told: set[str], future: Future[Findings]) -> None:
        one.running -= 1
        self._take(one, told, future)
        if one.running or one.timer is not None:
            return
        one.idle.set()
        if one.project.early:
            one.settling = asyncio.get_running_loop().call_later(SETTLED, self._settle, one)

    def _settle(self, one: _Open) -> None:
        """Nobody has typed for a while: look whether the early answer was the exact one."""
        one.settling = None
        settle = functools.partial(one.project.settle, one.stopped.is_set)
        self._work(settle, lambda future: self._take(one, set(), future))

    def _take(self, one: _Open, told: set[str], future: Future[Findings]) -> None:
        if future.cancelled():
            return
        try:
            changed = future.result()
        except Stopped:
            one.told |= told  # somebody is typing: the next answer says it
            return
        except (ConfigError, AnalysisError) as error:
            one.told |= told
            self.complain(str(error))
            if isinstance(error, ConfigError):
                self._schedule(one, self.wishes.debounce)  # without it
            return
        except Exception as error:
            self.complain(f"internal error: {type(error).__name__}: {error}")
            return
        if one.timer is None:  # of work that was stopped when this had begun
            told, one.told = told | one.told, set()
        shown = one.project.shown
        self._publish(one.project, {**{path: shown.get(path, []) for path in told}, **changed})
        self._ask_again(changed.keys() - told)

    def _ask_again(self, others: set[str]) -> None:
        """Let the client ask anew for what it asks itself. others: files that it does not expect to have changed."""
        about = self.client_capabilities.workspace
        if self.wishes.code_lens and about and about.code_lens and about.code_lens.refresh_support:
            self.workspace_code_lens_refresh(None)  # another file may trace what this one traced
        unexpected = self.wishes.pulls and not others.isdisjoint(self._documents)
        if unexpected and about and about.diagnostics and about.diagnostics.refresh_support:
            self.workspace_diagnostic_refresh(None)

    def tell_again(self, one: _Open, path: str) -> None:
        """Something else is to be shown with the findings of a file."""
        self._publish(one.project, {path: one.project.shown.get(path, [])})
        self._ask_again({path})

    def complain(self, message: str) -> None:
        """Say what went wrong."""
        self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"jitlint: {message}"))

    # ------------------------------------------------------------ findings

    def _publish(self, project: Project, changed: Findings) -> None:
        for path, found in changed.items():
            is_open = path in self._documents
            if (is_open and not self.wishes.pulls) or (not is_open and self.wishes.all_files):
                for uri, diagnostics in self._diagnostics(project, path, found).items():
                    self._tell(uri, diagnostics)

    def _diagnostics(
        self, project: Project, path: str, found: list[Finding]
    ) -> dict[str, list[types.Diagnostic]]:
        """What is shown of a file: by its URI, or by those of its cells."""
        uri = self._documents.get(path, file_uri(path))
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        converter = self.converter(project)
        if notebook is not None:
            return {
                cell.document: [converter.diagnostic(path, f) for f in found if f.span.cell == number]
                for number, cell in enumerate(notebook.cells, 1)
            }
        if is_notebook(path):
            found = [_in_file(finding) for finding in with_file_lines(found, project.unsaved)]
        return {uri: [converter.diagnostic(path, each, project.proof(path, each)) for each in found]}

    async def _pulled(self, params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        """What is shown of a document, when all that was typed so far is looked at."""
        uri = params.text_document.uri
        where = self.where(uri)
        if where is None:
            return types.RelatedFullDocumentDiagnosticReport([])
        path, one = where[0], self.project_of(where[0])
        await one.idle.wait()
        shown = self._diagnostics(one.project, path, one.project.shown.get(path, []))
        return types.RelatedFullDocumentDiagnosticReport(shown.get(uri, []))

    def _tell(self, uri: str, diagnostics: list[types.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    def converter(self, project: Project) -> Converter:
        """Puts findings of a project in the words of the protocol."""
        known: dict[str, list[str]] = {}

        def lines(place: str) -> list[str]:
            if place not in known:
                known[place] = project.lines(place)
            return known[place]

        return Converter(self.workspace.position_codec, lines, self.uri_of)

    def uri_of(self, path: str, span: Span) -> str:
        """What the client calls a file, or a cell of it."""
        uri = self._documents.get(path, file_uri(path))
        notebook = self.workspace.get_notebook_document(notebook_uri=uri)
        if notebook is not None and 1 <= span.cell <= len(notebook.cells):
            return notebook.cells[span.cell - 1].document
        return uri

    def where(self, uri: str) -> tuple[str, int] | None:
        """The file, and the cell, that a document stands for."""
        notebook = self.workspace.get_notebook_document(cell_uri=uri)
        if notebook is None:
            path = _path_of(uri)
            return (path, 0) if path is not None and path in self._documents else None
        path = _path_of(notebook.uri)
        numbers = [n for n, cell in enumerate(notebook.cells, 1) if cell.document == uri]
        return (path, numbers[0]) if path is not None and numbers else None


def _timed(
    one: _Open, edits: dict[str, bytes | None], stop: Stop, *, refresh: bool, reload: bool
) -> Findings:
    start = time.monotonic()
    changed = one.project.apply(edits, stop, refresh=refresh, reload=reload)
    one.took = time.monotonic() - start
    return changed


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


def _free(handler: Callable[[Any], object]) -> Callable[..., object]:
    """A method as a function: the registry marks what it is given, which methods do not allow."""
    free: Callable[..., object]
    if asyncio.iscoroutinefunction(handler):

        async def free(params: Any) -> object:
            return await handler(params)
    else:

        def free(params: Any) -> object:
            return handler(params)

    # The registry asks whether the class that a parameter is annotated with is a server's; before Python 3.11 `Any` is none.
    free.__annotations__ = {}
    return free
