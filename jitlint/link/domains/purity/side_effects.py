"""What traced code does besides computing: output, input, hidden state of the host (layer: ``link``, room ``domains``).

Such code runs while JAX traces, and never again when the compiled function is called. Which functions have
which effect stands in the catalogue. Changes of the program's own objects are the business of `mutations`.
"""

from __future__ import annotations

from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import Effect
from jitlint.infer.values import NO_CONST, NONE, Arr, ExtInst, Func, Py, S, Seq, Tree, Value, alternatives
from jitlint.link.domains.purity.environment import READS, Changed, Environment
from jitlint.link.engine import surroundings
from jitlint.link.engine.domain import Library
from jitlint.link.engine.events import TRACED_TEXT, tracer_inside
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Condition
from jitlint.link.tables.ir_walk import last_name
from jitlint.link.values.library_objects import level_of
from jitlint.syntax import ir

_SPOKEN: Final = frozenset({"print", "log", "warning"})
TEMPLATE: Final = "template"
_STATE: Final = frozenset({"random"})
_META: Final = "trac"
"""What a message has in it that speaks of the trace."""


def called(m: Machine, f: Frame, library: Library, environment: Environment) -> None:
    """A library function, or a method of a library object, is called inside a trace."""
    kind = m.catalogue.effect(library.dotted)
    if kind is None:
        return
    owner = library.owner
    if kind in _STATE and type(owner) is ExtInst and level_of(owner) >= f.world.floor:
        return
    if kind == READS:
        _record(m, f, library.at, kind, library.dotted, library.args, (Changed(environment, library.args),))
    else:
        _record(m, f, library.at, kind, library.dotted, library.args)


def chosen(m: Machine, f: Frame, library: Library) -> None:
    """Something is reported in a branch that is chosen for each element by itself."""
    if not f.module.is_test and not f.world.looks:
        m.emit(f, Effect, library.at, None, Confidence.CERTAIN, effect="chosen", what=library.dotted)


def advanced(m: Machine, f: Frame, at: int, iterator: Value, effect: str) -> None:
    """Something takes elements out of an iterator inside a trace."""
    for alt in alternatives(iterator):
        if type(alt) is Seq and alt.kind == "iter" and alt.level < f.world.floor:
            _record(m, f, at, effect, "", Args([]))
            return


def _record(
    m: Machine, f: Frame, at: int, kind: str, dotted: str, args: Args, when: tuple[Condition, ...] = ()
) -> None:
    if m.broken == (f.module.name, f.at):
        return
    if kind == "limited" or _is_seeded(f, at, kind, args) or surroundings.asks_for_tracers(f):
        return
    tracer: Value | None = None
    level: Confidence | None = None
    meant = False
    if kind == TEMPLATE and TRACED_TEXT not in args.pos[:1]:
        return
    if kind in _SPOKEN:
        tracer, level = _spoken(m, f, kind, args)
        if level is None:
            return
        meant = tracer is None and _META in _text(args)
    if tracer is None and (
        f.module.is_test or f.ground == "catalogue" or _reads_a_table(m, f, kind, dotted, args)
    ):
        level = (
            Confidence.POSSIBLE
        )  # a test; or nobody is seen who traces it: what it does shows nothing of that
    m.emit(f, Effect, at, tracer, level, when=when, effect=kind, what=dotted, meant=meant)


def _reads_a_table(m: Machine, f: Frame, kind: str, dotted: str, args: Args) -> bool:
    """Whether a compiled function that is given nothing reads a file: what it gives can only be the same each time."""
    if kind != "file" or f.fn is None or f.fn.node.params:
        return False
    reads = dotted.rpartition(".")[2] in lexicon().python.reading and args.get(1, "mode") is None
    compiled = [site.xform.target for site in m.sites if site.xform.spec.modes & S]
    return reads and args.more is None and any(type(t) is Func and t.fn is f.fn for t in compiled)


def _is_seeded(f: Frame, at: int, kind: str, args: Args) -> bool:
    """Whether numbers are the same each time because the code says so."""
    return (kind == "entropy" and _seeded(args)) or (kind in _STATE and _seeds_first(f, at))


def _seeds_first(f: Frame, at: int) -> bool:
    """Whether the function itself has set the generator before: ``np.random.seed(0)``."""
    parts = f.fn.parts if f.fn is not None else ()
    return any(type(n) is ir.Call and last_name(n.func) == "seed" and n.args and n.at < at for n in parts)


def _seeded(args: Args) -> bool:
    first = args.get(0, "seed")
    return args.more is not None or args.kw_more is not None or (first is not None and first is not NONE)


def _spoken(m: Machine, f: Frame, kind: str, args: Args) -> tuple[Value | None, Confidence | None]:
    """The tracer that a message shows, and how surely it is meant for every call; None when it surely is not."""
    values = _values(args)
    for value in values:
        tracer = _strong(tracer_inside(value))
        if tracer is not None or value is TRACED_TEXT:
            return tracer, Confidence.CERTAIN
    if kind == "warning" or (kind != "print" and _META in _text(args)) or surroundings.leads_to_raise(f):
        return None, None
    plain = kind == "print" and not f.module.is_test and all(_is_text(v) for v in values)
    return None, Confidence.LIKELY if plain else Confidence.POSSIBLE


def _values(args: Args) -> list[Value]:
    return [*args.pos, *args.kw.values(), *(v for v in (args.more, args.kw_more) if v is not None)]


def _text(args: Args) -> str:
    """What is known of a message, in small letters."""
    return "".join(v.const for v in _values(args) if type(v) is Py and isinstance(v.const, str)).lower()


def _is_text(value: Value) -> bool:
    return type(value) is Py and value.const is not NO_CONST


def _strong(value: Value | None) -> Value | None:
    """What a message shows for sure: that something may be traced is no reason to call it a placeholder."""
    a: Any = value
    if isinstance(value, (Arr, Tree)) and a.weak:
        return None
    return value
