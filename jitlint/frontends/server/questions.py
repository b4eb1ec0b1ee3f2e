"""What a client asks the server: hover, hints, lenses, tokens, actions, and the proof that somebody clicks for (layer: ``frontends``)."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Finding, Span
from jitlint.base.result import AnalysisError, ValueRow
from jitlint.base.text import split_lines
from jitlint.frontends.server import fixes
from jitlint.frontends.server.actions import actions, explanation
from jitlint.frontends.server.convert import at_position, hover_text
from jitlint.frontends.server.hints import Lens, function_text, lenses, parameters
from jitlint.frontends.server.proof import ProofError, Prover
from jitlint.frontends.server.tokens import tokens

if TYPE_CHECKING:
    from jitlint.frontends.server.serve import Server

SHOW = "jitlint.show"
CONFIRM = "jitlint.confirm"


class Questions:
    """Answers them for one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.prover = Prover()

    async def values(self, path: str) -> list[ValueRow]:
        """What the values in a file are."""
        project = self._server.project_of(path).project
        try:
            return await asyncio.wrap_future(self._server.worker.submit(lambda: project.values(path)))
        except (ConfigError, AnalysisError, OSError):
            return []

    async def hover(self, params: types.HoverParams) -> types.Hover | None:
        """What a value is, and why; of a function that is traced, what traces it, and how its parameters arrive."""
        uri = params.text_document.uri
        where = self._server.where(uri)
        if where is None:
            return None
        source = self._server.workspace.get_text_document(uri).source
        lines = split_lines(source)
        place = self._server.workspace.position_codec.position_from_client_units(lines, params.position)
        known, at = await self.values(where[0]), (place.line + 1, place.character + 1)
        rows = at_position(known, *at, where[1])
        text = function_text(source, known, *where, at)
        text = text or hover_text([row for row in rows if not row.code] or rows)
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if text else None

    async def inlay_hints(self, params: types.InlayHintParams) -> list[types.InlayHint]:
        """How the parameters of traced functions arrive."""
        uri = params.text_document.uri
        where = self._server.where(uri)
        if where is None:
            return []
        source = self._server.workspace.get_text_document(uri).source
        lines, codec = split_lines(source), self._server.workspace.position_codec
        found = []
        for (line, column), status in parameters(source, await self.values(where[0]), where[1]).items():
            if params.range.start.line <= line - 1 <= params.range.end.line:
                place = codec.position_to_client_units(lines, types.Position(line - 1, column - 1))
                found.append(
                    types.InlayHint(place, f"‹{status}›", kind=types.InlayHintKind.Type, padding_left=True)
                )
        return found

    async def code_lenses(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        """What traces a function; and where something is found in it, that real JAX can be asked."""
        uri = params.text_document.uri
        where = self._server.where(uri)
        if where is None:
            return []
        source = self._server.workspace.get_text_document(uri).source
        found = []
        for lens in lenses(source, await self.values(where[0]), *where):
            start, reason = types.Position(lens.line - 1, 0), lens.reason
            span = Span(reason.line, 1, reason.line, 1, reason.cell)
            place = {"uri": self._server.uri_of(os.path.abspath(reason.path), span), "line": reason.line - 1}
            command = types.Command(lens.title, SHOW, arguments=[place])
            found.append(types.CodeLens(types.Range(start, start), command))
            if self._within(where, lens):
                asked = {"uri": uri, "first": lens.line, "last": lens.last}
                command = types.Command("confirm with JAX (runs the code)", CONFIRM, arguments=[asked])
                found.append(types.CodeLens(types.Range(start, start), command))
        return found

    def _within(self, where: tuple[str, int], lines: Lens | range) -> list[Finding]:
        """The findings in a function that running it can show; none in cells, which are not run."""
        path, cell = where
        inside = range(lines.line, lines.last + 1) if isinstance(lines, Lens) else lines
        return [
            finding
            for finding in self._server.project_of(path).project.shown.get(path, ())
            if not cell and finding.span.line in inside and not finding.code.startswith("JIT0")
        ]

    async def confirm(self, place: dict[str, Any]) -> None:
        """Run the code of a function that has findings, as it is saved; what JAX says is shown with the findings."""
        uri = str(place["uri"])
        where = self._server.where(uri)
        found = self._within(where, range(int(place["first"]), int(place["last"]) + 1)) if where else []
        if where is None or not found:
            return
        path, one = where[0], self._server.project_of(where[0])
        try:
            self._must_be_saved(path, uri)
            title = f"jitlint confirm: {os.path.basename(path)}"
            async with self._server.long_work.shown(title, "running the code", self.prover.stop):
                proofs = await self.prover.proved(path, sorted({finding.code for finding in found}))
        except (ProofError, OSError) as error:
            self._server.complain(f"not confirmed: {error}")
            return
        try:
            self._must_be_saved(path, uri)
        except ProofError:
            return  # somebody has typed meanwhile: it was about another text
        one.project.proofs[path] = {**one.project.proofs.get(path, {}), **proofs}
        self._server.tell_again(one, path)

    def _must_be_saved(self, path: str, uri: str) -> None:
        """Only what is saved can be run. Raises ProofError."""
        with open(path, encoding="utf-8", errors="replace", newline="") as stream:
            if stream.read() != self._server.workspace.get_text_document(uri).source:
                raise ProofError(f"save {os.path.basename(path)} first; only what is saved is run")

    async def semantic_tokens(self, params: types.SemanticTokensParams) -> types.SemanticTokens:
        """The names in traced code."""
        uri = params.text_document.uri
        where = self._server.where(uri)
        if where is None:
            return types.SemanticTokens([])
        lines = split_lines(self._server.workspace.get_text_document(uri).source)
        codec, rows = self._server.workspace.position_codec, await self.values(where[0])
        near = [row for row in rows if row.span.line <= len(lines)]
        return types.SemanticTokens(
            tokens(near, where[1], lambda place: codec.position_to_client_units(lines, place))
        )

    async def show(self, place: dict[str, Any]) -> None:
        """Open the place that traces a function."""
        start = types.Position(int(place["line"]), 0)
        params = types.ShowDocumentParams(
            str(place["uri"]), take_focus=True, selection=types.Range(start, start)
        )
        await self._server.window_show_document_async(params)

    async def actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """What can be done about the findings in a range."""
        uri = params.text_document.uri
        where = self._server.where(uri)
        if where is None:
            return []
        path, cell = where
        project = self._server.project_of(path).project
        converter = self._server.converter(project)
        text = self._server.workspace.get_text_document(uri).source
        here = [
            finding
            for finding in project.shown.get(path, ())
            if finding.span.cell == cell and _meets(converter.range(path, finding.span), params.range)
        ]
        found: list[types.CodeAction] = []
        for offer in await fixes.suggested(self._server.worker, project, here) if here and not cell else ():
            found.append(fixes.fixing(offer, uri, converter.diagnostic(path, offer.finding)))
        if fixes.wants_all(params.context.only) and not cell:
            found.append(fixes.fixing_all(uri))
        if not self._resolves():
            found = [each for each in [await self.resolve(each) for each in found] if each.edit is not None]
        for finding in here:
            found += actions(text, finding, uri, converter.diagnostic(path, finding))
        return found

    def _resolves(self) -> bool:
        """Whether the client asks again for what an action does, when somebody has chosen it."""
        about = self._server.client_capabilities.text_document
        support = about.code_action.resolve_support if about and about.code_action else None
        return support is not None and "edit" in support.properties

    async def resolve(self, action: types.CodeAction) -> types.CodeAction:
        """Make what an action does, now that it is wanted, if it is proved."""
        wish = fixes.Wish.of(action.data)
        where = self._server.where(wish.uri) if wish is not None else None
        if wish is None or where is None:
            return action
        one = self._server.project_of(where[0])
        text = self._server.workspace.get_text_document(wish.uri).source
        convert = self._server.converter(one.project).range
        edits = await fixes.edits(
            self._server.worker, one.project, where[0], wish, text, convert, one.stopped.is_set
        )
        return fixes.chosen(action, wish, edits)

    def explain(self, code: str) -> str:
        """The page of a rule."""
        text = explanation(code)
        if text and self._server.wishes.shows_pages:
            self._server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))
        return text


def _meets(one: types.Range, other: types.Range) -> bool:
    return one.start.line <= other.end.line and other.start.line <= one.end.line
