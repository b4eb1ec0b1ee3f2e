"""What was recorded, as data: one file per process while the program runs, one store afterwards (layer: ``record``)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Sequence

import msgspec

from jitlint.base.config import ConfigError
from jitlint.base.text import display_path
from jitlint.driver.writing import save

VERSION = 1
NAME = ".jitlint_recorded.json"


class RecordedError(msgspec.Struct, frozen=True):
    """An exception that ended a trace: the innermost line of the project in its traceback. deliberate: that line is
    a ``raise`` or ``assert`` of the project's own."""

    file: str
    line: int
    exception: str
    deliberate: bool = False


class RecordedChange(msgspec.Struct):
    """What was another one when something was traced again, compared with the most similar of the earlier traces.

    at: the argument, with the way to the part of it; "" if all of them were as before. now, before: its shape and type the last
    time, or its value if that is a number. more: so many other parts differed, too. file, line: who called. times: how often.
    """

    at: str
    now: str
    before: str
    more: int
    file: str
    line: int
    times: int


class RecordedOperation(msgspec.Struct):
    """A function of a library that was compiled more than once for the same line of the project. file, line: of that line."""

    name: str
    file: str
    line: int
    compiles: int = 0
    seconds: float = 0.0
    changes: list[RecordedChange] = []


class RecordedFunction(msgspec.Struct):
    """A function that ran under a trace.

    file: relative to the project's root. line: as `co_firstlineno`. staged: entries under a staged trace, of
    ``entries`` under any. modes: what traced it. root_of: entries in which JAX itself called it. parameters: traced,
    static or mixed, over all staged entries (or the others, if none was). calls: these entries by traced set, a letter
    per parameter (T traced, M mixed, - static).
    signatures: traced shapes and static values of root entries. changes: why it was traced again. captured: bytes of arrays that the code names.
    lines: lines that a staged trace came to. returned: those that ran in an activation that came to its end. held: names on these
    that held a tracer then, by line. raised: exceptions that a line raised under a staged trace, handled or not. errors:
    exceptions that ended its trace.
    """

    file: str
    line: int
    qualname: str
    staged: int = 0
    entries: int = 0
    eager: int = 0
    modes: dict[str, int] = {}
    root_of: dict[str, int] = {}
    parameters: dict[str, str] = {}
    calls: dict[str, int] = {}
    signatures: dict[str, int] = {}
    traces: int = 0
    trace_seconds: float = 0.0
    compiles: int = 0
    compile_seconds: float = 0.0
    reasons: list[str] = []
    changes: list[RecordedChange] = []
    captured: dict[str, int] = {}
    lines: list[int] = []
    returned: list[int] = []
    held: dict[str, list[str]] = {}
    raised: list[tuple[int, str]] = []
    errors: list[RecordedError] = []


class Store(msgspec.Struct):
    """A recorded run. precise: lines and errors were seen (Python 3.12 or newer). eager: functions (file and line)
    that ran, but never under a trace. ran: by file, lines that ran without a trace in a call that came to its end. digests: hashes of the files at that time: of a file that has changed since, the
    run says nothing."""

    version: int = VERSION
    python: str = ""
    jax: str = ""
    precise: bool = True
    command: list[str] = []
    functions: list[RecordedFunction] = []
    eager: list[tuple[str, int]] = []
    ran: dict[str, list[int]] = {}
    operations: list[RecordedOperation] = []
    digests: dict[str, str] = {}


def digest(path: str) -> str:
    """The hash of a file's content; "" if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            return hashlib.sha256(stream.read()).hexdigest()[:32]
    except OSError:
        return ""


def still_true(store: Store, root: str, unsaved: Collection[str] = ()) -> Store:
    """The part of a store that speaks of files that have not changed since.

    unsaved: files whose text is another one than that on disk.
    """
    changed = {os.path.realpath(path) for path in unsaved}
    same = {
        name
        for name, was in store.digests.items()
        if was
        and digest(os.path.join(root, name)) == was
        and os.path.realpath(os.path.join(root, name)) not in changed
    }
    functions = [
        msgspec.structs.replace(function, errors=[error for error in function.errors if error.file in same])
        for function in store.functions
        if function.file in same
    ]
    ran = {name: lines for name, lines in store.ran.items() if name in same}
    operations = [operation for operation in store.operations if operation.file in same]
    return msgspec.structs.replace(store, functions=functions, ran=ran, operations=operations)


def read_store(path: str) -> Store:
    """Read a store. Raises ConfigError for one that cannot be used."""
    try:
        with open(path, "rb") as stream:
            store = msgspec.json.decode(stream.read(), type=Store)
    except FileNotFoundError:
        raise ConfigError(
            f"{display_path(path)}: nothing is recorded; `jitlint record -- COMMAND` does it"
        ) from None
    except OSError as error:
        raise ConfigError(f"{display_path(path)}: cannot be read: {error.strerror or error}") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{display_path(path)}: not a recorded run: {error}") from None
    if store.version != VERSION:
        raise ConfigError(f"{display_path(path)}: recorded by another version; record again")
    return store


def write_store(store: Store, path: str) -> None:
    """Write a store. Raises ConfigError if that fails."""
    save(path, msgspec.json.format(msgspec.json.encode(store), indent=1) + b"\n")


def merged(parts: Iterable[Store]) -> Store:
    """One store of all processes."""
    result = Store()
    functions: dict[tuple[str, int, str], RecordedFunction] = {}
    operations: dict[tuple[str, str, int], RecordedOperation] = {}
    eager: set[tuple[str, int]] = set()
    for part in parts:
        result.python, result.jax = part.python, part.jax or result.jax
        result.precise = result.precise and part.precise
        eager.update(part.eager)
        for file, lines in part.ran.items():
            result.ran[file] = sorted({*result.ran.get(file, ()), *lines})
        for operation in part.operations:
            _add_operation(
                operations.setdefault((operation.name, operation.file, operation.line), operation), operation
            )
        for function in part.functions:
            key = (function.file, function.line, function.qualname)
            known = functions.setdefault(key, function)
            if known is not function:
                _add(known, function)
    result.functions = [functions[key] for key in sorted(functions)]
    result.operations = [operations[key] for key in sorted(operations)]
    traced = {(function.file, function.line) for function in result.functions}
    result.eager = sorted(eager - traced)
    return result


def together(stores: Sequence[Store], root: str) -> Store:
    """One store of several runs, perhaps of other machines, as far as they speak of the files as they are at ``root`` now.

    Raises ConfigError if they are of different versions of JAX: verdicts name the one that gave them.
    """
    versions = sorted({store.jax for store in stores} - {""})
    if len(versions) > 1:
        raise ConfigError(f"recorded with different versions of JAX: {', '.join(versions)}")
    # Merging changes what it merges.
    kept = [msgspec.convert(msgspec.to_builtins(still_true(store, root)), Store) for store in stores]
    result = merged(kept)
    result.command = next((store.command for store in stores if store.command), [])
    for store in kept:
        result.digests.update(
            (n, was) for n, was in store.digests.items() if digest(os.path.join(root, n)) == was
        )
    return result


def read_parts(folder: str) -> list[Store]:
    """What the processes of a run have left; a file that a killed process left half-written is passed over."""
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".json"):
            try:
                found.append(read_store(os.path.join(folder, name)))
            except ConfigError:
                continue
    return found


def _add_operation(known: RecordedOperation, other: RecordedOperation) -> None:
    if known is not other:
        known.compiles += other.compiles
        known.seconds += other.seconds
        known.changes = _added(known.changes, other.changes)


def _added(ours: list[RecordedChange], theirs: list[RecordedChange]) -> list[RecordedChange]:
    """Changes of the same argument for the same call are counted together."""
    found: dict[tuple[str, str, int], RecordedChange] = {}
    for change in (*ours, *theirs):
        key = (change.at, change.file, change.line)
        known = found.get(key)
        found[key] = msgspec.structs.replace(change, times=change.times + (known.times if known else 0))
    return list(found.values())


def _add(known: RecordedFunction, other: RecordedFunction) -> None:
    if other.staged and not known.staged:
        known.parameters, known.calls = {}, {}
    counts = bool(other.staged or not known.staged)
    known.staged += other.staged
    known.entries += other.entries
    known.eager += other.eager
    known.traces += other.traces
    known.trace_seconds += other.trace_seconds
    known.compiles += other.compiles
    known.compile_seconds += other.compile_seconds
    for ours, theirs in (
        (known.modes, other.modes),
        (known.root_of, other.root_of),
        (known.calls, other.calls if counts else {}),
        (known.signatures, other.signatures),
    ):
        for name, count in theirs.items():
            ours[name] = ours.get(name, 0) + count
    for name, kind in (other.parameters if counts else {}).items():
        known.parameters[name] = kind if known.parameters.get(name, kind) == kind else "mixed"
    known.captured.update(other.captured)
    known.changes = _added(known.changes, other.changes)
    known.reasons = [*known.reasons, *other.reasons][:8]
    known.lines = sorted({*known.lines, *other.lines})
    known.returned = sorted({*known.returned, *other.returned})
    known.raised = sorted({*known.raised, *other.raised})
    for line, names in other.held.items():
        known.held[line] = sorted({*known.held.get(line, ()), *names})
    known.errors = list(dict.fromkeys([*known.errors, *other.errors]))
