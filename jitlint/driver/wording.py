"""Fits the words of a rule to the place: what is quoted, what could be static, what an update looks like (layer: ``driver``).

The rules write templates, since they see events and no source. What is not written on one line keeps its general form.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Mapping
from typing import Final

from jitlint.base.diagnostic import Span
from jitlint.base.text import shorten
from jitlint.driver.drafts import Draft

_EXPRESSION_WIDTH: Final = 48
_UPDATE_WIDTH: Final = 72
_SLOT: Final = re.compile(r"\{expr\}|\{why\}|\{store:\w+\}")
_PARAMETER: Final = re.compile(r"parameter `(\w+)` of `(.+)`")
_ASSIGNED: Final = re.compile(r"\s*(?:[-+*/@%&|^]|\*\*|//|<<|>>)?=\s*([^=#\s][^#]*)$")
_BRACKETS: Final = re.compile(r"\([^()]*\)")
_UNCLEAR: Final = "'\"\\;"
_OPTIONS: Final = {"`jax.jit`": "static_argnames", "`jax.pmap`": "static_broadcasted_argnums"}
_GENERAL: Final = "x = x.at[i].{}(value)"


def words(draft: Draft, lines: list[str], span: Span) -> tuple[str, str]:
    """The message and the help of a finding. lines: of its file."""
    quoted = quote(lines, span)
    known = {"{expr}": quoted, "{why}": draft.why or "its value"}
    help_text = _fill(draft.help, known, lines, span)
    if draft.static:
        help_text += _static(draft, quoted)
    return _fill(draft.message, known, lines, span), help_text


def quote(lines: list[str], span: Span) -> str:
    """The source text of a span on one short line."""
    return shorten(_text(lines, span), _EXPRESSION_WIDTH) or "this"


def _text(lines: list[str], span: Span) -> str:
    part = lines[span.line - 1 : span.end_line]
    if not part:
        return ""
    part[-1] = part[-1][: span.end_column - 1]
    part[0] = part[0][span.column - 1 :]
    return " ".join(_without_comments(part) if len(part) > 1 else part)


def _without_comments(part: list[str]) -> list[str]:
    """The lines of an expression as the interpreter reads them."""
    out = list(part)
    source = io.StringIO("(" + "\n".join(part) + ")")  # inside brackets, lines have no indentation
    try:
        for token in tokenize.generate_tokens(source.readline):
            if token.type == tokenize.COMMENT:
                line, column = token.start
                out[line - 1] = part[line - 1][: column - (line == 1)].rstrip()
    except (tokenize.TokenError, SyntaxError):
        pass  # what is left is shown as it is
    return out


def _fill(template: str, known: Mapping[str, str], lines: list[str], span: Span) -> str:
    """Not `str.format`: templates and source text may hold braces of their own."""

    def word(match: re.Match[str]) -> str:
        slot = match[0]
        return known[slot] if slot in known else _update(slot[len("{store:") : -1], lines, span)

    return _SLOT.sub(word, template)


def _update(method: str, lines: list[str], span: Span) -> str:
    """``x = x.at[0].set(1.0)`` for the assignment whose target has this span."""
    general = _GENERAL.format(method)
    target = _text(lines, span)
    opening = _last_bracket(target)
    if span.end_line != span.line or opening <= 0:
        return general
    rest = lines[span.line - 1][span.end_column - 1 :].partition("#")[0]
    found = _ASSIGNED.fullmatch(rest.rstrip())
    value = found[1].strip() if found is not None and _is_closed(found[1]) else "value"
    whole, index = target[:opening], target[opening + 1 : -1].strip()
    written = f"{whole} = {whole}.at[{index}].{method}({value})"
    return written if len(written) <= _UPDATE_WIDTH and "`" not in written else general


def _last_bracket(text: str) -> int:
    """Where the subscript begins that ends a text; -1 if none does."""
    depth = 0
    for place in range(len(text) - 1, -1, -1) if text.endswith("]") else ():
        depth += (text[place] == "]") - (text[place] == "[")
        if depth == 0:
            return place
    return -1


def _is_closed(text: str) -> bool:
    """Whether an expression ends on its line and assigns nothing more, as far as brackets and quotes tell."""
    if any(text.count(a) != text.count(b) for a, b in ("()", "[]", "{}")) or set(text) & set(_UNCLEAR):
        return False
    while text != (outer := _BRACKETS.sub("", text)):
        text = outer
    return not re.search(r"(?<![=!<>])=(?!=)", text)


def _static(draft: Draft, quoted: str) -> str:
    """What to list as static: only a parameter of the compiled function itself, where it is used as it is."""
    found = _PARAMETER.fullmatch(draft.why)
    if found is None or not re.search(rf"(?<![\w.]){found[1]}\b(?!\s*[.(\[])", quoted):
        return ""
    if re.search(rf"\b(?:jax|jnp|np|numpy)\.[\w.]+\([^()]*(?<![\w.]){found[1]}\b", quoted):
        return ""  # what an array function takes is no setting
    for step in draft.steps:
        option = next((option for name, option in _OPTIONS.items() if name in step.message), None)
        if option is not None and step.message.startswith(f"`{found[2]}` "):
            what = (
                f"list `{found[1]}` in"
                if option == "static_argnames"
                else f"give the position of `{found[1]}` in"
            )
            return f"; {draft.static}, {what} `{option}`"
    return ""
