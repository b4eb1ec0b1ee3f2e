"""Libraries are imported without being looked at (layer: ``confirm``). Runs in the worker only.

A large library takes several times as long to import while every call is looked at, and nothing in there is anybody's finding.
"""

from __future__ import annotations

import builtins
import contextlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def unobserved_imports(watched: Callable[[str], bool]) -> Iterator[None]:
    """Inside the block, nothing is traced while an import statement brings a library in. watched: which files are the project's."""
    original = builtins.__import__

    def bring(name: str, *more: Any, **named: Any) -> Any:
        top = name.partition(".")[0]
        tracing = sys.gettrace()
        if not top or top in sys.modules or tracing is None or _is_own(top, watched):
            return original(name, *more, **named)
        sys.settrace(None)
        try:
            return original(name, *more, **named)
        finally:
            sys.settrace(tracing)

    builtins.__import__ = bring
    try:
        yield
    finally:
        builtins.__import__ = original


def _is_own(top: str, watched: Callable[[str], bool]) -> bool:
    """Whether a name is that of a module of the project, or of nobody."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        return True
    if spec is None:
        return True
    places = [spec.origin or "", *(f"{place}/x.py" for place in spec.submodule_search_locations or ())]
    return any(map(watched, places))
