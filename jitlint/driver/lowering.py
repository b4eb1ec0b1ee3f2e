"""Parses and lowers the files of a run, from the cache where possible (layer: ``driver``).

It imports nothing heavy: libcst comes in with what Python's own parser does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jitlint.driver.memory.pack import LOWERED, PROBLEM, is_lowered, stamp
from jitlint.driver.processes.schedule import Progress, Workers
from jitlint.driver.workspace import Workspace
from jitlint.syntax.source import SYNTAX_ERROR, TOO_COMPLEX, UNREADABLE, SyntaxProblem, decode

# Below this many bytes, forking costs more than it saves.
_WORTH_FORKING = 150_000


@dataclass(slots=True)
class Lowered:
    """digests: path to the hash of its intermediate form. problems: path to why there is none. complete: no worker was
    lost, so that the same problems will be there next time. partial: parts of files that are left out, and why. fresh: how many files
    had to be lowered. rests: the intermediate forms of those with a syntax error, without the statement that has it."""

    workspace: Workspace
    digests: dict[str, bytes] = field(default_factory=dict)
    problems: dict[str, SyntaxProblem] = field(default_factory=dict)
    complete: bool = True
    partial: list[tuple[str, SyntaxProblem]] = field(default_factory=list)
    fresh: int = 0
    rests: dict[str, bytes] = field(default_factory=dict)

    def module(self, path: str) -> bytes:
        """The encoded intermediate form of a file that has one."""
        if path in self.rests:
            return self.rests[path]
        workspace = self.workspace
        content = workspace.entries[path].digest
        outcome = workspace.cache.pack.outcome(content)
        if outcome is None:  # the pack was damaged, or another process has written it anew
            workspace.cache.pack.forget(content)
            outcome = _lower_one(workspace.content(path))
            workspace.cache.keep_lowered({content: outcome})
        return outcome[1:]


def lower_files(workspace: Workspace, workers: Workers, progress: Progress | None = None) -> Lowered:
    """The intermediate form of every relevant file."""
    result = Lowered(workspace)
    pack = workspace.cache.pack
    contents = {path: workspace.entries[path].digest for path in workspace.relevant}
    known = pack.digests(contents.values())
    missing: list[str] = []
    texts: list[bytes] = []
    for path in workspace.relevant:
        if _is_unreadable(workspace, path, result) or contents[path] in known:
            continue
        try:
            texts.append(workspace.content(path))
        except OSError as error:
            result.problems[path] = SyntaxProblem(UNREADABLE, f"cannot read the file: {error.strerror}")
        else:
            missing.append(path)
    outcomes = _lower(missing, texts, workers, result, progress)
    result.fresh = len(missing)
    workspace.cache.keep_lowered({contents[path]: outcome for path, outcome in outcomes.items()})
    known.update((contents[path], stamp(outcome)) for path, outcome in outcomes.items())
    for path in workspace.relevant:
        found = known.get(contents[path])
        if found is None or path in result.problems:
            continue
        if is_lowered(found):
            result.digests[path] = found
        else:
            try:
                _note_problem(result, path, _decode_problem(result.module(path)))
            except OSError as error:  # the pack was damaged, and the file has changed since
                result.problems[path] = SyntaxProblem(UNREADABLE, f"cannot read the file: {error.strerror}")
    return result


def _note_problem(result: Lowered, path: str, problem: SyntaxProblem) -> None:
    """A file cannot be lowered: perhaps it can without the statement in which the parser stumbles."""
    rest = None
    if problem.code == SYNTAX_ERROR:
        from jitlint.syntax.repair import repaired

        text = decode(result.workspace.content(path))
        rest = repaired(text) if not isinstance(text, SyntaxProblem) else None
    outcome = _lower_one(rest.encode("utf-8", "surrogatepass")) if rest is not None else PROBLEM
    if outcome[:1] == LOWERED:
        result.digests[path] = stamp(outcome)
        result.rests[path] = outcome[1:]
        result.partial.append((path, problem))
    else:
        result.problems[path] = problem


def _is_unreadable(workspace: Workspace, path: str, result: Lowered) -> bool:
    """Whether a file is a notebook or a text that no module can be made of; what is wrong with parts of it is noted."""
    document = workspace.document(path)
    if document is None:
        return False
    if document.failure is not None:
        result.problems[path] = document.failure
        return True
    result.partial += [(path, problem) for problem in document.problems]
    return False


def _lower(
    paths: list[str], contents: list[bytes], workers: Workers, result: Lowered, progress: Progress | None
) -> dict[str, bytes]:
    """The outcomes by path, of those texts that no worker was lost over."""
    if not paths:
        return {}
    import jitlint.syntax.lowering  # noqa: F401  before forking, so that the workers share it

    sizes = [len(data) for data in contents]
    outcomes: dict[str, bytes] = {}
    found = workers.run(_lower_one, contents, sizes, _WORTH_FORKING, progress)
    for path, outcome in zip(paths, found):
        if isinstance(outcome, Exception):
            result.problems[path] = SyntaxProblem(TOO_COMPLEX, f"the parser gave up: {outcome}")
            result.complete = False
        else:
            outcomes[path] = outcome
    return outcomes


def _lower_one(data: bytes) -> bytes:
    """A mark and the encoded answer."""
    from jitlint.syntax import ir
    from jitlint.syntax.lowering import lower

    text = decode(data)
    lowered = text if isinstance(text, SyntaxProblem) else lower(text)
    if isinstance(lowered, SyntaxProblem):
        return PROBLEM + _encode_problem(lowered)
    return LOWERED + ir.encode_module(lowered)


def _encode_problem(problem: SyntaxProblem) -> bytes:
    import msgspec

    return msgspec.msgpack.encode(problem)


def _decode_problem(data: bytes) -> SyntaxProblem:
    import msgspec

    return msgspec.msgpack.decode(data, type=SyntaxProblem)
