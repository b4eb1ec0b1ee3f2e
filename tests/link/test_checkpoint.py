"""An analysis that stops before a function and goes on with another body finds what one of the new text finds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from jitlint.infer.events import AnyEvent, LimitMet
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.schedule import Calls
from jitlint.link.program import ModuleInput, Options, analyse, replace_bodies
from jitlint.syntax import ir
from jitlint.syntax.difference import Origins, Patch, difference
from jitlint.syntax.lowering import lower

LIBRARY = """
import jax
import jax.numpy as jnp

def inner(x):
    return x * 2

def loss(x, n):
    for i in range(n):
        x = inner(x)
    return x

def apart(x):
    return float(x)
"""
TRAIN = """
import jax
import library

@jax.jit
def step(x, n):
    return library.loss(x, n)

@jax.jit
def other(x):
    return library.apart(x)

def main(x):
    return step(x, 3)
"""
SCRIPT = """
import train

if __name__ == "__main__":
    train.main(1.0)
"""
FILES = {"library": LIBRARY, "train": TRAIN, "script": SCRIPT}


def inputs(files: dict[str, str]) -> list[ModuleInput]:
    return [
        ModuleInput(name, f"{name}.py", False, ir.encode_module(form(text)), False)
        for name, text in files.items()
    ]


def form(text: str) -> ir.Module:
    found = lower(text)
    assert isinstance(found, ir.Module)
    return found


class Stop:
    """A checkpoint before functions of a module, and then before fewer of them."""

    def __init__(self, module: str, calls: Calls, patch: Patch, nearer: Collection[str] = ()) -> None:
        self.module, self.calls, self.patch, self.nearer = module, calls, patch, list(nearer)
        self.fits: bool | None = None
        self.run_before: list[set[str]] = []

    def first(self, m: Machine) -> tuple[Collection[int], Calls]:
        return [fn.id for fn in m.modules[self.module].functions], self.calls

    def reached(self, m: Machine) -> Collection[int]:
        self.run_before.append({fn.qualname for fn in m.functions if fn.is_looked_at})
        functions = m.modules[self.module].functions
        if self.nearer:
            name = self.nearer.pop(0)
            return [fn.id for fn in functions if fn.qualname == name]
        self.fits = replace_bodies(m, self.module, self.patch)
        return ()


def told(events: list[AnyEvent], module: str = "", origins: Origins | None = None) -> set[tuple[object, ...]]:
    """What is found, and where."""
    return {
        (
            type(e).__name__,
            e.place.module,
            origins.newer(e.place.at) if origins and e.place.module == module else e.place.at,
        )
        for e in events
        if not isinstance(e, LimitMet)
    }


CALLS = Options(calls=True)


@pytest.mark.parametrize(
    ("module", "old", "new", "nearer"),
    [
        ("library", "x = inner(x)", "x = inner(x) + len(str(float(x)))", ()),
        ("library", "x = inner(x)", "x = inner(x) + len(str(float(x)))", ("loss",)),
        ("library", "range(n)", "range(3)", ("loss",)),
        ("library", "return float(x)", "y = x\n    return y", ("apart",)),
        ("library", "return x * 2", "return (lambda q: int(q))(x)", ("inner",)),
        ("train", "return library.loss(x, n)", "print(x)\n    return library.loss(x, 2)", ()),
        ("train", "return library.apart(x)", "return library.loss(x, x)", ("other",)),
    ],
)
def test_another_body(module: str, old: str, new: str, nearer: tuple[str, ...]) -> None:
    after = {**FILES, module: FILES[module].replace(old, new)}
    found = difference(form(FILES[module]), form(after[module]))
    assert found is not None
    calls = analyse(inputs(FILES), CALLS).calls
    stop = Stop(module, calls, found[0], nearer)
    early = analyse(inputs(FILES), Options(checkpoint=stop))
    assert stop.fits
    assert told(early.events, module, found[1]) == told(analyse(inputs(after), Options()).events)


def test_what_does_not_reach_the_functions_has_run() -> None:
    calls = analyse(inputs(FILES), CALLS).calls
    stop = Stop("library", calls, Patch(), ("apart",))
    analyse(inputs(FILES), Options(checkpoint=stop))
    first, nearer = stop.run_before
    assert first.isdisjoint({"loss", "inner", "apart", "step", "other", "main"})
    assert {"loss", "inner", "step", "main"} <= nearer
    assert nearer.isdisjoint({"apart", "other"})


def test_without_a_change_the_same_is_found() -> None:
    whole = analyse(inputs(FILES), CALLS)
    for module in ("library", "train"):
        stop = Stop(module, whole.calls, Patch())
        found = analyse(inputs(FILES), Options(checkpoint=stop))
        assert stop.fits
        assert told(found.events) == told(whole.events)
        assert [t.qualname for t in found.traced] == [t.qualname for t in whole.traced]


def test_a_module_without_functions_is_no_place_to_stop() -> None:
    stop = Stop("script", {}, Patch())
    assert told(analyse(inputs(FILES), Options(checkpoint=stop)).events) == told(
        analyse(inputs(FILES), Options()).events
    )
    assert stop.fits is None


def test_a_function_that_was_looked_at_keeps_its_body() -> None:
    found = difference(form(LIBRARY), form(LIBRARY.replace("x * 2", "x * 3")))
    assert found is not None
    stop = Stop("library", {}, found[0])  # as if nobody knew who calls whom
    before = analyse(inputs(FILES), Options(checkpoint=stop))
    assert stop.fits is False
    assert told(before.events) == told(analyse(inputs(FILES), Options()).events)


def test_the_only_pass_of_most_analyses_is_the_same_with_calls() -> None:
    assert analyse(inputs(FILES), CALLS).events == analyse(inputs(FILES), replace(CALLS, calls=False)).events
