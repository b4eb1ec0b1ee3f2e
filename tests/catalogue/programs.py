"""Programs made from the catalogue: one small jitted function for every parameter of every library function.

The calls come from ``calls.toml``; the argument in question is the traced parameter of the jitted function. The same
text is run by JAX and read by the analysis.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jitlint.catalogue.load import catalogue
from jitlint.catalogue.schema import ApiFunction

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from probe_calls import TRACED, WITHIN_AXIS, Call, module_of, parse_call, target, value_of  # noqa: E402
from probe_values import PRELUDE  # noqa: E402

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

NUMBER = "np.int32(1)"
EXCUSED = {
    (
        "jax.scipy.linalg.cho_solve",
        "c_and_lower",
    ): "a pair of an array, which may be traced, and a static flag",
    ("jax.numpy.piecewise", "funclist"): "a list of functions and of numbers, which may be traced",
}
"""Parameters without a case, and why."""


@dataclass(frozen=True, slots=True)
class Case:
    """One traced argument of one call. refused: the catalogue says that a tracer is refused here (``exception``)."""

    function: str
    parameter: str
    call: str
    value: str
    refused: bool
    exception: str
    number: int

    @property
    def name(self) -> str:
        """The jitted function."""
        return f"case_{self.number}"

    @property
    def source(self) -> str:
        """Its text, and a function that calls it with the example's value."""
        body = [f"    kept = {target(self.function)}({self.call})", f"    return {TRACED}"]
        head = [f"def {self.name}({TRACED}):"]
        if self.function in WITHIN_AXIS:
            inner = [
                "    @functools.partial(jax.shard_map, mesh=MESH, in_specs=(SPEC,), out_specs=SPEC)",
                f"    def within({TRACED}):",
                *("    " + line for line in body),
                f"    return within({TRACED})",
            ]
            body = inner
        return "\n".join(
            ["@jax.jit", *head, *body, "", "", f"def use_{self.number}():", f"    {self.name}({self.value})"]
        )


def described(name: str) -> ApiFunction | None:
    """What the catalogue says about a function of ``calls.toml``."""
    owner, _, member = name.partition(".")
    if owner == "array":
        return catalogue().array_method(member)
    return catalogue().update_method(member) if owner == "at" else catalogue().function(name)


@cache
def calls() -> dict[str, list[Call]]:
    """The calls of every function."""
    path = Path(__file__).with_name("calls.toml")
    table = tomllib.loads(path.read_text(encoding="utf-8"))["calls"]
    return {name: [parse_call(text) for text in texts] for name, texts in table.items()}


@cache
def cases() -> list[Case]:
    """All cases, numbered."""
    found: list[Case] = []
    for name, known in calls().items():
        function = described(name)
        assert function is not None, f"{name} is in calls.toml but not in the catalogue"
        for parameter, call, where, value, refused, exception in _of(function, known):
            text = str(call.put(where, TRACED))
            found.append(Case(name, parameter, text, value, refused, exception, len(found)))
    return found


def _of(function: ApiFunction, known: list[Call]) -> Iterator[tuple[str, Call, int | str, str, bool, str]]:
    """(parameter, call, where, value, refused, exception) of every parameter that a call reaches."""
    seen: set[str] = set()
    for call in known:
        places: list[int | str] = [*range(len(call.args)), *call.kwargs]
        bound = function.bind(len(call.args), list(call.kwargs))
        given = {p.name for p in bound if p is not None}
        for where, parameter in zip(places, bound):
            if parameter is None or parameter.name in seen or (function.name, parameter.name) in EXCUSED:
                continue
            seen.add(parameter.name)
            text = call.args[where] if isinstance(where, int) else call.kwargs[where]
            value = text if traceable(text) else NUMBER
            cures = function.result_given(given).cures
            unshaped = cures is not None and not given & set(cures)
            needs = function.traced_needs(parameter.name, given)
            scalar = isinstance(value_of(value), (int, float))
            condition = needs if needs is not None and (scalar or not needs.scalar) else None
            exception = parameter.exception or (condition.exception if condition else "")
            refused = parameter.must_be_static or unshaped or condition is not None
            yield parameter.name, call, where, value, refused, exception
    # A result whose shape depends on data: the same call without what fixes the shape.
    cures = set(function.result.cures or ()) & set(known[0].kwargs) if known else set()
    arrays = (
        [i for i, p in enumerate(function.bind(len(known[0].args), [])) if p and not p.must_be_static]
        if known
        else []
    )
    if cures and arrays:
        bare = known[0]
        for cure in cures:
            bare = bare.without(cure)
        yield f"no {min(cures)}", bare, arrays[0], bare.args[arrays[0]], True, ""


def traceable(text: str) -> bool:
    """Whether the value of this text may be an argument of a jitted function."""
    from probe_catalogue import is_traceable

    try:
        return is_traceable(value_of(text))
    except AttributeError:  # a setting that another JAX does not have
        return False


def programs() -> dict[str, str]:
    """Module name → text: one module for each module of the library."""
    by_module: dict[str, list[Case]] = defaultdict(list)
    for case in cases():
        by_module[module_of(case.function) or case.function.partition(".")[0]].append(case)
    texts: dict[str, str] = {}
    for module, own in by_module.items():
        head = (
            f"import functools\n{PRELUDE}import {module}\n"
            if "." in module
            else f"import functools\n{PRELUDE}"
        )
        head += "\nSPEC = jax.sharding.PartitionSpec()\n"
        texts["calls_" + module.replace(".", "_")] = "\n\n".join(
            [head, *(case.source + "\n" for case in own)]
        )
    return texts
