"""Regions of code that run under other rules: compile-time evaluation, disabled jit, expected errors (layer: ``link``)."""

from __future__ import annotations

from typing import Any

from jitlint.infer.values import ExtInst, Value
from jitlint.link.machine import Frame, Machine, World
from jitlint.syntax import ir

EXPECTED = ("pytest.raises", "unittest.case.TestCase.assertRaises", "contextlib.suppress")
EXPECTED_METHODS = frozenset(
    {"assertRaises", "assertRaisesRegex", "assertRaisesWithLiteralMatch", "assertRaisesWithPredicateMatch"}
)
TRACING_ERRORS = frozenset(
    {
        "ConcretizationTypeError",
        "TracerBoolConversionError",
        "TracerIntegerConversionError",
        "TracerArrayConversionError",
        "NonConcreteBooleanIndexError",
        "UnexpectedTracerError",
        "JAXTypeError",
        "JAXIndexError",
    }
)


def entered(f: Frame, value: Value) -> World | None:
    """The world inside ``with value:`` when it differs from the one around."""
    if type(value) is not ExtInst:
        return None
    w = f.world
    if value.dotted == "jax.ensure_compile_time_eval":
        return w.but(here=0)
    if value.dotted == "jax.disable_jit":
        return w.but(eager_jit=True)
    if value.dotted in EXPECTED or value.dotted.rpartition(".")[2] in EXPECTED_METHODS:
        return w.but(excused=True)
    return None


def guarded(m: Machine, f: Frame, handlers: list[ir.Handler]) -> World:
    """The world of a ``try`` body: excused when a handler names a tracing error."""
    for handler in handlers:
        if handler.type is not None and any(name in TRACING_ERRORS for name in _names(handler.type)):
            return f.world.but(excused=True)
    return f.world


def catches_type_errors(handlers: list[ir.Handler]) -> bool:
    """Whether the body itself, not what it calls, is prepared for what JAX raises: tracing errors are type errors."""
    return any(_is_broad(h) and not any(type(s) is ir.Raise for s in h.body) for h in handlers)


def _is_broad(handler: ir.Handler) -> bool:
    return handler.type is None or any(n in ("TypeError", "Exception") for n in _names(handler.type))


def catches_missing_names(handlers: list[ir.Handler]) -> bool:
    """Whether a ``try`` is prepared for names that this version of a library does not have."""
    names = ("ImportError", "ModuleNotFoundError", "AttributeError", "Exception")
    return any(h.type is None or any(n in names for n in _names(h.type)) for h in handlers)


def _names(node: Any) -> list[str]:
    if type(node) is ir.Tuple:
        return [name for part in node.elts for name in _names(part)]
    if type(node) is ir.Attr:
        return [node.name]
    return [node.id] if type(node) is ir.Name else []
