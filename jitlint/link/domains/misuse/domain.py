"""Statements that show by themselves that something is not meant (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Inst, Value, Xform
from jitlint.link.domains.misuse import (
    absent,
    averages,
    axes,
    carried,
    counts,
    dtypes,
    far,
    frozen,
    growing,
    idioms,
    kind_checks,
    late,
    late_bound,
    lent,
    lost_fields,
    metadata,
    prints,
    rebuilt,
    refusing,
    scores,
    stale,
    stalled,
    static_fields,
    static_objects,
    uncompared,
    unstable,
    wide,
)
from jitlint.link.engine import imports
from jitlint.link.engine.domain import Change, Domain, Library, Load, Store, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions import cutting
from jitlint.syntax import ir

_HEARD: Final[Mapping[str, Callable[[Machine, Frame, Library], None]]] = {
    late_bound.SWITCH: late_bound.heard,
    prints.PRINT: prints.heard,
}


class Misuse(Domain[None]):
    """Looks at results that are thrown away or counted wrongly, at assignments that are refused, and at the names of imports."""

    nodes = frozenset({ir.Assert, ir.Assign, ir.ExprStmt, ir.If, ir.Import, ir.ImportFrom})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._axes = axes.Axes(m)
        self._made: static_objects.Made = {}
        self._lost: stale.Known = {}
        self._questions: absent.Questions = {}
        self._never_wide = wide.NeverOn(m)
        self._builders = frozen.Builders(m)
        self._uncompared = uncompared.Uncompared()
        self._metadata: set[tuple[int, str]] = set()

    def hears_of(self, dotted: str) -> bool:
        """Collectives, loops, what lends NumPy the buffers of arrays, sets the environment, or takes a data type."""
        words = lexicon()
        return (
            dotted in words.contracts.collectives
            or dotted.removesuffix(".__call__") in words.contracts.axis_layers
            or dotted in words.buffers.holding
            or dotted in growing.LOOPS
            or dotted in _HEARD
            or dotted in late.SETTERS
            or dotted in (late.SWITCH, late.INITIALIZE)
            or dotted in words.gradients.logarithms
            or dotted in words.compilation.at_import
            or dotted in words.arrays.scores
            or dotted in words.arrays.takes_in | words.arrays.fills | words.arrays.averaging
            or wide.hears_of(self.m, dotted)
        )

    def on_library(self, f: Frame, library: Library) -> None:
        """A collective or a loop is called, a buffer is lent, or a data type named."""
        if library.dotted in lexicon().buffers.holding:
            lent.heard(f, library)
        elif library.dotted in late.SETTERS:
            late.heard(self.m, f, library)
        elif library.dotted in (late.SWITCH, late.INITIALIZE):
            late.started(self.m, f, library)
            late.switched(self.m, f, library)
        elif library.dotted in lexicon().compilation.at_import:
            late.asked(self.m, f, library)
        elif library.dotted in lexicon().gradients.logarithms:
            unstable.heard(self.m, f, library)
        elif library.dotted in lexicon().arrays.scores:
            scores.heard(self.m, f, library)
        elif library.dotted in _HEARD:
            _HEARD[library.dotted](self.m, f, library)
        elif library.dotted in growing.LOOPS:
            growing.heard(self.m, f, library)
            if library.dotted == carried.SCAN:
                carried.turned(self.m, f, library)
        elif library.dotted in lexicon().contracts.collectives:
            self._axes.heard(f, library)
        elif library.dotted.removesuffix(".__call__") in lexicon().contracts.axis_layers:
            self._axes.heard_layer(f, library)
        elif library.dotted in lexicon().arrays.fills:
            cutting.check_fill(self.m, f, library.at, library.dotted, library.args)
        elif library.dotted in lexicon().arrays.averaging:
            stalled.heard(self.m, f, library.at, library.args)
        elif library.dotted in lexicon().arrays.takes_in:
            far.heard(self.m, f, library, self._never_wide)
        wide.heard(self.m, f, library, self._never_wide)
        dtypes.heard(self.m, f, library)

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """A statement stands alone, or gives names to results."""
        if type(node) is ir.ExprStmt:
            if type(value) is not Xform and type(node.value) is ir.Call:
                idioms.thrown_away(self.m, f, node, value)
        elif type(node) is ir.Assign:
            if type(node.value) is ir.Call:
                idioms.never_read(self.m, f, node, value)
                counts.check(self.m, f, node, value)
                stale.check(self._lost, self.m, f, node)
        elif isinstance(node, (ir.If, ir.Assert)):
            kind_checks.check(self.m, f, node, value)
        elif type(node) is ir.Import:
            for name in node.names:
                if name.asname:
                    idioms.imported(self.m, f, node.at, name.name, name.asname)
        elif type(node) is ir.ImportFrom and imports.absolute(f.module, node.module, node.level) == "jax":
            for name in node.names:
                idioms.imported(self.m, f, node.at, f"jax.{name.name}", name.asname or name.name)

    def on_operator(self, f: Frame, node: ir.BinOp, operands: tuple[Value, Value], result: Value) -> Value:
        """Arrays are added."""
        stalled.check(self.m, f, node, operands)
        return result

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """An object is made."""
        if type(value) is Inst:
            static_objects.made(self._made, f, at, value)
        elif type(value) is Xform:
            late_bound.made(self.m, f, at, value)
        rebuilt.made(self.m, f, at, value)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """Who builds an object may fill it."""
        frozen.entered(f, inner)

    def on_store(self, f: Frame, store: Store) -> None:
        """A field or an element is assigned."""
        if store.kind in ("attribute", "field", "library"):
            frozen.stored(self.m, f, store, self._builders)
        else:
            lent.stored(self.m, f, store)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """Objects come to a compiled function."""
        metadata.check(self.m, f, transformed, self._metadata)
        far.arrived(self.m, f, transformed, self._never_wide)
        self._uncompared.arrived(transformed)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """Objects come back from it."""
        metadata.changed(self.m, f, transformed, result)

    def on_load(self, f: Frame, load: Load) -> None:
        """A trace reads an attribute of an object."""
        if load.kind == "attribute" and self._uncompared.static:
            self._uncompared.loaded(f, load)

    def on_change(self, f: Frame, change: Change) -> None:
        """An array changes itself."""
        lent.changed(self.m, f, change)

    def on_pause(self) -> None:
        """Functions that were run are looked through."""
        absent.look(self._questions, [fn for fn in self.m.functions if fn.is_looked_at])

    def finish(self) -> None:
        """What classes say of their fields, and functions of their parameters."""
        static_fields.check(self.m, self._metadata)
        self._uncompared.check(self.m)
        lost_fields.check(self.m)
        averages.check(self.m)
        refusing.check(self.m)
        static_objects.check(self.m, self._made)
        static_objects.check_modules(self.m)
        absent.look(self._questions, self.m.functions)
        absent.check(self.m, self._questions)
