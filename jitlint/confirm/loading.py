"""Load the user's module, as often as needed and each time anew (layer: ``confirm``). Runs in the worker only."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import sys
import unittest
import warnings
from collections.abc import Callable, Iterator
from types import CodeType, ModuleType
from typing import Any

from jitlint.confirm.protocol import Call, Task

_OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")


class CannotLoad(Exception):
    """The module cannot be imported; the message says why."""


class Loader:
    """Loads one module of a project, and forgets the project's modules in between.

    used: the project's files that took part. loads: how often the module was loaded to its end. module: the last one,
    perhaps not to its end.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._code: CodeType | None = None
        self.used: set[str] = set()
        self.loads = 0
        self.module: ModuleType | None = None
        sys.path[:0] = [path for path in task.search_path if path not in sys.path]

    def is_project(self, filename: str) -> bool:
        """Whether a code object's file name is one of the project's files; what observes it never is."""
        inside = filename.startswith(self._task.root + os.sep) and not filename.startswith(_OWN)
        return inside and "site-packages" not in filename and not filename.endswith(">")

    @contextlib.contextmanager
    def loaded(self, name: str = "") -> Iterator[ModuleType]:
        """The module while the block runs; ``name`` replaces its own (``__main__``). Raises what importing it raises."""
        before = set(sys.modules)
        hidden = sys.modules.get("__main__")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                module = self._load(name)
                self.loads += 1
                yield module
            finally:
                if hidden is not None:
                    sys.modules["__main__"] = hidden
                for added in [
                    added for added in set(sys.modules) - before if self._is_own(sys.modules[added])
                ]:
                    del sys.modules[added]

    def _load(self, name: str) -> ModuleType:
        task = self._task
        if "." in task.module and not name:
            return importlib.import_module(task.module)
        name = name or task.module
        spec = importlib.util.spec_from_file_location(name, task.entry)
        if spec is None:
            raise CannotLoad(f"{task.entry} is no module")
        module = importlib.util.module_from_spec(spec)
        if name == "__main__" and "." in task.module:
            module.__package__ = task.module.rpartition(".")[0]
        sys.modules[name] = self.module = module
        if self._code is None:
            with open(task.entry, "rb") as stream:
                self._code = compile(stream.read(), task.entry, "exec", dont_inherit=True)
        exec(self._code, module.__dict__)
        return module

    def _is_own(self, module: ModuleType) -> bool:
        places = [getattr(module, "__file__", None) or "", *_package_path(module)]
        own = any(isinstance(place, str) and place.startswith(self._task.root + os.sep) for place in places)
        if own and isinstance(places[0], str) and self.is_project(places[0]):
            self.used.add(places[0])
        return own and not any("site-packages" in str(place) for place in places)


def _package_path(module: ModuleType) -> list[str]:
    try:
        return [str(place) for place in getattr(module, "__path__", ())]
    except Exception:  # a lazy module may do anything when asked
        return []


def runner(loader: Loader, call: Call, repeat: int) -> Callable[[], Any]:
    """Loads the module and makes the call, ``repeat`` times in the same module."""

    def run() -> Any:
        with loader.loaded("__main__" if call.target == "__main__" else "") as module:
            if call.target in ("", "__main__"):
                return {name: value for name, value in vars(module).items() if not name.startswith("__")}
            values = [_call(module, call.target) for _ in range(repeat)]
            return values[0] if repeat == 1 else values

    return run


def _call(module: ModuleType, target: str) -> Any:
    """Call a function of the module, or a test method of one of its classes with what belongs around it."""
    owner, _, method = target.rpartition(".")
    if not owner:
        return getattr(module, target)()
    kind = getattr(module, owner)
    instance = kind(method) if issubclass(kind, unittest.TestCase) else kind()
    before, after = (
        ("setUp", "tearDown") if isinstance(instance, unittest.TestCase) else ("setup_method",) * 2
    )
    if hasattr(instance, before):
        getattr(instance, before)()
    value = getattr(instance, method)()
    if before != after and hasattr(instance, after):
        getattr(instance, after)()
    return value
