"""Finds what in a module can be run as it stands, and which functions that reaches by name (layer: ``confirm``).

Reads source with `ast`; runs nothing. Reaching by name is an over-approximation: a call that turns out not to reach a
finding costs time only.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from jitlint.base.parts import parsed
from jitlint.confirm.planning.parts import first_line, is_main_guard

_CALLABLE = re.compile(r"(case|test|example|demo)_|(main|run|demo|example)$")
_EXAMPLE = re.compile(r"#\s*jitlint:\s*example\((?P<text>.*)\)\s*$")


@dataclass(frozen=True, slots=True)
class Function:
    """A function or lambda as written. parameters: all that can be given by name, and how many need a value."""

    qualname: str
    line: int
    last: int
    parameters: tuple[str, ...]
    required: int
    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(slots=True)
class Module:
    """What was read of a module.

    drivers: targets that need no arguments, in order. uses: for each top-level name and driver, the names that its
    code mentions. imports: as written, with the names that are taken from a module appended. functions: all, outermost first. examples: by first line of a function, the text of the comment.
    """

    source: str
    drivers: list[str] = field(default_factory=list)
    uses: dict[str, frozenset[str]] = field(default_factory=dict)
    imports: list[str] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    examples: dict[int, str] = field(default_factory=dict)
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))

    def around(self, line: int) -> list[Function]:
        """The functions around a line, outermost first; a function's decorators belong to it."""
        return [function for function in self.functions if function.line <= line <= function.last]

    def top_name(self, line: int) -> str:
        """The top-level function or class that a line belongs to, or ""."""
        for node in self.tree.body:
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                continue
            if first_line(node) <= line <= (node.end_lineno or node.lineno):
                return node.name
        return ""


@functools.lru_cache(maxsize=256)
def read_module(source: str) -> Module | None:
    """Read a module; None if it is no Python."""
    tree = parsed(source)
    if tree is None:
        return None
    module = Module(source, tree=tree)
    _functions(tree, module.functions)
    loose: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            module.uses[node.name] = _names(node)
            target = _target(node, 0)
            if target:
                module.drivers.append(target)
                module.uses[target] = module.uses[node.name]
        elif isinstance(node, ast.ClassDef):
            module.uses[node.name] = _names(node)
            for target in _test_methods(node):
                module.drivers.append(target)
                module.uses[target] = _names(node)
        elif is_main_guard(node):
            module.drivers.append("__main__")
            module.uses["__main__"] = _names(node)
        else:
            loose |= _names(node)
            for target in _targets(node):
                module.uses[target] = module.uses.get(target, frozenset()) | _names(node)
    if any(isinstance(part, ast.Call) for node in tree.body if _is_loose(node) for part in ast.walk(node)):
        module.drivers.append("")
        module.uses[""] = frozenset(loose)
    module.imports = _imports(tree)
    _examples(source, module)
    return module


def reached(
    driver: str, module: Module, others: Iterable[Mapping[str, frozenset[str]]] = ()
) -> frozenset[str]:
    """All names that a driver mentions, directly or through what it mentions."""
    tables = [module.uses, *others]
    found: set[str] = set()
    waiting = [driver]
    while waiting:
        name = waiting.pop()
        for table in tables:
            fresh = table.get(name, frozenset()) - found
            found |= fresh
            waiting += fresh
    return frozenset(found)


def owner_of_decorator(module: Module, line: int) -> str:
    """The function or class that a decorator on ``line`` belongs to, or ""."""
    for node in ast.walk(module.tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for decorator in node.decorator_list:
                if decorator.lineno <= line <= (decorator.end_lineno or decorator.lineno):
                    return node.name
    return ""


def names_in(module: Module, span: tuple[int, int, int, int]) -> list[str]:
    """The variables inside a range of text: first line and column, last line and column (1-based, end exclusive)."""
    return sorted({node.id for node in _inside(module, span) if isinstance(node, ast.Name)})


def reads_in(module: Module, span: tuple[int, int, int, int]) -> list[str]:
    """The variables, attributes and items that a range of text reads; none if it does anything else."""
    nodes = _inside(module, span)
    if not all(isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)) for node in nodes):
        return []
    parts = {id(child) for node in nodes for child in ast.iter_child_nodes(node)}
    return [
        ast.unparse(node) for node in nodes if id(node) not in parts and not isinstance(node, ast.Constant)
    ]


def _inside(module: Module, span: tuple[int, int, int, int]) -> list[ast.expr]:
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.expr):
            start = (node.lineno, node.col_offset + 1)
            end = (node.end_lineno or node.lineno, (node.end_col_offset or node.col_offset) + 1)
            if span[:2] <= start and end <= span[2:]:
                found.append(node)
    return found


def _functions(tree: ast.AST, found: list[Function]) -> None:
    """Collect the functions of a module in the order of the source. It may be nested deeper than Python calls."""
    todo = [(child, "") for child in ast.iter_child_nodes(tree)][::-1]
    while todo:
        node, prefix = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            function = _function(node, prefix)
            found.append(function)
            if not isinstance(node, ast.Lambda):
                prefix = f"{function.qualname}.<locals>."
        elif isinstance(node, ast.ClassDef):
            prefix = f"{prefix}{node.name}."
        todo += [(child, prefix) for child in ast.iter_child_nodes(node)][::-1]


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, prefix: str) -> Function:
    name, first = ("<lambda>", node.lineno) if isinstance(node, ast.Lambda) else (node.name, first_line(node))
    arguments = node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    names = tuple(argument.arg for argument in [*positional, *arguments.kwonlyargs])
    missing = sum(default is None for default in arguments.kw_defaults)
    required = len(positional) - len(arguments.defaults) + missing
    return Function(prefix + name, first, node.end_lineno or node.lineno, names, required, node)


def _is_driver(node: ast.FunctionDef | ast.AsyncFunctionDef, given: int) -> bool:
    """A function that is called as it stands. ``given``: arguments that the caller provides (``self``)."""
    if isinstance(node, ast.AsyncFunctionDef) or not _CALLABLE.match(node.name):
        return False
    arguments = node.args
    needed = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    needed += sum(default is None for default in arguments.kw_defaults)
    return needed <= given


def _target(node: ast.FunctionDef | ast.AsyncFunctionDef, given: int, owner: str = "") -> str:
    """What a function is driven as: by itself, by pytest, or "" for not at all."""
    if _is_driver(node, given):
        return f"{owner}.{node.name}" if owner else node.name
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
        return f"::{owner}::{node.name}" if owner else f"::{node.name}"
    return ""


def _test_methods(node: ast.ClassDef) -> list[str]:
    if not re.match(r"Test|.*Tests?$", node.name):
        return []
    methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
    return [_target(m, 1, node.name) for m in methods if m.name.startswith("test")]


def name_of(target: str) -> str:
    """The function or class at the top level that a target belongs to."""
    return target.removeprefix("::").replace("::", ".").partition(".")[0]


def _is_loose(node: ast.stmt) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    return not isinstance(node, definitions) and not is_main_guard(node)


def _names(node: ast.AST) -> frozenset[str]:
    """The names that code uses, those included by which it may look something up."""
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.isidentifier():
            found.add(part.value)
    return frozenset(found)


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
    if isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _imports(tree: ast.Module) -> list[str]:
    found: dict[str, None] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            found[base] = None
            separator = "" if base.endswith(".") else "."
            found.update((f"{base}{separator}{alias.name}", None) for alias in node.names)
    return list(found)


def _examples(source: str, module: Module) -> None:
    """Comments stand above a function (or its decorators) or in its header."""
    for number, line in enumerate(source.splitlines(), start=1):
        match = _EXAMPLE.search(line) if "jitlint" in line else None
        if match is None:
            continue
        for function in module.functions:
            body = function.node.body
            start = body[0].lineno if isinstance(body, list) else function.last + 1
            if function.line - 1 <= number < max(start, function.line + 1):
                module.examples[function.line] = match["text"]
                break
