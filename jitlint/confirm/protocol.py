"""What the command and its workers tell each other: plain data, and frames on a pipe (layer: ``confirm``)."""

from __future__ import annotations

import os
from collections.abc import Collection
from typing import Union

import msgspec

# How the reason begins if a call was ended for the time it took.
TOO_LONG = "stopped after"
_LENGTH = 4
# No honest message is longer; what a confused program writes into the pipe must not fill the memory.
_LONGEST = 1 << 24


class Flag(msgspec.Struct, frozen=True):
    """A finding as the worker needs it. first, last: the lines of its statement. owner: the function or class whose
    decorator is flagged, or "". names: the variables in the flagged expression. reads: what it reads, as far as that
    can be read once more without calling anything. case: which of its rule's cases it is. tried: the lines of the
    ``try`` block that a flagged handler belongs to. steps: the lines of the path to it, as far as they are in its file.
    eager: it fails without any tracing. meant: its function is a module's, which a library means to be jitted. columns: of the expression; accepted: those at which it fails, none if Python
    does not tell. alone: no other expression of its kind is on the statement. always: it runs whenever its line does.
    mentions: the variables of the whole statement. calls: it calls something, or makes a function. repeats: it
    names a variable more than once. handler: the lines of a flagged handler's body."""

    number: int
    code: str
    path: str
    line: int
    first: int
    last: int
    owner: str
    names: list[str]
    reads: list[str] = []
    case: str = ""
    tried: tuple[int, int] = (0, 0)
    steps: list[int] = []
    eager: bool = False
    meant: bool = False
    columns: tuple[int, int, int, int] = (0, 0, 0, 0)
    accepted: list[tuple[int, int, int, int]] = []
    alone: bool = True
    always: bool = False
    mentions: list[str] = []
    calls: bool = False
    repeats: bool = False
    handler: tuple[int, int] = (0, 0)


class Call(msgspec.Struct, frozen=True):
    """One thing to run. ``target``: a function of the module without arguments (``Class.method`` for a test
    method), ``__main__`` for the module as a script, "" for importing it. With ``search``, a function for which
    arguments have to be found; ``example`` is what a comment gives, ``recorded`` what a recorded run called it with,
    ``static`` names arguments that jit treats as static.
    words: texts of the project that an argument may be.
    part: run only what the statements at these lines need (and what calls them), past all that fails; none: everything.
    flags: numbers of the findings that may be reached."""

    target: str
    flags: list[int]
    search: bool = False
    line: int = 0
    example: str = ""
    recorded: list[str] = []
    static: list[str] = []
    transform: str = "jit"
    part: list[int] = []
    words: list[str] = []


class Task(msgspec.Struct, frozen=True):
    """Calls into one module, each in a new copy of it. search_path: for imports. seconds: for each call. settled: findings
    that need nothing more. left: the seconds that are left for a finding, where that is limited. stub: give stand-ins for
    modules that are not there. repairs: it is fixes that are to be proved: by finding, the texts that its fix gives to files, by
    absolute path; together: what all fixes give; without: what all but that of a finding give to its files."""

    entry: str
    module: str
    root: str
    search_path: list[str]
    flags: list[Flag]
    calls: list[Call]
    seconds: float
    memory: int
    settled: list[int] = []
    left: dict[int, float] = {}
    stub: bool = False
    repairs: dict[int, dict[str, str]] = {}
    together: dict[str, str] = {}
    without: dict[int, dict[str, str]] = {}


def spend(left: dict[int, float], findings: Collection[int], seconds: float) -> None:
    """Take the time of a call from what is left for each of the findings that it was made for."""
    for number in findings:
        if number in left:
            left[number] -= seconds / len(findings)


class Begin(msgspec.Struct, frozen=True, tag=True):
    """The worker starts a call."""

    call: int


class Result(msgspec.Struct, frozen=True):
    """What a call showed of one finding. status: confirmed, passed (ran under a trace and nothing happened),
    unshown (ran, but says nothing either way), or missed (did not run)."""

    number: int
    status: str
    evidence: str = ""


class Shown(msgspec.Struct, frozen=True, tag=True):
    """What the call that is being made has shown already, whatever becomes of it. inputs: what is run."""

    result: Result
    inputs: str


class Seen(msgspec.Struct, frozen=True, tag=True):
    """A call is over. problem: why it could not be made, or what stopped it. stage: ``import`` if the module could not
    be loaded, ``inputs`` if no arguments were found, ``end`` if its process ended, ``budget`` if there was no time left for it, else "". strays: the tracing error that ended the call, if no finding explains it."""

    call: int
    results: list[Result]
    inputs: str = ""
    problem: str = ""
    stage: str = ""
    strays: list[tuple[str, int, str]] = []


class Done(msgspec.Struct, frozen=True, tag=True):
    """All calls are over. files: the project's files that took part, with the hash of their content. reachable: what
    outside of it the process could have reached, in words."""

    files: dict[str, str]
    reachable: list[str] = []


class Died(msgspec.Struct, frozen=True, tag=True):
    """The process that ran the calls is gone. why: in words. ours: it was no doing of what ran in it."""

    why: str
    ours: bool = False


Message = Union[Begin, Shown, Seen, Done, Died]

_ENCODER = msgspec.msgpack.Encoder()
_MESSAGES = msgspec.msgpack.Decoder(Message)
_TASKS = msgspec.msgpack.Decoder(Task)


class Broken(Exception):
    """The other side has gone or does not speak the protocol."""


def encode(message: Message | Task) -> bytes:
    """A message as a frame."""
    data = _ENCODER.encode(message)
    return len(data).to_bytes(_LENGTH, "little") + data


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything. Raises Broken if nobody reads."""
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError as error:
        raise Broken(str(error)) from None


class Frames:
    """Cuts what arrives on a pipe into messages."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[Message]:
        """The messages that are complete now. Raises Broken for what is none."""
        self._data += data
        found = []
        while len(self._data) >= _LENGTH:
            length = int.from_bytes(self._data[:_LENGTH], "little")
            if length > _LONGEST:
                raise Broken("not a message")
            if len(self._data) < _LENGTH + length:
                break
            body, self._data = self._data[_LENGTH : _LENGTH + length], self._data[_LENGTH + length :]
            try:
                found.append(_MESSAGES.decode(body))
            except msgspec.DecodeError as error:
                raise Broken(str(error)) from None
        return found


def read_task(descriptor: int) -> Task | None:
    """The next task, or None at the end. Raises Broken for nonsense."""
    head = _read_exactly(descriptor, _LENGTH)
    if head is None:
        return None
    body = _read_exactly(descriptor, int.from_bytes(head, "little"))
    if body is None:
        raise Broken("the task is cut off")
    try:
        return _TASKS.decode(body)
    except msgspec.DecodeError as error:
        raise Broken(str(error)) from None


def _read_exactly(descriptor: int, length: int) -> bytes | None:
    data = b""
    while len(data) < length:
        part = os.read(descriptor, length - len(data))
        if not part:
            return None
        data += part
    return data
