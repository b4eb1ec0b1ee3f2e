"""Rewrites of statements, calls and definitions that keep their meaning: the other half of `rewrites.py`."""

from __future__ import annotations

import builtins
import random
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import libcst as cst
from libcst import metadata as meta

from benchmarks.rewrites import (
    MARK,
    Choice,
    File,
    Project,
    Rewrite,
    Rewriter,
    Rewritten,
    helpers,
    looks_at_names,
    rename_helpers,
    rename_imports,
    rename_locals,
    statements,
    walk,
)


class _Chosen(Rewriter):
    """A rewriter that asks for each site."""

    def __init__(self, file: File, choice: Choice) -> None:
        super().__init__(file)
        self.choice = choice

    def chosen(self, node: cst.CSTNode) -> bool:
        """Whether the site that begins at this node is to be rewritten."""
        return self.choice(f"{self.file.path}:{self.file.line(node)}")

    def function(self, node: cst.CSTNode) -> cst.FunctionDef | None:
        """The function right around a node; None in the body of a class or a module."""
        here = self.file.parents.get(node)
        while here is not None and not isinstance(here, (cst.FunctionDef, cst.ClassDef)):
            here = self.file.parents.get(here)
        return here if isinstance(here, cst.FunctionDef) else None


def _each_file(rewriter: type[_Chosen], project: Project, choice: Choice, head: str = "") -> Rewritten:
    out = Rewritten(project)
    for file in project.files.values():
        rewriter(file, choice).applied(out, statements(head))
    return out


def _assigned(name: str, value: cst.BaseExpression) -> cst.Assign:
    return cst.Assign([cst.AssignTarget(cst.Name(name))], value)


def _only(line: cst.SimpleStatementLine) -> cst.BaseSmallStatement | None:
    return line.body[0] if len(line.body) == 1 else None


# ------------------------------------------------------------ variables


class _ExtractResults(_Chosen):
    """``return E`` becomes ``result = E`` and ``return result``."""

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        old, new = _only(original_node), _only(updated_node)
        if not isinstance(old, cst.Return) or not isinstance(new, cst.Return) or new.value is None:
            return updated_node
        if isinstance(new.value, (cst.Name, cst.BaseNumber, cst.SimpleString)) or not self.chosen(old):
            return updated_node
        name = f"result{MARK}"
        first = updated_node.with_changes(body=[_assigned(name, new.value)])
        return cst.FlattenSentinel([first, cst.SimpleStatementLine([cst.Return(cst.Name(name))])])


class _ExtractArguments(_Chosen):
    """``y = f(E, ...)`` becomes ``argument = E`` and ``y = f(argument, ...)``."""

    count = 0

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        small = _only(updated_node)
        if not isinstance(small, (cst.Return, cst.Assign, cst.Expr)):
            return updated_node
        call = small.value
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name) or not call.args:
            return updated_node
        arg = call.args[0]
        if arg.star or arg.keyword is not None or self.function(original_node) is None:
            return updated_node
        if not isinstance(arg.value, (cst.Call, cst.BinaryOperation, cst.Subscript, cst.Attribute)):
            return updated_node
        if any(isinstance(part, cst.NamedExpr) for part in walk(arg.value)) or not self.chosen(original_node):
            return updated_node
        self.count += 1
        name = f"argument{self.count}{MARK}"
        first = cst.SimpleStatementLine(
            [_assigned(name, arg.value)], leading_lines=updated_node.leading_lines
        )
        called = call.with_changes(args=[arg.with_changes(value=cst.Name(name)), *call.args[1:]])
        second = updated_node.with_changes(body=[small.with_changes(value=called)], leading_lines=[])
        return cst.FlattenSentinel([first, second])


class _InlineResults(_Chosen):
    """``x = E`` and ``return x`` become ``return E``."""

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.BaseSuite:
        function = self.function(original_node)
        if function is None or len(original_node.body) < 2:
            return updated_node
        *_, before, last = original_node.body
        name = self._inlined(function, before, last)
        if not name or not self.chosen(before):
            return updated_node
        *rest, assigned, returned = updated_node.body
        assert isinstance(assigned, cst.SimpleStatementLine) and isinstance(returned, cst.SimpleStatementLine)
        value = assigned.body[0]
        assert isinstance(value, cst.Assign)
        kept = [*assigned.leading_lines, *returned.leading_lines]
        whole = returned.with_changes(body=[cst.Return(value.value)], leading_lines=kept)
        return updated_node.with_changes(body=[*rest, whole])

    def _inlined(self, function: cst.FunctionDef, before: cst.CSTNode, last: cst.CSTNode) -> str:
        """The variable that is returned right after it was bound, and that nothing else can read; or ""."""
        if not isinstance(before, cst.SimpleStatementLine) or not isinstance(last, cst.SimpleStatementLine):
            return ""
        small, end = _only(before), _only(last)
        if not isinstance(small, cst.Assign) or not isinstance(end, cst.Return) or len(small.targets) != 1:
            return ""
        target, value = small.targets[0].target, end.value
        if not isinstance(target, cst.Name) or not isinstance(value, cst.Name) or target.value != value.value:
            return ""
        parts = list(walk(function.body))
        if any(isinstance(part, (cst.Finally, cst.Global, cst.Nonlocal)) for part in parts):
            return ""
        for scope in self.file.scopes:
            if getattr(scope, "node", None) is function:
                accesses = [a for one in scope[target.value] if one.scope is scope for a in one.references]
                inner = any(access.scope is not scope for access in accesses)
                return "" if inner or not accesses or looks_at_names(function) else target.value
        return ""


# ------------------------------------------------------------ calls


class _Calls(_Chosen):
    """Calls of undecorated functions of the same module, by the identity of the callee's name."""

    def __init__(self, file: File, choice: Choice) -> None:
        super().__init__(file, choice)
        self.callees = {
            id(place): node
            for _, node, known in helpers(Project({}), file)
            if not node.decorators and not node.params.posonly_params
            for place in known
        }

    def names(self, call: cst.Call) -> list[str]:
        """The positional parameters of what is called, when the arguments can be told apart."""
        node = self.callees.get(id(call.func))
        if node is None or any(arg.star for arg in call.args):
            return []
        return [param.name.value for param in node.params.params]


class _Positional(_Calls):
    """``f(a, b=1)`` becomes ``f(a, 1)``."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        names = self.names(original_node)
        args = list(updated_node.args)
        count = sum(arg.keyword is None for arg in args)
        if not names or count == len(args) or not self._is_next(names, args, count):
            return updated_node
        if not self.chosen(original_node):
            return updated_node
        while count < len(args) and self._is_next(names, args, count):
            args[count] = args[count].with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
            count += 1
        return updated_node.with_changes(args=args)

    @staticmethod
    def _is_next(names: Sequence[str], args: Sequence[cst.Arg], count: int) -> bool:
        keyword = args[count].keyword
        return count < len(names) and keyword is not None and keyword.value == names[count]


class _Keywords(_Calls):
    """The last positional argument is given by its name."""

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        names = self.names(original_node)
        args = list(updated_node.args)
        last = sum(arg.keyword is None for arg in args) - 1
        if not 0 <= last < len(names) or isinstance(args[last].value, cst.GeneratorExp):
            return updated_node
        if not self.chosen(original_node):
            return updated_node
        tight = cst.SimpleWhitespace("")
        equal = cst.AssignEqual(whitespace_before=tight, whitespace_after=tight)
        args[last] = args[last].with_changes(keyword=cst.Name(names[last]), equal=equal)
        return updated_node.with_changes(args=args)


# ------------------------------------------------------------ definitions

_IDENTITY = f"""
import functools as functools{MARK}

def identity{MARK}(f{MARK}):
    @functools{MARK}.wraps(f{MARK})
    def same{MARK}(*args{MARK}, **kwargs{MARK}):
        return f{MARK}(*args{MARK}, **kwargs{MARK})
    return same{MARK}
"""


class _Decorate(_Chosen):
    """Undecorated functions are wrapped in one that hands everything on."""

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        parent = self.file.parents.get(original_node)
        if original_node.decorators or not isinstance(parent, cst.Module) or not self.chosen(original_node):
            return updated_node
        return updated_node.with_changes(decorators=[cst.Decorator(cst.Name(f"identity{MARK}"))])


class _Widen(_Chosen):
    """Undecorated functions take another argument by name, which nobody passes."""

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        name = original_node.name.value
        if original_node.decorators or (name.startswith("__") and name != "__call__"):
            return updated_node
        if not self.chosen(original_node):
            return updated_node
        params = updated_node.params
        star = params.star_arg if isinstance(params.star_arg, (cst.Param, cst.ParamStar)) else cst.ParamStar()
        more = cst.Param(cst.Name(f"unused{MARK}"), default=cst.Name("None"))
        widened = params.with_changes(star_arg=star, kwonly_params=[*params.kwonly_params, more])
        return updated_node.with_changes(params=widened)


class _Nest(_Chosen):
    """The body of a function stands under ``if True:``."""

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        block = updated_node.body
        if not isinstance(block, cst.IndentedBlock):
            return updated_node
        first = block.body[0] if block.body else None
        small = _only(first) if isinstance(first, cst.SimpleStatementLine) else None
        documented = isinstance(small, cst.Expr) and isinstance(
            small.value, (cst.SimpleString, cst.ConcatenatedString)
        )
        head, rest = (block.body[:1], block.body[1:]) if documented else ((), block.body)
        if not rest or not self.chosen(original_node):
            return updated_node
        nested = cst.If(cst.Name("True"), cst.IndentedBlock(rest, footer=block.footer))
        return updated_node.with_changes(body=block.with_changes(body=[*head, nested], footer=[]))


# ------------------------------------------------------------ places


def _top_imports(file: File) -> dict[str, cst.BaseStatement]:
    """The imports of a module that stand at its top, by the name that they bind."""
    found: dict[str, cst.BaseStatement] = {}
    for line in file.module.body:
        node = _only(line) if isinstance(line, cst.SimpleStatementLine) else None
        if isinstance(node, (cst.Import, cst.ImportFrom)) and not isinstance(node.names, cst.ImportStar):
            for alias in node.names:
                name = alias.evaluated_alias or alias.evaluated_name
                found[name.partition(".")[0]] = line
    return found


def _is_future(line: cst.BaseStatement) -> bool:
    return "__future__" in cst.Module([line]).code


def _needs(file: File, node: cst.FunctionDef) -> set[str]:
    """The global names that a function uses."""
    needed: set[str] = set()
    for scope in file.scopes:
        if isinstance(scope, meta.GlobalScope):
            for one in scope.assignments:
                if any(file.within(access.node, node) for access in one.references):
                    needed.add(one.name)
        for access in scope.accesses:
            if not access.referents and file.within(access.node, node):
                needed.add(getattr(access.node, "value", "?"))
    return needed


def _movable(file: File, bound: dict[str, cst.BaseStatement]) -> Iterator[tuple[cst.FunctionDef, set[str]]]:
    """Functions that need nothing of their module but its imports, with the names of these."""
    scope = file.global_scope
    for name, node, _ in helpers(Project({}), file):
        code = cst.Module([node]).code
        if name.startswith("test") or "global " in code or "__file__" in code or "__name__" in code:
            continue
        needed = {n for n in _needs(file, node) if n not in dir(builtins)}
        plain = all(n in bound and scope is not None and len(list(scope[n])) == 1 for n in needed)
        if plain and all("." not in n for n in needed):
            yield node, needed


class _Move(Rewriter):
    """Takes functions out of a module and imports them instead."""

    def __init__(self, file: File, gone: Sequence[cst.FunctionDef], source: str) -> None:
        super().__init__(file)
        self.gone = {id(node) for node in gone}
        self.source = source

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.BaseStatement:
        if id(original_node) not in self.gone:
            return updated_node
        line = statements(f"from {self.source} import {original_node.name.value}")[0]
        return line.with_changes(leading_lines=updated_node.leading_lines)


class _Keep(Rewriter):
    """Leaves everything as it is, and remembers it."""


def move_helpers(project: Project, choice: Choice) -> Rewritten:
    """Functions that need only imports move to a module of their own beside the old one."""
    out = Rewritten(project)
    for file in project.files.values():
        path = PurePosixPath(file.path)
        if path.name in ("__init__.py", "conftest.py", "setup.py") or not path.stem.isidentifier():
            continue
        bound = _top_imports(file)
        moved: list[cst.FunctionDef] = []
        needed: set[str] = set()
        for node, names in _movable(file, bound):
            if choice(f"{file.path}:{file.line(node)}"):
                moved.append(node)
                needed |= names
        if not moved:
            continue
        stem = f"moved{MARK}_{path.stem}" if path.stem.endswith("_test") else f"{path.stem}{MARK}"
        inside = (path.parent / "__init__.py").as_posix() in project.texts
        _Move(file, moved, f".{stem}" if inside else stem).applied(out)
        lines = {id(bound[name]): bound[name] for name in sorted(needed)}
        lines |= {id(line): line for line in bound.values() if _is_future(line)}
        ordered = sorted(lines.values(), key=lambda line: (not _is_future(line), file.line(line)))
        keep = _Keep(file)
        body = [*(line.deep_clone() for line in ordered), *(node.visit(keep) for node in moved)]
        out.put((path.parent / f"{stem}.py").as_posix(), cst.Module(body), keep.came)
    return out


def _is_free(node: cst.CSTNode, imported: set[str]) -> bool:
    """Whether a definition needs nothing but imports when it is made."""
    if not isinstance(node, cst.FunctionDef):
        return False
    at_once = [*node.decorators, node.params, *([node.returns] if node.returns is not None else [])]
    names = {part.value for root in at_once for part in walk(root) if isinstance(part, cst.Name)}
    own = {part.name.value for part in walk(node.params) if isinstance(part, cst.Param)}
    return names - own <= imported | set(dir(builtins))


def shuffled(seed: int) -> Rewrite:
    """Functions that stand together and need nothing at once, in another order."""

    def shuffle(project: Project, choice: Choice) -> Rewritten:
        out = Rewritten(project)
        rng = random.Random(seed)
        for file in project.files.values():
            keep = _Keep(file)
            module = file.module.visit(keep)
            imported = set(_top_imports(file))
            body: list[cst.CSTNode] = []
            group: list[cst.FunctionDef] = []
            for node in [*module.body, cst.SimpleStatementLine([cst.Pass()])]:
                if _is_free(node, imported):
                    assert isinstance(node, cst.FunctionDef)
                    group.append(node)
                    continue
                names = [each.name.value for each in group]
                if len(set(names)) == len(names) > 1 and choice(f"{file.path}: {' '.join(names)}"):
                    rng.shuffle(group)
                body += [*group, node]
                group = []
            module = module.with_changes(body=body[:-1])
            if module.code != file.text:
                out.put(file.path, module, keep.came)
        return out

    return shuffle


# ------------------------------------------------------------ all of them


def _by(rewriter: type[_Chosen], head: str = "") -> Rewrite:
    return lambda project, choice: _each_file(rewriter, project, choice, head)


REWRITES: dict[str, Rewrite] = {
    "shuffle-functions": shuffled(1),
    "shuffle-functions-again": shuffled(2),
    "rename-locals": rename_locals,
    "rename-helpers": rename_helpers,
    "rename-imports": rename_imports,
    "move-helpers": move_helpers,
    "extract-results": _by(_ExtractResults),
    "extract-arguments": _by(_ExtractArguments),
    "inline-results": _by(_InlineResults),
    "positional": _by(_Positional),
    "keywords": _by(_Keywords),
    "decorate": _by(_Decorate, _IDENTITY),
    "unused-parameter": _by(_Widen),
    "if-true": _by(_Nest),
}
"""What keeps the meaning, by name."""
