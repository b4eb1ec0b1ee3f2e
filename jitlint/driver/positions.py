"""Turns origins into spans, only for the files and origins that are needed (layer: ``driver``)."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from jitlint.base.diagnostic import Span
from jitlint.driver.processes.schedule import Workers
from jitlint.driver.workspace import Workspace
from jitlint.syntax.source import SyntaxProblem, decode

_WORTH_FORKING = 150_000

_Task = tuple[bytes, set[int], bytes]
_DECODER = msgspec.msgpack.Decoder(dict[int, Span])


def locate(
    workspace: Workspace, wanted: Mapping[str, set[int]], modules: Mapping[str, bytes], workers: Workers
) -> dict[str, dict[int, Span]]:
    """The spans of the wanted origins (path to origin numbers), of files that are still there. modules: path to encoded IR."""
    paths: list[str] = []
    tasks: list[_Task] = []
    for path, origins in sorted(wanted.items()):
        try:
            tasks.append((workspace.content(path), origins, modules.get(path, b"")))
        except OSError:  # deleted since it was parsed; its findings keep their file
            continue
        paths.append(path)
    if not tasks:
        return {}
    import jitlint.syntax.spans  # noqa: F401  before forking, so that the workers share it

    sizes = [len(data) for data, _, _ in tasks]
    outcomes = workers.run(_spans, tasks, sizes, _WORTH_FORKING)
    return {
        path: _DECODER.decode(out) for path, out in zip(paths, outcomes) if not isinstance(out, Exception)
    }


def _spans(task: _Task) -> bytes:
    from jitlint.syntax import ir
    from jitlint.syntax.repair import repaired
    from jitlint.syntax.spans import compute_spans

    data, origins, module = task
    text = decode(data)
    lowered = ir.decode_module(module) if module else None
    if isinstance(text, SyntaxProblem):
        return msgspec.msgpack.encode({})
    spans = compute_spans(text, origins, lowered)
    if not spans and origins and (rest := repaired(text)) is not None:
        spans = compute_spans(rest, origins, lowered)  # what was lowered is the rest of a broken file
    return msgspec.msgpack.encode(spans)
