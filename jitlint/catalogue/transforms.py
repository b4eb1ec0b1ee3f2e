"""Transforms, higher-order functions and framework classes of the catalogue (layer: ``catalogue``).

Written in ``data/transforms.toml`` and ``data/frameworks.toml`` (the comments there define the fields) and compiled
with the rest. A catalogue of a user's own (``[tool.jitlint] catalogue = [...]``) has the same form and is read as it is.
"""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from jitlint.catalogue.load import compiled
from jitlint.catalogue.schema import CatalogueError, parse_function

MODE_BITS = {"S": 1, "B": 2, "L": 4}
"""The same bits as `jitlint.infer.values`; the layers forbid importing them from here."""


class Lack(msgspec.Struct, frozen=True):
    """Transforms of arguments for which a function has no rule, as a bit mask of modes.

    pushed: derivatives only that go forwards, as those of `jax.jvp`. given: only with this switch on; missing: only without
    this argument. behaviour: only where JAX does this.
    """

    modes: int
    pushed: bool = False
    given: str = ""
    missing: tuple[str, ...] = ()
    behaviour: str = ""


class Wrap(msgspec.Struct, frozen=True):
    """A transform that returns a function. modes is a bit mask of `jitlint.infer.values` modes.

    looks: it traces to see what the function would do, and nothing is kept to be run. real: integers have no derivative
    here, neither as arguments, unless a filter leaves them out, nor as results. forward: a derivative that is not transposed, so that no backward rule runs.
    specs: per-argument specifications, where None lets an argument pass as it is. untouched: all arguments do. results:
    what is said about each result in the same way. pushes: a derivative that goes forwards only. pushes_around: one that goes
    forwards around one that goes backwards. lacks: what the transformed
    function cannot be called under. closed: all parameters that it has in any version are known. needs: those without a default,
    in every version, besides the function. sliced: arguments arrive, and results leave, with another number of axes than they have
    outside. mute: its function must give nothing. apart: and takes no arrays but those that it is given. asks: it is not called without its function,
    so it makes no decorators. settings: its arguments are settings of an optimiser. takes: names that it takes of what is given to the function that it makes. lifts: it takes a class of modules, or a method. asks_for_rules: what it gives cannot be called, differentiated or not, as long as it has no rule.
    """

    name: str
    params: tuple[str, ...]
    function: str
    modes: int
    static_nums: str = ""
    static_names: str = ""
    axes: str = ""
    specs: str = ""
    results: str = ""
    argnums: str = ""
    excluded: str = ""
    custom: str = ""
    result: str = "same"
    filter: bool = False
    strict: bool = False
    kernel: bool = False
    mute: bool = False
    apart: bool = False
    asks: bool = False
    asks_for_rules: bool = False
    static_hash: bool = True
    looks: bool = False
    untouched: bool = False
    settings: bool = False
    sliced: bool = False
    real: bool = False
    forward: bool = False
    pushes: bool = False
    pushes_around: bool = False
    lacks: tuple[Lack, ...] = ()
    doc: str = ""
    closed: bool = False
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    lifts: bool = False


class Run(msgspec.Struct, frozen=True):
    """One execution of a function argument: which one, with which arguments, in which modes.

    modes: a bit mask, or -1 for the host (a callback), -2 for a plain call without a new trace.
    """

    function: str
    args: tuple[str, ...]
    modes: int
    filter: bool = False


class HigherOrder(msgspec.Struct, frozen=True):
    """A library function that runs its function arguments at once. static: parameters that must not be traced.

    curried: called without the function, it returns a decorator that runs it. forward, pushes, lacks, closed, needs: as of `Wrap`. values:
    an array may stand for the function. solves: its functions are not differentiated, it has a rule of its own.
    kernel: it is a part of kernels.
    """

    name: str
    params: tuple[str, ...]
    run: tuple[Run, ...]
    result: str
    doc: str = ""
    static: tuple[str, ...] = ()
    looks: bool = False
    curried: bool = False
    forward: bool = False
    values: bool = False
    pushes: bool = False
    solves: bool = False
    kernel: bool = False
    lacks: tuple[Lack, ...] = ()
    closed: bool = False
    needs: tuple[str, ...] = ()


class Role(msgspec.Struct, frozen=True):
    """What it means to derive from a library class.

    name: short role name. fields: static (attributes are configuration), by-annotation (array fields are
    pytree leaves) or "". self_traced: instances may cross a jit boundary as pytrees. traced_methods: methods
    meant to be traced ("*" any public one). dataclass: annotated fields make a constructor. methods: what instances
    inherit and the analysis knows. setup: methods that define submodules. built_in_trace: instances are often made
    inside a trace.
    """

    name: str
    fields: str = ""
    self_traced: bool = False
    traced_methods: tuple[str, ...] = ()
    dataclass: bool = False
    setup: tuple[str, ...] = ()
    built_in_trace: bool = False
    methods: tuple[str, ...] = ()
    doc: str = ""


class Handed(msgspec.Struct, frozen=True):
    """A library callable whose function arguments are meant to be traced.

    roots: parameter name to the kinds of that function's arguments: tree, array, state (what the ``init``
    argument returns), static.
    """

    name: str
    params: tuple[str, ...]
    roots: tuple[tuple[str, tuple[str, ...]], ...]
    doc: str = ""


class Transforms(msgspec.Struct):
    """All entries by canonical dotted name."""

    wraps: dict[str, Wrap] = msgspec.field(default_factory=dict)
    calls: dict[str, HigherOrder] = msgspec.field(default_factory=dict)
    roles: dict[str, Role] = msgspec.field(default_factory=dict)
    handed: dict[str, Handed] = msgspec.field(default_factory=dict)
    decorators: dict[str, str] = msgspec.field(default_factory=dict)
    layers: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    arrays: frozenset[str] = frozenset()
    modules: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()
    computing: tuple[tuple[str, tuple[str, ...]], ...] = ()
    functions: dict[str, str] = msgspec.field(default_factory=dict)
    """Lines of a user's own functions, in the language of ``schema``."""

    def computes(self, dotted: str, method: str) -> bool:
        """Whether this method of an object of the library class ``dotted`` computes an array."""
        return any(dotted.startswith(prefix) and method in names for prefix, names in self.computing)


def _names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _modes(text: str) -> int:
    special = {"host": -1, "plain": -2}
    if text in special:
        return special[text]
    return sum(MODE_BITS[letter] for letter in text)


_LISTS: Final = ("params", "needs", "takes")


def _wrap(name: str, entry: dict[str, Any]) -> Wrap:
    rest = {k: v for k, v in entry.items() if k not in ("modes", "lacks", *_LISTS)}
    lists: dict[str, Any] = {key: _names(entry.get(key, "")) for key in _LISTS}
    return Wrap(name=name, modes=_modes(entry["modes"]), lacks=_lacks(entry), **lists, **rest)


def _lacks(entry: dict[str, Any]) -> tuple[Lack, ...]:
    return tuple(
        Lack(
            _modes(one["modes"]),
            one.get("pushed", False),
            one.get("given", ""),
            _names(one.get("missing", "")),
            one.get("behaviour", ""),
        )
        for one in entry.get("lacks", ())
    )


def _call(name: str, entry: dict[str, Any]) -> HigherOrder:
    runs = tuple(
        Run(r["function"], tuple(r["args"]), _modes(r["modes"]), r.get("filter", False)) for r in entry["run"]
    )
    static = _names(entry.get("static", ""))
    names = ("looks", "curried", "forward", "values", "pushes", "solves", "kernel", "closed")
    switches = {key: entry.get(key, False) for key in names}
    result, doc, lacks = entry["result"], entry.get("doc", ""), _lacks(entry)
    params, needs = _names(entry["params"]), _names(entry.get("needs", ""))
    return HigherOrder(name, params, runs, result, doc, static, lacks=lacks, needs=needs, **switches)


def _role(entry: dict[str, Any]) -> Role:
    rest: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in entry.items() if k != "classes"
    }
    return Role(**rest)


def _handed(name: str, entry: dict[str, Any]) -> Handed:
    roots = tuple((k, tuple(v)) for k, v in entry["roots"].items())
    return Handed(name, _names(entry["params"]), roots, entry.get("doc", ""))


def read(data: dict[str, Any], into: Transforms, source: str) -> None:
    """Add the entries of one parsed file. Raises `CatalogueError` when an entry breaks the schema."""
    entry_name = ""
    try:
        for entry_name, entry in data.get("wrap", {}).items():
            into.wraps[entry_name] = _wrap(entry_name, entry)
        for entry_name, entry in data.get("call", {}).items():
            into.calls[entry_name] = _call(entry_name, entry)
        for entry_name, entry in data.get("role", {}).items():
            role = _role({"name": entry_name, **entry})
            for cls in entry["classes"]:
                into.roles[cls] = role
        for entry_name, entry in data.get("handed", {}).items():
            handed = _handed(entry_name, entry)
            into.handed[entry_name] = handed
            # A private path is another name of the same, a public one of a likeness.
            for alias in entry.get("aliases", ()):
                into.handed[alias] = handed if "._" in alias else _handed(alias, entry)
        for module, lines in data.get("functions", {}).items():
            for short, line in lines.items():
                entry_name = f"{module}.{short}"
                parse_function(entry_name, line)
                into.functions[entry_name] = line
        into.decorators.update(data.get("decorator", {}))
        into.layers.update({name: tuple(params) for name, params in data.get("layer", {}).items()})
        into.arrays |= frozenset(data.get("array_types", ()))
        into.computing += tuple((prefix, tuple(names)) for prefix, names in data.get("computing", {}).items())
        into.modules += tuple(data.get("module_prefixes", ()))
        into.variables |= frozenset(data.get("variables", ()))
    except CatalogueError as error:
        raise CatalogueError(f"{source}: {error}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise CatalogueError(
            f"{source}: entry {entry_name!r} does not follow the schema ({error})"
        ) from error


@functools.cache
def load_transforms(extra: tuple[str, ...] = ()) -> Transforms:
    """The built-in entries and those of the user's own files ``extra``, read once per process.

    Raises `CatalogueError` when a user's file cannot be read or does not follow the schema.
    """
    out = msgspec.msgpack.decode(compiled().entries, type=Transforms)
    if extra:  # most projects have none: do not import what only they need
        _read_files(extra, out)
    return out


def _read_files(names: tuple[str, ...], out: Transforms) -> None:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    for name in names:
        try:
            data = tomllib.loads(Path(name).read_text(encoding="utf-8"))
        except OSError as error:
            raise CatalogueError(f"catalogue {name}: cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise CatalogueError(f"catalogue {name}: not valid TOML: {error}") from error
        read(data, out, name)
