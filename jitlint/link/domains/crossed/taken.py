"""Which gradients the call of a derivative gives, and where they lie in what it gives (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple, Union

from jitlint.infer.values import FALSE, TRUE, Py, Xform
from jitlint.link.engine.domain import Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import path_text
from jitlint.link.values import paths
from jitlint.link.values.questions import derivatives
from jitlint.link.values.questions.signatures import constant_ints
from jitlint.syntax import ir

_JIT: Final = "jax.jit"

Form = Union[int, None, tuple["Form", ...]]
"""What an expression holds: the gradient by the argument of this number, something else, or several things side by side."""


class Derivative(NamedTuple):
    """A call of a derivative. numbers: the arguments that it is taken by. form: of its result."""

    call: ir.Call
    x: Xform
    numbers: tuple[int, ...]
    form: Form

    def given(self, number: int) -> ir.Expr:
        """An argument that is passed by position."""
        return self.call.args[number].value


def at(m: Machine, f: Frame, transformed: Transformed) -> Derivative | None:
    """The derivative that has just been called, if the source calls it itself, and it is known by what it is taken."""
    call, x = m.texts.table(f).calls.get(transformed.at), transformed.x
    if call is None or any(arg.star for arg in call.args) or not _is_called(m, f, call, x):
        return None
    grads = _gradients(x, sum(arg.name is None for arg in call.args))
    aux = x.options.get("has_aux", FALSE)
    if grads is None or (aux is not TRUE and aux is not FALSE):
        return None
    numbers = grads if isinstance(grads, tuple) else (grads,)
    if x.spec.result == derivatives.VALUED:
        return Derivative(call, x, numbers, (None, grads))
    return Derivative(call, x, numbers, (grads, None) if aux is TRUE else grads)


def plain(node: ir.Node | None) -> str:
    """A variable, or an attribute of one, as text; "" for anything else."""
    return path_text(node) if paths.path_key(node) else ""


def root(path: str) -> str:
    """The variable of a path."""
    return path.partition(".")[0]


def numbers_in(form: Form) -> Iterator[int]:
    """The arguments of which there are gradients in a form."""
    if isinstance(form, tuple):
        for part in form:
            yield from numbers_in(part)
    elif form is not None:
        yield form


def _is_called(m: Machine, f: Frame, call: ir.Call, x: Xform) -> bool:
    """Whether the call is one of this derivative, compiled or not, and not of what something else made of it."""
    if type(call.func) is ir.Call:
        return x.site == (f.module.name, call.func.at)
    value = paths.peek(m, f, call.func)
    while type(value) is Xform and value is not x and value.spec.name == _JIT:
        value = value.target
    return value is x


def _gradients(x: Xform, given: int) -> int | tuple[int, ...] | None:
    """The arguments that a derivative is taken by, several in a tuple, with so many given by position; None: not known."""
    option = x.options.get("argnums")
    found = [0] if option is None else constant_ints(option)
    if not found or not all(-given <= number < given for number in found):
        return None
    numbers = tuple([number % given for number in found])
    return numbers[0] if option is None or type(option) is Py else numbers
