"""Whether a call fits the parameters of a function, as Python binds them (layer: ``link``, room ``values``).

What it does: puts together what a partial application and a call give, and says where Python certainly refuses that. What
it does not: bind arguments, or know what a decorator that is not understood does with them.
"""

from __future__ import annotations

from jitlint.infer.lattice import join, joined, or_unknown
from jitlint.infer.values import Func, Partial, Value
from jitlint.link.engine.frame import Args


def cannot_bind(func: Func, args: Args, as_written: bool = False) -> bool:
    """Whether Python certainly refuses a call: an argument is missing, or one too many or of an unknown name.

    A decorator that is not understood may take or give some, so what it decorates is never refused. as_written: but then it is
    hardly meant, where another function may be.
    """
    if args.more is not None or args.kw_more is not None or (func.fn.resigned and not as_written):
        return False
    left = len(args.pos)
    if not args.kw and func.fn.positional is not None and left == len(func.fn.positional):
        return False  # most calls
    names = set(args.kw)
    for param in func.fn.node.params:
        kind = param.kind
        if left and kind in ("pos", "any"):
            left -= 1
            if kind == "any" and param.name in names:
                return True
        elif kind in ("any", "kwonly") and param.name in names:
            names.discard(param.name)
        elif param.default is None and kind in ("pos", "any", "kwonly"):
            return True
    return bool(left or names) and _is_one_too_many(func, left, names)


def _is_one_too_many(func: Func, left: int, names: set[str]) -> bool:
    """Whether a function has nowhere to put arguments that are left over."""
    kinds = {param.kind for param in func.fn.node.params}
    return (left > 0 and "var" not in kinds) or (bool(names) and "kwvar" not in kinds)


def with_bound(p: Partial, args: Args) -> Args:
    """The arguments of a call of a partial application; keywords ``*`` and ``**`` stand for unknown ones it holds."""
    kw = {k: v for k, v in p.keywords.items() if k not in ("*", "**")} | args.kw
    more, kw_more = p.keywords.get("*"), p.keywords.get("**")
    if more is None:
        return Args([*p.args, *args.pos], kw, args.more, _either(kw_more, args.kw_more))
    rest = or_unknown(joined([more, *args.pos]))
    return Args(
        list(p.args), kw, rest if args.more is None else join(rest, args.more), _either(kw_more, args.kw_more)
    )


def _either(a: Value | None, b: Value | None) -> Value | None:
    if a is None or b is None:
        return b if a is None else a
    return join(a, b)
