"""Hears where JAX warns that it gives fewer bits than were asked for (layer: ``confirm``)."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Final, Optional, TextIO, Union

import jax

import jitlint

_SAYS: Final = r"Explicitly requested dtype .* not available"
_INSIDE: Final = tuple(os.path.abspath(each.__path__[0]) + os.sep for each in (jax, jitlint))

Heard = list[tuple[tuple[str, int], str]]
"""File and line of the code that asked, and what JAX said."""


@contextlib.contextmanager
def hearing() -> Iterator[Heard]:
    """The list fills while the block runs."""
    heard: Heard = []

    def note(
        message: Union[Warning, str],
        category: type[Warning],
        filename: str,
        lineno: int,
        file: Optional[TextIO] = None,
        line: Optional[str] = None,
    ) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and _is_inside(frame.f_code.co_filename):
            frame = frame.f_back
        heard.append(((frame.f_code.co_filename, frame.f_lineno), str(message)))

    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", message=_SAYS, category=UserWarning)
        warnings.showwarning = note
        yield heard


def _is_inside(file: str) -> bool:
    """Whether a frame is of JAX, of what it warns by, or of what watches it."""
    return file.startswith(_INSIDE) or file == warnings.__file__
