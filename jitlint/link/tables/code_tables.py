"""What the text of one function says about names, calls and loops, without any values (layer: ``link``, room ``tables``).

Questions about wasted compilation are about places: is this jit written inside that loop, is the name it is bound to
used for anything but calls. A table is made when the first such question about a function is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from jitlint.infer.program import ModuleInfo
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import children, ir

LOOPS: Final = (ir.For, ir.While)
_BLOCKS: Final = ("body", "orelse", "final")
_JAX_LOOPS: Final = ("scan", "fori_loop", "while_loop")


class CodeTable:
    """One function or module body.

    calls: the calls by origin. bound: what is assigned to each name, a value node, a definition, or None for what is
    no plain assignment. around: the compound statements around each statement, outermost first, each with the block
    that holds it. unpacked: names in a tuple of targets, with the value and their place in it. escaping: names that are used for more than being called. returned: names that are returned.
    """

    def __init__(self, module: ModuleInfo, body: Sequence[ir.Node]) -> None:
        self.module = module
        self.body = body
        self.calls: dict[int, ir.Call] = {}
        self.bound: dict[str, list[Any]] = {}
        self.around: dict[int, tuple[tuple[ir.Node, list[ir.Stmt]], ...]] = {}
        self.escaping: set[str] = set()
        self.returned: set[str] = set()
        self.called: dict[str, int] = {}
        self.unpacked: dict[str, tuple[ir.Node | None, int]] = {}
        self._current = 0
        self._other: dict[str, list[int]] = {}
        self._statement_of: dict[int, int] = {}
        self._names: dict[int, frozenset[str]] = {}
        self._of_choice: frozenset[int] | None = None
        self._statements(body, ())

    def _statements(self, block: Sequence[ir.Node], outer: tuple[tuple[ir.Node, list[ir.Stmt]], ...]) -> None:
        for node in block:
            self.around[node.at] = outer
            self._current = node.at
            self._statement(node)
            for name in _BLOCKS:
                inner = getattr(node, name, None)
                if inner and type(node) is not ir.ClassDef:
                    self._statements(inner, (*outer, (node, inner)))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                self._statements(part.body, (*outer, (node, part.body)))

    def _statement(self, node: ir.Node) -> None:
        _STATEMENTS.get(type(node), CodeTable._other_statement)(self, node)

    def _assign(self, node: ir.Assign) -> None:
        single = len(node.targets) == 1
        for target in node.targets:
            self._bind(target, node.value if single and type(target) is ir.Name else None)
            if isinstance(target, (ir.Tuple, ir.List)):
                for i, part in enumerate(target.elts):
                    if type(part) is ir.Name:
                        self.unpacked[part.id] = (node.value, i)
            self._parts(target)
        if not single and type(node.value) is ir.Call:
            self.escaping |= {n.id for n in node.targets if type(n) is ir.Name}
        self._expression(node.value)

    def _return(self, node: ir.Return) -> None:
        if type(node.value) is ir.Name:
            self.returned.add(node.value.id)
        else:
            self._expression(node.value)

    def _definition(self, node: ir.FuncDef) -> None:
        self.bound.setdefault(node.name, []).append(node)
        self._statement_of[id(node)] = self._current
        self._function(node.function)

    def _class(self, node: ir.ClassDef) -> None:
        self.bound.setdefault(node.name, []).append(None)
        self.escaping |= _names(node)

    def _augmented(self, node: ir.AugAssign) -> None:
        self._bind(node.target, node)
        self._expression(node.target)
        self._expression(node.value)

    def _with(self, node: ir.With) -> None:
        for item in node.items:
            self._expression(item.value)
            if item.target is not None:
                self._bind(item.target, None)

    def _other_statement(self, node: ir.Node) -> None:
        for name in node.__struct_fields__:
            if name in _BLOCKS or name in ("handlers", "cases", "annotation"):
                continue
            part = getattr(node, name)
            if name == "target" and part is not None:
                self._bind(part, node if type(node) is ir.AnnAssign else None)
                self._parts(part)
            else:
                self._expression(part)

    def _bind(self, target: ir.Node | None, value: ir.Node | None) -> None:
        if type(target) is ir.Name:
            self.bound.setdefault(target.id, []).append(value)
            if value is None:
                self._other.setdefault(target.id, []).append(self._current)
            else:
                self._statement_of[id(value)] = self._current
        elif isinstance(target, (ir.Tuple, ir.List)):
            for part in target.elts:
                self._bind(part, None)
        elif type(target) is ir.Starred:
            self._bind(target.value, None)

    def _parts(self, target: ir.Node | None) -> None:
        """Names that a target reads: the object of an attribute, the index of an element."""
        if isinstance(target, (ir.Attr, ir.Sub)):
            self._expression(target)

    def _function(self, index: int) -> None:
        fn = self.module.functions[index].node
        for part in (*fn.decorators, *(p.default for p in fn.params)):
            if part is not None:
                self._expression(part)
        self.escaping |= names_below(self.module, index)

    def _expression(self, node: msgspec.Struct | Sequence[msgspec.Struct] | None) -> None:
        if type(node) is ir.Name:
            self.escaping.add(node.id)
        elif type(node) is ir.Call:
            self.calls[node.at] = node
            self._statement_of[id(node)] = self._current
            func = node.func
            if type(func) is ir.Name:
                self.called[func.id] = self.called.get(func.id, 0) + 1
            elif not (type(func) is ir.Attr and type(func.obj) is ir.Name):
                self._expression(func)
            for arg in node.args:
                self._expression(arg.value)
        elif type(node) is ir.Lambda:
            self._function(node.function)
        elif type(node) is ir.Walrus:
            self._bind(ir.Name(node.at, node.target), None)
            self._expression(node.value)
        elif isinstance(node, list):
            for part in node:
                self._expression(part)
        elif isinstance(node, msgspec.Struct):
            for name in node.__struct_fields__:
                part = getattr(node, name)
                if not isinstance(part, (str, int, float)) and part is not None:
                    self._expression(part)

    def assigned(self, loop: ir.Node) -> frozenset[str]:
        """The names that a loop or comprehension binds, its targets included."""
        found = self._names.get(loop.at)
        if found is None:
            found = self._names[loop.at] = frozenset(_assigned(loop))
        return found

    def loops_of_choice(self) -> frozenset[int]:
        """The loops in a branch of an ``if``, where other code has one of JAX's: whoever calls decides what is unrolled."""
        if self._of_choice is None:
            parts = children.below(list(self.body))
            jax = {n.at for n in parts if type(n) is ir.Call and last_name(n.func) in _JAX_LOOPS}
            found: set[int] = set()
            for node in parts if jax else ():
                for block in (node.body, node.orelse) if type(node) is ir.If else ():
                    inside = children.below(block)
                    if not jax.issubset([n.at for n in inside if type(n) is ir.Call]):
                        found.update([n.at for n in inside if type(n) is ir.For])
            self._of_choice = frozenset(found)
        return self._of_choice

    def maker(self, at: int) -> ir.Node | None:
        """The call or decorated definition that made a value at an origin, or None."""
        call = self.calls.get(at)
        if call is not None:
            return call
        for values in self.bound.values():
            for value in values:
                if type(value) is ir.FuncDef:
                    node = self.module.functions[value.function].node
                    if node.at == at or any(d.at == at for d in node.decorators):
                        return value
        return None

    def runs_once(self, loop: ir.Node | None, statement: int) -> bool:
        """Whether the loop is left in the very turn in which the statement runs."""
        for owner, block in self.around.get(statement, ()):
            inside = owner is loop or self._within(owner, loop)
            if inside and isinstance(block[-1], (ir.Break, ir.Return, ir.Raise)):
                return True
        return False

    def stands_in(self, node: ir.Node | None, loops: tuple[ir.Node, ...]) -> bool:
        """Whether a value that is assigned to a name, or a definition, is assigned in one of the loops."""
        found = self._statement_of.get(id(node))
        if found is None:
            return False
        return any(owner is loop for owner, _ in self.around[found] for loop in loops)

    def otherwise_bound_in(self, name: str, loops: tuple[ir.Node, ...]) -> bool:
        """Whether one of the loops binds a name by more than a plain assignment."""
        places = self._other.get(name, ())
        return any(owner is loop for at in places for owner, _ in self.around[at] for loop in loops)

    def call_stands_in(self, call: ir.Call, loops: tuple[ir.Node, ...]) -> bool:
        """Whether a call is written in one of the loops."""
        found = self._statement_of.get(id(call))
        return found is not None and any(owner is loop for owner, _ in self.around[found] for loop in loops)

    def excludes(self, call: ir.Call, later: ir.Call) -> bool:
        """Whether one run reaches only one of two calls: they stand on two sides of a choice, or the first one's side leaves."""
        found = [self._statement_of.get(id(one)) for one in (call, later)]
        if None in found:
            return False
        first, second = ([pair for pair in self.around[at or 0] if _is_choice(pair[0])] for at in found)
        sides = {id(owner): block for owner, block in second}
        for owner, block in first:
            other = sides.get(id(owner))
            if other is None and isinstance(block[-1], (ir.Return, ir.Raise)):
                return True
            if other is not None and other is not block:
                return True
        return False

    def _within(self, node: ir.Node, loop: ir.Node | None) -> bool:
        return any(owner is loop for owner, _ in self.around.get(node.at, ()))

    def mentions_through(self, node: ir.Node | None, names: frozenset[str]) -> frozenset[str]:
        """Which of the names an expression depends on; functions among them stand for what they mention."""
        found: set[str] = set()
        seen: set[str] = set()
        todo = set(self.mentions(node) & names)
        while todo:
            name = todo.pop()
            seen.add(name)
            values = self.bound.get(name, [])
            functions = [v for v in values if isinstance(v, (ir.FuncDef, ir.Lambda))]
            if values and len(functions) == len(values):
                for value in functions:
                    todo |= (names_below(self.module, value.function) & names) - seen
            else:
                found.add(name)
        return frozenset(found)

    def mentions(self, node: ir.Node | None) -> frozenset[str]:
        """The names that an expression or definition mentions, functions written in it included."""
        return frozenset(_mentioned(self.module, children.below(node)))


_STATEMENTS: Final[dict[type, Callable[[CodeTable, Any], None]]] = {
    ir.Assign: CodeTable._assign,
    ir.Return: CodeTable._return,
    ir.FuncDef: CodeTable._definition,
    ir.ClassDef: CodeTable._class,
    ir.AugAssign: CodeTable._augmented,
    ir.With: CodeTable._with,
}


def _names(node: ir.Node | None) -> set[str]:
    return {part.id for part in children.below(node) if isinstance(part, ir.Name)}


def _mentioned(module: ModuleInfo, parts: list[ir.Node]) -> set[str]:
    """The names among nodes, and those that functions written there take from outside."""
    found: set[str] = set()
    for part in parts:
        if type(part) is ir.Name:
            found.add(part.id)
        elif type(part) is ir.Lambda or type(part) is ir.FuncDef:
            found |= names_below(module, part.function)
    return found


def names_below(module: ModuleInfo, index: int) -> set[str]:
    """The names that a function takes from outside: those it mentions and does not bind."""
    fn = module.functions[index]
    outside = _mentioned(module, fn.parts) - set(fn.node.local_names)
    for part in (*fn.node.decorators, *(p.default for p in fn.node.params)):
        if part is not None:
            outside |= _names(part)
    return outside


def _assigned(loop: ir.Node | None) -> set[str]:
    found: set[str] = set()
    stack: list[ir.Node | None] = [part.target for part in loop.fors] if type(loop) is ir.Comp else [loop]
    while stack:
        node = stack.pop()
        if type(node) is ir.Name:
            found.add(node.id)  # only reached as a target
        elif isinstance(node, (ir.FuncDef, ir.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ir.Tuple, ir.List)):
            stack.extend(node.elts)
        elif type(node) is ir.Starred:
            stack.append(node.value)
        elif type(node) is ir.Assign:
            stack.extend(node.targets)
        elif isinstance(node, (ir.AugAssign, ir.AnnAssign)):
            stack.append(node.target)
        elif isinstance(node, (ir.For, ir.While, ir.If, ir.Try, ir.With, ir.Match)):
            stack += _bound_by_header(node)
            for name in _BLOCKS:
                stack.extend(getattr(node, name, ()))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                stack.extend(part.body)
    return found


def _bound_by_header(node: ir.Node) -> list[ir.Node | None]:
    if type(node) is ir.With:
        return [item.target for item in node.items]
    return [node.target] if type(node) is ir.For else []


def _is_choice(node: ir.Node) -> bool:
    return isinstance(node, (ir.If, ir.Match))
