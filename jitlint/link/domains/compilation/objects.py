"""Programs of objects that a loop makes anew (layer: ``link``, room ``domains``).

``client = Client(shard)`` in a loop, where the constructor says ``self._update = jax.jit(self._train)``: each object has a program of its
own. What it does: sees that a turn makes the object, and runs its program without a loop of its own. What it does not: speak of objects
that go on for many steps, beside which compiling once is nothing, of variants that are written down, or of objects that are equal to
others.
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import JitCreation
from jitlint.infer.places import Step
from jitlint.infer.values import Bound, Class, Func, Inst, Partial, Value, Xform, alternatives
from jitlint.link.domains.compilation import variants
from jitlint.link.domains.compilation.identities import equal_to_itself_only
from jitlint.link.domains.compilation.log import CallSite, CompilationLog
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import naming
from jitlint.link.values import paths
from jitlint.syntax import ir


def called(log: CompilationLog, f: Frame, node: ir.Call, x: Xform) -> None:
    """A compiled function is called that nothing here has made: ``self._update(x)``, or ``client.update(x)`` in a loop."""
    if type(node.func) is not ir.Attr or f.module.is_test or not _is_own(x):
        return
    if f.loops:
        _check(log, CallSite(f, node, f.loops), x)
    elif f.fn is not None:
        log.of_objects.setdefault(f.fn.id, x)


def finish(log: CompilationLog) -> None:
    """Record what the callers of methods do that run the program of their object once."""
    for number, x in log.of_objects.items():
        for site in log.sites.get(number, {}).values():
            _check(log, site, x)


def _is_own(x: Xform) -> bool:
    """Whether a program is made of the object that has it, or of a function that its constructor writes."""
    target, structural = x.target, x.spec.name.startswith(lexicon().compilation.by_structure)
    if structural:
        return False
    if type(target) is Bound:
        return type(target.recv) is Inst and equal_to_itself_only(target.recv.cls)
    maker = target.scope.fn if type(target) is Func else None
    return maker is not None and maker.name in lexicon().captures.first_methods


def _check(log: CompilationLog, site: CallSite, x: Xform) -> None:
    """Record it if the loop around a call makes the object of which it calls a method."""
    func, f = site.node.func, site.frame
    if type(func) is not ir.Attr or type(func.obj) is not ir.Name or not site.loops or f.module.is_test:
        return
    if naming.is_benchmark(f.module.path):
        return
    table, loop = log.m.texts.table(f), site.loops[-1]
    made = [value for value in table.bound.get(func.obj.id, ()) if table.stands_in(value, (loop,))]
    if len(made) != 1 or type(made[0]) is not ir.Call or not _constructs(log, f, made[0]):
        return
    if (
        variants.is_written(f, table, loop)
        or variants.names_parts(loop)
        or variants.turn_few_times(log.m, f, site.loops)
    ):
        return
    key = (x.site[0], "jit", x.site[1])
    if key not in log.done:
        log.done.add(key)
        also = (
            Step(f.module.name, made[0].at, "each turn makes an object here, which has a program of its own"),
        )
        log.m.emit(
            f, JitCreation, x.site[1], None, Confidence.LIKELY, where=(x.site[0], ""), repeated="object", what="method",
            also=also, transform=x.spec.name,
        )  # fmt: skip


def _constructs(log: CompilationLog, f: Frame, call: ir.Call) -> bool:
    """Whether a call makes an object of a class of the program, by a name that it may have got for that."""
    value = paths.peek(log.m, f, call.func)
    return value is not None and all(_is_class(alt) for alt in alternatives(value))


def _is_class(value: Value) -> bool:
    return type(value.func if type(value) is Partial else value) is Class
