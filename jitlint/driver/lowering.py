"""Parses and lowers the files of a run, from the cache where possible (layer: ``driver``).

Only this module and `jitlint.driver.positions` make the run import libcst, and only when there is a file to parse.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.driver.schedule import Progress, run_tasks
from jitlint.driver.workspace import Workspace
from jitlint.syntax.source import TOO_COMPLEX, UNREADABLE, SyntaxProblem, decode

# Below this many bytes, forking costs more than it saves.
_WORTH_FORKING = 150_000


@dataclass(slots=True)
class Lowered:
    """modules: path to encoded IR. problems: path to why there is none. complete: no worker was lost, so
    that the same problems will be there next time. partial: parts of notebooks and texts that are left out, and why."""

    modules: dict[str, bytes] = field(default_factory=dict)
    problems: dict[str, SyntaxProblem] = field(default_factory=dict)
    complete: bool = True
    partial: list[tuple[str, SyntaxProblem]] = field(default_factory=list)


def lower_files(workspace: Workspace, jobs: int, progress: Progress | None = None) -> Lowered:
    """The IR of every relevant file."""
    result = Lowered()
    digests = {path: workspace.entries[path].digest for path in workspace.relevant}
    known = workspace.cache.lowered(set(digests.values()))
    missing: list[str] = []
    contents: list[bytes] = []
    for path in workspace.relevant:
        document = workspace.document(path)
        if document is not None:
            if document.failure is not None:
                result.problems[path] = document.failure
                continue
            result.partial += [(path, problem) for problem in document.problems]
        blob = known.get(digests[path])
        if blob is not None:
            result.modules[path] = blob
            continue
        try:
            contents.append(workspace.content(path))
        except OSError as error:
            result.problems[path] = SyntaxProblem(UNREADABLE, f"cannot read the file: {error.strerror}")
        else:
            missing.append(path)
    _lower(missing, contents, jobs, result, progress)
    new = {digests[path]: result.modules[path] for path in missing if path in result.modules}
    workspace.cache.keep_lowered(new)
    return result


def _lower(
    paths: list[str], contents: list[bytes], jobs: int, result: Lowered, progress: Progress | None
) -> None:
    if not paths:
        return
    import jitlint.syntax.lowering  # noqa: F401  before forking, so that the workers share it

    sizes = [len(data) for data in contents]
    if sum(sizes) < _WORTH_FORKING:
        jobs = 1
    for path, outcome in zip(paths, run_tasks(_lower_one, contents, sizes, jobs, progress)):
        if isinstance(outcome, Exception):
            result.problems[path] = SyntaxProblem(TOO_COMPLEX, f"the parser gave up: {outcome}")
            result.complete = False
        elif outcome[:1] == b"!":
            result.problems[path] = _decode_problem(outcome[1:])
        else:
            result.modules[path] = outcome[1:]


def _lower_one(data: bytes) -> bytes:
    """A mark (``=`` for IR, ``!`` for a problem) and the encoded answer."""
    from jitlint.syntax import ir
    from jitlint.syntax.lowering import lower

    text = decode(data)
    lowered = text if isinstance(text, SyntaxProblem) else lower(text)
    if isinstance(lowered, SyntaxProblem):
        return b"!" + _encode_problem(lowered)
    return b"=" + ir.encode_module(lowered)


def _encode_problem(problem: SyntaxProblem) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(problem)


def _decode_problem(data: bytes) -> SyntaxProblem:
    import msgspec

    return msgspec.msgpack.decode(data, type=SyntaxProblem)
