"""What names say."""

from __future__ import annotations

import dataclasses

import pytest

from jitlint.link.program import Options
from jitlint.link.tables.naming import begins_with, is_benchmark
from tests.link.sources import deeply, module


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("load", True),
        ("_load", True),
        ("load_weights", True),
        ("loadWeights", True),
        ("load2", True),
        ("loader", False),
        ("reload", False),
        ("set_up_once", True),
        ("__set_up__", True),
        ("setupper", False),
    ],
)
def test_words_that_a_name_begins_with(name: str, begins: bool) -> None:
    assert begins_with(name, {"load", "set_up", "set"}) is begins


@pytest.mark.parametrize(
    ("path", "measures"),
    [
        ("benchmarks/api.py", True),
        ("src/benchmark/run.py", True),
        ("src/attention_benchmark.py", True),
        ("benchmark_attention.py", True),
        ("src/benchmarking_data.py", False),
        ("src/attention.py", False),
    ],
)
def test_files_that_measure(path: str, measures: bool) -> None:
    assert is_benchmark(path) is measures


LOOP = """
def work(x):
    for _ in range(100):
        @jax.jit
        def f(y):
            return y * 2
        x = f(x)
    return x

@jax.jit
def large(x):
    for _ in range(100):
        x = x * 2
    return x

large(work(1.0))

def inputs(seed):
    key = jax.random.key(seed)
    return jax.random.normal(key, (3,)), jax.random.randint(key, (3,), 0, 9)

inputs(0)
"""


@pytest.mark.parametrize(("path", "sure"), [("work.py", 3), ("benchmarks/work.py", 0)])
def test_what_is_measured_is_no_mistake(path: str, sure: int) -> None:
    found = deeply([dataclasses.replace(module("work", LOOP), path=path)], Options()).events
    kinds = [type(e).__name__ for e in found if e.place.confidence.value != "possible"]
    assert len(kinds) == sure, kinds
