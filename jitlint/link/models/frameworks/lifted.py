"""Transforms of `flax.linen` that take a class of modules and give one (layer: ``link``, room ``models``).

What it does: lets the modules of such a class run under the transform when they are called. What it does not: know more of the class
than its ``__call__``, which is what is transformed where nothing else is said.
"""

from __future__ import annotations

from jitlint.catalogue.transforms import Wrap
from jitlint.infer.values import UNKNOWN, Class, Inst, Py, Tup, Value, Xform
from jitlint.link.engine.frame import Frame
from jitlint.link.values.questions.signatures import constant_ints


def transformed(f: Frame, at: int, spec: Wrap, target: Value, options: dict[str, Value]) -> Value:
    """The class, or one whose modules run under the transform."""
    if type(target) is not Class or not spec.lifts:
        return target if type(target) is Class else UNKNOWN
    if target.info.role != "linen" or "methods" in options or "**" in options:
        return UNKNOWN
    moved = _without_receiver(spec, options)
    return Xform(spec, target, moved, (f.module.name, at), f.module) if moved is not None else UNKNOWN


def made(x: Xform, module: Value) -> Value:
    """A module of such a class, which is called like a function."""
    return Xform(x.spec, module, x.options, x.site, x.module) if type(module) is Inst else UNKNOWN


def _without_receiver(spec: Wrap, options: dict[str, Value]) -> dict[str, Value] | None:
    """The options, with static positions that do not count the module itself; None if they are not known."""
    if spec.static_nums not in options:
        return options
    numbers = constant_ints(options[spec.static_nums])
    if numbers is None or any(number < 0 for number in numbers):
        return None
    places = [Py("int", number - 1) for number in numbers if number]
    return {**options, spec.static_nums: Tup(tuple(places))}
