"""Fixes that an editor offers: cheap to offer, proved when somebody chooses one (layer: ``frontends``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

import attrs
from lsprotocol import types

from jitlint.base.config import ConfigError
from jitlint.base.diagnostic import Finding, Safety, Span
from jitlint.base.result import AnalysisError
from jitlint.driver.session import Stopped
from jitlint.frontends.server.project import Project, Stop
from jitlint.frontends.server.worker import Worker

if TYPE_CHECKING:
    from jitlint.fix.engine import Offer

FIX_ALL = "source.fixAll.jitlint"
Convert = Callable[[str, Span], types.Range]


@dataclass(frozen=True, slots=True)
class Wish:
    """What an action that was offered will do when it is chosen. code "": fix all that is safe in the file."""

    uri: str
    code: str = ""
    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, data: object) -> Wish | None:
        """Read what the client gives back; None if it is something else."""
        table = data if isinstance(data, dict) else {}
        try:
            return cls(str(table["uri"]), str(table["code"]), int(table["line"]), int(table["column"]))
        except (KeyError, TypeError, ValueError):
            return None

    def is_for(self, finding: Finding) -> bool:
        """Whether this is the finding to be fixed."""
        place = (finding.code, finding.span.line, finding.span.column)
        return place == (self.code, self.line, self.column)

    @property
    def data(self) -> dict[str, str | int]:
        """As the client keeps it."""
        return {"uri": self.uri, "code": self.code, "line": self.line, "column": self.column}


def fixing(offer: Offer, uri: str, diagnostic: types.Diagnostic) -> types.CodeAction:
    """The action that fixes a finding; what it changes is made, and proved, when somebody chooses it."""
    finding, patch = offer.finding, offer.patch
    is_safe = patch.safety is Safety.SAFE
    return types.CodeAction(
        title=f"Fix {finding.code}: {patch.message}{'' if is_safe else ' (may change results)'}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        is_preferred=is_safe or None,
        data=Wish(uri, finding.code, finding.span.line, finding.span.column).data,
    )


def fixing_all(uri: str) -> types.CodeAction:
    """The action that fixes what can be fixed safely in a file, which editors can do when they save it."""
    return types.CodeAction(title="Fix all that is safe", kind=FIX_ALL, data=Wish(uri).data)


def wants_all(only: Iterable[types.CodeActionKind | str] | None) -> bool:
    """Whether the client asks for actions on whole files: kinds are hierarchical."""
    kinds = [str(getattr(kind, "value", kind)) for kind in only or ()]
    return any(kind == FIX_ALL or FIX_ALL.startswith(f"{kind}.") for kind in kinds)


def difference(before: str, after: str) -> list[types.TextEdit]:
    """The edits that make one text of another, whole lines at a time."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    changed = [each for each in SequenceMatcher(None, old, new, False).get_opcodes() if each[0] != "equal"]
    return [
        types.TextEdit(
            types.Range(types.Position(start, 0), types.Position(stop, 0)), "".join(new[first:last])
        )
        for _, start, stop, first, last in changed
    ]


def chosen(action: types.CodeAction, wish: Wish, edits: list[types.TextEdit]) -> types.CodeAction:
    """An action that was chosen, with what it does, or why it does nothing."""
    if edits:
        return attrs.evolve(action, edit=types.WorkspaceEdit(changes={wish.uri: edits}))
    why = "it would not cure this, or bring something else" if wish.code else "there is nothing to fix safely"
    return attrs.evolve(action, disabled=types.CodeActionDisabled(why))


async def suggested(worker: Worker, project: Project, found: list[Finding]) -> list[Offer]:
    """What might fix these findings."""
    try:
        return await asyncio.wrap_future(worker.submit(lambda: project.suggested(found)))
    except (ConfigError, AnalysisError, OSError):
        return []


async def edits(
    worker: Worker, project: Project, path: str, wish: Wish, text: str, convert: Convert, stop: Stop
) -> list[types.TextEdit]:
    """What an action does to a text; nothing if it does not prove, or somebody has typed meanwhile."""

    def make() -> list[types.TextEdit]:
        if not wish.code:
            done = project.repaired(path, stop)
            return difference(text, done) if done is not None else []
        finding = next((each for each in project.shown.get(path, ()) if wish.is_for(each)), None)
        fix = project.proved(finding, stop) if finding is not None else None
        return [types.TextEdit(convert(path, edit.span), edit.text) for edit in (fix.edits if fix else ())]

    try:
        return await asyncio.wrap_future(worker.submit(make))
    except (Stopped, ConfigError, AnalysisError, OSError):
        return []
