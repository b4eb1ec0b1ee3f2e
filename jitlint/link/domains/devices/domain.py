"""Gradients of one device that are taken for those of all, and sums of means (layer: ``link``, room ``domains``).

Inside of `jax.pmap`, and of `jax.shard_map` where it checks nothing, each device differentiates the loss of its own share of the
batch. What it does: finds a function that averages the loss over the devices, and gives the gradients that came with it to the
optimiser, or returns them as the same on all devices, as they are. What it does not: speak where gradients, or anything that is made of
them, go into another function that might average them, or where no collective shows that the function is to do so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final, NamedTuple, Optional

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import LocalGradients, SummedMeans
from jitlint.infer.places import Step
from jitlint.infer.values import Class, Func, Method, Tup, Value, const_of
from jitlint.link.domains.devices import again, ratios, sums, unsettled
from jitlint.link.engine.domain import Activation, Called, Domain, Library, Transformed
from jitlint.link.engine.frame import Frame, Slot
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.models.maps import shardings, varying
from jitlint.link.tables import bound_once
from jitlint.link.tables.ir_walk import bound_names, inner_functions, last_name
from jitlint.link.tables.results import only_returned
from jitlint.link.values import iteration, paths
from jitlint.link.values.questions import derivatives
from jitlint.link.values.questions.averaging import average_in, may_average
from jitlint.link.values.questions.signatures import signature
from jitlint.syntax import ir
from jitlint.syntax.children import below

_PMAP: Final = "jax.pmap"
_OPTAX: Final = "optax."
_APPLIED: Final = "apply_gradients"


class _Settled(NamedTuple):
    """Where something is averaged that gradients belong to, and over which axes."""

    step: Step
    axes: tuple[str, ...]


class _Derived(NamedTuple):
    """What one call of a derivative binds, by name. settled: where what came with the gradients is averaged in the function that
    takes them, if that is another one."""

    call: ir.Call
    value: frozenset[str]
    gradients: str
    settled: _Settled | None = None


_SPLIT: Final = Slot[tuple[Optional[Value], Value]]()
"""How what a function is given is split, which is mapped over a mesh without checks, and how what it gives is put together again."""


_MAPPED: Final = Slot[bool]()
"""It is the function itself that is mapped, not one that it calls."""


class Devices(Domain[None]):
    """Knows the axes that devices are the lanes of, and those that are not."""

    keeps = frozenset({_SPLIT, _MAPPED, again.SUMS})
    hears_names = True

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.devices: set[str] = set()
        self.lanes: set[str] = set()
        self._split: dict[int, tuple[Value | None, Value]] = {}

    def hears_of(self, dotted: str) -> bool:
        """What optimisers are told, and what is added up."""
        return dotted in (sums.SUM, ratios.MEAN) or (dotted.startswith(_OPTAX) and dotted.endswith(".update"))

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A function is mapped."""
        x = transformed.x
        over_devices = x.spec.specs or x.spec.name == _PMAP
        (self.devices if over_devices else self.lanes).update(shardings.bound_axes(x) or ())
        target, marks = signature(x.target), x.options.get(x.spec.results)
        unchecked = x.spec.specs and varying.axes_of(x, f.world) == ()
        if unchecked and target is not None and marks is not None:
            self._split[target.func.fn.id] = x.options.get(x.spec.specs), marks

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """A function has been differentiated, over a mesh perhaps that adds up what comes of it."""
        if f.world.spread and f.fn is not None:
            again.note(self.m, f, transformed, result)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """``tx.update(grads, state, params)`` is called, or something is added up."""
        if library.dotted == sums.SUM:
            sums.heard(self.m, f, library)
        elif library.dotted == ratios.MEAN:
            ratios.heard(self.m, f, library)
        elif library.owner is not None:
            call = self.m.texts.table(f).calls.get(library.at)
            self._updated(f, library.at, derivatives.argument(call, 0, "updates"))
        return None

    def on_call(self, f: Frame, called: Called) -> None:
        """``state.apply_gradients(grads=grads)`` may be called."""
        if last_name(called.node.func) == _APPLIED:
            self._updated(f, called.node.at, derivatives.argument(called.node, 0, "grads"))

    def _updated(self, f: Frame, at: int, node: ir.Node | None) -> None:
        derived = self._derived(f, node) if f.world.axes and not f.world.spread else None
        if derived is not None:
            self._tell(f, at, derived, "updates")

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """A function that is mapped over a mesh begins."""
        split = self._split.get(inner.fn.id) if inner.fn is not None else None
        if split is not None and inner.world.axes:
            _SPLIT.put(inner, split)
        if inner.world.axes and not inner.world.spread and inner.fn is not None:
            _MAPPED.put(inner, True)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """It may go down its gradients by itself, or give them as what is the same everywhere."""
        self._descends(inner)
        split = _SPLIT.of(inner)
        given = only_returned(inner.fn.parts) if split is not None and inner.fn is not None else None
        if split is None or given is None:
            return
        arguments, marks = split
        nodes = given.elts if type(given) is ir.Tuple else [given]
        found = iteration.known_items(marks) if type(marks) is Tup else [marks] * len(nodes)
        for node, mark in zip(nodes, found or []):
            entries = shardings.split_of(mark)
            if entries is None or any(shardings.named_in(entries)):
                continue
            unsettled.check(self.m, inner, arguments, node)
            derived = self._derived(inner, node)
            if derived is not None:
                self._tell(inner, node.at, derived, "returns")

    def _descends(self, inner: Frame) -> None:
        """A function goes down gradients that are of one device only, or averages those that are a sum already."""
        for at, node, _ in derivatives.descents(inner) if _MAPPED.of(inner) else ():
            derived = self._derived(inner, node)
            if derived is not None:
                self._tell(inner, at, derived, "updates")
        for at, known in again.averaged(self.m, inner, again.SUMS.of(inner) or {}):
            self.m.emit(inner, SummedMeans, at, None, Confidence.LIKELY, what="again", also=(known.mean,))

    def _derived(self, f: Frame, node: ir.Node | None, deep: bool = False) -> _Derived | None:
        """Where the gradients that a variable holds were taken with something else, if nothing else is bound to it. deep: in a
        function that is called."""
        binding = self._first_binding(f, node.id) if type(node) is ir.Name and f.fn is not None else None
        if type(node) is not ir.Name or binding is None or type(binding.value) is not ir.Call:
            return None
        call, target = binding.value, binding.targets[0]
        if type(target) is not ir.Tuple:
            return None
        place = _place(target, node.id)
        others = frozenset(name.id for name in bound_names([target]) if name.id != node.id)
        taken = self._takes(f, call)
        if taken is None:
            return None if deep or place is None else self._derived_by(f, call, place, others, node.id)
        return _Derived(call, others, node.id) if taken == place and len(target.elts) == 2 else None

    def _takes(self, f: Frame, call: ir.Call) -> int | None:
        """Where gradients stand in what a call of a derivative gives, be it one that a variable of the function holds; -1 if they are
        all that it gives. None if it is no such call."""
        made = bound_once.written(f.fn, call.func) if type(call.func) is ir.Name else None
        kind, aux = derivatives.kind_of(self.m, f, made if type(made) is ir.Call else call.func)
        return None if not kind else 1 if kind == derivatives.VALUED else 0 if aux else -1

    def _derived_by(
        self, f: Frame, call: ir.Call, place: int, others: frozenset[str], name: str
    ) -> _Derived | None:
        """Where a function of the project that is called takes gradients that it gives with something else, as they are."""
        callee = paths.peek(self.m, f, call.func)
        given = only_returned(callee.fn.parts) if type(callee) is Func else None
        if type(callee) is not Func or type(given) is not ir.Tuple or not place < len(given.elts):
            return None
        inner = Frame(callee.fn.module, callee.scope, f.world, callee.fn)
        derived = self._derived(inner, given.elts[place], deep=True)
        if derived is None or self._may_be_averaged(inner, -1, derived):
            return None
        if self._hides_collectives(inner, derived):
            return None
        settled = self._settled(inner, derived) or self._settled_inside(inner, derived)
        return _Derived(call, others, name, settled)

    def _first_binding(self, f: Frame, name: str) -> ir.Assign | None:
        """Where a variable is bound, if what binds it later is only its own value, changed on this device."""
        found = sorted(bound_once.bindings(f.fn, name), key=lambda binding: binding.at)
        for binding in found[1:]:
            call = binding.value
            if type(call) is not ir.Call or not call.args or type(call.args[0].value) is not ir.Name:
                return None
            if call.args[0].value.id != name or not self._stays_here(f, call):
                return None
        return found[0] if found else None

    def _stays_here(self, f: Frame, call: ir.Call) -> bool:
        """Whether a function of the project is called that certainly averages nothing over devices."""
        callee = paths.peek(self.m, f, call.func)
        return type(callee) is Func and not may_average(self.m, callee)

    def _tell(self, f: Frame, at: int, derived: _Derived, how: str) -> None:
        """Say it of gradients, unless something that is made of them goes where it might be averaged."""
        if self._may_be_averaged(f, at, derived) or self._hides_collectives(f, derived):
            return
        settled = derived.settled or self._settled(f, derived) or self._settled_inside(f, derived)
        if settled is not None:
            self.m.emit(
                f, LocalGradients, at, None, Confidence.LIKELY, when=(_AreDevices(self, settled.axes),),
                name=derived.gradients, axes=settled.axes, how=how, also=(settled.step,),
            )  # fmt: skip

    def _may_be_averaged(self, f: Frame, at: int, derived: _Derived) -> bool:
        """Whether gradients, or what is made of them, go through a collective, or into something unknown. at: of the update."""
        own = self._made_of(f, derived, {derived.gradients})
        for call in self._calls(f, derived):
            dotted = paths.dotted(self.m, f, call.func)
            mentions = any(type(part) is ir.Name and part.id in own for part in below(call))
            if dotted in _collectives():
                if mentions or not self._axes(f, call):
                    return True
            elif mentions and not dotted and not self._is_harmless(f, call, at):
                return True
        return False

    def _settled(self, f: Frame, derived: _Derived) -> _Settled | None:
        """Where the value that came with gradients is averaged afterwards."""
        others = self._made_of(f, derived, derived.value)
        for call in self._calls(f, derived):
            axes = self._averaged_over(f, call)
            bound = axes and f.world.axes is not None and f.world.axes.issuperset(axes)
            if bound and any(type(part) is ir.Name and part.id in others for part in below(call)):
                return _Settled(Step(f.module.name, call.at, "what came with them is averaged here"), axes)
        return None

    def _averaged_over(self, f: Frame, call: ir.Call) -> tuple[str, ...]:
        """The axes over which a call averages what it is given: a collective, or a helper where there is but one axis."""
        if paths.dotted(self.m, f, call.func) in _collectives():
            return self._axes(f, call)
        helper, axes = paths.peek(self.m, f, call.func), tuple(f.world.axes or ())
        averages = type(helper) is Func and len(axes) == 1 and average_in(self.m, helper) is not None
        return axes if averages else ()

    def _settled_inside(self, f: Frame, derived: _Derived) -> _Settled | None:
        """Where the function that is differentiated averages over the only axis there is, itself or in what it calls."""
        func = derived.call.func
        given = func.args[0].value if type(func) is ir.Call and func.args else None
        loss = paths.peek(self.m, f, given) if type(given) is ir.Name else None
        axes = tuple(f.world.axes or ())
        if type(loss) is not Func or len(axes) != 1:
            return None
        place = average_in(self.m, loss)
        return (
            None if place is None else _Settled(Step(*place, "what they are taken of is averaged here"), axes)
        )

    def _is_harmless(self, f: Frame, call: ir.Call, at: int) -> bool:
        """Whether a call of something other than a library only puts together what it gets. at: of the update."""
        if call.at == at:
            return True
        callee = paths.peek(self.m, f, call.func)
        makes = type(callee) in (Class, Method) or last_name(call.func) in lexicon().contracts.renewing
        return self._stays_here(f, call) if type(callee) is Func else makes

    def _calls(self, f: Frame, derived: _Derived) -> Iterator[ir.Call]:
        """What is called after the derivative was."""
        parts = f.fn.parts if f.fn is not None else ()
        return (part for part in parts if type(part) is ir.Call and part.at > derived.call.at)

    def _made_of(self, f: Frame, derived: _Derived, names: Collection[str]) -> set[str]:
        """These variables, and those that are made of them after a derivative is taken."""
        made, before = set(names), -1
        later = (
            [part for part in f.fn.parts if type(part) is ir.Assign and part.at > derived.call.at]
            if f.fn
            else []
        )
        while before != len(made):
            before = len(made)
            for part in later:
                if any(type(one) is ir.Name and one.id in made for one in below(part.value)):
                    made.update(name.id for name in bound_names(part.targets))
        return made

    def _axes(self, f: Frame, call: ir.Call) -> tuple[str, ...]:
        """The axes of a collective, none if they are not known."""
        node = derivatives.argument(call, 1, "axis_name")
        names = node.elts if type(node) is ir.Tuple else [node]
        if len(call.args) < 2:
            return ()
        found = [self._text(f, name) for name in names]
        return tuple(name for name in found if name is not None) if None not in found else ()

    def _text(self, f: Frame, node: ir.Node | None) -> str | None:
        if type(node) is ir.Const:
            return node.value if type(node.value) is str else None
        value = paths.peek(self.m, f, node)
        text = const_of(value) if value is not None else None
        return text if type(text) is str else None

    def _hides_collectives(self, f: Frame, derived: _Derived) -> bool:
        """Whether a function that is written in this one, other than the one that is differentiated, has a collective."""
        assert f.fn is not None
        used = {part.id for part in below(derived.call) if type(part) is ir.Name}
        inner = inner_functions(f.module, f.fn.body)
        words = {name.rpartition(".")[2] for name in _collectives()}
        others = (part for fn in inner if fn.name not in used for part in fn.parts)
        return any(last_name(part) in words for part in others)


def _place(target: ir.Tuple, name: str) -> int | None:
    """Where a variable stands among those that are bound together, if it does so once."""
    found = [i for i, part in enumerate(target.elts) if type(part) is ir.Name and part.id == name]
    return found[0] if len(found) == 1 else None


def _collectives() -> frozenset[str]:
    words = lexicon().contracts
    return (words.settling | words.spreading) - {"jax.lax.axis_index"}


class _AreDevices:
    """Axes are over devices, wherever the program binds them."""

    def __init__(self, known: Devices, axes: tuple[str, ...]) -> None:
        self._known = known
        self._axes = axes

    def holds(self, found: Found) -> bool:
        """Whether devices, and nothing else, are their lanes."""
        return self._known.devices.issuperset(self._axes) and self._known.lanes.isdisjoint(self._axes)
