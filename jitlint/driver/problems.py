"""What is said of files themselves: those that cannot be analysed, and comments that silence nothing (layer: ``driver``)."""

from __future__ import annotations

from collections.abc import Mapping

from jitlint.base.diagnostic import Confidence, Finding, Span
from jitlint.driver.lowering import Lowered
from jitlint.driver.pages import Unused
from jitlint.driver.registry import rules
from jitlint.driver.select import nearest, strange_selectors
from jitlint.driver.workspace import Workspace


def problems(workspace: Workspace, lowered: Lowered, failures: Mapping[str, str]) -> list[Finding]:
    """What could not be analysed, of what was asked for. failures: of the analysis, by module."""
    named = set(workspace.named)
    found = [in_file("JIT002", path, why, 1, 1) for path, why in workspace.failures]
    found += [
        in_file("JIT002", path, f"cannot read the file: {why}", 1, 1)
        for path, why in workspace.lost.items()
        if path in named and path not in lowered.problems
    ]
    found += [
        in_file(problem.code, path, problem.message, problem.line, problem.column)
        for path, problem in (*lowered.problems.items(), *lowered.partial)
        if path in named
    ]
    found += [
        in_file("JIT003", path, f"internal error while analysing this file, please report it ({why})", 1, 1)
        for path, name in workspace.names.items()
        if path in named and (why := failures.get(name)) is not None
    ]
    if (why := failures.get("")) is not None:
        message = f"internal error while analysing all files together, please report it ({why})"
        found.append(in_file("JIT003", workspace.root, message, 1, 1))
    return sorted(found, key=lambda problem: problem.sort_key)


def unread_around(workspace: Workspace, lowered: Lowered) -> list[str]:
    """The files that nobody named, which could not be analysed as a whole: what they call is not known."""
    broken = [*lowered.problems, *(path for path, _ in lowered.partial), *workspace.lost]
    named = set(workspace.named)
    return sorted(path for path in dict.fromkeys(broken) if path not in named)


def in_file(code: str, path: str, message: str, line: int, column: int) -> Finding:
    """What is said of a file, at a place in it."""
    rule = rules()[code]
    span = Span(line, column, line, column + 1)
    return Finding(code, rule.name, rule.severity, Confidence.CERTAIN, message, path, span)


def unused(path: str, comment: Unused) -> Finding:
    """A comment that silences nothing, or that nobody understands."""
    from jitlint.driver.suppress import NOTHING, SILENCERS, VERBS

    rule = rules()["JIT005"]
    strange = strange_selectors(comment.codes) if comment.verb in SILENCERS else []
    if comment.verb.endswith(("[]", "()")):
        verb = comment.verb[:-2]
        message = f"this comment silences nothing: after `{verb}` come rules in square brackets"
        help = f"write `{verb}[JIT101]`"
    elif " " in comment.verb:
        message = f"this comment silences nothing: it begins with `{comment.verb}`"
        help = f"write `jitlint: {comment.verb.split()[-1]}`"
    elif comment.verb not in (*VERBS, "noqa") or NOTHING in comment.codes:
        message = f"this comment silences nothing: `{comment.verb}` is not known"
        help = f"use {', '.join(f'`{verb}`' for verb in VERBS[:-1])} or `{VERBS[-1]}`"
    elif strange:
        message = f"`{strange[0]}` in this comment matches no rule"
        help = nearest(strange[0], rules())
    else:
        rule = rules()["JIT004"]
        names = (code.upper() if code.startswith("jit") else code for code in comment.codes)
        codes = ", ".join(names) or "anything"
        message = f"this comment silences nothing: there is no finding of {codes} here"
        help = "remove the comment"
    return Finding(
        rule.code,
        rule.name,
        rule.severity,
        Confidence.CERTAIN,
        message,
        path,
        comment.span,
        help,
    )
