"""What is to be known about a rule, as Markdown and on a terminal: `jitlint explain` (layer: ``report``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jitlint.base.diagnostic import Safety
from jitlint.base.families import Family
from jitlint.base.rule import Rule
from jitlint.report.markdown import rendered
from jitlint.report.style import Style

_EXPECTED = re.compile(r"# expect: (\w+)")
_OTHER_MARKS = re.compile(r"\s*# (expect-static: .*|jitlint: example\(.*)")
_SPECIAL = re.compile(r"[\\*<]|(?<!\w)_+|_+(?!\w)|__+")
"""What would be markup. Underscores within a word are none."""


def shown_program(program: str) -> str:
    """A rule's example for readers: the bad line is marked by a comment, without the marks of the tests."""
    return _OTHER_MARKS.sub("", _EXPECTED.sub(r"# <- \1", program)).strip()


def markdown_text(text: str) -> str:
    """A rule's text as Markdown: messages of JAX are quoted as they are, and ``__index__`` is no bold word."""
    return "\n".join(
        "> " + _SPECIAL.sub(_escaped, line[2:]) if line.startswith("> ") else line
        for line in text.strip().split("\n")
    )


def _escaped(match: re.Match[str]) -> str:
    return "".join(f"\\{char}" for char in match[0])


def fix_words(rule: Rule) -> str:
    """What a fix does, if there is one."""
    if rule.remedy is None:
        return ""
    if rule.remedy.stub:
        return rule.remedy.words
    options = "`--fix`" if rule.remedy.safety is Safety.SAFE else "`--fix --unsafe-fixes`"
    return f"{rule.remedy.words} With {options}."


def page(rule: Rule, url: str | None, more: str | None) -> Iterator[str]:
    """Everything about one rule, as lines of Markdown. more: what others have written about it."""
    sections = [("", f"{rule.summary[:1].upper()}{rule.summary[1:]}."), ("", markdown_text(rule.explanation))]
    for title, code in (("Bad", rule.bad), ("Good", rule.good)):
        if code.strip():
            sections.append((title, f"```python\n{shown_program(code)}\n```"))
    sections += [
        ("What to write instead", markdown_text(rule.instead)),
        ("Fix", fix_words(rule)),
        ("What JAX does", rule.outcome_words),
    ]
    yield f"# {rule.code} {rule.name} ({rule.severity.value})"
    for title, text in sections:
        if text:
            yield ""
            if title:
                yield f"## {title}"
                yield ""
            yield from text.split("\n")
    yield ""
    yield f"Since version {rule.since}."
    yield ""
    yield from (
        f"- {word}: <{address}>"
        for word, address in (("this page", url), ("more", more if more != url else None))
        if address
    )


def overview(family: Family, rules: Sequence[Rule]) -> Iterator[str]:
    """A family and its rules, as lines of Markdown."""
    yield f"# {rules[0].code[:4]} {family.title}"
    yield ""
    yield family.words
    yield ""
    yield from (f"- **{rule.code}** {rule.name} ({rule.severity.value}): {rule.summary}" for rule in rules)


def on_terminal(lines: Sequence[str], style: Style) -> list[str]:
    """Lines of Markdown as a terminal shows them."""
    return list(rendered(lines, style))
