"""Which expressions are others at every turn of the loops around them, and how (layer: ``link``, room ``domains``).

What it does: answers for the text of an argument, given the loops: a number or string that changes, a shape that
changes. What it does not: guess. What may take only a few values (a remainder, a comparison, a written list of
variants) and what comes from unknown data counts as constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Arr, Ext, ExtInst, Func, Mod, Py, Seq, Value, alternatives
from jitlint.link.domains.compilation import formulas, gathered, listed, tokens
from jitlint.link.domains.compilation.formulas import FEW
from jitlint.link.domains.compilation.renewed import renewals, takes_in
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import HOST
from jitlint.link.tables import affine
from jitlint.link.tables.code_tables import CodeTable
from jitlint.link.values import attributes
from jitlint.syntax import ir

DEPTH: Final = 16


class Variation:
    """The loops around a place in a function. given: for its parameters, the argument and its own variation. few: so many
    values are variants, not a stream. called: the function runs anew for each value that is asked for."""

    def __init__(
        self,
        m: Machine,
        f: Frame,
        table: CodeTable,
        loops: tuple[ir.Node, ...],
        given: dict[str, tuple[Variation, ir.Expr]] | None = None,
        few: int = FEW,
        called: bool = False,
    ) -> None:
        self.m = m
        self.f = f
        self.table = table
        self.loops = loops
        self.given = given if given is not None else {}
        self.few = few
        self.called = called
        self.assigned = frozenset[str]().union(*[table.assigned(loop) for loop in loops])
        self._busy: set[str] = set()

    def of_few(self) -> Variation:
        """The same, but two values are a change."""
        given = {name: (outer.of_few(), node) for name, (outer, node) in self.given.items()}
        return Variation(self.m, self.f, self.table, self.loops, given, 1, self.called)

    def within(self, func: Func, given: dict[str, tuple[Variation, ir.Expr]]) -> Variation:
        """In a function that is called here."""
        inner = Frame(func.fn.module, func.scope, HOST)
        inner.fn = func.fn
        return Variation(self.m, inner, self.m.texts.table(inner), (), given, self.few, called=True)

    def scalar(self, node: ir.Node | None, depth: int = DEPTH) -> str:
        """How a number, string or tuple of these changes from turn to turn; "" when it does not, as far as known."""
        if depth <= 0:
            return ""
        if type(node) is ir.Name:
            return self._name(node.id, depth)
        if type(node) is ir.BinOp:
            return self._operation(node, depth)
        if type(node) is ir.UnaryOp and node.op != "not":
            return self.scalar(node.operand, depth - 1)
        if type(node) is ir.Fstr:
            return self._first([part.value for part in node.parts], depth)
        if type(node) is ir.Tuple:
            return self._first(node.elts, depth)
        if type(node) is ir.Sub:
            moves = self.scalar(node.index, depth - 1) and self.counts(node.obj)
            return "an element that is another one at every turn" if moves else ""
        if type(node) is ir.Attr:
            return self._attribute(node, depth)
        return self._number(node, depth) if type(node) is ir.Call else ""

    def _attribute(self, node: ir.Attr, depth: int) -> str:
        hows = (place.scalar(one, depth - 4) for place, one in renewals(self, node))
        return next(filter(None, hows), "")

    def _operation(self, node: ir.BinOp, depth: int) -> str:
        if node.op == "%" and type(node.left) is ir.Const and node.left.kind == "str":
            return self.scalar(node.right, depth - 1)
        sides = () if node.op in ("%", "//", "&", ">>") else (node.left, node.right)
        return self._first(sides, depth)

    def _written(self, node: ir.Node | None) -> ir.Node | None:
        """What a variable was made of before the loops, if that is one expression; anything else as it is."""
        if type(node) is not ir.Name or node.id in self.assigned:
            return node
        values = self.table.bound.get(node.id, ())
        return values[0] if len(values) == 1 else None

    def _first(self, nodes: Sequence[ir.Node], depth: int) -> str:
        return next((how for node in nodes if (how := self.scalar(node, depth - 1))), "")

    def _number(self, node: ir.Call, depth: int) -> str:
        args = [a.value for a in node.args if not a.star]
        func = node.func
        if type(func) is ir.Attr:
            if func.name == "format" and type(func.obj) is ir.Const:
                return self._first(args, depth)
            if func.name == "item" and self._is_data(func.obj):
                return "a number computed at every turn"
        name = self.dotted(func)
        if name == "builtins.len" and len(args) == 1:
            grows = self.shape(args[0], depth - 1)
            return "the length of a list that grows" if grows else ""
        if name == "builtins.float" and len(args) == 1 and self._is_data(args[0]):
            return "a number computed at every turn"
        if name in lexicon().compilation.same_number or name.startswith(
            ("math.", "numpy.float", "numpy.int")
        ):
            return self._first(args if self.few < FEW else formulas.lasting(name, args), depth)
        return "a number drawn at random" if self._draws(name, node) else formulas.scalar(self, node, depth)

    def _draws(self, name: str, node: ir.Call) -> bool:
        """Whether a call gives one of many integers by chance."""
        if not name and type(node.func) is ir.Attr:
            obj = self.static(node.func.obj)
            name = f"{obj.dotted}.{node.func.name}" if type(obj) is ExtInst else ""
        draws = name.rpartition(".")[2] in lexicon().compilation.draws
        if not draws or not name.startswith(("random.", "numpy.random.")):
            return False
        bounds = [self.number(arg.value) for arg in node.args]
        known = [b for b in bounds if b is not None]
        return len(known) < len(bounds) or not 1 <= len(known) <= 2 or known[-1] - sum(known[:-1]) > FEW

    def _is_data(self, node: ir.Node | None) -> bool:
        """Whether an expression is an array that is computed anew at every turn."""
        if type(node) is not ir.Name:
            return False
        if node.id in self.given and node.id not in self.table.bound:
            outer, given = self.given[node.id]
            return outer._is_data(given)
        if node.id not in self.assigned:
            return False
        value = scopes.lookup(self.f, node.id)
        return value is not None and all(type(alt) is Arr and not alt.host for alt in alternatives(value))

    def _name(self, name: str, depth: int) -> str:
        if name not in self.assigned:
            if name in self.given and name not in self.table.bound:
                outer, node = self.given[name]
                return outer.scalar(node, depth - 1)
            values = self.table.bound.get(name, ()) if self.called else ()
            return self.scalar(values[0], depth - 1) if len(values) == 1 else ""
        for loop in self.loops:
            found = self.target(loop, name)
            if found is not None:
                return found
        if name in self._busy:
            return ""
        self._busy.add(name)
        try:
            return self._assigned_number(name, depth)
        finally:
            self._busy.discard(name)

    def _assigned_number(self, name: str, depth: int) -> str:
        values = self._inside(name)
        for value in values:
            if type(value) is ir.AugAssign:
                if (
                    value.op in ("+", "-", "*", "/", "**")
                    and self._is_number(name, value.value)
                    and len(values) == 1
                ):
                    return f"`{name}`, which changes at every turn"
            elif value is not None and type(value) is not ir.FuncDef:
                if type(value) is ir.BinOp and self._steps(name, value) and len(values) == 1:
                    return f"`{name}`, which changes at every turn"
                how = self.scalar(value, depth - 1)
                if how:
                    return how
        return ""

    def _steps(self, name: str, node: ir.BinOp) -> bool:
        """``n = n + 1`` with a number."""
        if node.op not in ("+", "-", "*", "/"):
            return False
        sides = (node.left, node.right)
        if not any(type(side) is ir.Name and side.id == name for side in sides):
            return False
        return all(self._is_number(name, s) for s in sides if not (type(s) is ir.Name and s.id == name))

    def _is_number(self, name: str, step: ir.Node | None) -> bool:
        value = scopes.lookup(self.f, name)
        alts = alternatives(value) if value else []
        kinds = [type(a) is Py and a.kind in ("int", "float", "static") for a in alts]
        return bool(kinds) and all(kinds) and isinstance(step, (ir.Const, ir.Name, ir.Attr, ir.BinOp))

    def _inside(self, name: str) -> list[ir.Node | None]:
        """What is assigned to a name in the loops, as far as the place of the assignment is known."""
        values = self.table.bound.get(name, ())
        out = [value for value in values if value is not None and self.table.stands_in(value, self.loops)]
        return [*out, None] if self.table.otherwise_bound_in(name, self.loops) else out

    def target(self, loop: ir.Node | None, name: str) -> str | None:
        """How the target of a loop changes, None when the name is none of its targets."""
        parts = [(p.target, p.iter) for p in loop.fors] if type(loop) is ir.Comp else []
        if type(loop) is ir.For:
            parts = [(loop.target, loop.iter)]
        for target, iterable in parts:
            found = self._element(target, iterable, name)
            if found is not None:
                return found
        return None

    def _element(self, target: ir.Node, iterable: ir.Node | None, name: str) -> str | None:
        if type(target) is ir.Name:
            if target.id != name:
                return None
            return f"`{name}`, which changes at every turn" if self.counts(iterable) else ""
        if not isinstance(target, (ir.Tuple, ir.List)):
            return None
        func, args = "", list[ir.Arg]()
        if type(iterable) is ir.Call:
            func, args = self.dotted(iterable.func), iterable.args
        if func == "builtins.enumerate" and len(target.elts) == 2:
            return self._enumerated(target.elts, args[0].value if args else None, name)
        sources = [arg.value for arg in args] if func == "builtins.zip" else []
        for i, part in enumerate(target.elts):
            found = self._element(part, sources[i] if i < len(sources) else None, name)
            if found is not None:
                return found
        return None

    def _enumerated(self, targets: Sequence[ir.Node], inner: ir.Node | None, name: str) -> str | None:
        count, element = targets
        if type(count) is ir.Name and count.id == name:
            length = self._length(inner)
            return (
                "" if length is not None and length <= self.few else f"`{name}`, which changes at every turn"
            )
        found = self._element(count, inner, name)
        return self._element(element, inner, name) if found is None else found

    def counts(self, iterable: ir.Node | None) -> bool:
        """Whether an iterable gives many different numbers."""
        iterable = self._written(iterable)
        if isinstance(iterable, (ir.List, ir.Tuple)):
            return self.few < FEW and formulas.are_fractions(iterable.elts, self.few)
        if type(iterable) is not ir.Call:
            return False
        name = self.dotted(iterable.func)
        if name in ("builtins.reversed", "tqdm.tqdm", "tqdm.auto.tqdm", "builtins.iter") and iterable.args:
            return self.counts(iterable.args[0].value)
        if name in lexicon().compilation.counting:
            return True
        length = self._length(iterable)
        return name == "builtins.range" and (length is None or length > self.few)

    def _length(self, node: ir.Node | None) -> int | None:
        """The number of elements of an iterable, as far as it is written down."""
        if isinstance(node, (ir.List, ir.Tuple, ir.Set)):
            return len(node.elts)
        if type(node) is ir.Call and self.dotted(node.func) == "builtins.range":
            bounds = [self.number(arg.value) for arg in node.args]
            known = [b for b in bounds if b is not None]
            if 1 <= len(known) == len(bounds) <= 3 and (len(known) < 3 or known[2]):
                return len(range(*known))
        return None

    def number(self, node: ir.Node | None) -> int | None:
        """The integer that an expression is, when it is written down."""
        if type(node) is ir.Const:
            return node.value if type(node.value) is int else None
        if type(node) is ir.Name and node.id not in self.assigned:
            value = scopes.lookup(self.f, node.id)
            if type(value) is Py and type(value.const) is int:
                return value.const
        return None

    def dotted(self, node: ir.Node | None) -> str:
        """The canonical name of a library function, or ""."""
        value = self.static(node)
        return value.dotted if type(value) is Ext else ""

    def static(self, node: ir.Node | None) -> Value | None:
        """The value of a dotted name of a module or library, or None."""
        if type(node) is ir.Name:
            return scopes.lookup(self.f, node.id)
        if type(node) is ir.Attr:
            obj = self.static(node.obj)
            if type(obj) is Ext or type(obj) is Mod:
                return attributes.get(self.m, self.f, node.at, obj, node.name)
        return None

    def shape(self, node: ir.Node | None, depth: int = DEPTH) -> str:
        """How the shape of an array, or the structure of a container, changes from turn to turn; "" when not."""
        if depth <= 0:
            return ""
        how = _SHAPES.get(type(node))
        return "" if how is None else how(self, node, depth)

    def _combined_shape(self, node: ir.BinOp, depth: int) -> str:
        if node.op == "*" and type(node.left) is ir.List and self.scalar(node.right, depth - 1):
            return "a list whose length changes"
        if tokens.fills_up(node):
            return ""
        return self.shape(node.left, depth - 1) or self.shape(node.right, depth - 1)

    def _first_shape(self, parts: Sequence[ir.Node], depth: int) -> str:
        return next((how for part in parts if (how := self.shape(part, depth - 1))), "")

    def _dict_shape(self, node: ir.Dict, depth: int) -> str:
        if any(key is not None and self.scalar(key, depth - 1) for key in node.keys):
            return "a dict whose keys change"
        return self._first_shape(node.values, depth)

    def _comprehended_shape(self, node: ir.Comp, depth: int) -> str:
        if node.kind not in ("list", "set", "dict") or len(node.fors) != 1:
            return ""
        part = node.fors[0].iter
        return tokens.counted(self, part, depth) or self.shape(part, depth - 1)

    def varying_range(self, node: ir.Node, depth: int) -> bool:
        ranges = ("builtins.range", "numpy.arange", "jax.numpy.arange")
        if type(node) is not ir.Call or not node.args or self.dotted(node.func) not in ranges:
            return False
        bounds = [arg.value for arg in node.args]
        lo, hi = (None, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
        return self._extent(lo, hi, depth)

    def _named_shape(self, name: str, depth: int) -> str:
        if name in self.given and name not in self.table.bound:
            outer, node = self.given[name]
            return outer.shape(node, depth - 1)
        if name in self._busy:
            return ""
        values = self._inside(name) if name in self.assigned else []
        older = all(self.target(loop, name) is None for loop in self.loops)
        if not values:
            return self._made_before(name, older, depth) or listed.shape(self, name, depth)
        if None in values:
            return ""
        self._busy.add(name)
        try:
            hows = [
                (older and self._grown(name, value)) or self.shape(_right(value), depth - 1)
                for value in values
            ]
        finally:
            self._busy.discard(name)
        return hows[0] if all(hows) else ""

    def _made_before(self, name: str, older: bool, depth: int) -> str:
        """How the shape of a variable changes that no loop here sets: of a list that grows, or in a function that is called in each
        turn. older: none of the loops goes through it."""
        if older and self._list_grows(name):
            return f"`{name}`, a list that grows"
        made = self.table.bound.get(name, ()) if self.called and not self.loops else ()
        return self.shape(made[0], depth - 1) if len(made) == 1 else ""

    def _list_grows(self, name: str) -> bool:
        """Whether a list from before the loop gets elements in it and loses none."""
        value = scopes.lookup(self.f, name)
        if type(value) is not Seq or value.kind != "list":
            return False
        grows = False
        for call in self.table.calls.values():
            func = call.func
            if type(func) is ir.Attr and type(func.obj) is ir.Name and func.obj.id == name:
                if func.name in lexicon().containers.shrinking:
                    return False
                grows = grows or (
                    func.name in lexicon().containers.growing
                    and self.table.call_stands_in(call, self.loops[-1:])
                )
        return grows

    def _attribute_shape(self, node: ir.Attr, depth: int) -> str:
        if gathered.grows(self, node):
            return f"`{node.name}`, a list that grows"
        return f"`{node.name}`, an array that grows" if takes_in(self, node) else ""

    def _grown(self, name: str, value: ir.Node | None) -> str:
        """``h = jnp.concatenate([h, x])``, ``xs += [x]``: an array or list that takes itself in."""
        if type(value) is ir.AugAssign:
            display = isinstance(value.value, (ir.List, ir.Tuple)) and value.op == "+"
            return f"`{name}`, a list that grows" if display else ""
        if type(value) is ir.BinOp and value.op == "+":
            return f"`{name}`, a list that grows" if formulas.adds_to(name, (value.left, value.right)) else ""
        if type(value) is ir.Call and value.args and self.joins(value):
            first = value.args[0].value
            parts: list[ir.Expr] = first.elts if isinstance(first, (ir.List, ir.Tuple)) else [first]
            return f"`{name}`, an array that grows" if any(_is(name, part) for part in parts) else ""
        return ""

    def joins(self, call: ir.Call) -> bool:
        api = self.dotted(call.func)
        return (
            api.startswith(("jax.numpy.", "numpy."))
            and api.rpartition(".")[2] in lexicon().compilation.growing
        )

    def _subscript(self, node: ir.Sub, depth: int) -> str:
        indices: list[ir.Expr] = node.index.elts if type(node.index) is ir.Tuple else [node.index]
        fixed = False
        for index in indices:
            if type(index) is not ir.Slice:
                continue
            if self._extent(index.lo, index.hi, depth) or (index.step and self.scalar(index.step, depth - 1)):
                return "a slice whose length changes"
            fixed = fixed or index.hi is not None or _negative(index.lo)
        whole = not indices or type(indices[0]) is ir.Slice or tokens.is_new_axis(indices[0])
        return "" if fixed or not whole else self.shape(node.obj, depth - 1)

    def _extent(self, lo: ir.Node | None, hi: ir.Node | None, depth: int) -> bool:
        """Whether the distance between two bounds changes from turn to turn."""
        if hi is None:
            return (
                lo is not None
                and not _negative(lo)
                and bool(self._sum_changes(affine.parse(lo, self._value), depth))
            )
        high = affine.parse(hi, self._value)
        low = affine.parse(lo, self._value) if lo is not None else {}
        if high is None or low is None:
            return (
                type(hi) is ir.Call
                and type(lo) in (type(None), ir.Const)
                and bool(self.scalar(hi, depth - 1))
            )
        return bool(self._sum_changes(affine.minus(high, low), depth))

    def _value(self, name: str) -> ir.Node | None:
        """The expression that a name stands for during a turn, when it is assigned once."""
        values = self._inside(name) if name in self.assigned else []
        return values[0] if len(values) == 1 and isinstance(values[0], (ir.BinOp, ir.Name, ir.Attr)) else None

    def _sum_changes(self, total: affine.Sum | None, depth: int) -> str:
        if total is None:
            return ""
        names = {name for term in total for name in term if "." not in name}
        return next((how for name in sorted(names) if (how := self._name(name, depth - 1))), "")

    def _made(self, node: ir.Call, depth: int) -> str:
        args = [a.value for a in node.args if not a.star and a.name is None]
        if type(node.func) is ir.Attr and node.func.name in lexicon().compilation.same_shape:
            return self.shape(node.func.obj, depth - 1)
        api = self.dotted(node.func)
        name = api.rpartition(".")[2]
        if api in ("builtins.list", "builtins.tuple", "jax.device_put") and args:
            return self.shape(args[0], depth - 1) or tokens.counted(self, args[0], depth)
        if api.startswith("jax.random.") and name not in ("split", "key", "PRNGKey", "fold_in"):
            wanted = formulas.argument(node, args, 1, "shape")
            return self._wanted(wanted, depth) if type(wanted) is ir.Tuple else ""
        if api.startswith(("jax.numpy.", "numpy.")):
            return self._made_by_numpy(node, name, args, depth)
        return tokens.shape(self, node, depth)

    def _made_by_numpy(self, node: ir.Call, name: str, args: Sequence[ir.Node], depth: int) -> str:
        compilation = lexicon().compilation
        if name == "arange":
            return "a length that changes" if self.varying_range(node, depth) else ""
        if name in compilation.makers:
            place, keyword = compilation.makers[name]
            return self._wanted(formulas.argument(node, args, int(place), keyword), depth)
        return self.shape(args[0], depth - 1) if name in compilation.joining and args else ""

    def _wanted(self, shape: ir.Node | None, depth: int) -> str:
        """A shape that is asked for."""
        return "a shape that changes" if shape is not None and self.scalar(shape, depth - 1) else ""


def _is(name: str, node: ir.Node | None) -> bool:
    return type(node) is ir.Name and node.id == name


def _right(value: ir.Node | None) -> ir.Node | None:
    return value.value if isinstance(value, (ir.AugAssign, ir.AnnAssign)) else value


def _negative(node: ir.Node | None) -> bool:
    return type(node) is ir.UnaryOp and node.op == "-"


_SHAPES: Final[dict[type, Callable[[Variation, Any, int], str]]] = {
    ir.Name: lambda self, node, depth: self._named_shape(node.id, depth),
    ir.Attr: Variation._attribute_shape,
    ir.Sub: Variation._subscript,
    ir.Call: Variation._made,
    ir.BinOp: Variation._combined_shape,
    ir.List: lambda self, node, depth: self._first_shape(node.elts, depth),
    ir.Tuple: lambda self, node, depth: self._first_shape(node.elts, depth),
    ir.Dict: Variation._dict_shape,
    ir.Comp: Variation._comprehended_shape,
}
