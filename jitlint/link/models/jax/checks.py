"""Checks at run time, which `checkify` makes results of (layer: ``link``, room ``models``).

What it does: says where a check is compiled, with nothing around that makes a result of it, and where a text is filled with
what is no array. What it does not: speak of functions whose callers may be anybody: one of them may know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from jitlint.infer.events import ApiMisuse, TransformMisuse
from jitlint.infer.places import Step
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import NO_CONST, NONE, TRUE, Py, S, Value
from jitlint.link.engine import hosts, scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import CHECKED
from jitlint.link.models.jax.xforms import CALLED, RUN
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values import pytrees
from jitlint.syntax import ir
from jitlint.syntax.children import below

CHECK: Final = "jax.experimental.checkify.check"
CHECK_ERROR: Final = "jax.experimental.checkify.check_error"
_CATCHING: Final = "checkify"


def check(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A check: what is put into its text comes as arrays."""
    given = {str(i): value for i, value in enumerate(args.pos[2:], 1)} | args.kw
    for name, value in given.items():
        plain = type(value) is Py and value.kind in (*pytrees.NUMBERS, "str") and value.const is not NO_CONST
        if plain and name not in ("pred", "msg", "debug"):
            m.emit(
                f, ApiMisuse, at, api="checkify.check", problem="wrong-call", parameter=name, detail="filled",
                exception="TypeError",
            )  # fmt: skip
            return NONE
    if args.kw_more is None and args.kw.get("debug") is None:
        _look_around(m, f, at, CHECK)
    return NONE


def debug_check(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A check that is dropped where nobody makes a result of it."""
    return check(m, f, at, Args(args.pos, {**args.kw, "debug": TRUE}, args.more, args.kw_more))


def check_error(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """What an error says is checked, as if it was found here."""
    _look_around(m, f, at, CHECK_ERROR)
    return NONE


def _look_around(m: Machine, f: Frame, at: int, api: str) -> None:
    w = f.world
    if not w.here & S or w.modes & CHECKED or w.looks or m.guards:
        return
    called = next((step for step in f.steps[:2] if step.message == CALLED or RUN in step.message), None)
    if called is not None:
        check = Step(f.module.name, at, f"`{api}` runs here")
        m.emit(
            scopes.in_world(f, w, (*f.steps, check)), TransformMisuse, called.at, where=(called.module, f.qualname),
            when=() if _starts(m, called) else (_Unchecked(m, called),),
            transform=api, problem="no-rule", parameter="", detail="S",
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Unchecked:
    """It holds if the program makes the call, and nothing in it makes results of checks."""

    m: Machine
    call: Step

    def holds(self, found: Found) -> bool:
        """Whether nobody can have caught what the check finds."""
        code = (node for module in self.m.modules.values() for nodes in module.code() for node in nodes)
        return hosts.are_made(self.m, self.call) and not any(
            type(node) is ir.Call and last_name(node.func) == _CATCHING for node in code
        )


def _starts(m: Machine, call: Step) -> bool:
    """Whether a call stands in the code of a module, or of a function of it that takes nothing: what starts there has nothing
    around. What may fail there, and somebody waits for it, is another thing."""
    info = m.modules[call.module]
    bodies = [fn.body for fn in info.functions if _takes_nothing(fn)]
    return any(_has(body, call.at) for body in (info.tree.body, *bodies))


def _takes_nothing(fn: FuncInfo) -> bool:
    node = fn.node
    return not (node.params or node.decorators or node.is_lambda) and fn.qualname == fn.name


def _has(body: list[ir.Stmt], at: int) -> bool:
    nodes = below([stmt for stmt in body if type(stmt) is not ir.Try])
    return any(type(node) is ir.Call and node.at == at for node in nodes)
