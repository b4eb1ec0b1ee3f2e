"""Hears in which mode layers run that have one for training and one for evaluation (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

_LAYERS: Final = {
    "flax.nnx": {"Dropout": "deterministic", "BatchNorm": "use_running_average"},
    "flax.linen": {"Dropout": "deterministic", "BatchNorm": "use_running_average"},
    "equinox.nn": {"Dropout": "inference"},
}
"""By module, layers with the argument that asks for the mode of evaluation; a field of theirs has the same name."""


class Ran(NamedTuple):
    """A layer ran. evaluates: as in evaluation. differentiated: a derivative is taken of what it got. stack: files and lines
    of the calls around it."""

    layer: str
    evaluates: bool
    differentiated: bool
    stack: tuple[tuple[str, int], ...]


@contextlib.contextmanager
def hearing() -> Iterator[list[Ran]]:
    """The list fills while the block runs: with layers of the libraries that are installed."""
    heard: list[Ran] = []
    with contextlib.ExitStack() as undo:
        for module, layers in _LAYERS.items():
            if importlib.util.find_spec(module.partition(".")[0]) is None:
                continue
            library = importlib.import_module(module)
            for name, flag in layers.items():
                cls = getattr(library, name)
                undo.callback(setattr, cls, "__call__", cls.__call__)
                cls.__call__ = _noting(cls.__call__, name, flag, heard)
        yield heard


def _noting(run: Callable[..., Any], name: str, flag: str, heard: list[Ran]) -> Callable[..., Any]:
    def noting(self: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        told = kwargs.get(flag)
        evaluates = bool(getattr(self, flag) if told is None else told)
        heard.append(Ran(name, evaluates, _is_differentiated(x), tuple(_stack(sys._getframe(1)))))
        return run(self, x, *args, **kwargs)

    return noting


def _is_differentiated(x: Any) -> bool:
    return any(word in type(x).__name__ for word in ("JVP", "Linearize"))


def _stack(frame: Any) -> Iterator[tuple[str, int]]:
    while frame is not None:
        yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
