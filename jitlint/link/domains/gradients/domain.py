"""Derivatives that are not finite although the value is (layer: ``link``, room ``domains``).

``jnp.where(x > 0, jnp.log(x), 0.0)``: the value is right for each ``x``, and the gradient is NaN where ``x`` is 0, as 0
times infinity is. What it does: finds such choices under a derivative in reverse mode, roots that are bounded only after they
are taken and roots of what is certainly zero somewhere, marks what they give, and tells of those whose mark the
differentiated function returns. What it does not: find other zeros.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import NanGradient
from jitlint.infer.lattice import traced_modes
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import BACK, HOLE, Arr, Func, L, Py, Tup, Value
from jitlint.link.domains.gradients import apart, bounded, edges, overflow, powers, singular, squared
from jitlint.link.domains.gradients.spelling import Code, Hole
from jitlint.link.engine.domain import Library, Transformed
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.gathering import Gathering
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import OWN
from jitlint.link.tables.results import only_returned
from jitlint.link.values import iteration, paths, pytrees
from jitlint.syntax import ir

Choice = tuple[str, int]
"""Module and origin of a call that chooses."""

_CHOICES: Final = Slot[frozenset[Choice]]()
_DEPTH: Final = 8


class Gradients(Gathering[Choice]):
    """Knows which choices a differentiated function returns."""

    slot = _CHOICES
    keeps = frozenset({_CHOICES})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._returned: set[Choice] = set()
        self._holes: dict[tuple[Choice, apart.Meeting], Hole | None] = {}
        self._meetings: dict[FuncInfo, apart.Meeting] = {}
        self._spread: dict[tuple[FuncInfo, int, FuncInfo], apart.Spread] = {}

    def hears_of(self, dotted: str) -> bool:
        """What chooses between two values, or which numbers it puts together, and roots."""
        words = lexicon().gradients
        at_edge = dotted.startswith("jax.") and dotted.rpartition(".")[2] in words.edges
        known = dotted in words.choosing or dotted in words.bounding or _is_reduction(dotted)
        return known or _is_root(dotted) or at_edge

    def on_bind(self, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> None:
        """One array may be given to two parameters."""
        if f.world.modes & BACK and bound:
            meeting = self._meeting(f, at, func, bound)
            if any(meeting) or func.fn in self._meetings:
                self._meetings[func.fn] = meeting

    def _meeting(self, f: Frame, at: int, func: Func, bound: dict[str, Value]) -> apart.Meeting:
        call = self.m.texts.table(f).calls.get(at)
        if call is None or f.fn is None:
            return apart.Meeting()
        place = (f.fn, at, func.fn)
        if place not in self._spread:
            self._spread[place] = apart.spread_arguments(f.fn, func.fn, call)
        around = self._meetings.get(f.fn, apart.Meeting())
        return apart.given(self.m, f, call, self._spread[place], bound, around)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A choice is made under a derivative."""
        if f.world.modes & OWN or not f.world.modes & BACK or not _may_hide(library):
            return None
        choice = (f.module.name, library.at)
        meeting = self._meetings.get(f.fn, apart.Meeting()) if f.fn is not None else apart.Meeting()
        if (choice, meeting) not in self._holes:
            self._holes[choice, meeting] = self._hole(f, library, meeting)
        hole = self._holes[choice, meeting]
        values = [paths.peek(self.m, f, name) for name in hole.names] if hole is not None else []
        traced = next((v for v in values if v is not None and traced_modes(v) & L), None)
        if hole is None or traced is None:
            return None
        self.note(f, frozenset({choice}))
        self.m.emit(
            f, NanGradient, hole.at, traced, when=(_Returned(self._returned, choice),),
            operation=hole.operation, argument=hole.argument, large=hole.large, below=hole.below,
            choice=_hides(library.dotted, hole), edge=bool(hole.edge),
        )  # fmt: skip
        return pytrees.remode(library.result, lambda modes: modes | HOLE if modes & L else modes)

    def _hole(self, f: Frame, library: Library, meeting: apart.Meeting) -> Hole | None:
        """What has no derivative at zero, or overflows, and is taken there."""
        call = self.m.texts.table(f).calls.get(library.at)
        if f.fn is None or call is None:
            return None
        words, code = lexicon().gradients, _code(self.m, f, f.fn)
        if library.dotted in words.choosing or _is_reduction(library.dotted):
            return singular.hole(code, call) or powers.hole(code, call) or overflow.hole(f.fn.parts, call)
        if library.dotted in words.bounding:
            return bounded.hole(code, f.fn, call)
        found = apart.hole(self.m, f, f.fn, call, meeting) if _is_root(library.dotted) else None
        return found or edges.hole(code, call) or squared.hole(code, call)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A differentiated function has returned: what it gives beside the value has no derivative."""
        x = transformed.x
        found = _CHOICES.of(transformed.inner)
        if not found or x.spec.result not in ("grad", "value_and_grad", "jacobian"):
            return
        aux = x.options.get("has_aux")
        if type(aux) is Py and aux.const is True:
            items = iteration.known_items(result) if type(result) is Tup else None
            if not items:
                return
            result = items[0]
        if traced_modes(result, _DEPTH) & HOLE:
            self._returned |= found


def _code(m: Machine, f: Frame | None, fn: FuncInfo) -> Code:
    """The code of a function, of which an activation may be at hand."""

    def called(call: ir.Call) -> tuple[Code, ir.Node] | None:
        name = call.func
        known = fn.module.scope.vars.get(name.id) if type(name) is ir.Name and f is None else None
        callee = known if f is None else paths.peek(m, f, name)
        if type(callee) is not Func or callee.fn.node.is_generator:
            return None
        returned = only_returned(callee.fn.parts)
        return None if returned is None else (_code(m, None, callee.fn), returned)

    def constant(node: ir.Node) -> float | None:
        known = paths.peek(m, f, node) if f is not None and isinstance(node, (ir.Name, ir.Attr)) else None
        number = known.const if type(known) is Py else None
        return float(number) if isinstance(number, (int, float)) else None

    def traced(node: ir.Node) -> bool:
        known = paths.peek(m, f, node) if f is not None and isinstance(node, (ir.Name, ir.Attr)) else None
        return type(known) is Arr and bool(known.modes) and known.dtype == "float"

    return Code(fn.parts, called, constant, traced)


def _hides(dotted: str, hole: Hole) -> str:
    """The function that keeps the value finite, or its argument that does, "" if none does."""
    if _is_reduction(dotted):
        return singular.CONDITION
    return hole.edge or ("" if _is_root(dotted) else dotted.rpartition(".")[2])


def _may_hide(library: Library) -> bool:
    """Whether what a library gives has a derivative, and, of a reduction, whether that has a condition."""
    plain = _is_reduction(library.dotted) and singular.CONDITION not in library.args.kw
    return not plain and bool(traced_modes(library.result) & L)


def _is_reduction(dotted: str) -> bool:
    return dotted.startswith("jax.") and dotted.rpartition(".")[2] in lexicon().gradients.reducing


def _is_root(dotted: str) -> bool:
    return dotted.startswith("jax.") and dotted.rpartition(".")[2] in lexicon().gradients.roots


class _Returned:
    """What a choice gives is a part of what is differentiated."""

    def __init__(self, returned: set[Choice], choice: Choice) -> None:
        self._returned = returned
        self._choice = choice

    def holds(self, found: Found) -> bool:
        """Whether some differentiated function returns it."""
        return self._choice in self._returned
