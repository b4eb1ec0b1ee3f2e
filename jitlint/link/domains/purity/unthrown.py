"""Errors of checks that nobody looks at (layer: ``link``, room ``domains``).

``_, out = checkify.checkify(f)(x)``: a check that fails gives an error as a result, and nothing else happens. What it does: reads what the
statement of the call binds. What it does not: speak of tests, of what is not compiled, which compiled code may call to be rid of its
checks, of what is handed on as a whole, or of code that looks at another such error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DroppedUpdate
from jitlint.infer.values import Value, Xform
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import code_of, last_name
from jitlint.syntax import ir

_CHECKIFY: Final = "jax.experimental.checkify.checkify"
_JIT: Final = "jax.jit"
_LOOKING: Final = frozenset({"throw", "check_error", "get_exception"})


def called(m: Machine, f: Frame, transformed: Transformed) -> None:
    """A transformed function has run."""
    if f.world.level or f.module.is_test:
        return
    if not {x.spec.name for x in _around(transformed.x)} >= {_CHECKIFY, _JIT}:
        return
    pair = surroundings.bound_pair(f, transformed.at)
    error = pair[0].elts[0] if pair is not None and not naming.is_benchmark(f.module.path) else None
    if type(error) is ir.Name and _is_never_read(code_of(f.module, f.fn), error.id):
        m.emit(f, DroppedUpdate, transformed.at, None, Confidence.LIKELY, what=_CHECKIFY, unread=error.id)


def _is_never_read(code: Sequence[ir.Node], name: str) -> bool:
    """Whether nothing reads an error, nor looks at any other."""
    looks = any(type(part) is ir.Call and last_name(part.func) in _LOOKING for part in code)
    mentions = [part for part in code if type(part) is ir.Name and part.id == name]
    return not looks and (name == "_" or len(mentions) == 1)


def _around(x: Xform) -> Iterator[Xform]:
    """A transform, and those in it."""
    inner: Value = x
    while type(inner) is Xform:
        yield inner
        inner = inner.target
