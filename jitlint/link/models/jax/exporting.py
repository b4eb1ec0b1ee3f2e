"""Exported functions and sizes without a number, `jax.export`, and programs compiled ahead (layer: ``link``, room ``models``).

What it does: knows the axes of what a function was exported for, and which sizes were named together. What it does not: compute
with such sizes.
"""

from __future__ import annotations

from typing import Final

from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import UNKNOWN, Arr, ExtInst, Py, Tup, Value, Xform, py
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import fitting
from jitlint.link.values.library_objects import APPLIED
from jitlint.link.values.pytrees import ABSTRACT_ARRAY
from jitlint.link.values.questions.signatures import signature, static_names

EXPORTER: Final = "jax.export.exporter"
"""What `jax.export.export` gives is called here; the library gives it no name."""
CALL: Final = "jax.export.Exported.call"
_FOR: Final = "for"


def symbolic_shape(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Names for sizes, ``"b, 4"``. All names of one call are of one scope, another one for each call that is given none."""
    said = args.get(0, "shape_spec")
    text = said.const if type(said) is Py else None
    if not isinstance(text, str) or not args.kw.keys() <= {"shape_spec", "constraints"}:
        return UNKNOWN
    parts = [part.strip() for part in text.strip().removeprefix("(").removesuffix(")").split(",")]
    names = parts[:-1] if not parts[-1] else parts
    if not all(name.isidentifier() or name.isdecimal() for name in names) or "_" in names:
        return UNKNOWN
    scope = {fitting.SCOPE: py(f"{f.module.name}:{at}")}
    return Tup(tuple([py(int(n)) if n.isdecimal() else ExtInst(fitting.SIZE, dict(scope)) for n in names]))


def export(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A function that is ready to be exported, once it is told for which arguments."""
    return ExtInst(EXPORTER)


def exported(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """An exported function, with what it is for."""
    known = args.more is None and not args.kw and args.kw_more is None
    call = ExtInst(CALL, {_FOR: Tup(tuple(args.pos))} if known else None)
    return ExtInst("jax.export.Exported", {"call": call})


def called(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """An exported function is called: do the arguments have the axes of those that it was exported for."""
    wanted = obj.attrs.get(_FOR)
    if type(wanted) is Tup and args.more is None:
        for one, value in zip(wanted.items, args.pos):
            axes = one.attrs["ndim"] if type(one) is ExtInst and one.dotted == ABSTRACT_ARRAY else None
            rank = value.rank if type(value) is Arr and value.kind is SEEN and not value.weak else None
            if type(axes) is Py and type(axes.const) is int and rank is not None and rank != axes.const:
                fitting.report(m, f, at, CALL, "exported", f"{axes.const} and {rank}", value)
                break
    return UNKNOWN


def run_compiled(m: Machine, f: Frame, at: int, program: ExtInst, args: Args) -> Value:
    """``compiled = jitted.lower(x, n).compile()`` has its static arguments inside: its call takes the others alone.

    Source: https://docs.jax.dev/en/latest/aot.html
    """
    x = program.attrs.get(APPLIED)
    again = _static_again(x, args) if type(x) is Xform and not m.guards else ""
    if type(x) is Xform and again:
        m.emit(f, ApiMisuse, at, api=x.spec.name, problem="wrong-call", parameter=again, detail="compiled")
    return UNKNOWN


def _static_again(x: Xform, args: Args) -> str:
    """The first static parameter that a call of the program gives a value; "" if there is none, as far as known."""
    sig = signature(x.target)
    if sig is None or sig.has_var or args.more is not None:
        return ""
    nums, names, known = static_names(x, sig)
    again = sorted(names.intersection(args.kw))
    if not again and len(args.pos) == len(sig.positional) and not args.kw:
        again = [sig.positional[number].name for number in sorted(nums) if number < len(sig.positional)]
    return again[0] if known and again else ""
