"""Rewrites of a whole project that keep its meaning, and where every line of the new text comes from.

What it does: `REWRITES` renames, moves, wraps, extracts and inlines, wherever analysis of scopes (libcst's) shows that the
program does the same afterwards; where that is not certain, a place is left as it is. A place that may be rewritten is a
*site*; a `Choice` says which are, so that a difference can be traced to one of them. Nodes keep their identity through a
rewrite, so that a position in the new text leads back to the old one. What it does not: run jitlint (`properties.py`).
"""

from __future__ import annotations

import re
import textwrap
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath

import libcst as cst
from libcst import metadata as meta

MARK = "_zz"
"""At the end of every name that a rewrite makes, so that messages can be compared without it."""

Place = tuple[str, int]
"""A file and a line."""


@dataclass(slots=True)
class Choice:
    """Which sites are rewritten, by their number in a fixed order. seen: how many there were."""

    first: int = 0
    last: int | None = None
    seen: int = 0
    where: list[str] = field(default_factory=list)

    def __call__(self, what: str) -> bool:
        """Whether the next site is to be rewritten."""
        number = self.seen
        self.seen += 1
        chosen = self.first <= number and (self.last is None or number < self.last)
        if chosen:
            self.where.append(what)
        return chosen


class File:
    """One file with what libcst says about it."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.wrapper = meta.MetadataWrapper(cst.parse_module(text))
        self.module = self.wrapper.module

    @cached_property
    def positions(self) -> Mapping[cst.CSTNode, meta.CodeRange]:
        """Where each node stands."""
        return self.wrapper.resolve(meta.PositionProvider)

    @cached_property
    def scopes(self) -> list[meta.Scope]:
        """All scopes, in the order of the text."""
        found: dict[meta.Scope, None] = {}
        for scope in self.wrapper.resolve(meta.ScopeProvider).values():
            if scope is not None:
                found.setdefault(scope)
        return list(found)

    @cached_property
    def parents(self) -> Mapping[cst.CSTNode, cst.CSTNode]:
        """What each node stands in."""
        return self.wrapper.resolve(meta.ParentNodeProvider)

    @cached_property
    def names(self) -> dict[str, list[cst.Name]]:
        """All names that may be variables, by their text: no attributes, no keywords of calls."""
        found: defaultdict[str, list[cst.Name]] = defaultdict(list)
        for node in walk(self.module):
            if isinstance(node, cst.Name):
                parent = self.parents[node]
                attribute = isinstance(parent, cst.Attribute) and parent.attr is node
                if not attribute and not (isinstance(parent, cst.Arg) and parent.keyword is node):
                    found[node.value].append(node)
        return found

    @cached_property
    def global_scope(self) -> meta.Scope | None:
        """The scope of the module."""
        return next((scope for scope in self.scopes if isinstance(scope, meta.GlobalScope)), None)

    def line(self, node: cst.CSTNode) -> int:
        """Where a node begins."""
        return self.positions[node].start.line

    def within(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        """Whether a node stands inside of another."""
        here: cst.CSTNode | None = node
        while here is not None and here is not outer:
            here = self.parents.get(here)
        return here is outer


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """A node and all below it, in the order of the text."""
    yield node
    for child in node.children:
        yield from walk(child)


class Project:
    """The files of a project that are Python, by their path below its top."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)
        self.files: dict[str, File] = {}
        for path, text in sorted(texts.items()):
            try:
                self.files[path] = File(path, text)
            except (cst.ParserSyntaxError, RecursionError):
                continue

    @cached_property
    def words(self) -> dict[str, set[str]]:
        """In which files a word stands, comments and strings included."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for path, text in self.texts.items():
            for word in set(re.findall(r"\w+", text)):
                found[word].add(path)
        return found


class Rewritten:
    """A project after a rewrite. texts: what changed. back: the file and line that a position stood at before."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self.texts: dict[str, str] = {}
        self._back: dict[str, tuple[dict[tuple[int, int], Place], dict[int, Place]]] = {}

    def put(self, path: str, module: cst.Module, came: Mapping[int, tuple[File, cst.CSTNode]]) -> None:
        """A file is now this. came: the old node of each new one, by its identity."""
        wrapper = meta.MetadataWrapper(module, unsafe_skip_copy=True)
        self.texts[path] = wrapper.module.code
        exact: dict[tuple[int, int], tuple[tuple[int, int], Place]] = {}
        lines: dict[int, tuple[int, Place]] = {}
        for node, position in wrapper.resolve(meta.PositionProvider).items():
            old = came.get(id(node))
            if old is None or isinstance(node, cst.Module):
                continue
            file, before = old
            place = (file.path, file.line(before))
            start, end = position.start, position.end
            at, size = (start.line, start.column), (end.line, end.column)
            if at not in exact or size < exact[at][0]:
                exact[at] = (size, place)
            if start.line not in lines or start.column < lines[start.line][0]:
                lines[start.line] = (start.column, place)
        self._back[path] = (
            {at: place for at, (_, place) in exact.items()},
            {line: place for line, (_, place) in lines.items()},
        )

    def back(self, path: str, line: int, column: int) -> Place:
        """Where a position of the new text (counted from 1) stood before; ("", 0) for what was not there."""
        if path not in self._back:
            return (path, line)
        exact, lines = self._back[path]
        return exact.get((line, column - 1)) or lines.get(line) or ("", 0)


class Rewriter(cst.CSTTransformer):
    """A transformer that remembers what each new node was before."""

    def __init__(self, file: File) -> None:
        super().__init__()
        self.file = file
        self.came: dict[int, tuple[File, cst.CSTNode]] = {}
        self._kept: list[cst.CSTNode] = []

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNode]:
        self.note(updated_node, original_node)
        result = super().on_leave(original_node, updated_node)
        if isinstance(result, cst.CSTNode):
            self.note(result, original_node)
        elif isinstance(result, cst.FlattenSentinel):
            for node in result.nodes:
                self.note(node, original_node)
        return result  # type: ignore[return-value]

    def note(self, new: cst.CSTNode, old: cst.CSTNode) -> None:
        """A new node stands for an old one."""
        if id(new) not in self.came:
            self.came[id(new)] = (self.file, old)
            self._kept.append(new)

    def applied(self, out: Rewritten, head: Sequence[cst.BaseStatement] = ()) -> None:
        """Rewrite the file. head: statements that come before its own."""
        module = self.file.module.visit(self)
        if head:
            at = _after_future(module.body)
            module = module.with_changes(body=[*module.body[:at], *head, *module.body[at:]])
        if module.code != self.file.text:
            out.put(self.file.path, module, self.came)


def _after_future(body: Sequence[cst.CSTNode]) -> int:
    """How many statements have to stay in front: the docstring and imports from the future."""
    count = 0
    for node in body:
        first = node.body[0] if isinstance(node, cst.SimpleStatementLine) else None
        docstring = count == 0 and isinstance(first, cst.Expr) and isinstance(first.value, cst.SimpleString)
        future = (
            isinstance(first, cst.ImportFrom)
            and isinstance(first.module, cst.Name)
            and first.module.value == "__future__"
        )
        if not docstring and not future:
            break
        count += 1
    return count


def statements(text: str) -> list[cst.BaseStatement]:
    """Fresh statements."""
    return list(cst.parse_module(textwrap.dedent(text)).body)  # type: ignore[arg-type]


Rewrite = Callable[[Project, Choice], Rewritten]

# ------------------------------------------------------------ names


class _Renamer(Rewriter):
    """Gives names, by identity, another text."""

    def __init__(self, file: File, to: Mapping[int, str]) -> None:
        super().__init__(file)
        self.to = to

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        new = self.to.get(id(original_node))
        return updated_node if new is None else updated_node.with_changes(value=new)

    def leave_ImportAlias(
        self, original_node: cst.ImportAlias, updated_node: cst.ImportAlias
    ) -> cst.ImportAlias:
        new = self.to.get(id(original_node))
        if new is None:
            return updated_node
        space = cst.SimpleWhitespace(" ")
        return updated_node.with_changes(
            asname=cst.AsName(cst.Name(new), whitespace_before_as=space, whitespace_after_as=space)
        )


def _bound_name(node: cst.CSTNode) -> cst.Name | None:
    """The name that an assignment binds, if it stands there as a name of its own."""
    if isinstance(node, cst.Name):
        return node
    return node.name if isinstance(node, (cst.FunctionDef, cst.ClassDef)) else None


def _leftmost(node: cst.CSTNode) -> cst.CSTNode:
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def _references(assigned: Sequence[meta.BaseAssignment]) -> list[cst.CSTNode]:
    return [_leftmost(access.node) for one in assigned for access in one.references]


def _complete(file: File, name: str, known: Sequence[cst.CSTNode], inside: cst.CSTNode) -> bool:
    """Whether these are all places below a node that could mean the variable."""
    ids = {id(node) for node in known}
    return all(id(node) in ids or not file.within(node, inside) for node in file.names.get(name, ()))


def looks_at_names(node: cst.CSTNode) -> bool:
    """Whether code asks for its variables by their names."""
    asks = {"locals", "vars", "eval", "exec", "globals", "dir"}
    return any(isinstance(part, cst.Name) and part.value in asks for part in walk(node))


def rename_locals(project: Project, choice: Choice) -> Rewritten:
    """Variables and functions inside of functions get other names; parameters keep theirs."""
    out = Rewritten(project)
    for file in project.files.values():
        to: dict[int, str] = {}
        for scope in file.scopes:
            node = getattr(scope, "node", None)
            if not isinstance(scope, (meta.FunctionScope, meta.ComprehensionScope)) or node is None:
                continue
            if not isinstance(node, (cst.FunctionDef, cst.Lambda, cst.BaseComp)) or looks_at_names(node):
                continue
            for name in sorted({one.name for one in scope.assignments}):
                assigned = [one for one in scope.assignments if one.name == name and one.scope is scope]
                bound = [_bound_name(getattr(one, "node", file.module)) for one in assigned]
                known = [*bound, *_references(assigned)]
                if not all(isinstance(part, cst.Name) for part in known) or not bound:
                    continue
                nodes = [part for part in known if part is not None]
                if f"{name}{MARK}" in project.words or not _complete(file, name, nodes, node):
                    continue
                if choice(f"{file.path}:{file.line(nodes[0])}: {name}"):
                    to |= {id(part): f"{name}{MARK}" for part in nodes}
        if to:
            _Renamer(file, to).applied(out)
    return out


def _is_quoted(text: str, word: str) -> bool:
    return re.search(rf"['\"]{re.escape(word)}['\"]", text) is not None


def helpers(project: Project, file: File) -> Iterator[tuple[str, cst.FunctionDef, list[cst.CSTNode]]]:
    """The functions of a module that are defined once, with the places that mention them here."""
    scope = file.global_scope
    if scope is None or looks_at_names(file.module):
        return
    for node in file.module.body:
        if not isinstance(node, cst.FunctionDef):
            continue
        name = node.name.value
        assigned = list(scope[name])
        known = _references(assigned)
        if len(assigned) == 1 and all(isinstance(part, cst.Name) for part in known):
            yield name, node, known


def rename_helpers(project: Project, choice: Choice) -> Rewritten:
    """Functions of a module that no other file mentions get other names."""
    out = Rewritten(project)
    for file in project.files.values():
        to: dict[int, str] = {}
        for name, node, known in helpers(project, file):
            if name.startswith(("test", "__", "pytest", "setup")) or name in ("main", "tearDown"):
                continue
            nodes = [node.name, *known]
            if project.words[name] != {file.path} or _is_quoted(file.text, name):
                continue
            if f"{name}{MARK}" in project.words or not _complete(file, name, nodes, file.module):
                continue
            if choice(f"{file.path}:{file.line(node)}: {name}"):
                to |= {id(part): f"{name}{MARK}" for part in nodes}
        if to:
            _Renamer(file, to).applied(out)
    return out


_FAMILIAR = ("np", "numpy", "onp")
"""Names that say which library is meant to whoever reads them: a finding is about the name itself."""


def rename_imports(project: Project, choice: Choice) -> Rewritten:
    """``import jax`` becomes ``import jax as jax_zz``, ``import jax.numpy as jnp`` likewise."""
    out = Rewritten(project)
    for file in project.files.values():
        scope = file.global_scope
        if scope is None or looks_at_names(file.module):
            continue
        to: dict[int, str] = {}
        for statement in file.module.body:
            lines = statement.body if isinstance(statement, cst.SimpleStatementLine) else ()
            for node in lines:
                if not isinstance(node, cst.Import):
                    continue
                for alias in node.names:
                    name = alias.evaluated_alias or alias.evaluated_name
                    if "." in name or name in _FAMILIAR:
                        continue
                    assigned = list(scope[name])
                    written = alias.asname.name if alias.asname is not None else alias.name
                    nodes = [written, *_references(assigned)]
                    if len(assigned) != 1 or not all(isinstance(part, cst.Name) for part in nodes):
                        continue
                    if not _complete(file, name, nodes, file.module) or _is_handed_on(project, file, name):
                        continue
                    if choice(f"{file.path}:{file.line(node)}: {name}"):
                        to |= {id(part): f"{name}{MARK}" for part in nodes[1:]}
                        to[id(alias)] = f"{name}{MARK}"
        if to:
            _Renamer(file, to).applied(out)
    return out


def _is_handed_on(project: Project, file: File, name: str) -> bool:
    """Whether another file may take a name from this one."""
    stem = PurePosixPath(file.path).stem
    if stem == "__init__" or _is_quoted(file.text, name):
        return True
    taken = re.compile(
        rf"(from\s+\S*\b{re.escape(stem)}\s+import\s+(\*|[^;]*?\b{re.escape(name)}\b)|\b{re.escape(stem)}\.{name}\b)"
    )
    return any(path != file.path and taken.search(text) for path, text in project.texts.items())
