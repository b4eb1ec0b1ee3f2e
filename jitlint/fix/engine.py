"""Makes fixes, checks what they make of the files, and keeps those that cure (layer: ``fix``).

What it does: asks the cures, applies what fits together, checks the changed texts again, unsaved, with all that hangs
together with them, and drops a fix whose finding is still there or that brings another one. Overlapping fixes take turns.
What it does not: write (`jitlint.fix.writing`), or choose which findings may be fixed.
"""

from __future__ import annotations

import ast
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jitlint.base.diagnostic import Finding, Fix, Severity
from jitlint.base.result import CheckResult
from jitlint.fix.cures import CURES, STUBS
from jitlint.fix.document import open_document
from jitlint.fix.names import Names
from jitlint.fix.patch import Change, Patch, applied, fit, joined, moved, regions
from jitlint.fix.site import Cure, Site
from jitlint.fix.view import View, line_starts, open_view
from jitlint.syntax.source import Source, SyntaxProblem, decode_source

ROUNDS = 12
"""Of fixes on top of fixes; and of attempts to find out which of a round's fixes does harm."""

_OF_CALLERS = frozenset("JIT503 JIT504 JIT505 JIT507 JIT508 JIT512".split())
"""What a change of a signature brings about elsewhere: never a mistake that was hidden behind another one."""

_FLOWING = frozenset("JIT104 JIT108 JIT109 JIT201".split())
"""Whose cure gives a traced value to code that may not stand it: a new finding in the same function counts."""

Check = Callable[[Mapping[str, bytes]], CheckResult]
"""Checks everything again with these contents, by absolute path, in the place of what is on disk."""
Wanted = Callable[[Finding, Patch], bool]


@dataclass(frozen=True, slots=True)
class Offer:
    """A finding and what would cure it."""

    finding: Finding
    patch: Patch


@dataclass(slots=True)
class Repaired:
    """sources: the changed files, by path as findings have it: before and after. fixed: what was done, in order.
    result: what is left."""

    sources: dict[str, tuple[Source, str]]
    fixed: list[Offer]
    result: CheckResult


@dataclass(slots=True)
class _Attempt:
    """offers that proved, the texts with them, and what a check says of these."""

    offers: list[Offer] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    result: CheckResult | None = None
    refused: list[Offer] = field(default_factory=list)


class Engine:
    """Cures what can be cured. unsaved: texts that stand for files, by absolute path."""

    def __init__(self, check: Check, unsaved: Mapping[str, bytes]) -> None:
        self._check = check
        self._unsaved = dict(unsaved)
        self._sources: dict[str, Source] = {}
        self._views: dict[str, View] = {}
        self._refused: set[tuple[str, ...]] = set()

    def repair(self, result: CheckResult, may_fix: Callable[[Finding], bool], wanted: Wanted) -> Repaired:
        """Fix what is wanted, in rounds, until nothing is left that could be."""
        texts: dict[str, str] = {}
        fixed: list[Offer] = []
        for _ in range(ROUNDS):
            offers = self._offers(filter(may_fix, result.findings), texts, wanted)
            attempt = self._proved(_compatible(offers), texts, result)
            if attempt.result is None:
                if not attempt.refused:
                    break
                continue
            fixed += attempt.offers
            texts, result = attempt.texts, attempt.result
        changed = {path: (self._sources[path], text) for path, text in texts.items()}
        return Repaired(changed, fixed, result)

    def offered(
        self, result: CheckResult, may_fix: Callable[[Finding], bool], wanted: Wanted
    ) -> dict[Finding, Fix]:
        """The fix of each finding that has one, each proved in the text as it is."""
        found: dict[Finding, Fix] = {}
        waiting = self._offers(filter(may_fix, result.findings), {}, wanted, stubs=True)
        for _ in range(ROUNDS):
            batch = _compatible(waiting)
            if not batch:
                break
            for offer in self._proved(batch, {}, result).offers:
                found[offer.finding] = self._fix(offer)
            again = self._offers(filter(may_fix, result.findings), {}, wanted, stubs=True)
            waiting = [offer for offer in again if offer.finding not in found]
        return found

    def suggested(self, findings: Iterable[Finding]) -> list[Offer]:
        """What might cure these findings, nothing of it proved: for who asks often and takes little of it."""
        return self._offers(findings, {}, lambda _, patch: True, stubs=True)

    def candidates(
        self, result: CheckResult, may_fix: Callable[[Finding], bool], wanted: Wanted
    ) -> list[Offer]:
        """What cures in the texts as they are, each beside all others; where one way does not, another may."""
        kept: list[Offer] = []
        for _ in range(ROUNDS):
            known = {offer.finding for offer in kept}
            more = self._offers(filter(may_fix, result.findings), {}, wanted)
            offers = _compatible([*kept, *(offer for offer in more if offer.finding not in known)])
            if len(offers) == len(kept):
                break
            attempt = self._proved(offers, {}, result)
            kept = attempt.offers if attempt.result is not None else []
        return kept

    def texts(self, offers: Sequence[Offer], also: str = "") -> dict[str, str]:
        """The texts that these of the candidates give to files, by absolute path. also: a file that has one in any case."""
        texts = {also: self._sources[also].text} if also else {}
        return {os.path.abspath(path): text for path, text in self._with(offers, texts).items()}

    def with_fix(self, offer: Offer) -> Finding:
        """A candidate's finding with its fix."""
        return replace(offer.finding, fix=self._fix(offer))

    def repaired(self, result: CheckResult, offers: Sequence[Offer]) -> Repaired:
        """As `repair`, with these of the candidates."""
        attempt = self._proved(list(offers), {}, result)
        changed = {path: (self._sources[path], text) for path, text in attempt.texts.items()}
        return Repaired(changed, attempt.offers, attempt.result or result)

    # ------------------------------------------------------------ asking

    def _offers(
        self, findings: Iterable[Finding], texts: Mapping[str, str], wanted: Wanted, stubs: bool = False
    ) -> list[Offer]:
        """What might cure these findings; with ``stubs``, also what has to be filled in."""
        by_path: dict[str, list[Finding]] = {}
        for finding in findings:
            if finding.code in CURES or (stubs and finding.code in STUBS):
                by_path.setdefault(finding.path, []).append(finding)
        offers: list[Offer] = []
        for path, found in by_path.items():
            if self._source(path) is not None:
                offers += self._offers_in(path, found, texts, wanted)
        return offers

    def _offers_in(
        self, path: str, found: list[Finding], texts: Mapping[str, str], wanted: Wanted
    ) -> Iterator[Offer]:
        view = self._view(path, texts)
        document = open_document(path, view.text)
        if document is None:
            return
        names = Names(document)
        for finding in found:
            there = view.finding(finding)
            for cure in _cures(finding.code) if there is not None else ():
                assert there is not None
                patch = cure(Site(document, names, there))
                if patch is None or not wanted(finding, patch) or not view.takes(patch.changes):
                    continue
                offer = Offer(finding, patch)
                if self._key(offer, view) not in self._refused:
                    yield offer
                    break

    def _view(self, path: str, texts: Mapping[str, str]) -> View:
        """The file as these texts have it, or as it is."""
        text = texts.get(path)
        file = self._sources[path].text if text is None else text
        known = self._views.get(path)
        if known is None or known.file != file:
            known = self._views[path] = open_view(path, file)
        return known

    def _source(self, path: str) -> Source | None:
        known = self._sources.get(path)
        if known is None:
            absolute = os.path.abspath(path)
            try:
                data = self._unsaved[absolute] if absolute in self._unsaved else _read(absolute)
            except OSError:
                return None
            decoded = decode_source(data)
            if isinstance(decoded, SyntaxProblem):
                return None
            known = self._sources[path] = Source(path, *decoded)
        return known

    def _fix(self, offer: Offer) -> Fix:
        path = offer.finding.path
        view = self._view(path, {})
        edits = tuple(view.edit(path, change) for change in sorted(offer.patch.changes))
        return Fix(offer.patch.safety, offer.patch.message, edits)

    # ------------------------------------------------------------ proving

    def _proved(self, offers: list[Offer], texts: Mapping[str, str], before: CheckResult) -> _Attempt:
        """The offers without those that do harm, applied."""
        refused: list[Offer] = []
        for attempt in range(ROUNDS):
            changed = self._with(offers, texts)
            bad = self._unparsable(offers, texts, changed)
            if not offers:
                break
            if not bad:
                after = self._check({**self._unsaved, **self._encoded(changed)})
                bad, others = self._harmful(offers, texts, changed, before, after)
                if not bad and not others:
                    return _Attempt(offers, changed, after, refused)
                bad = bad or self._culprits(others, texts, before)
            if attempt == ROUNDS - 2:
                bad = offers
            for offer in bad:
                self._refused.add(self._key(offer, self._view(offer.finding.path, texts)))
            refused += bad
            offers = [offer for offer in offers if offer not in bad]
        return _Attempt(refused=refused)

    def _culprits(self, offers: list[Offer], texts: Mapping[str, str], before: CheckResult) -> list[Offer]:
        """Which of several offers does harm: the half that does is halved again. All, if it takes several of them."""
        while len(offers) > 1:
            half = len(offers) // 2
            for part in (offers[:half], offers[half:]):
                changed = self._with(part, texts)
                after = self._check({**self._unsaved, **self._encoded(changed)})
                if any(self._harmful(part, texts, changed, before, after)):
                    break
            else:
                return offers
            offers = part
        return offers

    def _with(self, offers: Sequence[Offer], texts: Mapping[str, str]) -> dict[str, str]:
        changed = dict(texts)
        for path in {offer.finding.path for offer in offers}:
            made = self._view(path, texts).with_changes(_changes(offers, path))
            assert made is not None  # each change was placed when it was offered
            changed[path] = made
        return changed

    def _encoded(self, texts: Mapping[str, str]) -> dict[str, bytes]:
        return {
            os.path.abspath(path): text.encode(self._sources[path].encoding) for path, text in texts.items()
        }

    def _unparsable(
        self, offers: Sequence[Offer], texts: Mapping[str, str], changed: Mapping[str, str]
    ) -> list[Offer]:
        """The offers that make a file unreadable, or impossible to write in its encoding."""
        bad: list[Offer] = []
        for path in {offer.finding.path for offer in offers}:
            if self._is_readable(path, changed[path]):
                continue
            here = [offer for offer in offers if offer.finding.path == path]
            alone = [each for each in here if not self._is_readable(path, self._with([each], texts)[path])]
            bad += alone or here
        return bad

    def _is_readable(self, path: str, text: str) -> bool:
        try:
            text.encode(self._sources[path].encoding)
        except UnicodeError:
            return False
        return open_document(path, open_view(path, text).text) is not None

    def _harmful(
        self,
        offers: Sequence[Offer],
        texts: Mapping[str, str],
        changed: Mapping[str, str],
        before: CheckResult,
        after: CheckResult,
    ) -> tuple[list[Offer], list[Offer]]:
        """The offers whose finding is still there or that brought another one; and those of which one may have."""
        cured = {offer.finding for offer in offers}
        places = {
            path: _Places(self._view(path, texts), _changes(offers, path), open_view(path, changed[path]))
            for path in {offer.finding.path for offer in offers}
        }

        def line_after(finding: Finding) -> int:
            there = places.get(finding.path)
            return finding.span.line if there is None else there.after(finding)

        known = Counter(
            (f.path, f.code, line_after(f)) for f in (*before.findings, *before.problems) if f not in cured
        )
        sure: dict[Offer, None] = {}
        others: dict[Offer, None] = {}
        for finding in (*after.findings, *after.problems):
            there = places.get(finding.path)
            line = finding.span.line if there is None else there.made.line(finding.span)
            key = (finding.path, finding.code, line)
            if known[key] > 0:
                known[key] -= 1
                continue
            lines = {
                offer: there.written(offer.patch.changes)
                for offer in offers
                if there is not None and offer.finding.path == finding.path
            }
            near = _near(finding, line, lines, line_after)
            sure.update(dict.fromkeys(near))
            others.update(dict.fromkeys(() if near else _blamed(finding, offers, lines)))
            others.update(dict.fromkeys(() if near else _upstream(finding, offers, places)))
        return list(sure), [] if sure else list(others)

    @staticmethod
    def _key(offer: Offer, view: View) -> tuple[str, ...]:
        finding = offer.finding
        lines = view.text.split("\n")
        number = view.line(finding.span)
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        return (
            finding.path,
            finding.code,
            finding.function,
            line,
            *(change.text for change in offer.patch.changes),
        )


def _cures(code: str) -> tuple[Cure, ...]:
    return CURES[code] if code in CURES else (STUBS[code],)


class _Places:
    """Lines of one file before and after changes. made: the file with them."""

    def __init__(self, view: View, changes: list[Change], made: View) -> None:
        self.made = made
        self._view = view
        self._changes = changes
        self._functions: list[tuple[int, int]] | None = None
        self._starts = line_starts(view.text)
        self._ends = line_starts(applied(view.text, changes))

    def after(self, finding: Finding) -> int:
        """Where the line of a finding is afterwards; 0 for one in no Python."""
        there = self._view.finding(finding)
        if there is None:
            return 0
        offset = self._starts[there.span.line - 1] + there.span.column - 1
        return _line_of(moved(offset, self._changes), self._ends)

    def function(self, line: int) -> int:
        """The first line of the innermost function around a line of the changed file; 0 outside of all."""
        if self._functions is None:
            document = open_document("", self.made.text)
            nodes = ast.walk(document.tree) if document is not None else ()
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
            self._functions = [(n.lineno, n.end_lineno or n.lineno) for n in nodes if isinstance(n, kinds)]
        return max((first for first, last in self._functions if first <= line <= last), default=0)

    def written(self, wanted: Iterable[Change]) -> set[int]:
        """The lines that some of the changes have written."""
        return _lines(regions(self._changes, wanted), self._ends)


def _near(
    finding: Finding, line: int, lines: Mapping[Offer, set[int]], line_after: Callable[[Finding], int]
) -> list[Offer]:
    """The offers that wrote the line of a new finding, or whose own finding it is."""
    return [
        offer
        for offer, touched in lines.items()
        if line in touched or (finding.code == offer.finding.code and line == line_after(offer.finding))
    ]


def _blamed(finding: Finding, offers: Sequence[Offer], lines: Mapping[Offer, set[int]]) -> list[Offer]:
    """Of whom one may have brought a new finding in a text that no fix has touched.

    It may also have been hidden behind what JAX refuses; then it is nobody's fault.
    """
    around = [offer for offer in lines if offer.finding.function == finding.function]
    flowing = [offer for offer in around if offer.finding.code in _FLOWING]
    errors = any(offer.finding.severity is Severity.ERROR for offer in offers)
    if finding.code.startswith("JIT0") or finding.code in _OF_CALLERS or not errors:
        return list(lines) or list(offers)
    return flowing or [offer for offer in around if offer.finding.severity is not Severity.ERROR]


def _upstream(finding: Finding, offers: Sequence[Offer], places: Mapping[str, _Places]) -> list[Offer]:
    """The offers that let a traced value flow out of a function through which the way to a new finding leads."""
    found: list[Offer] = []
    for offer in offers:
        there = places[offer.finding.path]
        if offer.finding.code not in _FLOWING:
            continue
        written = {there.function(line) for line in there.written(offer.patch.changes)} - {0}
        steps = [step.span for step in finding.related if step.path == offer.finding.path]
        if written & {there.function(there.made.line(span)) for span in steps}:
            found.append(offer)
    return found


def _compatible(offers: Sequence[Offer]) -> list[Offer]:
    """As many of the offers as go together, the first first."""
    chosen: list[Offer] = []
    by_path: dict[str, list[Offer]] = {}
    for offer in offers:
        others = by_path.setdefault(offer.finding.path, [])
        if all(fit(offer.patch.changes, other.patch.changes) for other in others):
            others.append(offer)
            chosen.append(offer)
    return chosen


def _changes(offers: Sequence[Offer], path: str) -> list[Change]:
    return joined(offer.patch for offer in offers if offer.finding.path == path)


def _line_of(offset: int, starts: Sequence[int]) -> int:
    return bisect_right(starts, offset)


def _lines(ranges: Iterable[tuple[int, int]], starts: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for start, stop in ranges:
        found.update(range(_line_of(start, starts), _line_of(max(start, stop - 1), starts) + 1))
    return found


def _read(path: str) -> bytes:
    if not os.path.isfile(path):
        raise OSError("not a regular file")
    with open(path, "rb") as stream:
        return stream.read()
