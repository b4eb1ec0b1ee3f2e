"""Small programs in memory, analysed."""

from __future__ import annotations

import textwrap

from jitlint.driver.processes.deep import on_deep_stack
from jitlint.link.program import Analysis, ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower

IMPORTS = """\
import functools
from functools import partial
import jax
import jax.numpy as jnp
from jax import jit, lax

"""


def module(name: str, source: str, *, is_package: bool = False, is_test: bool = False) -> ModuleInput:
    """A module to analyse."""
    tree = lower(IMPORTS + textwrap.dedent(source))
    assert isinstance(tree, ir.Module), tree
    return ModuleInput(name, f"{name}.py", is_package, ir.encode_module(tree), is_test)


def deeply(modules: list[ModuleInput], options: Options) -> Analysis:
    """The analysis as the driver runs it."""
    return on_deep_stack(lambda: analyse(modules, options))


def run(source: str, options: Options | None = None) -> Analysis:
    """The analysis of one module."""
    found = deeply([module("case", source)], options or Options())
    assert found.failures == {}
    return found


def run_all(**sources: str) -> Analysis:
    """The analysis of several modules; ``a__b`` is the module ``a.b``."""
    found = deeply([module(name.replace("__", "."), text) for name, text in sources.items()], Options())
    assert found.failures == {}
    return found
