"""Initialisers of layers and parameters that are none (layer: ``link``, room ``domains``).

What it does: says where an array stands for the function that makes one, where what makes initialisers was not called,
``nn.Dense(3, kernel_init=nn.initializers.lecun_normal)``, and where a parameter is to be made without a shape. What it does not: speak of
functions of the project, which may be anything.
Source: measured, for `flax.linen` and `flax.nnx`.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.infer.grounds import SEEN
from jitlint.infer.values import NO_CONST, Arr, Ext, ExtInst, Py, Value
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.pytrees import NUMBERS

_FUNCTION: Final = "init_fn"
_SHAPE: Final = "shape"


def given(m: Machine, f: Frame, library: Library) -> None:
    """A layer is made with initialisers."""
    for name, value in library.args.kw.items():
        if name in lexicon().contracts.initialised_by and _check(
            m, f, library.at, library.dotted, name, value
        ):
            return


def initialised(m: Machine, f: Frame, at: int, args: Args, place: int) -> None:
    """``self.param(name, init, shape)``, ``self.variable(col, name, init, shape)``. place: of the initialiser."""
    init = args.get(place, _FUNCTION)
    api = "self.param" if place == 1 else "self.variable"
    if init is None or _check(m, f, at, api, _FUNCTION, init):
        return
    whole = args.more is None and args.kw_more is None and len(args.pos) + len(args.kw) == place + 1
    if whole and _needs_shape(m, init):
        m.emit(
            f, ApiMisuse, at, api=api, problem="wrong-call", parameter=_SHAPE, detail="missing", exception="TypeError"
        )  # fmt: skip


def _check(m: Machine, f: Frame, at: int, api: str, parameter: str, value: Value) -> bool:
    """Whether something is no initialiser; it is recorded."""
    detail = "array" if _is_array(value) else "uncalled" if _makes_them(m, value) else ""
    if detail:
        m.emit(
            f, ApiMisuse, at, value if type(value) is Arr else None, api=api, problem="wrong-call", parameter=parameter,
            detail=f"initialiser {detail}", cure=value.dotted.rpartition(".")[2] if type(value) is Ext else "",
            exception="TypeError",
        )  # fmt: skip
    return bool(detail)


def _is_array(value: Value) -> bool:
    if type(value) is Py:
        return value.kind in NUMBERS and value.const is not NO_CONST
    return type(value) is Arr and value.kind is SEEN and not value.weak


def _makes_them(m: Machine, value: Value) -> bool:
    """Whether something is a function that makes initialisers, uncalled."""
    return (
        type(value) is Ext and m.catalogue.canonical(value.dotted) in lexicon().contracts.making_initialisers
    )


def _needs_shape(m: Machine, init: Value) -> bool:
    """Whether an initialiser of a library wants the shape of what it makes."""
    words = lexicon().contracts
    if type(init) is ExtInst:
        return m.catalogue.canonical(init.dotted) in words.making_initialisers
    return type(init) is Ext and m.catalogue.canonical(init.dotted) in words.plain_initialisers
