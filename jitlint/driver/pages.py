"""Where drafts stand in their texts, and in which words: remembered by content (layer: ``driver``).

A *page* is what a text makes of its drafts: messages with what they quote, the comments that silence them, the comments that
silence nothing. *Spans* are the positions of origins in one text. Both depend on that text alone and are noted by its hash,
so only files that have changed, or in which other places matter now, are looked into again. What a finding tells about
other files is put together anew each time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from jitlint.base.diagnostic import Finding, Related, Span
from jitlint.base.text import split_lines
from jitlint.driver.drafts import Draft
from jitlint.driver.lowering import Lowered
from jitlint.driver.memory.cache import Cache
from jitlint.driver.positions import locate
from jitlint.driver.processes.schedule import Workers
from jitlint.driver.registry import rules
from jitlint.driver.select import strange_selectors
from jitlint.driver.workspace import Workspace

if TYPE_CHECKING:
    from jitlint.driver.suppress import Comment

_START = Span(1, 1, 1, 1)
SHOWN, BY_NOQA, SILENCED = 0, 1, 2


class Line(msgspec.Struct, frozen=True, array_like=True):
    """One draft in its text. silence: whether a comment silences it, and whether a ``noqa`` alone does."""

    message: str
    help: str
    silence: int


class Unused(msgspec.Struct, frozen=True, array_like=True):
    """A comment that silences nothing."""

    verb: str
    codes: tuple[str, ...]
    span: Span


class Page(msgspec.Struct, frozen=True, array_like=True):
    """lines: of the drafts, in their order."""

    lines: list[Line]
    unused: list[Unused]


class Notes(msgspec.Struct, array_like=True):
    """By the hash of a content: spans by origin, and pages by what is to be shown. tool: which jitlint wrote them."""

    tool: str = ""
    spans: dict[bytes, dict[int, Span]] = msgspec.field(default_factory=dict)
    pages: dict[bytes, dict[bytes, Page]] = msgspec.field(default_factory=dict)


_PAGES_KEPT = 4
"""So many pages of one content: with other settings, or another program around it, it has others."""


class Pages:
    """What is noted about contents, for the length of a run or of a session. looked_into: files, in the run that is under way."""

    def __init__(self, cache: Cache) -> None:
        notes = cache.notes(Notes)
        self._notes = notes if notes is not None and notes.tool == cache.tool else Notes(cache.tool)
        self.looked_into: set[str] = set()

    def write(self, workspace: Workspace) -> None:
        """Hand the notes about contents that are still there to the cache, if there are new ones."""
        if not self.looked_into:
            return
        wanted = {entry.digest for entry in workspace.entries.values()} | workspace.cache.contents
        notes = self._notes
        with workspace.cache.alone():
            others = workspace.cache.notes(Notes)
            if others is not None and others.tool == notes.tool:
                for content, spans in others.spans.items():
                    notes.spans.setdefault(content, {}).update(spans)
                notes.pages = {**others.pages, **notes.pages}
            for table in (notes.spans, notes.pages):
                for gone in table.keys() - wanted:
                    del table[gone]
            workspace.cache.keep_notes(notes)

    # ------------------------------------------------------------ positions

    def locate(
        self, workspace: Workspace, wanted: Mapping[str, set[int]], lowered: Lowered, workers: Workers
    ) -> Places:
        """The spans of the wanted origins (path to origin numbers)."""
        spans = self._notes.spans
        missing: dict[str, set[int]] = {}
        for path, origins in wanted.items():
            rest = origins.difference(spans.get(workspace.entries[path].digest, ()))
            if rest:
                missing[path] = rest
        if missing:
            self.looked_into.update(missing)
            modules = {path: lowered.module(path) for path in missing if path in lowered.digests}
            for path, found in locate(workspace, missing, modules, workers).items():
                noted = spans.setdefault(workspace.entries[path].digest, {})
                noted.update({at: found.get(at, _START) for at in missing[path]})
        return Places({path: spans.get(workspace.entries[path].digest, {}) for path in wanted})

    # ------------------------------------------------------------ pages

    def page(
        self,
        workspace: Workspace,
        path: str,
        drafts: Sequence[Draft],
        spans: Places,
        left_out: frozenset[str],
    ) -> Page:
        """What the text of a file makes of its drafts. left_out: rules that nobody asks for."""
        known = self._notes.pages.setdefault(workspace.entries[path].digest, {})
        try:
            asked = msgspec.msgpack.encode((drafts, sorted(left_out)))
        except UnicodeEncodeError:  # a name that is not text
            asked = repr((drafts, sorted(left_out))).encode("utf-8", "surrogatepass")
        key = hashlib.blake2b(asked, digest_size=12).digest()
        page = known.get(key)
        if page is None:
            page = _page(_content(workspace, path), path, drafts, spans, left_out)
            if path not in workspace.lost:
                self.looked_into.add(path)
                known[key] = page
                while len(known) > _PAGES_KEPT:
                    del known[next(iter(known))]
        return page


class Places:
    """Spans by path and origin. An origin that could not be located is at the file's start."""

    def __init__(self, spans: Mapping[str, Mapping[int, Span]]) -> None:
        self._spans = spans

    def span(self, path: str, at: int) -> Span:
        """The span of an origin; the start of the file when it was not asked for."""
        return self._spans.get(path, {}).get(at, _START)


def _content(workspace: Workspace, path: str) -> bytes:
    try:
        return workspace.content(path)
    except OSError:
        return b""


def _is_marked(data: bytes) -> bool:
    """Whether a text may hold a comment that is meant for jitlint."""
    marked = data.lower()
    return any(mark in marked for mark in (b"jitlint", b"noqa", b"[jit", b"(jit"))


def _names_no_rule(comment: Comment) -> bool:
    """Whether a comment of ours wants to silence rules that there are not."""
    from jitlint.driver.suppress import NOTHING, SILENCERS

    return comment.verb in SILENCERS and bool(strange_selectors(comment.codes - {NOTHING}))


def _page(data: bytes, path: str, drafts: Sequence[Draft], spans: Places, left_out: frozenset[str]) -> Page:
    marked_here = _is_marked(data)
    if not drafts and not marked_here:
        return Page([], [])
    from jitlint.driver.suppress import judge
    from jitlint.driver.wording import words
    from jitlint.syntax.source import SyntaxProblem, decode

    def unheard(comment: Comment) -> bool:
        """Whether a comment silences a rule that is left out."""
        return any(comment.matches(code, rules()[code].name) for code in (left_out if comment.codes else ()))

    decoded = decode(data)
    text = "" if isinstance(decoded, SyntaxProblem) else decoded
    lines = split_lines(text)
    found: list[Finding] = []
    for draft in drafts:
        span = spans.span(path, draft.at)
        message, help_text = words(draft, lines, span)
        found.append(finding(draft, path, span, message, help_text))
    judged = judge(found, [path] if marked_here else [], lambda path: text, unheard, _names_no_rule)
    shown, by_noqa = {id(each) for each in judged.findings}, {id(each) for each in judged.by_noqa}
    return Page(
        [
            Line(
                each.message,
                each.help,
                SHOWN if id(each) in shown else BY_NOQA if id(each) in by_noqa else SILENCED,
            )
            for each in found
        ],
        [Unused(comment.verb, tuple(sorted(comment.codes)), comment.span) for _, comment in judged.unused],
    )


def finding(
    draft: Draft, path: str, span: Span, message: str, help_text: str, related: tuple[Related, ...] = ()
) -> Finding:
    """A draft in its place."""
    return Finding(
        code=draft.code,
        name=rules()[draft.code].name,
        severity=draft.severity,
        confidence=draft.confidence,
        message=message,
        path=path,
        span=span,
        help=help_text,
        ground=draft.ground,
        function=draft.function,
        related=related,
        case=draft.case,
        facts=draft.facts,
        traced=draft.traced,
        kind=draft.kind,
        subject=draft.subject,
        heading=rules()[draft.code].heading,
    )


def findings(
    page: Page, drafts: Sequence[Draft], path: str, paths: Mapping[str, str], spans: Places
) -> tuple[list[Finding], list[Finding]]:
    """What is shown of a file, and what nothing but a ``noqa`` silences. paths: by module."""
    shown: list[Finding] = []
    by_noqa: list[Finding] = []
    for draft, line in zip(drafts, page.lines):
        if line.silence == SILENCED:
            continue
        related = tuple(
            Related(paths[step.module], spans.span(paths[step.module], step.at), step.message, step.because)
            for step in draft.told
            if step.module in paths
        )
        each = finding(draft, path, spans.span(path, draft.at), line.message, line.help, related)
        (by_noqa if line.silence == BY_NOQA else shown).append(each)
    return shown, by_noqa
