"""Objects that hold what they were made of, as it is (layer: ``link``, room ``domains``).

What it does: says under which names and numbers the arguments of a constructor are found afterwards. What it does not:
read constructors; a class that has one of its own may put something else there.
"""

from __future__ import annotations

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Class
from jitlint.link.domains.donation.walker import Walker
from jitlint.link.values.fields import ordered_fields
from jitlint.link.values.questions.kinds import mro
from jitlint.syntax import ir


def kept(w: Walker, node: ir.Call, name: str | None) -> list[tuple[str, ...]] | None:
    """For each argument of a call the places at which the result holds it; None for what is no such constructor.

    name: the function of a library that is called, if it is one.
    """
    if any(arg.star for arg in node.args):
        return None
    if name in lexicon().buffers.keeping:
        return [(f".{arg.name}",) if arg.name else () for arg in node.args]
    info = _plain_class(w, node.func)
    if info is None:
        return None
    fields = list(ordered_fields(info))
    numbered = info.shape == "namedtuple"
    out: list[tuple[str, ...]] = []
    for i, arg in enumerate(node.args):
        found = arg.name or (fields[i] if i < len(fields) else "")
        if found not in fields:
            out.append(())
            continue
        out.append((f".{found}", f"[{fields.index(found)}]") if numbered else (f".{found}",))
    return out


def _plain_class(w: Walker, func: ir.Expr) -> ClassInfo | None:
    """The class of the project that a name stands for, if its constructor only fills its fields."""
    if type(func) is not ir.Name or (w.fn is not None and func.id in w.fn.node.local_names):
        return None
    value = w.module.scope.vars.get(func.id)
    if type(value) is not Class or not value.info.shape:
        return None
    own = any(name in cls.namespace for cls in mro(value.info) for name in lexicon().buffers.making)
    return None if own else value.info
