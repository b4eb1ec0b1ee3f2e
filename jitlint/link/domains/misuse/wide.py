"""Numbers of 64 bits that somebody asks for in a program that never turns them on (layer: ``link``, room ``domains``).

What it does: reads the data types that calls name, and, if there is such a one, whether any code speaks of the setting.
What it does not: know what the environment says, or who else runs the program; so one word of it is enough to be silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.dtypes import narrowed
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import WideDtype
from jitlint.infer.values import Value
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.models.arrays import results
from jitlint.syntax import ir

_PARAMETER: Final = "dtype"


class NeverOn:
    """No code of the program speaks of numbers of 64 bits. told: the variables of modules that stand for such a type, with
    the one place each where that is told."""

    def __init__(self, m: Machine) -> None:
        self.m = m
        self.told: dict[tuple[str, str], int] = {}
        self._answer: bool | None = None

    def holds(self, found: Found) -> bool:
        """Whether the setting is written nowhere, neither set nor asked for."""
        if self._answer is None:
            code = (nodes for module in self.m.modules.values() for nodes in module.code())
            self._answer = not any(map(_speaks, code))
        return self._answer


def hears_of(m: Machine, dotted: str) -> bool:
    """Functions of JAX that take the data type of what they give, and the types themselves."""
    if dotted in lexicon().arrays.any_dtype or not dotted.startswith("jax."):
        return False
    fn = m.catalogue.function(dotted)
    named = fn is not None and fn.parameter(_PARAMETER) is not None
    return named or m.catalogue.constant(dotted) == _PARAMETER or dotted == "jax.Array.astype"


def heard(m: Machine, f: Frame, library: Library, when: NeverOn) -> None:
    """A function is called, perhaps such a one."""
    if not hears_of(m, library.dotted):
        return
    if m.catalogue.constant(library.dotted) == _PARAMETER:
        asked = library.dotted.rpartition(".")[2]
    else:
        asked = results.name_of(given(m, library))
    narrow = narrowed(asked)
    if narrow is not None and _is_first(m, f, library.at, asked, when.told):
        m.emit(
            f, WideDtype, library.at, None, Confidence.LIKELY, when=(when,), asked=asked, given=narrow
        )  # fmt: skip


def given(m: Machine, library: Library) -> Value | None:
    """The data type that a call names."""
    method = library.dotted.rpartition(".")[2] if library.dotted.startswith("jax.Array.") else ""
    fn = m.catalogue.array_method(method) if method else m.catalogue.function(library.dotted)
    if fn is None or library.args.more is not None or library.args.kw_more is not None:
        return None
    return next((value for param, value in results.bind(fn, library.args) if param.name == _PARAMETER), None)


def _is_first(m: Machine, f: Frame, at: int, asked: str, told: dict[tuple[str, str], int]) -> bool:
    """Whether a call names the type itself, or is the first that names a variable of the module which stands for it."""
    call = m.texts.table(f).calls.get(at)
    names = [arg.value.id for arg in call.args if type(arg.value) is ir.Name] if call is not None else []
    known = (name for name in names if results.name_of(f.module.scope.vars.get(name)) == asked)
    name = next(known, None)
    return name is None or told.setdefault((f.module.name, name), at) == at


def _speaks(nodes: Iterable[ir.Node]) -> bool:
    """Whether code names the setting: in a text, a name, an attribute or an argument."""
    said = "\n".join([text for node in nodes for text in _texts(node)]).lower()
    return any(word in said for word in lexicon().compilation.wide)


def _texts(node: ir.Node) -> Iterator[str]:
    if type(node) is ir.Const:
        if isinstance(node.value, str):
            yield node.value
    elif type(node) is ir.Name:
        yield node.id
    elif type(node) is ir.Attr:
        yield node.name
    elif type(node) is ir.Call:
        yield from (arg.name for arg in node.args if arg.name)
    elif type(node) is ir.ImportFrom:
        yield from (name.name for name in node.names)
