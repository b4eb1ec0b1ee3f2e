"""Measure what releases of JAX have, and check or write the catalogue's history.

    python tools/probe_history.py PYTHON...            # interpreters of environments with different versions of JAX
    python tools/probe_history.py --write PYTHON...    # write jitlint/catalogue/data/history.toml

``history.toml`` says of public names, of arguments and of options of ``jax.config`` in which of the measured releases they
are there, as far as that is not the same in all. Without ``--write`` every line that would change is printed, and every
name for which ``removed.toml`` (written by hand, with replacements and exact versions) and the releases disagree; exit
code 1 if there is any. Give one release for each minor version: what lies between two of them is not known. What a
release cannot import (``unknown``) is left out.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from packaging.version import Version

from jitlint.catalogue.history import numbers
from jitlint.catalogue.load import catalogue

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).parents[1] / "jitlint" / "catalogue" / "data"
PROGRAM = Path(__file__).with_name("probe_names.py")
HEAD = """\
# In which of the measured releases of JAX names, arguments and options are there: "-0.6.2" was there and is gone in
# 0.6.2, the first measured release without it; "+0.7.2" is new in 0.7.2. What is the same in all releases is not listed;
# what lies below a name is listed only where it differs from that. Written by tools/probe_history.py: do not edit.

releases = {releases}
"""
# Kinds of parameters as `inspect` numbers them.
POSITIONAL_ONLY, POSITIONAL, VAR_POSITIONAL, KEYWORD_ONLY, VAR_KEYWORD = range(5)
# JAX's own words about what to write instead.
_INSTEAD = re.compile(
    r"(?:[Uu]se|in favor of|replaced by|moved to|[Aa]ccess it (?:through|via)|see)\s+`{0,2}((?:jax|jnp|lax)\.[\w.]*\w)"
)

_BARE = re.compile(r"[A-Za-z0-9_]+\Z")

_REMOVED_IN = re.compile(r"removed in JAX v?(\d+\.\d+\.\d+)")

Release = dict[str, Any]


def measure(pythons: Sequence[str], names: Iterable[str]) -> list[Release]:
    """What each interpreter's JAX has, oldest first. names: to be asked for besides what is found by looking."""
    wanted = set(names)
    looked = [_run(python, []) for python in pythons]
    for release in looked:
        wanted.update(release["names"])
    asked = [_run(python, sorted(wanted)) for python in pythons]
    return sorted(asked, key=lambda release: Version(release["version"]))


def _run(python: str, names: list[str]) -> Release:
    command = [python, str(PROGRAM)]
    done = subprocess.run(command, input=json.dumps(names), capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{python}: {done.stderr}")
    found: Release = json.loads(done.stdout.splitlines()[-1])
    return found


def story(releases: Sequence[Release], states: Iterable[bool | None]) -> str:
    """Where the states change, as the file words it; None is not known and does not count."""
    changes: list[str] = []
    before: bool | None = None
    for release, state in zip(releases, states):
        if state is not None and before is not None and state != before:
            changes.append(f"{'+' if state else '-'}{release['version']}")
        before = before if state is None else state
    return " ".join(changes)


def is_unknown(release: Release, name: str) -> bool:
    """Whether this release could not import what holds the name."""
    return any(name == module or name.startswith(f"{module}.") for module in release["unknown"])


def names_of(releases: Sequence[Release]) -> dict[str, str]:
    """The stories of names."""
    found = {}
    for name in sorted({name for release in releases for name in release["names"]}):
        if not any(is_unknown(release, name) for release in releases):
            text = story(releases, (name in release["names"] for release in releases))
            if text:
                found[name] = text
    return {name: text for name, text in found.items() if found.get(name.rpartition(".")[0]) != text}


def arguments_of(releases: Sequence[Release]) -> dict[str, str]:
    """The stories of what functions take: ``f(name)`` an argument by name, ``f(3)`` a third one by position.

    Names that the catalogue takes for one are one function: what one of them takes counts.
    """
    data, aliases = catalogue(), defaultdict(list)
    for name in sorted({name for release in releases for name in release["names"]}):
        aliases[data.canonical(name)].append(name)
    found = {}
    for function, names in sorted(aliases.items()):
        taken = [_taken(release, names) for release in releases]
        keywords = sorted({keyword for known in taken if known for keyword in known[0]})
        for keyword in keywords:
            text = story(releases, (None if known is None else keyword in known[0] for known in taken))
            if text and not keyword.startswith("_"):
                found[f"{function}({keyword})"] = text
        most = [known[1] for known in taken if known and known[1] >= 0]
        last = ""
        for position in range(1, max(most, default=0) + 1):
            text = story(
                releases,
                (None if known is None or known[1] < 0 else known[1] >= position for known in taken),
            )
            if text != last:
                found[f"{function}({position})"] = last = text
    return found


def _taken(release: Release, names: Iterable[str]) -> tuple[set[str], int] | None:
    """What a function takes by name, and how many by position (-1: nobody knows); None: nobody knows or it is not there."""
    known = [release["names"][name] for name in names if name in release["names"]]
    if not known or not all("takes" in entry for entry in known):
        return None
    taken = [entry["takes"] for entry in known]
    kinds = {kind for parameters in taken for kind, _ in parameters}
    if VAR_KEYWORD in kinds:
        return None
    keywords = {
        name for parameters in taken for kind, name in parameters if kind in (POSITIONAL, KEYWORD_ONLY)
    }
    counts = [sum(kind in (POSITIONAL_ONLY, POSITIONAL) for kind, _ in parameters) for parameters in taken]
    return keywords, -1 if VAR_POSITIONAL in kinds else max(counts)


def moved_of(releases: Sequence[Release]) -> dict[str, str]:
    """Arguments that are given by position and mean another one than before: ``f(1)`` to ``OLD NEW RELEASE``."""
    found = {}
    for name in sorted({name for release in releases for name in release["names"]}):
        before: list[str] = []
        for release in releases:
            takes = release["names"].get(name, {}).get("takes", [])
            order = [word for kind, word in takes if kind in (POSITIONAL_ONLY, POSITIONAL)]
            everything = {word for _, word in takes}
            for number, (old, new) in enumerate(zip(before, order), start=1):
                if old != new and old in everything and not old.startswith("_"):
                    found[f"{name}({number})"] = f"{old} {new} {release['version']}"
                    break
            before = order or before
    return found


def options_of(releases: Sequence[Release]) -> dict[str, str]:
    """The stories of options of ``jax.config``."""
    names = sorted({name for release in releases for name in release["options"]})
    found = {name: story(releases, (name in release["options"] for release in releases)) for name in names}
    return {name: text for name, text in found.items() if text}


def said_of(
    releases: Sequence[Release], names: Iterable[str], known: Iterable[str]
) -> dict[str, tuple[str, str]]:
    """What JAX itself says of names that are gone: what the newest release has instead, and the exact version; "" where
    it does not say so."""
    newest, described = releases[-1]["names"], set(known)
    found: dict[str, tuple[str, str]] = {}
    for name in names:
        owner = name.rpartition(".")[0]
        if name in newest or name in described or owner in found:
            continue  # what is said of a class is not said of its members
        better = version = ""
        for release in releases:
            text = release["names"].get(name, {}).get("said") or release["gone"].get(name, "")
            if f"{name.rpartition('.')[2]}" not in text:
                continue
            there = [word for word in map(_full, _INSTEAD.findall(text)) if word in newest and word != name]
            better = there[0] if there else better
            dated = _REMOVED_IN.search(text) if name not in release["names"] else None
            version = dated[1] if dated else version
        if better or version:
            found[name] = (better, version)
    return found


def _full(name: str) -> str:
    short = {"jnp": "jax.numpy", "lax": "jax.lax"}
    head, _, rest = name.partition(".")
    return f"{short.get(head, head)}.{rest}"


def removed() -> dict[str, tuple[str, str]]:
    """What is written by hand: name to replacement and version."""
    tables = tomllib.loads((DATA / "removed.toml").read_text(encoding="utf-8"))["removed"]
    return {
        f"{module}.{name}": tuple(entry)
        for module, names in tables.items()
        for name, entry in names.items()
        if "(" not in name
    }


def disagreements(releases: Sequence[Release]) -> Iterator[str]:
    """Names for which the hand-written data and the releases differ."""
    for name, (_, gone_in) in removed().items():
        seen = False
        for release in releases:
            version, there = release["version"], name in release["names"]
            if gone_in and there and numbers(version) >= numbers(gone_in):
                yield f"{name}: the data says gone in {gone_in}, but {version} has it"
            if gone_in and seen and not there and numbers(version) < numbers(gone_in):
                yield f"{name}: the data says gone in {gone_in}, but {version} lacks it"
            seen = seen or there
        if name in releases[-1]["names"]:
            yield f"{name}: {releases[-1]['version']} has it"


def text_of(releases: Sequence[Release]) -> str:
    """The whole file."""
    names = names_of(releases)
    lines = [HEAD.format(releases=json.dumps([release["version"] for release in releases]))]
    lines += _by_module("names", names)
    lines += _by_module("arguments", arguments_of(releases))
    lines += _flat("moved", moved_of(releases))
    lines += _flat("options", options_of(releases))
    lines += _flat("said", said_of(releases, names, removed()))
    return "\n".join(lines)


def _by_module(table: str, entries: dict[str, str]) -> Iterator[str]:
    tables: defaultdict[str, list[str]] = defaultdict(list)
    for name, text in entries.items():
        module, _, last = name.rpartition(".")
        tables[module].append(f"{last if _BARE.match(last) else json.dumps(last)} = {json.dumps(text)}")
    for module, found in sorted(tables.items()):
        yield from (f"[{table}.{json.dumps(module)}]", *sorted(found), "")


def _flat(table: str, entries: Mapping[str, object]) -> Iterator[str]:
    lines = (f"{json.dumps(name)} = {json.dumps(value)}" for name, value in sorted(entries.items()))
    yield from (f"[{table}]", *lines, "")


def steps(text: str) -> Iterator[str]:
    """How many entries change with each release, by table."""
    tables = tomllib.loads(text)
    counts = {
        table: Counter(
            change
            for entries in tables[table].values()
            for story_text in (entries.values() if isinstance(entries, dict) else [entries])
            for change in story_text.split()
        )
        for table in ("names", "arguments", "options")
    }
    for release in tables["releases"][1:]:
        parts = [f"{c['+' + release]} new and {c['-' + release]} gone {table}" for table, c in counts.items()]
        yield f"{release}: {', '.join(parts)}"


def main(arguments: list[str]) -> int:
    write, pythons = "--write" in arguments, [word for word in arguments if not word.startswith("-")]
    releases = measure(pythons, removed())
    text, path = text_of(releases), DATA / "history.toml"
    wrong = list(disagreements(releases))
    if write:
        path.write_text(text, encoding="utf-8")
    else:
        written = path.read_text(encoding="utf-8").splitlines()
        wrong += [f"history.toml: {line}" for line in sorted(set(written) ^ set(text.splitlines()))]
    print("\n".join([*wrong, *steps(text)]))
    count = sum(len(release["names"]) for release in releases)
    print(f"{len(releases)} releases, {count} names looked at, {len(wrong)} differences")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
