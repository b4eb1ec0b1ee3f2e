"""Checks at run time, which `checkify` makes results of (layer: ``link``, room ``models``).

What it does: says where a check is compiled, with nothing around that makes a result of it, and where a text is filled with
what is no array. What it does not: speak of functions whose callers may be anybody: one of them may know.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.transforms import Wrap
from jitlint.infer.events import ApiMisuse, Step, TransformMisuse
from jitlint.infer.values import NO_CONST, NONE, TRUE, Py, S, Value
from jitlint.link.engine import scopes
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.world import BARE, CHECKED
from jitlint.link.values import pytrees

CHECK: Final = "jax.experimental.checkify.check"
CHECK_ERROR: Final = "jax.experimental.checkify.check_error"


def marks(m: Machine, f: Frame, spec: Wrap | None = None, called: bool = True) -> int:
    """The marks of a transform that is entered here: whether checks in it become results, or certainly do not. called: by known
    code."""
    if spec is not None and spec.result == "checkify":
        return CHECKED
    if not (called and m.checks) or f.world.level or f.steps or f.world.excused or m.guards:
        return 0
    return BARE if f.caught is None and _is_called_by_nobody(f) else 0


def _is_called_by_nobody(f: Frame) -> bool:
    """Whether this is the code of a module, or a function of it that takes nothing: what starts there has nothing around."""
    if f.fn is None:
        return True
    node, outer = f.fn.node, f.scope.parent
    plain = not node.params and not node.decorators and not node.is_lambda
    return plain and f.owner is None and outer is not None and outer.fn is None


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
    if w.here & S and w.modes & BARE and not w.modes & CHECKED and not w.looks:
        called = f.steps[1 if f.steps[0].because != f.steps[1].because else 0] if f.steps[1:] else f.steps[0]
        check = Step(f.module.name, at, f"`{api}` runs here")
        m.emit(
            scopes.in_world(f, w, (*f.steps, check)), TransformMisuse, called.at, where=(called.module, f.qualname),
            transform=api, problem="no-rule", parameter="", detail="S",
        )  # fmt: skip
