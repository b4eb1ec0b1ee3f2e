"""Arguments to donate that were counted with ``self`` (layer: ``link``, room ``domains``).

``jax.jit(self.step, donate_argnums=(1,))`` donates the second argument of a call, ``batch`` of ``self.step(state, batch)``. What it
does: compares with what the call replaces, ``state, loss = self._step(state, batch)``. What it does not: ask whether any result has
room for the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import DonatedRead
from jitlint.infer.places import Place, Step
from jitlint.infer.values import Bound, Func, Xform
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Called
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import path_text
from jitlint.link.tables.storing import places
from jitlint.link.values.questions.signatures import constant_ints
from jitlint.syntax import ir


def check(m: Machine, f: Frame, called: Called) -> None:
    """A compiled method is called in host code."""
    x = called.callee
    method = x.target.func if type(x) is Xform and type(x.target) is Bound else None
    if type(x) is not Xform or type(method) is not Func or "donate_argnums" not in x.options:
        return
    numbers = constant_ints(x.options["donate_argnums"])
    names = [param.name for param in method.fn.node.params[1:] if param.kind in ("pos", "any")]
    meant = _meant(f, called.node, numbers, len(names)) if numbers else ""
    if not numbers or not meant:
        return
    module, at = x.site
    place = Place(module, at, "", (), "jit", Confidence.LIKELY)
    also = (Step(f.module.name, called.node.at, f"`{meant}` is replaced here"),)
    taken = names[numbers[0]]
    event = DonatedRead(place, also=also, name=meant, callee=method.fn.name, form="counted", given=taken)
    m.sink.add((DonatedRead, module, at), event)


def _meant(f: Frame, call: ir.Call, numbers: Sequence[int], count: int) -> str:
    """The first of the arguments that are replaced and each stand before one that is donated and is not; "" if it is not so of all.
    count: of the parameters."""
    statement = surroundings.statement(f)
    if type(statement) is not ir.Assign or statement.value is not call:
        return ""
    given = ["" if arg.star or arg.name else path_text(arg.value) for arg in call.args]
    replaced = {path_text(place) for target in statement.targets for place in places(target)} - {""}
    if not all(0 < number < min(len(given), count) for number in numbers):
        return ""
    before = [given[number - 1] for number in numbers]
    shifted = replaced.issuperset(before) and replaced.isdisjoint(given[number] for number in numbers)
    return before[0] if shifted else ""
