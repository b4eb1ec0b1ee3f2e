"""Every event finds exactly one rule, and the rule's words follow the house style."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from jitlint.base.diagnostic import Confidence
from jitlint.base.rule import Report
from jitlint.infer.events import (
    AnyEvent,
    ApiMisuse,
    ArrayStore,
    BadIndex,
    Capture,
    ConstantKey,
    Convert,
    DonatedRead,
    DroppedUpdate,
    Effect,
    Handler,
    ImportIdiom,
    JitCreation,
    KeyReuse,
    Leak,
    Mutation,
    OutOfBounds,
    SilentAnswer,
    TransformMisuse,
    Truth,
    UnrolledLoop,
    UnsyncedClock,
    VaryingArgument,
)
from jitlint.infer.places import Place
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
        "JIT409": "missing-member",
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
    for detail in ("name", "dtype", "axis", "attribute", "count 2 3", "count 1 3"):
        for cure in ("", "axis"):
            wrong = ApiMisuse(PLACE, api="jax.numpy.tile", problem="wrong-call", parameter="dim", cure=cure)
            events.append(("JIT410", replace(wrong, detail=detail)))
    for detail in ("the int `0`", "several keys", "a tuple", "one number"):
        events.append(("JIT603", ApiMisuse(PLACE, api="jax.random.normal", problem="no-key", detail=detail)))
    for detail in ("a number", "arrays with 2 axes and with 1 axis", "axis 1 of arrays with 1 axis"):
        events.append(
            ("JIT407", ApiMisuse(PLACE, api="jax.numpy.stack", problem="cannot-join", detail=detail))
        )
    events.append(("JIT211", ApiMisuse(PLACE, api="jax.lax.psum", problem="unbound-axis", parameter="batch")))
    for kind in ("jvp", "fwd", "bwd"):
        for detail in ("an array for 2", "a tuple of 1 for 2", "`None` for 1"):
            misuse = TransformMisuse(
                PLACE, problem="rule-result", parameter=kind, detail=detail, transform="f"
            )
            events.append(("JIT210", misuse))
    for problem in ("missing-argument", "missing-mutable", "missing-rngs"):
        events.append(("JIT514", ApiMisuse(PLACE, api="optax.adamw", problem=problem, parameter="params")))
    events += [("JIT408", ArrayStore(PLACE, op="field", what=what)) for what in ("State.x", "x")]
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


def _effects() -> list[tuple[str, AnyEvent]]:
    """What is silently wrong, or done again and again, in all the ways in which the interpreter words it."""
    events: list[tuple[str, AnyEvent]] = []
    kinds = "again split loop calls many shared carried default".split()
    events += [
        ("JIT601", KeyReuse(PLACE, api=api, how=how)) for api in ("", "jax.random.normal") for how in kinds
    ]
    events.append(("JIT602", ConstantKey(PLACE)))
    for code, repeated in (("JIT501", "loop"), ("JIT502", "call")):
        for transform in ("jax.jit", "jax.pmap"):
            for what in ("lambda", "inner function", "partial", "transform", "method", "function"):
                for retraces in (True, False):
                    one = JitCreation(
                        PLACE, repeated=repeated, retraces=retraces, what=what, transform=transform
                    )
                    events.append((code, one))
        events.append((code, JitCreation(PLACE, repeated=repeated, what="lambda", api="jax.lax.scan")))
    for target in "attribute element method global nonlocal delete".split():
        for what, name in (("", ""), ("append", ""), ("", "count")):
            events.append(("JIT303", Mutation(PLACE, target=target, what=what, name=name)))
    events.append(("JIT303", Mutation(PLACE, target="element", name="state", lost=True)))
    for problem, count in (("unrolled", "100"), ("unrolled", "shape"), ("unrolled", "array")):
        events.append(("JIT206", UnrolledLoop(PLACE, problem=problem, count=count)))
    hows = [
        "a number computed at every turn",
        "the length of a list that grows",
        "a number drawn at random",
        "`i`, which changes at every turn",
        "a new lambda",
        "a new `Config`",
    ]
    for problem in ("static", "fresh", "filter"):
        events += [
            ("JIT505", VaryingArgument(PLACE, problem=problem, parameter=name, how=how))
            for how in hows
            for name in ("", "n")
        ]
    shapes = ["a list whose length changes", "`xs`, an array that grows", "a slice whose length changes"]
    events += [
        ("JIT506", VaryingArgument(PLACE, problem="shape", parameter=name, how=how))
        for how in shapes
        for name in ("", "x")
    ]
    for form in ("read", "again", "method"):
        events += [
            ("JIT509", DonatedRead(PLACE, name=name, callee="step", form=form)) for name in ("", "state")
        ]
    for code, kind in (("JIT305", "array"), ("JIT306", "state"), ("JIT306", "function")):
        events += [(code, Capture(PLACE, kind=kind, writer=writer)) for writer in ("", "reset")]
    events.append(("JIT305", Capture(PLACE, kind="array", problem="large", size=1_000_000)))
    events.append(("JIT403", DroppedUpdate(PLACE, method="add")))
    events.append(("JIT112", SilentAnswer(PLACE, what="numpy.array_equal")))
    events.append(("JIT702", ImportIdiom(PLACE, name="np", what="jax.numpy")))
    events += [("JIT309", Handler(PLACE, problem=problem)) for problem in ("swallows", "never")]
    events += [("JIT701", UnsyncedClock(PLACE, callee=callee)) for callee in ("", "step")]
    for index, size, update in (("5", "3", ""), ("", "3", ""), ("5", "3", "set")):
        events.append(("JIT405", OutOfBounds(PLACE, index=index, size=size, update=update)))
    for effect, code in (("print", "JIT301"), ("next", "JIT308"), ("iteration", "JIT308")):
        events += [(code, Effect(PLACE, effect=effect, what=what)) for what in ("", "rows")]
    return events


EVENTS = _truths() + _converts() + _misuses() + _effects()


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
        assert set(re.findall(r"\{\w*\}", text)) <= {"{expr}", "{why}"}
    assert len(report.message) <= 160


_VOWEL = r"`?(?:[aeio]|un(?!i))"


@pytest.mark.parametrize(("code", "event"), EVENTS)
def test_made_up_sentences_are_grammatical(code: str, event: AnyEvent) -> None:
    report = _reports(event)[code]
    for text in (report.message, report.help, report.static):
        bare = re.sub(r"\{[^}]*\}", "it", text)
        assert not re.search(r"\b(\w+) \1\b", bare)
        assert not re.search(rf"\ba {_VOWEL}", bare)
        assert not re.search(r"\ban `?(?!f-string)[bcdfgjklmpqtvwyz]", bare)
        assert not re.search(r"\s[,;)]|\s\.(?!\.\.)|\(\s|``|\(\)(?!`)", bare)
        assert bare.count("(") == bare.count(")")
    assert not report.static or report.static.startswith("if ")


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (Convert(PLACE, to="math", what="math.sin"), "use `jnp.sin`"),
        (Convert(PLACE, to="math", what="math.lgamma"), "use `jax.scipy.special.gammaln`"),
        (Convert(PLACE, to="numpy", what="np.where"), "use `jnp.where`"),
        (Convert(PLACE, to="numpy", what="numpy.linalg.norm"), "use `jnp.linalg.norm`"),
        (Convert(PLACE, to="numpy", what="np.random.normal"), "use `jax.random` with a key"),
        (ArrayStore(PLACE, op="augmented", what="*="), "write `{store:multiply}`"),
        (ArrayStore(PLACE, op="method", what="sort"), "write `x = jnp.sort(x)`"),
    ],
)
def test_help_names_the_counterpart(event: AnyEvent, expected: str) -> None:
    (report,) = _reports(event).values()
    assert report.help == expected


def test_a_data_dependent_shape_is_cured_by_the_argument_that_fixes_it() -> None:
    event = ApiMisuse(PLACE, api="jax.numpy.nonzero", problem="data-dependent-shape", cure="size")
    assert "pass a static `size`" in _reports(event)["JIT204"].help
