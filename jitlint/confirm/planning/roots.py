"""The function that has to be called to come to a finding, and how (layer: ``confirm``). Reads source; runs nothing.

The path of a finding begins with a transform. Arguments are looked for where that is applied: for the function that it is
applied to, if it takes all of the arguments, else for the one around it, which applies it itself.
"""

from __future__ import annotations

import ast
import contextlib
import os
import re
from dataclasses import dataclass, field

from jitlint.base.diagnostic import Finding, Related
from jitlint.confirm.planning.drivers import Function, Module
from jitlint.confirm.planning.reach import Sources
from jitlint.confirm.protocol import Flag

_TRANSFORMED = re.compile(
    r"`(?P<name>[^`]+)` (?:is|runs|(?=takes|belongs|does)) ?(?P<how>jitted|traced|batched|declared|handed|under|takes|belongs|does)?"
)
_TRANSFORMS = ("jit", "vmap", "pmap")
# What says of arguments that they are not traced, or perhaps not.
_STATIC = ("static_argnums", "static_argnames", "static_broadcasted_argnums")


@dataclass(frozen=True, slots=True)
class Root:
    """A function in a file. outer: the one at the top level, or the method, that it stands in. transform: `jit` if it is to be jitted,
    `kernel` if it is to be the kernel of a `pallas_call`. static: its parameters that are not traced then."""

    path: str
    function: Function
    outer: Function
    transform: str = ""
    static: list[str] = field(default_factory=list)

    @property
    def target(self) -> str:
        """The name by which it is found."""
        return self.function.qualname.partition(".<locals>.")[0]


def root_of(finding: Finding, flag: Flag, sources: Sources, handed: bool = True) -> Root | None:
    """The function that the transform is applied to, on the way to the finding.

    The first step of the path is the transform, perhaps as a decorator; the next one is a call inside the function
    that is wanted. ``handed``: also a function that is handed to the transform elsewhere.
    """
    named = _named_root(finding, sources, handed) if finding.related else None
    if named is not None:
        return named
    match = _TRANSFORMED.match(finding.related[0].message) if finding.related else None
    places = [(os.path.realpath(step.path), step.span.line) for step in finding.related[1:]]
    for path, line in [*places, (flag.path, flag.line)]:
        module = sources.module(path)
        around = module.around(line) if module is not None else []
        if around:
            found = [function for function in around if match and function.qualname == match["name"]]
            return _root(finding, path, (found or around)[-1], sources)
    return None


def _named_root(finding: Finding, sources: Sources, elsewhere: bool) -> Root | None:
    """The function that the first step names, as a decorated one, or where it is handed to the transform."""
    step = finding.related[0]
    match, path = _TRANSFORMED.match(step.message), os.path.realpath(step.path)
    module = sources.module(path)
    if match is None or module is None:
        return None
    for function in module.around(step.span.line):
        if function.qualname == match["name"]:
            return _root(finding, path, function, sources)
    handed = _handed(step, match["name"], module) if elsewhere else None
    return Root(path, handed, handed, "jit") if handed is not None else None


def inner_root(finding: Finding, flag: Flag, sources: Sources) -> Root | None:
    """The function that applies the last transform on the way to the finding: it is called as it is."""
    for step in reversed(finding.related[1:]):
        match = _TRANSFORMED.match(step.message)
        if match is not None and match["how"]:
            return _outermost(os.path.realpath(step.path), step.span.line, sources)
    return _outermost(flag.path, flag.line, sources) if finding.related else None


def _outermost(path: str, line: int, sources: Sources) -> Root | None:
    module = sources.module(path)
    around = module.around(line) if module is not None else []
    if module is None or not around:
        return None
    return Root(path, around[0], around[0], "kernel" if _is_kernel(module, around[0]) else "")


def _is_kernel(module: Module, function: Function) -> bool:
    """Whether the module hands a function on where it calls `pallas_call`."""
    for other in module.functions:
        nodes = list(ast.walk(other.node)) if not isinstance(other.node, ast.Lambda) else []
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        if any(_last(call.func) == "pallas_call" for call in calls):
            called = {id(call.func) for call in calls}
            if any(
                isinstance(node, ast.Name) and node.id == function.qualname and id(node) not in called
                for node in nodes
            ):
                return True
    return False


def _root(finding: Finding, path: str, function: Function, sources: Sources) -> Root:
    module = sources.module(path)
    around = module.around(function.line) if module is not None else []
    nested = ".<locals>." in function.qualname
    outer = around[0] if nested and around else function
    match = _TRANSFORMED.match(finding.related[0].message) if finding.related and not nested else None
    # `jit` if it is this function that the transform is applied to, and no caller of it, nor one that somebody else makes.
    is_it = match is not None and match["name"] == function.qualname and match["how"]
    transform = "jit" if is_it else ""
    if module is not None and _is_kernel(module, outer):
        transform = "kernel"
    return Root(path, function, outer, transform, _static_names(finding, function, sources))


def _handed(step: Related, name: str, module: Module) -> Function | None:
    """The function of that name, where it is handed to a transform as it is and with all of its arguments traced."""
    found = [function for function in module.functions if function.qualname == name]
    if len(found) != 1 or "<locals>" in name:
        return None
    is_handed = any(_hands_on(call, name) for call in _calls(module, step.span.line))
    return found[0] if is_handed else None


def _hands_on(call: ast.Call, name: str) -> bool:
    """Whether a call is a transform of the function, with all of its arguments traced."""
    callee = _last(call.func)
    given = call.args[0] if call.args else None
    if callee not in _TRANSFORMS or given is None or _last(given) != name.rpartition(".")[2]:
        return False
    axes = [keyword.value for keyword in call.keywords if keyword.arg == "in_axes"]
    axes += call.args[1:2] if callee == "vmap" else []
    known = len(call.args) == 1 or callee == "vmap"
    return known and all(map(_is_everywhere, axes)) and all(key.arg not in _STATIC for key in call.keywords)


def _calls(module: Module, line: int) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]


def _last(node: ast.expr) -> str:
    """The last part of a dotted name; "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_everywhere(axes: ast.expr) -> bool:
    """Whether these axes leave nothing out."""
    try:
        value = ast.literal_eval(axes)
    except ValueError:
        return False
    items = value if isinstance(value, (tuple, list)) else (value,)
    return all(isinstance(axis, int) for axis in items)


def _static_names(finding: Finding, function: Function, sources: Sources) -> list[str]:
    """Parameters that the transform's call declares static, as far as it says so in plain constants."""
    if not finding.related:
        return []
    step = finding.related[0]
    module = sources.module(os.path.realpath(step.path))
    found: set[str] = set()
    for node in _calls(module, step.span.line) if module is not None else ():
        for keyword in node.keywords:
            if keyword.arg in _STATIC:
                with contextlib.suppress(ValueError):
                    found |= _named(ast.literal_eval(keyword.value), function)
    return sorted(found)


def _named(value: object, function: Function) -> set[str]:
    """Parameters by name or position."""
    items = value if isinstance(value, (tuple, list)) else (value,)
    count = len(function.parameters)
    return {item for item in items if isinstance(item, str)} | {
        function.parameters[item] for item in items if isinstance(item, int) and -count <= item < count
    }
