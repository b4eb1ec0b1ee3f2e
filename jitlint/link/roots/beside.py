"""Functions that go through NumPy and back, beside others that are traced (layer: ``link``, room ``roots``).

``phase = np.unwrap(jnp.angle(spectrum))``, and then ``jnp.diff(phase)``: what JAX has computed is given to NumPy, and comes back, where JAX
has the same function. What it does: runs such a function of a module in a trace if others of the module are traced with an
array of the same name, and keeps what it says of that call. What it does not: keep anything else, or speak of
conversions, which are meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import AnyEvent, Convert
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import UNKNOWN, Arr, Ext, Func, S, Value
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found, Key
from jitlint.link.roots import run as roots
from jitlint.link.tables.ir_walk import bound_by
from jitlint.link.values import parameters, pytrees
from jitlint.syntax import ir


def run_beside(m: Machine, candidates: list[FuncInfo]) -> None:
    """Run them with the arrays that other functions of their module get."""
    known: dict[int, dict[str, str]] = {}
    for fn in candidates:
        number = fn.module.number
        if number not in known:
            known[number] = _arrays_of(m, fn.module)
        names = known[number].keys() & {p.name for p in fn.node.params if _is_plain(p)}
        places = _round_trips(m, fn.values[0]) if names else frozenset()
        if places:
            other = known[number][min(names)]
            message = (
                f"`{fn.qualname}` takes an array as `{other}` does, which other code of the project traces"
            )
            with m.sink.trial(_OfPlaces(fn, places)):
                roots.run_meant(m, fn.values[0], "catalogue", Confidence.LIKELY, message, _given(fn, names))


def _arrays_of(m: Machine, module: ModuleInfo) -> dict[str, str]:
    """The names under which functions of a module that knows NumPy get arrays in a trace, each with one of these functions."""
    if not any(type(value) is Ext and value.dotted == "numpy" for value in module.scope.vars.values()):
        return {}  # whose functions are not even read
    traced = [fn for fn in module.functions if m.surely_traced.get(fn.id, False) and "<" not in fn.qualname]
    return {
        p.name: fn.qualname for fn in traced for p in fn.node.params if (fn.id, p.name) in m.array_parameters
    }


def _is_plain(param: ir.Param) -> bool:
    return param.default is None and param.kind in ("pos", "any")


def _given(fn: FuncInfo, names: set[str]) -> list[Value]:
    """What a function gets: arrays of these names, and nobody knows what else."""
    return [
        pytrees.lift(Arr(0), S, 1, f"parameter `{p.name}` of `{fn.qualname}`") if p.name in names else UNKNOWN
        for p in fn.node.params
    ]


def _round_trips(m: Machine, func: Func) -> frozenset[int]:
    """The calls of functions of NumPy that JAX has as well, with what JAX gave, and whose results it gets again."""
    calls = [(call, _dotted(m, func, call)) for call in func.fn.parts if type(call) is ir.Call]
    by_jax = [call for call, name in calls if name.startswith("jax.")]
    found = [
        call
        for call, name in calls
        if _is_of_both(m, name) and call.args and _is_one_of(call.args[0].value, by_jax)
    ]
    back = _given_to(func.fn, by_jax) if found else []
    return frozenset(call.at for call in found if _is_one_of(call, back))


def _given_to(fn: FuncInfo, calls: list[ir.Call]) -> list[ir.Node]:
    """What some calls are given, themselves or by a variable."""
    given: list[ir.Node] = [arg.value for call in calls for arg in call.args]
    names = {part.id for part in given if type(part) is ir.Name}
    held = [part for part in fn.parts if type(part) is ir.Assign and not names.isdisjoint(bound_by(part))]
    return [*given, *(part.value for part in held)]


def _is_one_of(node: ir.Node, nodes: Sequence[ir.Node]) -> bool:
    return any(node is one for one in nodes)


def _dotted(m: Machine, func: Func, call: ir.Call) -> str:
    value = (
        parameters.resolve(m, func.scope, call.func) if isinstance(call.func, (ir.Name, ir.Attr)) else None
    )
    return m.catalogue.canonical(value.dotted) if type(value) is Ext else ""


def _is_of_both(m: Machine, dotted: str) -> bool:
    """Whether a function of NumPy has a twin, and does more than to convert."""
    converts = dotted.rpartition(".")[2] in lexicon().arrays.keeps_all
    return dotted.startswith("numpy.") and not converts and m.catalogue.function(f"jax.{dotted}") is not None


class _OfPlaces:
    """What NumPy is given at some places of a function, as all that counts."""

    def __init__(self, fn: FuncInfo, places: frozenset[int]) -> None:
        self._fn = fn
        self._places = places

    def keeps(self, found: Found) -> Iterator[tuple[Key, AnyEvent]]:
        """The conversions there."""
        for key, event in found.items():
            place = event.place
            here = (place.module, place.function) == (self._fn.module.name, self._fn.qualname)
            if here and type(event) is Convert and event.to == "numpy" and place.at in self._places:
                yield key, event
