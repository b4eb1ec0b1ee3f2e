"""Collectives over an axis that nothing in the program binds (layer: ``link``, room ``domains``).

What it does: waits until everything has run, and looks whether the axis' name stands anywhere else than in collectives: as
the `axis_name` of a map, in a mesh, as a default, in a list; on a mesh whose axes are known, these are all. Where the program
calls what surely comes to the collective, with no map on the way, it looks no further. What it does not: speak of code that nobody in the program
calls under a transform, which may be meant for the maps of others.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.places import Step
from jitlint.infer.values import NONE, ExtInst, Py, Value
from jitlint.link.domains.misuse import bare
from jitlint.link.engine import hosts
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import SPREAD
from jitlint.link.models.jax.xforms import CALLED
from jitlint.link.tables.ir_walk import last_name
from jitlint.syntax import ir

_AXIS: Final = "$axis"
"""Where a layer remembers over which axis it takes averages."""
_OVER_MESH: Final = "shard_map"


class Axes:
    """Which names the program mentions outside of collectives; looked up once, when somebody asks."""

    def __init__(self, m: Machine) -> None:
        self._m = m
        self._names: set[str] | None = None
        self._any = False
        words = lexicon().contracts
        self._short = {name.rpartition(".")[2] for name in (*words.collectives, *words.axis_layers)}

    def heard(self, f: Frame, library: Library) -> None:
        """A collective is called."""
        place = int(lexicon().contracts.collectives[library.dotted])
        self._look_for(f, library, library.args.get(place, "axis_name"))

    def heard_layer(self, f: Frame, library: Library) -> None:
        """A layer is made that takes averages over an axis, or called where maps bind others."""
        made = lexicon().contracts.axis_layers.get(library.dotted)
        if made is not None and type(library.result) is ExtInst:
            library.result.attrs[_AXIS] = library.args.get(int(made), "axis_name") or NONE
        elif made is None and type(library.owner) is ExtInst and f.world.axes:
            self._look_for(f, library, library.owner.attrs.get(_AXIS))

    def _look_for(self, f: Frame, library: Library, axis: Value | None) -> None:
        """Record an axis of which nothing binds the name."""
        if type(axis) is not Py or not isinstance(axis.const, str):
            return
        caller = next((s for s in f.steps if s.message == CALLED and s.because == "seen"), None)
        missed = bool(f.world.axes) and axis.const not in (f.world.axes or ())
        mapped = missed and bool(f.world.modes & SPREAD)
        if caller is not None or mapped:
            unmapped = f.world.axes is not None and not f.world.axes
            at = (f.module.name, library.at) if unmapped else None
            unbound = _Unbound(self, axis.const, missed, None if mapped else caller, at)
            self._m.emit(
                f, ApiMisuse, library.at, when=(unbound,),
                api=library.dotted, problem="unbound-axis", parameter=axis.const,
            )  # fmt: skip

    def mentioned(self) -> set[str]:
        """All texts that might be the name of an axis that is bound."""
        if self._names is None:
            self._names = set()
            made, mapped = list[ir.Call](), False
            for parts in (code for module in self._m.modules.values() for code in module.code()):
                self._names |= _texts(parts, self._short)
                made += [node for node in parts if type(node) is ir.Call and _makes_mesh(node)]
                mapped = mapped or any(last_name(node) == _OVER_MESH for node in parts)
            self._any = any(map(_takes_names, made)) or (mapped and not made)
        return self._names

    def runs(self, call: Step) -> bool:
        """Whether a call is made when the program runs, outside of any trace."""
        return hosts.are_made(self._m, call)

    def surely_reaches(self, call: Step, place: tuple[str, int]) -> bool:
        """Whether a call that is made when the program runs always leads to a collective, with no map on the way."""
        return self.runs(call) and bare.reaches(self._m, call, place)

    def may_map(self, name: str) -> bool:
        """Whether a map of the program, of which not all is understood, gives its axis this name."""
        return any(
            type(node) is ir.Call and last_name(node.func) not in self._short and _binds(node, name)
            for parts in (code for module in self._m.modules.values() for code in module.code())
            for node in parts
        )

    def may_bind(self, name: str) -> bool:
        """Whether something in the program can have bound the axis: a mesh that gets its names from elsewhere binds any,
        and so does one that comes from elsewhere."""
        return name in self.mentioned() or self._any


class _Unbound:
    """missed: the maps around are known, and bind others. caller: where somebody calls the mapped function, if others might
    map that again. place: of the collective, where there is no map around."""

    def __init__(
        self, axes: Axes, name: str, missed: bool, caller: Step | None, place: tuple[str, int] | None
    ) -> None:
        self._axes = axes
        self._name = name
        self._missed = missed
        self._caller = caller
        self._place = place

    def holds(self, found: Found) -> bool:
        """Whether nothing in the program can have bound the axis, or nothing around does."""
        caller, place = self._caller, self._place
        if caller is not None and place is not None and self._axes.surely_reaches(caller, place):
            return True
        missed = self._missed and (self._caller is None or self._axes.runs(self._caller))
        return not (self._axes.may_map if missed else self._axes.may_bind)(self._name)


def _binds(node: ir.Call, name: str) -> bool:
    named = [arg.value for arg in node.args if arg.name == "axis_name"]
    return any(type(value) is ir.Const and value.value == name for value in named)


def _makes_mesh(node: ir.Call) -> bool:
    return last_name(node.func) in lexicon().contracts.meshes


def _takes_names(node: ir.Call) -> bool:
    """Whether the axes of a mesh have names that are not written where it is made, as those of a configuration are not."""
    if any(arg.star for arg in node.args):
        return True
    second = node.args[1].value if len(node.args) > 1 and node.args[1].name is None else None
    names = next((arg.value for arg in node.args if arg.name == "axis_names"), second)
    return isinstance(names, (ir.Attr, ir.Sub, ir.Call))


def _texts(parts: list[ir.Node], collectives: set[str]) -> set[str]:
    """The texts in some code, but the last arguments of collectives."""
    own = set[int]()
    for node in parts:
        if type(node) is ir.Call and last_name(node.func) in collectives:
            own |= {id(arg.value) for arg in node.args if type(arg.value) is ir.Const}
    return {
        node.value
        for node in parts
        if type(node) is ir.Const and isinstance(node.value, str) and id(node) not in own
    }
