"""Arrays of modules that are imported before double precision is switched on (layer: ``link``, room ``domains``).

What it does: goes through the modules of the project that a module imports above the call, and those that these import. What it does
not: speak of modules that mention the option themselves, or of arrays that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterator

from jitlint.infer.program import ModuleInfo
from jitlint.link.engine import imports
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.syntax import ir


def read(m: Machine, info: ModuleInfo, at: int | None, option: str) -> Iterator[tuple[Frame, set[str]]]:
    """The modules that are there when a module comes to a place in its body, or to its end: a frame in which names mean what they
    mean there, and those names that some code reads."""
    reached = _imported(m, info, at)
    if any(_mentions(one, option) for one in reached):
        return
    taken: dict[str, set[str]] = {}
    for other in (info, *reached):
        for source, name in _taken(m, other):
            taken.setdefault(source.name, set()).add(name)
    for one in reached:
        yield Frame(one, one.scope, HOST), _mentioned(one) | taken.get(one.name, set())


def _imported(m: Machine, info: ModuleInfo, at: int | None) -> list[ModuleInfo]:
    """The modules of the project that imports above a place reach."""
    found: dict[str, ModuleInfo] = {}
    waiting = list(_named(m, info, at))
    while waiting:
        one = waiting.pop()
        if one.name not in found and one is not info:
            found[one.name] = one
            waiting.extend(_named(m, one, None))
    return [found[name] for name in sorted(found)]


def _named(m: Machine, info: ModuleInfo, limit: int | None) -> Iterator[ModuleInfo]:
    """The modules of the project that the body of one imports, above a place."""
    for part in info.tree.body:
        if limit is not None and part.at >= limit:
            continue
        names = [one.name for one in part.names] if type(part) is ir.Import else []
        if type(part) is ir.ImportFrom:
            base = imports.absolute(info, part.module, part.level)
            names = [base, *[f"{base}.{one.name}" for one in part.names]]
        yield from (one for name in names if (one := imports.find(m, info, name)) is not None)


def _taken(m: Machine, info: ModuleInfo) -> Iterator[tuple[ModuleInfo, str]]:
    """The names that a module imports from others, with these."""
    for part in info.tree.body:
        if type(part) is ir.ImportFrom:
            source = imports.find(m, info, imports.absolute(info, part.module, part.level))
            yield from ((source, one.name) for one in part.names if source is not None)


def _mentioned(info: ModuleInfo) -> set[str]:
    """The names that the functions of a module mention."""
    return {part.id for fn in info.functions for part in fn.parts if type(part) is ir.Name}


def _mentions(info: ModuleInfo, option: str) -> bool:
    texts = (part.value for nodes in info.code() for part in nodes if type(part) is ir.Const)
    return any(isinstance(text, str) and option in text.lower() for text in texts)
