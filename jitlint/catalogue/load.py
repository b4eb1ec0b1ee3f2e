"""Answers questions about library names from the compiled catalogue (layer: ``catalogue``).

The source of truth is ``data/*.toml``; ``tools/compile_catalogue.py`` checks it and packs it into
``catalogue.msgpack``, which is what is read here. Lines are parsed on first use, so loading costs
little more than reading one file. This module does not resolve imports and imports no library it describes.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from jitlint.catalogue.history import History, View
from jitlint.catalogue.schema import (
    EXCEPTION_LETTERS,
    ApiFunction,
    NumpyFunction,
    parse_condition,
    parse_function,
    parse_numpy,
)

if TYPE_CHECKING:
    from jitlint.catalogue.dtypes import Exact
    from jitlint.catalogue.ranks import Rank

COMPILED: Final = Path(__file__).with_name("catalogue.msgpack")


class Packed(msgspec.Struct, frozen=True):
    """The compiled catalogue. Keys are dotted names; values are lines of the language in ``schema``."""

    functions: dict[str, str]
    conditions: dict[str, list[dict[str, object]]]
    ufuncs: dict[str, str]
    ufunc_methods: dict[str, str]
    constants: dict[str, str]
    methods: dict[str, str]
    attributes: dict[str, str]
    updates: dict[str, str]
    numpy: dict[str, str]
    removed: dict[str, tuple[str, str]]
    instead: dict[str, str]
    behaviours: dict[str, str]
    aliases: dict[str, str]
    effects: dict[str, str]
    transforms: frozenset[str]
    libraries: frozenset[str]
    common_methods: frozenset[str]
    results: msgspec.Raw
    """What ``results.toml`` says: see ``results``."""
    lexicon: msgspec.Raw
    """The sets of ``lexicon.toml``: see ``lexicon.lexicon``."""
    differences: msgspec.Raw
    """What parameters are otherwise in other minor versions: see ``Differences``."""
    history: msgspec.Raw
    """What ``history.toml`` says: see ``history.History``."""
    entries: msgspec.Raw
    """The entries of ``transforms.toml`` and ``frameworks.toml``: see ``transforms.load_transforms``."""


class Results(msgspec.Struct, frozen=True):
    """Lines about results by the name of the function: see ``ranks``, ``dtypes`` and ``Followed``."""

    ranks: dict[str, str]
    parts: dict[str, str]
    dtypes: dict[str, str]
    exact: dict[str, str]
    sizes: dict[str, str]


class Followed(msgspec.Struct, frozen=True):
    """The parameters whose sizes a result has together, by broadcasting, if besides them only options are given that change
    nothing. Measured (``tools/probe_sizes.py``), as is that sizes are refused that do not fit."""

    arrays: frozenset[str]
    options: frozenset[str]


class Catalogue:
    """Everything known about library names. Obtain the shared one from ``catalogue()``."""

    def __init__(
        self, packed: Packed, version: str = "", before: str = "", flax: tuple[str, str] = ("", "")
    ) -> None:
        self._packed = packed
        self._versions = (version, before, flax)
        self._view: View | None = None
        self._functions: dict[str, ApiFunction | None] = {}
        self._followed: dict[str, Followed | None] = {}
        self._methods: dict[str, ApiFunction | None] = {}
        self._numpy: dict[str, NumpyFunction | None] = {}
        self._ranks: dict[str, Rank | None] = {}
        self._parts: dict[str, tuple[Rank, ...]] = {}
        self._exact: dict[str, Exact | None] = {}
        self._canonical: dict[str, str] = {}

    def extended(self, functions: dict[str, str]) -> Catalogue:
        """This catalogue with more functions, by dotted name and line."""
        if not functions:
            return self
        both = {**self._packed.functions, **functions}
        return Catalogue(msgspec.structs.replace(self._packed, functions=both), *self._versions)

    def at(self, version: str, before: str = "", flax: tuple[str, str] = ("", "")) -> Catalogue:
        """This catalogue for code that runs with one version of JAX, "" for the newest, and comes from another one.

        flax: the oldest and the newest that it may run with, "" if that is not known.
        """
        return Catalogue(self._packed, version, before, flax)

    @property
    def libraries(self) -> frozenset[str]:
        """Top-level names of the libraries that build on JAX, JAX included."""
        return self._packed.libraries

    @property
    def common_methods(self) -> frozenset[str]:
        """Names of methods that say nothing about their object: many classes of Python and of libraries have them."""
        return self._packed.common_methods

    @property
    def transforms(self) -> frozenset[str]:
        """Canonical names that take functions and trace them; ``function`` knows none of them."""
        return self._packed.transforms

    def canonical(self, dotted: str) -> str:
        """The preferred name of what ``dotted`` (with resolved imports) means; unknown names stay as they are."""
        known = self._canonical.get(dotted)
        if known is None:
            known = self._canonical[dotted] = self._resolve(dotted)
        return known

    def function(self, dotted: str) -> ApiFunction | None:
        """The function of this name or of an alias; None for transforms and unknown names."""
        name = self.canonical(dotted)
        if name not in self._functions:
            line = self._packed.functions.get(name) or self._ufunc_method(name)
            conditions = tuple(
                parse_condition(name, table) for table in self._packed.conditions.get(name, ())
            )
            self._functions[name] = self._here(parse_function(name, line, conditions)) if line else None
        return self._functions[name]

    def _here(self, function: ApiFunction) -> ApiFunction:
        """A function as this version has it: which parameters a tracer may be."""
        if not self._versions[0]:
            return function
        marks = {p.name: self.view.static(function.name, p.name, p.static) for p in function.parameters}
        if all(marks[p.name] == p.static for p in function.parameters):
            return function
        parameters = tuple(
            msgspec.structs.replace(
                p,
                static=marks[p.name],
                accepts_list=p.accepts_list or (p.must_be_static and marks[p.name] is None),
            )
            for p in function.parameters
        )
        return msgspec.structs.replace(function, parameters=parameters)

    def constant(self, dotted: str) -> str | None:
        """What a module-level value is: ``static``, ``dtype`` or None when unknown."""
        return self._packed.constants.get(self.canonical(dotted))

    def array_method(self, name: str) -> ApiFunction | None:
        """The method of a JAX array (no ``self`` parameter), None when arrays have no such method."""
        if name not in self._methods:
            line = self._packed.methods.get(name)
            conditions = tuple(
                parse_condition(name, t) for t in self._packed.conditions.get(f"array.{name}", ())
            )
            self._methods[name] = (
                self._here(parse_function(f"array.{name}", line, conditions)) if line else None
            )
        return self._methods[name]

    def update_method(self, name: str) -> ApiFunction | None:
        """The method of ``x.at[i]`` (no ``self`` parameter), None when there is no such method."""
        key = f"at.{name}"
        if key not in self._methods:
            line = self._packed.updates.get(name)
            self._methods[key] = self._here(parse_function(key, line)) if line else None
        return self._methods[key]

    def array_attribute(self, name: str) -> str | None:
        """``static``, ``array``, ``updater`` (``.at``), ``concrete-only:<exception>`` (a tracer lacks it),
        ``missing:<exception>`` (every JAX array lacks this NumPy attribute or method), ``foreign:<exception>`` (NumPy lacks it,
        too); None when unknown.
        A concrete-only method is listed here as well as among the methods."""
        text = self._packed.attributes.get(name)
        if text is None or " " not in text:
            return text
        kind, letter = text.split()
        return f"{kind}:{EXCEPTION_LETTERS[letter]}"

    def numpy(self, dotted: str) -> NumpyFunction | None:
        """How a function of NumPy or SciPy, or a method of a ufunc (``numpy.add.reduce``), behaves when given a tracer."""
        if dotted not in self._numpy:
            line = self._packed.numpy.get(dotted)
            owner, _, method = dotted.rpartition(".")
            if line is None and method in self._packed.ufunc_methods:
                line = self._packed.numpy.get(owner)
            self._numpy[dotted] = parse_numpy(dotted, line) if line else None
        return self._numpy[dotted]

    def rank(self, name: str) -> Rank | None:
        """How many axes the result of a function has (``array.sum``: of a method); None when that is not known.
        ``name`` is the one that the entry has, not an alias."""
        from jitlint.catalogue.ranks import parse_rank  # its patterns are compiled when somebody asks

        if name not in self._ranks:
            line = results().ranks.get(name)
            self._ranks[name] = parse_rank(name, line) if line else None
        return self._ranks[name]

    def parts(self, name: str) -> tuple[Rank, ...]:
        """How many axes each array of a result of several has, or, if there is one line only, all of them; none where that is
        not known."""
        from jitlint.catalogue.ranks import parse_rank

        if name not in self._parts:
            line = results().parts.get(name)
            self._parts[name] = tuple(parse_rank(name, part) for part in line.split(";")) if line else ()
        return self._parts[name]

    def followed(self, name: str) -> Followed | None:
        """Whose sizes the result of a function has; None where it has others, or that is not known."""
        if name not in self._followed:
            line = results().sizes.get(name)
            arrays, _, options = (line or "").partition(";")
            both = frozenset(arrays.split()), frozenset(options.split())
            self._followed[name] = Followed(*both) if line else None
        return self._followed[name]

    def dtypes(self, name: str) -> dict[str, str]:
        """The kinds of numbers that a ``like(...)`` result does not share with its arguments: see ``parse_dtypes``."""
        from jitlint.catalogue.ranks import parse_dtypes

        line = results().dtypes.get(name)
        return parse_dtypes(name, line) if line else {}

    def exact_dtype(self, name: str) -> Exact | None:
        """What the exact dtype of the result of a function follows, None when that is not known: see ``dtypes``."""
        from jitlint.catalogue.dtypes import parse_exact  # its patterns are compiled when somebody asks

        if name not in self._exact:
            line = results().exact.get(name)
            self._exact[name] = parse_exact(name, line) if line else None
        return self._exact[name]

    def effect(self, dotted: str) -> str | None:
        """What a function, or a method of an object that a callable makes (``logging.getLogger.info``), does besides
        computing: one of the kinds of ``effects.toml``, None when nothing is known."""
        return self._packed.effects.get(dotted)

    @property
    def view(self) -> View:
        """What the JAX has that the code runs with."""
        if self._view is None:
            version, before, flax = self._versions
            packed = self._packed
            self._view = View(
                history(),
                packed.removed,
                packed.instead,
                version,
                before,
                packed.behaviours,
                differences(),
                flax,
            )
        return self._view

    def _resolve(self, dotted: str) -> str:
        """Replace the longest known prefix until none is known."""
        aliases = self._packed.aliases
        head, tail = dotted, ""
        while head:
            target = aliases.get(head)
            if target is not None:
                return self._resolve(target + tail)
            head, dot, last = head.rpartition(".")
            tail = dot + last + tail
        return dotted

    def _ufunc_method(self, dotted: str) -> str | None:
        owner, _, method = dotted.rpartition(".")
        return self._packed.ufunc_methods.get(method) if owner in self._packed.ufuncs else None


@cache
def compiled() -> Packed:
    """The compiled file, read once per process."""
    return msgspec.msgpack.decode(COMPILED.read_bytes(), type=Packed)


@cache
def results() -> Results:
    """The measured lines about results, decoded when somebody asks."""
    return msgspec.msgpack.decode(compiled().results, type=Results)


@cache
def differences() -> dict[str, dict[str, str]]:
    """What parameters are otherwise, by minor version, decoded when somebody asks."""
    return msgspec.msgpack.decode(compiled().differences, type=dict[str, dict[str, str]])


@cache
def history() -> History:
    """The measured releases, decoded when somebody asks."""
    return msgspec.msgpack.decode(compiled().history, type=History)


@cache
def catalogue() -> Catalogue:
    """The catalogue shipped with jitlint."""
    return Catalogue(compiled())
