"""Settings of an optimiser that are a part of its state: `optax.inject_hyperparams` (layer: ``link``, room ``models``).

The function that makes the optimiser runs again in every update, which is compiled as a rule, with the settings that the state has: numbers
are traced then, those that are defaults too, and so is what functions of the step give. What is no number stays as it was, and so do
flags and what ``static_args`` names.
Source: https://optax.readthedocs.io/en/latest/api/optimizer_schedules.html#optax.inject_hyperparams
"""

from __future__ import annotations

from jitlint.infer.values import UNKNOWN, Arr, Bound, Func, Partial, Py, S, Value, Xform, alternatives
from jitlint.link.engine.frame import Args
from jitlint.link.values import pytrees
from jitlint.link.values.questions.signatures import Signature, describe, static_names

_FUNCTIONS = (Bound, Func, Partial, Xform)


def arrived(x: Xform, sig: Signature | None, args: Args, level: int) -> Args:
    """The arguments as the function that makes the optimiser gets them, and its defaults with them."""
    _, static, known = static_names(x, sig)
    if sig is None or not known or args.more is not None or args.kw_more is not None or sig.has_var:
        unknown: dict[str, Value] = dict.fromkeys(args.kw, UNKNOWN)
        return Args([UNKNOWN] * len(args.pos), unknown, args.more and UNKNOWN, args.kw_more and UNKNOWN)
    names = [param.name for param in sig.positional]
    given = {*names[: len(args.pos)], *args.kw}
    open_names = {param.name for param in sig.params} - given
    named = {**{name: v for name, v in sig.func.defaults.items() if name in open_names}, **args.kw}

    def one(name: str, value: Value) -> Value:
        return value if name in static else _one(x, name, value, level)

    return Args(
        [one(*pair) for pair in zip(names, args.pos)], {name: one(name, v) for name, v in named.items()}
    )


def _one(x: Xform, name: str, value: Value, level: int) -> Value:
    alts = alternatives(value)
    why = f"parameter `{name}` of `{describe(x.target)}`"
    if all(isinstance(alt, _FUNCTIONS) for alt in alts):
        return pytrees.lift(Arr(0, "float", 0), S, level, why)
    return pytrees.lift(value, S, level, why) if all(map(_is_number, alts)) else value


def _is_number(value: Value) -> bool:
    return type(value) is Arr or (type(value) is Py and value.kind in ("int", "float"))
