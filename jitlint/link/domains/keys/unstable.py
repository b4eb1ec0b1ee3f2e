"""Keys that are made of what Python says of an object in this process only (layer: ``link``, room ``domains``).

``jax.random.fold_in(key, hash(name))``: the hash of a text is another one in each process, and so is the place of an object in memory. What
it does: looks for `hash` and `id` in what a key is made of. What it does not: speak of hashes of numbers, which stay the same,
or of anything that is not known to be a text.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import UnstableSeed
from jitlint.infer.values import Py, Seq, Tup, Value
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import bound_once
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_HASH: Final = "builtins.hash"
_PLACE: Final = "builtins.id"
_NUMBERS: Final = {"jax.random.key": 0, "jax.random.PRNGKey": 0, "jax.random.fold_in": 1}
"""Which argument is a number."""
_TEXTS: Final = ("str", "bytes")


def check(m: Machine, f: Frame, at: int, api: str) -> None:
    """A key is made of a number, or a number is folded into one."""
    place = _NUMBERS.get(api)
    call = m.texts.table(f).calls.get(at) if place is not None and not f.module.is_test else None
    given = [arg.value for arg in call.args[place:] if arg.name is None] if call is not None else []
    for part in below([bound_once.written(f.fn, given[0])]) if given else ():
        if type(part) is ir.Call and type(part.func) is ir.Name and _is_unstable(m, f, part):
            m.emit(f, UnstableSeed, at, None, Confidence.LIKELY, api=api, of=part.func.id)


def _is_unstable(m: Machine, f: Frame, call: ir.Call) -> bool:
    """Whether a call gives the place of an object in memory, or the hash of a text."""
    dotted = paths.dotted(m, f, call.func) if len(call.args) == 1 else ""
    return dotted == _PLACE or (dotted == _HASH and _has_text(evaluator.evaluate(m, f, call.args[0].value)))


def _has_text(value: Value) -> bool:
    """Whether a value certainly is a text, or a tuple with one."""
    if isinstance(value, (Tup, Seq)):
        return any(map(_has_text, value.items or ()))
    return type(value) is Py and value.kind in _TEXTS
