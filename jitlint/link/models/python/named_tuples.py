"""Classes of tuples with names that a call makes: ``namedtuple("State", "x key")`` (layer: ``link``, room ``models``).

What it does: gives a class with these fields, as a class statement that derives from ``NamedTuple`` would. What it does not:
know what the fields hold, or which of them have defaults where a module sets these by hand.
"""

from __future__ import annotations

from jitlint.infer.program import ClassInfo
from jitlint.infer.values import NONE, UNKNOWN, Class, Value
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values import iteration
from jitlint.link.values.boxes import argument, const_text
from jitlint.syntax import ir
from jitlint.syntax.children import below


def make(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``collections.namedtuple(name, fields, defaults=...)``."""
    name, given = const_text(argument(args, 0, "typename")), argument(args, 1, "field_names")
    fields = _names(given)
    if name is None or not fields or args.more or args.kw_more or "rename" in args.kw or _sets_defaults(f):
        return UNKNOWN
    left_out = args.kw.get("defaults", NONE)
    defaults = [] if left_out is NONE else iteration.known_items(left_out)
    return UNKNOWN if defaults is None else _made(m, f, at, name, fields, list(defaults))


def make_typed(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``typing.NamedTuple(name, [(field, type), ...])``."""
    name, given = const_text(argument(args, 0, "typename")), argument(args, 1, "fields")
    pairs = [
        iteration.known_items(pair)
        for pair in (iteration.known_items(given) if given is not None else None) or ()
    ]
    fields = [const_text(pair[0]) if pair else None for pair in pairs]
    names = [field for field in fields if field is not None]
    if name is None or not names or len(names) < len(fields) or _sets_defaults(f):
        return UNKNOWN
    return _made(m, f, at, name, names, [])


def _names(given: Value | None) -> list[str] | None:
    text = const_text(given)
    if text is not None:
        return text.replace(",", " ").split()
    items = iteration.known_items(given) if given is not None else None
    names = [const_text(item) for item in items or ()]
    known = [name for name in names if name is not None]
    return known if len(known) == len(names) else None


def _made(m: Machine, f: Frame, at: int, name: str, names: list[str], defaults: list[Value]) -> Value:
    known = next((c for c in m.classes if c.at == at and c.module is f.module and c.scope is f.scope), None)
    if known is None:
        qualname = name if f.fn is None else f"{f.qualname}.<locals>.{name}"
        without = len(names) - len(defaults)
        fields: dict[str, tuple[ir.Expr | None, Value | None]] = {
            one: (None, defaults[i - without] if i >= without else None) for i, one in enumerate(names)
        }
        known = ClassInfo(len(m.classes) + 1, f.module, name, qualname, at, [], {}, fields, f.scope)
        known.shape = "namedtuple"
        m.classes.append(known)
    return Class(known)


def _sets_defaults(f: Frame) -> bool:
    """Whether the module sets defaults of functions by hand, as ``State.__new__.__defaults__``."""
    return any(type(part) is ir.Attr and part.name == "__defaults__" for part in below(f.module.tree.body))
