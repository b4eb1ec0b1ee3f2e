"""Arguments to donate that were counted with ``self`` (layer: ``link``, room ``domains``).

``jax.jit(self.step, donate_argnums=(1,))`` donates the second argument of a call, ``batch`` of ``self.step(state, batch)``. What it
does: compares with what the call replaces, ``state, loss = self._step(state, batch)``. What it does not: ask whether any result has
room for the buffer.
"""

from __future__ import annotations

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
    x, node = called.callee, called.node
    method = x.target.func if type(x) is Xform and type(x.target) is Bound else None
    if type(x) is not Xform or type(method) is not Func or "donate_argnums" not in x.options:
        return
    numbers = constant_ints(x.options["donate_argnums"])
    statement = surroundings.statement(f)
    if not numbers or type(statement) is not ir.Assign or statement.value is not node:
        return
    given = ["" if arg.star or arg.name else path_text(arg.value) for arg in node.args]
    replaced = {path_text(place) for target in statement.targets for place in places(target)} - {""}
    names = [param.name for param in method.fn.node.params[1:] if param.kind in ("pos", "any")]
    if not all(0 < number < min(len(given), len(names)) for number in numbers):
        return
    meant = [given[number - 1] for number in numbers]
    if not replaced.issuperset(meant) or any(given[number] in replaced for number in numbers):
        return
    module, at = x.site
    place = Place(module, at, "", (), "jit", Confidence.LIKELY)
    also = (Step(f.module.name, node.at, f"`{meant[0]}` is replaced here"),)
    taken = names[numbers[0]]
    event = DonatedRead(place, also=also, name=meant[0], callee=method.fn.name, form="counted", given=taken)
    m.sink.add((DonatedRead, module, at), event)
