"""What traced code captures and who changes it: across modules, in time, and by size. Single files are fixtures."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Severity
from jitlint.infer.events import Capture
from jitlint.link.program import Analysis, Options, analyse
from jitlint.rules.jit3xx import jit305_captured_array as array_rule
from tests.link.sources import module, run

STEP = """\
    @jit
    def step(x):
        return x * settings.SCALE
"""


def captures(found: Analysis) -> list[Capture]:
    return [event for event in found.events if isinstance(event, Capture)]


def together(**sources: str) -> list[Capture]:
    found = analyse([module(name, source) for name, source in sources.items()], Options())
    assert found.failures == {}
    return captures(found)


def test_a_setting_changed_by_another_module() -> None:
    main = f"import settings\n{STEP}".replace("\n    ", "\n")
    user = """\
    import settings, main

    def curriculum(stages):
        for stage in stages:
            settings.SCALE = stage
            main.step(2.0)
    """
    (event,) = together(settings="SCALE = 1.0", main=main, user=user)
    assert (event.place.module, event.kind, event.writer) == ("main", "state", "curriculum")
    assert [step.module for step in event.also] == ["user"]


def test_an_imported_name_is_a_copy() -> None:
    """Rebinding the other module's variable changes nothing here, with or without a trace."""
    main = """\
    import settings
    from settings import SCALE

    @jit
    def step(x):
        return x * SCALE

    step(1.0)
    settings.SCALE = 2.0
    step(1.0)
    """
    assert together(settings="SCALE = 1.0", main=main) == []


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("step(1.0); lr = 2.0; step(1.0)", 1),
        ("lr = 2.0; step(1.0); step(1.0)", 0),
        ("step(1.0); step(1.0); lr = 2.0", 0),
        ("step(1.0); lr = 1.0; step(1.0)", 0),
        ("step(1.0); lr = 2.0; lr = 1.0; step(1.0)", 0),
    ],
    ids=["between", "before", "after", "same", "put-back"],
)
def test_order_in_one_module(body: str, count: int) -> None:
    source = "lr = 1.0\n\n@jit\ndef step(x):\n    return x * lr\n\n" + body.replace("; ", "\n")
    assert len(captures(run(source))) == count


@pytest.mark.parametrize(
    ("name", "caller", "count"),
    [
        ("set_rate", "", 1),
        ("configure", "", 0),
        ("set_rate", "def main():\n    set_rate(2.0)\n    step(1.0)\n", 0),
        ("set_rate", "def main():\n    step(1.0)\n    set_rate(2.0)\n    step(1.0)\n", 1),
    ],
    ids=["any-time", "set-up", "called-before", "called-between"],
)
def test_functions_that_write(name: str, caller: str, count: int) -> None:
    source = f"""\
rate = 1.0

def {name}(value):
    global rate
    rate = value

@jit
def step(x):
    return x * rate

{caller}"""
    assert len(captures(run(source))) == count


def test_branches_that_exclude_each_other() -> None:
    source = """\
    def run(x, fast):
        width = 2.0
        step = jit(lambda x: x * width)
        if fast:
            return step(x)
        width = 3.0
        return step(x)
    """
    assert captures(run(source)) == []


def test_a_remembered_factory_makes_new_functions() -> None:
    source = """\
    scale = 1.0

    def make():
        return jit(lambda x: x * scale)

    first = make()
    first(1.0)
    scale = 2.0
    second = make()
    second(1.0)
    """
    assert captures(run(source)) == []


@pytest.mark.parametrize(
    ("made", "size"),
    [
        ("jnp.zeros((N, N))", 4096**2),
        ("jnp.ones(2 ** 20)", 2**20),
        ("jnp.eye(2000)", 4_000_000),
        ("jnp.arange(N * 1000)", 4_096_000),
        ("jax.random.normal(jax.random.key(0), (1000, 1000))", 1_000_000),
        ("jnp.full(shape=[1 << 11, 1 << 11], fill_value=1.0)", 2**22),
        ("jnp.zeros((N, 3))", None),
        ("jnp.zeros(some_shape)", None),
    ],
)
def test_large_constants(made: str, size: int | None) -> None:
    source = f"N = 4096\nTABLE = {made}\n\n@jit\ndef step(x):\n    return x + TABLE\n"
    found = captures(run(source))
    assert [(event.problem, event.size) for event in found] == ([("large", size)] if size else [])
    reports = [array_rule.check(event) for event in found]
    huge = size is not None and size >= 4_000_000
    assert all(report is not None and (report.severity is None) is huge for report in reports)
    assert all(report is not None and report.severity in (None, Severity.INFO) for report in reports)
