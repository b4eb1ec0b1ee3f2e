"""Files that a task needs, taken along to where there is no disk in common (layer: ``driver``)."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator

from jitlint.base.config import ConfigError
from jitlint.driver.writing import replace_file

Carried = tuple[tuple[str, bytes], ...]
"""Names of files with what they hold."""


def carried(paths: Iterable[str]) -> Carried:
    """These files. Raises ConfigError for one that cannot be read."""
    found: list[tuple[str, bytes]] = []
    for path in paths:
        try:
            with open(path, "rb") as stream:
                found.append((os.path.basename(path), stream.read()))
        except OSError as error:
            raise ConfigError(f"catalogue {path}: cannot be read: {error.strerror or error}") from None
    return tuple(found)


@contextlib.contextmanager
def unpacked(files: Carried) -> Iterator[tuple[str, ...]]:
    """Their paths on this machine, in their order."""
    if not files:
        yield ()
        return
    with tempfile.TemporaryDirectory(prefix="jitlint-") as folder:
        paths = [os.path.join(folder, f"{number}-{name}") for number, (name, _) in enumerate(files)]
        for path, (_, data) in zip(paths, files):
            replace_file(path, data)
        yield tuple(paths)
