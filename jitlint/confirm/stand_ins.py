"""Stand-ins for modules that are not there, so that what does not need them can be run (layer: ``confirm``).

Runs in the worker only. While modules of the project are imported, a stand-in takes everything: attributes, calls, decorators,
base classes. Whoever uses one later gets an error, and the whole call has shown nothing: what the real thing would have done there
nobody knows. Modules that the code can do without (``try: import x``) get none, as they do not end an import.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import re
import sys
from collections.abc import Callable, Sequence
from types import FrameType, ModuleType
from typing import Any, NoReturn

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
# Questions that Python asks of every module and class; no answer is one, too.
_HAVE = ("__version__",)
_OPERATIONS = (
    "call getitem setitem contains iter len bool eq ne lt le gt ge add radd sub rsub mul rmul truediv rtruediv floordiv "
    "mod pow neg pos abs invert matmul rmatmul and or ror xor int float index enter exit array jax_array"
).split()
# What may be done while modules are imported; other operations are errors there, too.
_HARMLESS = ("call", "getitem", "setitem", "enter", "exit", "or", "ror")
Used = Callable[[str], "Thing"]


def missing_module(problem: str) -> str:
    """The module that an import error names, "" if it is another error."""
    found = _MISSING.match(problem)
    return found[1] if found else ""


class StandInUsed(RuntimeError):
    """A stand-in was used where it cannot take the place of the real thing."""


class Thing:
    """Takes the place of anything in a module that is not there. used: told of each use, by the dotted name."""

    _name: str
    _used: Used

    def __init__(self, name: str, used: Used) -> None:
        object.__setattr__(self, "_name", name)
        object.__setattr__(self, "_used", used)

    def __getattr__(self, name: str) -> Thing:
        if name.startswith("__") and name not in _HAVE:
            raise AttributeError(name)
        return self._used(f"{self._name}.{name}")

    def __setattr__(self, name: str, value: object) -> None:
        self._used(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        name, used = f"{self._name}", self._used
        used(name)

        class Base:
            def __new__(cls, *arguments: object, **more: object) -> Any:
                used(name)
                return object.__new__(cls)

            def __init_subclass__(cls, **more: object) -> None:
                pass

        return (Base,)

    def __instancecheck__(self, instance: object) -> bool:
        return False  # nobody can have made one

    def __subclasscheck__(self, kind: type) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<stand-in for {self._name}>"

    def __hash__(self) -> int:
        return id(self)


def _operation(name: str) -> Callable[..., Any]:
    def operate(self: Thing, *arguments: object, **more: object) -> Any:
        if name in ("eq", "ne") and sys._getframe(1).f_globals.get("__name__") == "typing":
            return (self is arguments[0]) is (name == "eq")  # a union asks whether it has the type already
        result = self._used(f"{self._name}")
        if name not in _HARMLESS:
            raise StandInUsed(f"`{self._name}` is a stand-in")
        return result

    return operate


for _each in _OPERATIONS:
    setattr(Thing, f"__{_each}__", _operation(_each))


class _Module(ModuleType):
    """A module that is not there."""

    def __getattr__(self, name: str) -> Thing:
        if name.startswith("__") and name not in _HAVE:
            raise AttributeError(name)
        thing: Thing = self.__dict__["_made"](f"{self.__name__}.{name}")
        return thing


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives stand-ins for the modules that were added. is_project: whether a file is one of the project's. strict: no use is
    allowed, not even while modules are imported. used: the name of the first that was used where it may not be."""

    def __init__(self, is_project: Callable[[str], bool]) -> None:
        self._is_project = is_project
        self.names: list[str] = []
        self.strict = False
        self.used = ""

    def begin(self, strict: bool) -> None:
        """Another call is made."""
        self.strict, self.used = strict, ""

    def add(self, name: str) -> bool:
        """From now on there is a stand-in for a module; False if there was one."""
        if name in self.names:
            return False
        if self not in sys.meta_path:
            sys.meta_path.append(self)
        self.names.append(name)
        return True

    @property
    def missing(self) -> str:
        """What the call has to do with the real thing says of it, as Python would."""
        name = next((n for n in self.names if self.used == n or self.used.startswith(f"{n}.")), self.used)
        return f"ModuleNotFoundError: No module named '{name}'"

    def remove(self) -> None:
        """Forget all of them."""
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Module)]:
            del sys.modules[name]
        self.names = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if any(fullname == name or fullname.startswith(f"{name}.") for name in self.names):
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """See `importlib.abc.Loader`."""
        module = _Module(spec.name)
        module.__dict__["_made"] = self._take
        return module

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""

    def _take(self, name: str) -> Thing:
        """What a use of a stand-in gives, while modules are imported; an error anywhere else."""
        if self.strict or not self._is_importing(sys._getframe(1)):
            self._refuse(name)
        return Thing(name, self._take)

    def _refuse(self, name: str) -> NoReturn:
        self.used = self.used or name
        raise StandInUsed(f"`{name}` is a stand-in")

    def _is_importing(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_name == "<module>" and self._is_project(frame.f_code.co_filename):
                return True
            frame = frame.f_back
        return False
