"""Variables that a compiled function renews with arrays of another dtype (layer: ``link``, room ``domains``).

``cache = step(cache, x)``: where ``cache`` begins in 16 bits and comes back in 32, the second turn compiles again, and what was to be
small is twice as large from then on. What it does: compares what a variable holds when it is given away with what it is set
to. What it does not: look at objects of classes, whose fields are compared where they are made; or at numbers of Python, which
become arrays without being larger.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import differ, exact_of, is_weak, shown
from jitlint.infer.events import DriftingState
from jitlint.infer.values import Arr, Map, S, Seq, Tup, Value
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.jax import mapping
from jitlint.link.tables.ir_walk import path_text
from jitlint.link.values import iteration
from jitlint.syntax import ir


def check(m: Machine, f: Frame, transformed: Transformed, result: Value) -> None:
    """Record the first array that comes back in another dtype, if the next call gets it."""
    if f.world.level or f.module.is_test or not transformed.inner.world.here & S:
        return
    node = surroundings.statement(f)
    call = node.value if type(node) is ir.Assign else None
    if type(node) is not ir.Assign or type(call) is not ir.Call or call.at != transformed.at:
        return
    renewed = dict(_targets(node, result))
    for name, old in _given(call, transformed):
        again = name in renewed and (f.loops or "." in name)
        drift = _drift(name, old, renewed[name]) if again else None
        if drift is not None:
            path, before, after = drift
            m.emit(
                f, DriftingState, call.at, None, Confidence.LIKELY, fields=f"`{path}`",
                before=f"`{before}`", after=f"`{after}`",
            )  # fmt: skip
            return


def _drift(name: str, old: Value, new: Value) -> tuple[str, str, str] | None:
    """The first array of a pytree that has another dtype than before: where it is, and both."""
    after = dict(_exact(new, name))
    for path, before in _exact(old, name):
        if path in after and differ(before, after[path]):
            return path, shown(before), shown(after[path])
    return None


def _targets(node: ir.Assign, result: Value) -> Iterator[tuple[str, Value]]:
    """What is set, and to what."""
    if len(node.targets) != 1:
        return
    target = node.targets[0]
    if type(target) is not ir.Tuple:
        yield path_text(target), result
        return
    items = iteration.known_items(result) if isinstance(result, (Tup, Seq)) else None
    if items is not None and len(items) == len(target.elts):
        yield from ((path_text(one), item) for one, item in zip(target.elts, items))


def _given(call: ir.Call, transformed: Transformed) -> Iterator[tuple[str, Value]]:
    plain = [arg.value for arg in call.args if not arg.name and not arg.star]
    for node, value in zip(plain, transformed.args.pos):
        yield path_text(node), value
    for arg in call.args:
        if arg.name and arg.name in transformed.args.kw:
            yield path_text(arg.value), transformed.args.kw[arg.name]


def _exact(value: Value, name: str) -> Iterator[tuple[str, str]]:
    """The exact dtypes of the arrays in a pytree; of a named tuple that an object holds, too."""
    leaves: Iterable[tuple[str, Value]] = ()
    if type(value) is Tup and value.cls is not None:
        fields = zip(value.cls.fields, value.items) if "." in name else ()
        leaves = [(f"{name}.{field}", part) for field, part in fields]
    elif isinstance(value, (Arr, Map, Seq, Tup)):
        leaves = mapping.parts(value, name)
    for path, leaf in leaves:
        exact = exact_of(leaf.dtype) if type(leaf) is Arr and not leaf.weak else None
        if exact is not None and exact != "bool" and not is_weak(exact):
            yield path, exact
