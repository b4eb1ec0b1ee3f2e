"""Every event finds exactly one rule, and the rule's words follow the house style."""

from __future__ import annotations

import re

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.base.rule import Report
from jitlint.infer.events import (
    AnyEvent,
    ApiMisuse,
    ArrayStore,
    BadIndex,
    Convert,
    Leak,
    Place,
    TransformMisuse,
    Truth,
)
from tests.rules.catalog import RULES

PLACE = Place("m", 0, "f", (), "jit", Confidence.CERTAIN)


def _truths() -> list[tuple[str, AnyEvent]]:
    codes = {
        "JIT101": "if elif ternary",
        "JIT102": "while",
        "JIT103": "assert",
        "JIT104": "and or not comparison-chain in bool any all min max sorted filter comprehension equality",
        "JIT105": "match match-guard",
    }
    return [(code, Truth(PLACE, form=form)) for code, forms in codes.items() for form in forms.split()]


def _converts() -> list[tuple[str, AnyEvent]]:
    table = {
        ("JIT106", "range"): ["", "range"],
        ("JIT107", "index"): [
            "",
            "list",
            "list index",
            "tuple slice",
            "str repetition",
            "hex",
            "operator.index",
        ],
        ("JIT108", "int"): [""],
        ("JIT108", "float"): [""],
        ("JIT108", "complex"): [""],
        ("JIT108", "round"): [""],
        ("JIT108", "item"): [""],
        ("JIT108", "tolist"): [""],
        ("JIT108", "math"): ["", "math.sin", "math.fsum", "cmath.phase"],
        ("JIT108", "iter"): [""],
        ("JIT108", "string"): ["", "getattr"],
        ("JIT109", "numpy"): ["", "np.where", "numpy.random.normal", "np.add.at", "np.copyto", "NumPy index"],
        ("JIT110", "format"): ["", "f-string", "format", "%"],
        ("JIT111", "hash"): ["", "dict key", "set member", "membership", "hash()", "lru_cache"],
    }
    return [(code, Convert(PLACE, to=to, what=what)) for (code, to), whats in table.items() for what in whats]


def _misuses() -> list[tuple[str, AnyEvent]]:
    events: list[tuple[str, AnyEvent]] = [
        ("JIT202", BadIndex(PLACE, problem="mask")),
        ("JIT203", BadIndex(PLACE, problem="mask-update")),
        ("JIT205", BadIndex(PLACE, problem="slice")),
        ("JIT406", BadIndex(PLACE, problem="list")),
        ("JIT406", BadIndex(PLACE, problem="float")),
        ("JIT406", BadIndex(PLACE, problem="string")),
        ("JIT401", ArrayStore(PLACE, op="setitem")),
        ("JIT401", ArrayStore(PLACE, op="augmented")),
        ("JIT402", ArrayStore(PLACE, op="delitem")),
    ]
    for op, whats in {
        "method": ["", "fill", "np.copyto"],
        "out": ["", "np.add"],
        "attribute": ["", "shape"],
    }.items():
        events += [("JIT402", ArrayStore(PLACE, op=op, what=what)) for what in whats]
    for target in ("attribute", "element", "global", "nonlocal", "append", "lru_cache", "cached_property"):
        events += [("JIT304", Leak(PLACE, target=target, what=what)) for what in ("", "cache")]
    api = {
        "JIT201": "static-argument",
        "JIT204": "data-dependent-shape",
        "JIT404": "list-argument",
        "JIT510": "concrete-only",
        "JIT511": "removed",
    }
    for code, problem in api.items():
        for parameter in ("", "shape", "axis"):
            for cure in ("", "size"):
                event = ApiMisuse(
                    PLACE, api="jax.numpy.zeros", problem=problem, parameter=parameter, cure=cure
                )
                events.append((code, event))
    transform = {
        "JIT208": "carry-mismatch branch-mismatch",
        "JIT209": "reverse-mode-loop",
        "JIT503": "unhashable-static",
        "JIT504": "static-out-of-range static-unknown-name",
        "JIT507": "non-array-argument",
        "JIT508": "method-self",
        "JIT512": "non-array-output",
    }
    for code, problems in transform.items():
        for problem in problems.split():
            for parameter, detail in (("", ""), ("kind", "list"), ("kind", "a `str` and a `list`")):
                event = TransformMisuse(PLACE, problem=problem, parameter=parameter, detail=detail)
                events.append((code, event))
    return events


EVENTS = _truths() + _converts() + _misuses()


def _reports(event: AnyEvent) -> dict[str, Report]:
    found = {}
    for rule in RULES:
        for event_type, check in rule.checks:
            if isinstance(event, event_type) and (report := check(event)) is not None:
                found[rule.code] = report
    return found


@pytest.mark.parametrize(("code", "event"), EVENTS)
def test_each_event_belongs_to_one_rule(code: str, event: AnyEvent) -> None:
    assert list(_reports(event)) == [code]


@pytest.mark.parametrize(("code", "event"), EVENTS)
def test_words_follow_the_style(code: str, event: AnyEvent) -> None:
    report = _reports(event)[code]
    for text in (report.message, report.help):
        assert text
        assert not text.endswith((".", " ", ":"))
        assert text[0] == "`" or text[0].islower() or text.startswith(("JAX", "NumPy"))
        assert text.count("`") % 2 == 0
        assert "``" not in text and "  " not in text
        assert set(re.findall(r"\{\w*\}", text)) <= {"{expr}"}
    assert len(report.message) <= 120


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Convert(PLACE, to="math", what="math.sin"), "use `jnp.sin`"),
        (Convert(PLACE, to="math", what="math.lgamma"), "use `jax.scipy.special.gammaln`"),
        (Convert(PLACE, to="numpy", what="np.where"), "use `jnp.where`"),
        (Convert(PLACE, to="numpy", what="numpy.linalg.norm"), "use `jnp.linalg.norm`"),
        (Convert(PLACE, to="numpy", what="np.random.normal"), "use `jax.random` with a key"),
        (ArrayStore(PLACE, op="augmented", what="*="), "write `x = x.at[i].multiply(value)`"),
        (ArrayStore(PLACE, op="method", what="sort"), "write `x = jnp.sort(x)`"),
    ],
)
def test_help_names_the_counterpart(event: AnyEvent, expected: str) -> None:
    (report,) = _reports(event).values()
    assert report.help == expected


def test_a_data_dependent_shape_is_cured_by_the_argument_that_fixes_it() -> None:
    event = ApiMisuse(PLACE, api="jax.numpy.nonzero", problem="data-dependent-shape", cure="size")
    assert "pass a static `size`" in _reports(event)["JIT204"].help
