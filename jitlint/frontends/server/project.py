"""An open project of the language server: buffers in, findings and values out; knows no protocol (layer: ``frontends``).

One thread at a time may use a project. While a buffer does not parse, what was found in it before stays, at the lines that are
still there, and nothing changes in the files that depend on it: half a statement is no news. What is typed into these is.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Finding, Fix, Safety, Span
from jitlint.base.result import CheckResult, ValueRow
from jitlint.base.text import split_lines
from jitlint.driver.baseline import compare
from jitlint.driver.config import load_settings
from jitlint.driver.registry import rules
from jitlint.driver.run import Asked
from jitlint.driver.select import fixable_codes
from jitlint.driver.session import Session, Stopped
from jitlint.driver.why import values
from jitlint.frontends.console import Texts
from jitlint.frontends.server.proof import Key, key_of

if TYPE_CHECKING:
    from jitlint.fix.engine import Offer

Stop = Callable[[], bool]
Findings = dict[str, list[Finding]]
"""By absolute path."""

_BROKEN = frozenset({"JIT001", "JIT003"})
# How far a line may have moved while the text did not parse.
_FAR = 500


class Project:
    """A folder (or a file alone, with what it imports) and its settings. ahead: answer early where that is quicker, with a process beside this one. shown: what the editor shows, or should. unsaved: the buffers, by absolute path. proofs: what running the code has shown of findings, by path; an edit ends it."""

    def __init__(self, root: str, ahead: bool = False) -> None:
        self.root = root
        self._ahead = ahead
        self.shown: Findings = {}
        self.unsaved: dict[str, bytes] = {}
        self.proofs: dict[str, dict[Key, str]] = {}
        self._good: dict[str, list[str]] = {}
        self._values: dict[str, list[ValueRow]] = {}
        self._settings = Settings()
        self._session: Session | None = None
        self._folder = root if os.path.isdir(root) else os.path.dirname(root)

    def apply(
        self, edits: Mapping[str, bytes | None], stop: Stop, *, refresh: bool = False, reload: bool = False
    ) -> Findings:
        """Buffers have changed, were opened or (None) closed. The files of which something else is shown now.

        refresh: files have changed on the disk, too; reload: so has the configuration. Raises Stopped, ConfigError
        and AnalysisError; nothing that was told is lost then. After a ConfigError the old configuration holds.
        """
        self._values.clear()
        for path, data in edits.items():
            if data is None:
                self.unsaved.pop(path, None)
                self._good.pop(path, None)
            else:
                self.unsaved[path] = data
        session = self._opened()
        *others, last = edits or [""]
        for path in edits if reload or refresh else others:
            with contextlib.suppress(Stopped):
                session.update(path, edits[path], lambda: True)  # one answer for all, below
        if reload:
            settings = load_settings(self._folder)
            Asked.of(settings)  # refuses selectors that match no rule
            self._settings = settings
            session.reload(settings, stop)
        elif refresh or not edits:
            session.refresh(stop)
        else:
            session.update(last, edits[last], stop)
        return self._show(session)

    @property
    def early(self) -> bool:
        """Whether the last answer was not wholly sure: `settle` gives the one that is."""
        return self._session is not None and self._session.early

    def settle(self, stop: Stop) -> Findings:
        """The files of which the exact answer says something else than the early one. Raises Stopped and AnalysisError."""
        session = self._opened()
        session.settle(stop)
        return self._show(session)

    def close(self) -> None:
        """End what runs beside this process."""
        if self._session is not None:
            self._session.close()

    def proof(self, path: str, finding: Finding) -> str:
        """What running the code has shown of a finding; "" if it was not run as it is now."""
        return self.proofs.get(path, {}).get(key_of(finding), "")

    def values(self, path: str) -> list[ValueRow]:
        """What the values in a file are."""
        if path not in self._values:
            self._opened()
            self._values[path] = values(path, self._settings, unsaved=self.unsaved)
        return self._values[path]

    def suggested(self, findings: Sequence[Finding]) -> list[Offer]:
        """What might fix these findings, not proved yet."""
        from jitlint.fix.engine import Engine

        codes = fixable_codes(self._settings, rules())
        engine = Engine(self._trial(lambda: False), self.unsaved)
        return engine.suggested(finding for finding in findings if finding.code in codes)

    def proved(self, finding: Finding, stop: Stop) -> Fix | None:
        """The fix of a finding, if it cures it and brings no other. Raises Stopped and AnalysisError."""
        from jitlint.fix.engine import Engine

        check = self._trial(stop)
        before = check({})
        return (
            Engine(check, self.unsaved)
            .offered(before, lambda each: each == finding, lambda _, patch: True)
            .get(finding)
        )

    def repaired(self, path: str, stop: Stop) -> str | None:
        """The text of a file with all its safe fixes, each proved; None if it stays. Raises Stopped and AnalysisError."""
        from jitlint.fix.engine import Engine

        codes = fixable_codes(self._settings, rules())

        def may_fix(finding: Finding) -> bool:
            return finding.code in codes and os.path.abspath(finding.path) == path

        check = self._trial(stop)
        engine = Engine(check, self.unsaved)
        done = engine.repair(check({}), may_fix, lambda _, patch: patch.safety is Safety.SAFE)
        texts = [text for name, (_, text) in done.sources.items() if os.path.abspath(name) == path]
        return texts[0] if texts else None

    def _trial(self, stop: Stop) -> Callable[[Mapping[str, bytes]], CheckResult]:
        session = self._opened()
        return lambda texts: session.trial(texts, stop)

    def lines(self, place: str) -> list[str]:
        """The lines of a buffer, a file or a cell (`Span.within`)."""
        return Texts(self.unsaved).lines(place)

    def _opened(self) -> Session:
        """The session. A configuration that cannot be used is told once, by the first call; the defaults hold."""
        if self._session is None:
            self._session = Session([self.root], self._settings, jobs=1, ahead=self._ahead)
            for path, data in self.unsaved.items():
                with contextlib.suppress(Stopped):
                    self._session.update(path, data, lambda: True)
            self._settings = load_settings(self._folder)
            with contextlib.suppress(Stopped):
                self._session.reload(self._settings, lambda: True)
        return self._session

    def _show(self, session: Session) -> Findings:
        now = {path: list(found) for path, found in session.findings.items()}
        if self._settings.baseline:
            now = {path: self._new(found) for path, found in now.items()}
        broken = {path for path in self.unsaved if any(f.code in _BROKEN for f in now.get(path, ()))}
        if broken:
            now = self._calm(now, broken)
        for path, data in self.unsaved.items():
            if path not in broken:
                self._good[path] = _lines(data)
        before, self.shown = self.shown, now
        return {
            path: now.get(path, []) for path in {*before, *now} if before.get(path, []) != now.get(path, [])
        }

    def _calm(self, now: Findings, broken: set[str]) -> Findings:
        """What is shown while some buffers do not parse: of other files what was shown before, unless they were typed into."""
        typed = {p for p, data in self.unsaved.items() if self._good.get(p) != _lines(data)} - broken
        kept = {path: found for path, found in self.shown.items() if path not in broken | typed}
        fresh = {path: now[path] for path in typed if path in now}
        return {**kept, **fresh, **{p: [*now[p], *self._still_there(p, now[p])] for p in broken}}

    def _new(self, found: list[Finding]) -> list[Finding]:
        return compare(found, self._settings.baseline, self.lines).new

    def _still_there(self, path: str, said: list[Finding]) -> list[Finding]:
        """What was found in the last text that could be parsed, where its lines still are. said: of the new one."""
        before, after = self._good.get(path, []), _lines(self.unsaved[path])
        found = []
        for finding in self.shown.get(path, ()):
            line = finding.span.line
            if finding.code in _BROKEN or finding.span.cell or not 1 <= line <= len(before):
                continue
            text = before[line - 1]
            places = [number for number, other in enumerate(after, 1) if other == text]
            nearest = min(places, key=lambda number: abs(number - line), default=0)
            if nearest and abs(nearest - line) <= _FAR:
                found.append(replace(finding, span=_moved(finding.span, nearest - line)))
        self._good[path] = after
        known = {(finding.code, finding.span) for finding in said}
        return [finding for finding in found if (finding.code, finding.span) not in known]


def _lines(data: bytes) -> list[str]:
    return split_lines(data.decode("utf-8", "replace"))


def _moved(span: Span, lines: int) -> Span:
    return replace(span, line=span.line + lines, end_line=span.end_line + lines)


def inside(path: str, folder: str) -> bool:
    """Whether a file lies in a folder, at any depth."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
