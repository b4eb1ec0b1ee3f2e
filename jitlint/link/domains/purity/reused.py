"""Modules of Flax NNX that are put together from states of outside the trace (layer: ``link``, room ``domains``).

``model = nnx.merge(graph, params, rest)`` takes the variables of ``rest`` as they are, and where these are older than the trace that a
function of one argument begins, Flax refuses that a layer changes them. What it does: reads off the code around which variables
the older state has, and says which layer of the module changes one. What it does not: speak of states whose making it does not see, or
of variables that the module's own methods set.
"""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import OLDER, Leak
from jitlint.infer.objects import MERGED, put_together_at
from jitlint.infer.values import ExtInst, Scope, Value, const_of
from jitlint.link.domains.purity.held import changes
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import bound_by, call_at, code_of, path_text
from jitlint.link.values import paths
from jitlint.link.values.questions import measuring
from jitlint.syntax import ir

_MERGE: Final = "flax.nnx.merge"
_SPLIT: Final = "flax.nnx.split"
_PARAMS: Final = "flax.nnx.Param"
_COPIES: Final = "copy"


class Reused:
    """Of a session: the calls that put modules together from such states, with the name of the state."""

    __slots__ = ("_modes", "_states")

    def __init__(self, modes: measuring.Modes) -> None:
        self._modes = modes
        self._states: dict[object, str] = {}

    def heard(self, m: Machine, f: Frame, library: Library) -> bool:
        """A function of the library, or a layer, is called. Whether that is refused."""
        layer = library.owner
        if library.dotted == _MERGE:
            name = _older_state(m, f, library)
            if name:
                self._states[put_together_at(f.module.name, library.at)] = name
            return False
        if type(layer) is not ExtInst or not changes(library, layer):
            return False
        name = self._states.get(site_of(layer), "")
        if not name or self._modes.are_set(m):
            return False
        m.emit(f, Leak, library.at, None, Confidence.LIKELY, target=OLDER, what=name, used=True)
        return True


def _older_state(m: Machine, f: Frame, library: Library) -> str:
    """The variable with a state of outside the trace that holds all but the parameters of a module, or ""."""
    call = call_at(code_of(f.module, f.fn), library.at)
    name = _last_of(call) if call is not None and not f.world.excused else ""
    if f.fn is None or name not in f.fn.outer_names:
        return ""
    release, least = lexicon().contracts.asks_since[_MERGE]
    if m.catalogue.view.has_flax(release, least) is False:
        return ""
    scope = f.scope.parent
    while scope is not None and name not in scope.vars:
        scope = scope.parent
    older = scope is not None and scope.level < f.world.level and _holds_the_rest(m, f, scope, name)
    return name if older else ""


def _last_of(call: ir.Call) -> str:
    """The variable with the last of the states that a module is put together from, as they are."""
    last = call.args[-1] if len(call.args) > 1 else None
    copies = any(arg.star or arg.name == _COPIES for arg in call.args)
    return last.value.id if last is not None and type(last.value) is ir.Name and not copies else ""


def _holds_the_rest(m: Machine, f: Frame, scope: Scope, name: str) -> bool:
    """Whether a variable gets, from where a module is taken apart, all that is no parameter, and nothing else."""
    code = code_of(f.module, scope.fn)
    made = [part for part in code if type(part) is ir.Assign and name in bound_by(part)]
    target = made[0].targets[0] if len(made) == 1 else None
    call = made[0].value if len(made) == 1 else None
    if type(target) is not ir.Tuple or type(call) is not ir.Call or paths.dotted(m, f, call.func) != _SPLIT:
        return False
    places = [path_text(one) for one in target.elts]
    filters = [arg.value for arg in call.args[1:]]
    return len(filters) + 1 == len(places) and places[-1] == name and _take_all(m, f, filters)


def _take_all(m: Machine, f: Frame, filters: list[ir.Expr]) -> bool:
    """Whether the last filter takes all that those before it leave, which take parameters."""
    rest = filters[-1] if filters else None
    everything = type(rest) is ir.Const and rest.kind == "ellipsis"
    return everything and all(paths.dotted(m, f, one) == _PARAMS for one in filters[:-1])


def site_of(value: Value) -> object:
    """Where a part of a module was put together, None if it was not."""
    return const_of(value.attrs[MERGED]) if type(value) is ExtInst and MERGED in value.attrs else None
