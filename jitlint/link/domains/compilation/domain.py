"""Compiled functions that are made, or compiled, again and again (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.values import Class, Ext, Func, Inst, Value, Xform
from jitlint.link.domains.compilation import (
    arguments,
    counted,
    grown,
    kept,
    makers,
    objects,
    ragged,
    static_arrays,
    transfers,
)
from jitlint.link.domains.compilation.log import BIRTHS, CompilationLog, Made
from jitlint.link.engine.domain import Activation, Called, Domain, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine

_WITH_IDENTITY: Final = frozenset({Func, Xform})


class Compilation(Domain[None]):
    """Follows what host code makes and calls: inside of a trace nothing is compiled on its own."""

    callees = makers.CALLABLE | {Ext, Class}
    keeps = frozenset({BIRTHS})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.log = CompilationLog(m)

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """A function or a transformed function is another one each time it is made, an object perhaps what it holds."""
        if type(value) is Inst and not f.world.level:
            static_arrays.made(self.log, f, at, value)
        if not f.world.level and type(value) in _WITH_IDENTITY:
            makers.born(f, at, value)
            if type(value) is Xform and f.fn is not None and makers.compiles(value):
                self.log.made.setdefault((f.module.name, at), Made(f, f.confidence, at))

    def on_property(self, f: Frame, at: int, func: Func, value: Value) -> None:
        """A property may make a function each time that it is asked for."""
        if not f.world.level and (func.fn.id, id(value)) in self.log.fresh:
            makers.born(f, at, value)

    def on_call(self, f: Frame, called: Called) -> None:
        """A compiled function may be called, or something new given."""
        if f.world.level:
            return
        callee = called.callee
        if type(callee) in makers.CALLABLE or type(called.result) in makers.WATCHED:
            makers.after_call(self.log, f, called.node, callee, called.result)
        elif type(callee) is Ext and callee.dotted in lexicon().compilation.control_flow:
            makers.control_flow(self.log, f, called.node, callee.dotted)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """A compiled function gets what may have another shape each time."""
        ragged.check(self.log, f, transformed)
        grown.mark(self.log, f, transformed)
        transfers.check(self.log, f, transformed)
        static_arrays.arrived(self.log, f, transformed)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """It may have put one of its arguments together with more."""
        grown.check(self.log, f, transformed, result)
        counted.check(self.log, f, transformed, result)

    def on_leave(self, f: Frame, inner: Frame, activation: Activation) -> None:
        """A function gives its caller something that it has made itself."""
        makers.returned(self.log, inner, activation.value)

    def finish(self) -> None:
        """What depends on how often functions run."""
        makers.finish(self.log)
        objects.finish(self.log)
        arguments.finish(self.log)
        transfers.finish(self.log)
        static_arrays.finish(self.log)
        kept.finish(self.log)
