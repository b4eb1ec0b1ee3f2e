"""What an editor offers at a finding beside fixes: silence it in its line, explain its rule (layer: ``frontends``)."""

from __future__ import annotations

from itertools import zip_longest

from lsprotocol import types

from jitlint.base.diagnostic import Finding
from jitlint.base.text import split_lines
from jitlint.driver.noqa import with_comments
from jitlint.driver.registry import find_rule
from jitlint.report.explain import page

EXPLAIN = "jitlint.explain"
_END = 1_000_000
"""A column behind the end of any line: it means the end, in all ways of counting."""


def actions(text: str, finding: Finding, uri: str, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
    """The actions for one finding. text: of the file or of the cell that it is in."""
    found = []
    edits = silencing(text, finding)
    if edits:
        found.append(
            types.CodeAction(
                title=f"Silence {finding.code} in this line",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[diagnostic],
                edit=types.WorkspaceEdit(changes={uri: edits}),
            )
        )
    command = types.Command(title=f"Explain {finding.code}", command=EXPLAIN, arguments=[finding.code])
    found.append(
        types.CodeAction(
            title=command.title, kind=types.CodeActionKind.Empty, diagnostics=[diagnostic], command=command
        )
    )
    return found


def silencing(text: str, finding: Finding) -> list[types.TextEdit]:
    """The edits that silence a finding; none where a comment would change the program."""
    try:
        changed, _ = with_comments(text.encode("utf-8", "surrogatepass"), [finding])
    except ValueError:
        return []
    before, after = split_lines(text), split_lines(changed.decode("utf-8", "surrogatepass"))
    return [
        _replaced(number, old, new)
        for number, (old, new) in enumerate(zip_longest(before, after, fillvalue=""))
        if old != new
    ]


def _replaced(line: int, old: str, new: str) -> types.TextEdit:
    """An edit of the end of a line."""
    same = next((n for n, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    units = len(old[:same].encode("utf-16-le", "surrogatepass")) // 2
    start = types.Position(line, units)
    return types.TextEdit(types.Range(start, types.Position(line, _END)), new[same:])


def explanation(code: str) -> str:
    """The page of a rule, as Markdown; "" if there is no such rule."""
    rule = find_rule(code)
    return "\n".join(page(rule, rule.url, rule.more)) if rule is not None else ""
