"""Writes the pages of the documentation that follow from the code: rules, configuration, the README's table.

python tools/generate_docs.py           writes them
python tools/generate_docs.py --check   says which are stale, and exits with 1 if any is
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from jitlint.base.config import KEYS  # noqa: E402  (the path above comes first)
from jitlint.base.diagnostic import Severity  # noqa: E402
from jitlint.base.families import FAMILIES  # noqa: E402
from jitlint.base.outcome import Advisory, Raises  # noqa: E402
from jitlint.base.rule import Rule  # noqa: E402
from jitlint.driver.registry import rules  # noqa: E402
from jitlint.report.explain import fix_words, markdown_text, shown_program  # noqa: E402

_NOTE = "<!-- Written by tools/generate_docs.py from the code; do not edit. -->\n\n"


def _is_on(rule: Rule) -> bool:
    return rule.default and rule.severity is not Severity.INFO


def rule_page(rule: Rule) -> str:
    """Everything about one rule."""
    state = "on by default" if _is_on(rule) else f"off by default: `--extend-select {rule.code}`"
    parts = [
        f"{_NOTE}# {rule.code} {rule.name}\n",
        f"**{rule.summary[:1].upper()}{rule.summary[1:]}.** Severity *{rule.severity.value}*, {state}."
        f" Since version {rule.since}.\n",
        f"## What happens\n\n{markdown_text(rule.explanation)}\n",
    ]
    if rule.bad.strip():
        parts.append(f"## Bad\n\n```python\n{shown_program(rule.bad)}\n```\n")
        parts.append(f"## Good\n\n```python\n{shown_program(rule.good)}\n```\n")
    parts.append(f"## What to write instead\n\n{markdown_text(rule.instead)}\n")
    if rule.remedy is not None:
        parts.append(f"## Fix\n\n{fix_words(rule)} See [fixes](../fixes.md).\n")
    parts.append(f"## What JAX does\n\n{rule.outcome_words}\n")
    if not isinstance(rule.outcome, Advisory):
        parts.append(f"{_confirmed(rule)}\n")
    if not rule.code.startswith("JIT0"):
        parts.append(
            "## How to silence it\n\n"
            f"`# noqa: {rule.code}` or `# jitlint: ignore[{rule.name}]` on the line; the latter on a decorator for the"
            " whole function; see [configuration](../configuration.md) for files and projects.\n"
        )
    url = rule.more
    if url:
        parts.append(f"More: <{url}>\n")
    return "\n".join(parts)


def _confirmed(rule: Rule) -> str:
    if isinstance(rule.outcome, Raises):
        return (
            "`jitlint confirm` traces the function with your JAX and looks for this exception at this line."
        )
    return "`jitlint confirm` runs the function with your JAX, with and without compilation, and looks for this effect."


def rules_index() -> str:
    """The table of all rules, by family."""
    lines = [f"{_NOTE}# Rules\n"]
    lines.append(
        "*error*: JAX raises. *warning*: silently wrong, or work wasted on every call. *info*: worth knowing, off by"
        " default. Each rule is proved by its examples under real JAX.\n"
    )
    for digit, family in FAMILIES.items():
        members = [rule for code, rule in rules().items() if code[3] == digit]
        if not members:
            continue
        lines += [
            f"## {family.title}\n",
            f"{family.words}\n",
            "| code | name | severity | default | fix | what it finds |",
            "| --- | --- | --- | --- | --- | --- |",
        ]
        for rule in members:
            state = "on" if _is_on(rule) else "off"
            fix = (
                ("stub" if rule.remedy.stub else rule.remedy.safety.value) if rule.remedy is not None else ""
            )
            lines.append(
                f"| [{rule.code}]({rule.code}.md) | `{rule.name}` | {rule.severity.value} | {state} | {fix} | {rule.summary} |"
            )
        lines.append("")
    pages = "\n".join(rules())
    lines.append(f"```{{toctree}}\n:hidden:\n\n{pages}\n```\n")
    return "\n".join(lines)


def configuration_page() -> str:
    """The reference of the configuration, from the table that checks it."""
    text = (ROOT / "docs" / "configuration.in.md").read_text(encoding="utf-8")
    entries = []
    for key in KEYS:
        entries.append(
            f"### `{key.name}`\n\n{key.help}\n\nType: {key.kind}. Default: {key.default}.\n\n```toml\n{key.example}\n```\n"
        )
    return _NOTE + text.replace("<!-- keys -->", "\n".join(entries).strip())


def readme() -> str:
    """The README with the present table of rules."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = "\n".join(f"| {rule.code} | `{rule.name}` | {rule.summary} |" for rule in rules().values())
    table = f"| code | name | what it finds |\n| --- | --- | --- |\n{rows}"
    return re.sub(r"(?<=<!-- rules -->\n\n).*?(?=\n\n)", lambda match: table, text, count=1, flags=re.DOTALL)


def pages() -> dict[Path, str]:
    """Every generated file with its text."""
    docs = ROOT / "docs"
    found = {docs / "rules" / f"{rule.code}.md": rule_page(rule) for rule in rules().values()}
    found[docs / "rules" / "index.md"] = rules_index()
    found[docs / "configuration.md"] = configuration_page()
    found[ROOT / "README.md"] = readme()
    return found


def stale(wanted: dict[Path, str]) -> Iterable[Path]:
    """The files that differ from what they should be, and those that should not be there."""
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            yield path
    for path in (ROOT / "docs" / "rules").glob("*.md"):
        if path not in wanted:
            yield path


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    wanted = pages()
    found = list(stale(wanted))
    if parser.parse_args().check:
        for path in found:
            print(f"stale: {path.relative_to(ROOT)}")
        return 1 if found else 0
    for path in found:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
