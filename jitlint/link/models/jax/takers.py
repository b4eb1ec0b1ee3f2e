"""Which of several functions a call may mean, by the arguments that it gives (layer: ``link``, room ``models``).

Who calls one of several has chosen it by the conditions that the arguments hang on. What it does: leaves out those that Python, or a
map's axes, would refuse. What it does not: leave out all of them.
"""

from __future__ import annotations

from jitlint.infer.values import Func, Value, Xform
from jitlint.link.engine.frame import Args
from jitlint.link.models.jax import arity, mapping, xforms
from jitlint.link.values.questions.taking import cannot_bind


def takers(callees: tuple[Value, ...], args: Args) -> tuple[Value, ...]:
    """Those that may be called like that. The others were not meant, and nobody is to guess how these are called."""
    taking = tuple([callee for callee in callees if _takes(callee, args)])
    for callee in callees if taking else ():
        if type(callee) is Xform and not any(callee is one for one in taking):
            xforms.mark_called(callee)
    return taking or callees


def _takes(callee: Value, args: Args) -> bool:
    if type(callee) is Func:
        return not cannot_bind(callee, args, as_written=True)
    if type(callee) is not Xform or mapping.entries(callee, args) or arity.leaves_out(callee, args):
        return type(callee) is not Xform
    return not arity.hands_on(callee) or _takes(callee.target, args)
