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
from jitlint.link.domains.keys.ledger import Ledger
from jitlint.link.engine import evaluator
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import bound_once
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

_HASH: Final = "builtins.hash"
_PLACE: Final = "builtins.id"
_TEXTS: Final = ("str", "bytes")


def check(k: Ledger, f: Frame, at: int, api: str, place: int) -> None:
    """A key is made. place: the position of the argument that is a number."""
    call = k.m.texts.table(f).calls.get(at)
    given = [arg.value for arg in call.args if arg.name is None] if call is not None else []
    number = bound_once.written(f.fn, given[place]) if place < len(given) else None
    for part in below([number]) if number is not None and not f.module.is_test else ():
        if type(part) is ir.Call and len(part.args) == 1 and type(part.func) is ir.Name:
            of = paths.dotted(k.m, f, part.func)
            if of == _PLACE or (of == _HASH and _has_text(evaluator.evaluate(k.m, f, part.args[0].value))):
                k.m.emit(f, UnstableSeed, at, None, Confidence.LIKELY, api=api, of=part.func.id)


def _has_text(value: Value) -> bool:
    """Whether a value certainly is a text, or a tuple with one."""
    if isinstance(value, (Tup, Seq)):
        return any(map(_has_text, value.items or ()))
    return type(value) is Py and value.kind in _TEXTS
