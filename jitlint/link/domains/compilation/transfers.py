"""NumPy arrays that go to the device again and again (layer: ``link``, room ``domains``).

What it does: finds large arrays of NumPy that stay what they are while a loop hands them to a compiled function: each call copies
them. What it does not: speak of what a turn makes for itself, which has to be sent, or of arrays of which the sizes are not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import RepeatedTransfer
from jitlint.infer.values import Inst, S, Value
from jitlint.link.domains.compilation import runs
from jitlint.link.domains.compilation.log import CompilationLog, Sent
from jitlint.link.engine import scopes
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.tables.ir_walk import bound_by, nodes, path_text
from jitlint.link.tables.storing import stored, targets_of
from jitlint.link.values.questions.extent import LARGE, arrays, elements
from jitlint.link.values.questions.kinds import methods
from jitlint.syntax import ir


def check(log: CompilationLog, f: Frame, transformed: Transformed) -> None:
    """A compiled function is called by the host."""
    compiles = transformed.x.spec.name in lexicon().buffers.donors and transformed.inner.world.here & S
    if f.world.level or f.module.is_test or not compiles:
        return
    call = log.m.texts.table(f).calls.get(transformed.at)
    if call is None or any(arg.star for arg in call.args):
        return
    for node, value in _given(call, transformed):
        name = path_text(node)
        count = (
            sum(elements(array) for array in arrays(value) if array.host and not array.modes) if name else 0
        )
        if count >= LARGE and _stays(f, node):
            sent = Sent(f, f.confidence, node.at, name, count, bool(f.loops))
            log.sent.setdefault((f.module.name, node.at), sent)


def _given(call: ir.Call, transformed: Transformed) -> Iterator[tuple[ir.Expr, Value]]:
    """What is written for each argument, with its value."""
    args = transformed.args
    by_place = [arg.value for arg in call.args if arg.name is None]
    if len(by_place) == len(args.pos):
        yield from zip(by_place, args.pos)
    yield from ((arg.value, args.kw[arg.name]) for arg in call.args if arg.name in args.kw)


def _stays(f: Frame, node: ir.Expr) -> bool:
    """Whether an array is the same one, with the same numbers, whenever the call is made again."""
    root = node
    while type(root) is ir.Attr:
        root = root.obj
    if type(root) is not ir.Name:
        return False
    around = list(nodes(f.loops[-1])) if f.loops else list(f.fn.parts) if f.fn is not None else []
    if _is_filled(around, path_text(node)):
        return False
    if f.loops and root.id in {name for part in around for name in bound_by(part)}:
        return False
    if type(node) is ir.Name:
        return bool(f.loops) or f.fn is None or node.id not in f.fn.node.local_names
    return type(node) is ir.Attr and _is_kept(f, root.id, node)


def _is_filled(parts: Iterable[ir.Node], place: str) -> bool:
    """Whether code may put other numbers into an array, itself or by a call that gives nothing: ``np.copyto(buffer, x)``."""
    for part in parts:
        targets = [one for one in targets_of(part) if type(one) is ir.Sub or type(part) is ir.AugAssign]
        if any(_part_of(target).startswith(place) for target in targets):
            return True
        call = part.value if type(part) is ir.ExprStmt else None
        if type(call) is ir.Call and place in map(
            path_text, (_owner(call), *[arg.value for arg in call.args])
        ):
            return True
    return False


def _owner(call: ir.Call) -> ir.Node | None:
    return call.func.obj if type(call.func) is ir.Attr else None


def _part_of(node: ir.Node) -> str:
    """What the elements that are set are a part of."""
    while type(node) is ir.Sub:
        node = node.obj
    return path_text(node)


def _is_kept(f: Frame, owner: str, node: ir.Attr) -> bool:
    """Whether nothing but the constructor of an object sets the attribute, or a part of it."""
    value = scopes.lookup(f, owner)
    if type(value) is not Inst or type(node.obj) is not ir.Name:
        return False
    for fn in methods(value.cls):
        if fn.name not in lexicon().buffers.making:
            own = fn.first
            is_set = any(place.name == node.name for part in fn.parts for place in stored(part))
            if is_set or _is_filled(fn.parts, f"{own}.{node.name}"):
                return False
    return True


def finish(log: CompilationLog) -> None:
    """Record those of calls that are made many times."""
    for sent in log.sent.values():
        f = sent.frame
        many = None if sent.turns else runs.runs_many(log, f.fn)
        if not sent.turns and (many is None or many.site is None):
            continue
        f.confidence = sent.confidence
        log.m.emit(
            f, RepeatedTransfer, sent.at, None, Confidence.LIKELY, name=sent.name, count=sent.count,
            also=many.also if many is not None else (),
        )  # fmt: skip
