"""Documents with code, run piece by piece under real JAX: is what raises found at its line, and is nothing else an error?

    python benchmarks/documents.py FOLDER... [--seconds 120] [--jobs 2] [--list] [--of KIND]

RUNS THE CODE of all `*.md` and `*.ipynb` below the folders, each file in a process of its own, every piece whatever those before it
did, and compares with what `jitlint check` says of the file. What raises is told apart by why: *JAX refuses* it (the exception
comes out of JAX, or is about one of its values); it is in *the values* (a check in the program, a callback, not a number); it wants
another *machine* (a TPU, more devices, the network), or *a newer JAX*; or *the rest*: a module or a file that is not there, what
an earlier piece should have made, a mistake in the text. An error on a line that ran and did not raise is a false one; on a line
that did not run, or whose exception the piece itself catches, nothing is known. A notebook whose code a text of the same name repeats is counted once.
--list prints each place with what was raised and found; --keep remembers what was raised, so that the next time nothing is run.
"""

from __future__ import annotations

import argparse
import dis
import io
import json
import multiprocessing.pool
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.base.diagnostic import Finding, Severity  # noqa: E402
from jitlint.catalogue.load import catalogue, history  # noqa: E402
from jitlint.driver.registry import rules  # noqa: E402
from jitlint.driver.run import check  # noqa: E402
from jitlint.syntax.documents import read_document  # noqa: E402
from jitlint.syntax.documents.document import Document  # noqa: E402

Place = tuple[int, int]
JAX, VALUES, MACHINE, NEWER, REST = "JAX refuses", "the values", "machine", "a newer JAX", "the rest"
LATER = {"JIT304"}
"""What these say happens where the leaked value is used, in another line."""
_ELSEWHERE = (ImportError, OSError, NameError, SyntaxError, KeyError, AssertionError)


@dataclass(frozen=True, slots=True)
class Raised:
    """Where a piece raised, what, and whose doing it was."""

    place: Place
    kind: str
    what: str


@dataclass(slots=True)
class Outcome:
    """What happened in one document. ran: lines that were reached. left: pieces that time did not allow."""

    path: Path
    pieces: int = 0
    left: int = 0
    ran: set[Place] = field(default_factory=set)
    raised: list[Raised] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unread: str = ""

    def at(self, raised: Raised) -> list[str]:
        """Which errors are found at that line; of a leaked value, where it leaks."""
        leaks = [f.code for f in self.findings if f.code in LATER and "UnexpectedTracerError" in raised.what]
        return leaks + [f.code for f in self.findings if _refuses(f) and _touches(f, raised.place)]

    def through(self, raised: Raised) -> list[str]:
        """What is said elsewhere, with that line on its path: a method that cannot be called, say."""
        return [f.code for f in self.findings if _refuses(f) and _leads_through(f, raised.place)]

    def false_errors(self) -> list[Finding]:
        """Errors on lines that ran, in which, and in a line of whose path, nothing was raised."""
        return [
            f
            for f in self.findings
            if _refuses(f)
            and f.severity is Severity.ERROR
            and f.code not in LATER
            and (f.span.cell, f.span.line) in self.ran
            and not any(_touches(f, each.place) or _leads_through(f, each.place) for each in self.raised)
        ]


def _refuses(finding: Finding) -> bool:
    """Whether a finding says that something raises; where the document says so, too, it is shown as worth knowing only."""
    return rules()[finding.code].severity is Severity.ERROR


def _touches(finding: Finding, place: Place) -> bool:
    cell, line = place
    return finding.span.cell == cell and finding.span.line <= line <= finding.span.end_line


def _leads_through(finding: Finding, place: Place) -> bool:
    return any((step.span.cell, step.span.line) == place for step in finding.related)


def pieces(document: Document) -> Iterator[tuple[int, str]]:
    """The pieces that run one after the other, each with the number of lines before it."""
    lines = document.text.split("\n")
    starts = [number for number, text in enumerate(lines) if text.startswith("# %% [")]
    for start, stop in zip(starts, [*starts[1:], len(lines)]):
        yield start, "\n".join(lines[start:stop])


_MACHINE = re.compile(
    r"interpret mode|TPU|device kind|FFI handler|[Nn]umber of devices|process_index|HTTP|incompatible devices|"
    r"memory_space|no attribute 'TensorCoreMesh'|exported for platforms|device_count|supported by .* on CPU"
)
_MAKES_DEVICES = {"make_mesh", "create_device_mesh", "create_tensorcore_mesh"}
"""Functions that fail for want of devices, whatever they say."""
_UNFILTERED = {"JAX_TRACEBACK_FILTERING": "off"}
"""JAX takes its own frames out of tracebacks, but they tell whose doing an exception is."""


def _blame(error: BaseException, path: str) -> str:
    """Whose doing an exception is."""
    own = type(error).__module__.partition(".")[0] in ("jax", "jaxlib")
    stack = traceback.extract_tb(error.__traceback__)
    last = max((at for at, frame in enumerate(stack) if frame.filename == path), default=-1)
    frames = [frame for frame in stack[last + 1 :] if f"{os.sep}jax{os.sep}" in frame.filename]
    about = re.search(
        r"[Tt]racer|ShapeDtypeStruct|jax\.Array|ArrayImpl|abstract array|[Nn]on-hashable static arg",
        str(error),
    )
    if _MACHINE.search(f"{type(error).__name__} {error}") or _lacks_devices(error, frames):
        return MACHINE
    if type(error).__name__ in ("JaxRuntimeError", "FloatingPointError"):
        return VALUES
    if _NEWER.search(str(error)) or _is_to_come(error) or _is_gone(error) is False:
        return NEWER
    own = own or _is_of_its_signature(error, stack[last + 1 :]) or _is_gone(error) is True
    return JAX if own or ((frames or about) and not isinstance(error, _ELSEWHERE)) else REST


def _lacks_devices(error: BaseException, frames: list[traceback.FrameSummary]) -> bool:
    """Whether a mesh, or a map over devices, wants more or others than there are."""
    names = {frame.name for frame in frames}
    maps = any(frame.filename.endswith("pmap.py") for frame in frames) and "axis to squeeze" in str(error)
    return maps or (isinstance(error, (IndexError, AttributeError)) and bool(names & _MAKES_DEVICES))


def _is_of_its_signature(error: BaseException, inside: list[traceback.FrameSummary]) -> bool:
    """Whether the document calls something of JAX with arguments that it does not take: Python says so before it runs."""
    called = re.match(r"(\w+)(?:\.__\w+__)?\(\) (got an unexpected|missing|takes|got multiple)", str(error))
    if called is None or inside or not isinstance(error, TypeError):
        return False
    if hasattr(sys.modules["__main__"], called[1]):
        found = [getattr(sys.modules["__main__"], called[1])]
    else:
        found = [
            getattr(m, called[1], None) for n, m in [*sys.modules.items()] if n.partition(".")[0] == "jax"
        ]
    return any(str(getattr(one, "__module__", "")).partition(".")[0] == "jax" for one in found)


_NEWER = re.compile(
    r"Expected cotangent type Ref|"
    r"'VJP' object has no attribute '(with_logs|structured_residuals)'|vjp_bwd\(\) missing .* 'x_acc'|"
    r"object has no attribute 'SaveOnlyTheseNames'"
)
"""What the JAX that the documents are of does, and the described one does not yet, whatever the program."""


def _is_to_come(error: BaseException) -> bool:
    """Whether an attribute or an argument is asked for that a newer JAX has, or once had, and the installed one does not yet."""
    view, story = catalogue().at(version("jax")).view, history()
    attribute = re.search(r"no attribute '(\w+)'", str(error))
    if attribute is not None and isinstance(error, AttributeError):
        named = [name for name in story.names if name.rpartition(".")[2] == attribute[1]]
        return any(view.there(name) is False and view.removed(name) is None for name in named)
    argument = re.search(r"(\w+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
    name = f".{argument[1]}({argument[2]})" if argument is not None else ""
    keys = [key for key in story.arguments if name and key.endswith(name)]
    return any(view.lacks(key.partition("(")[0], name[name.index("(") + 1 : -1]) is None for key in keys)


def _is_gone(error: BaseException) -> bool | None:
    """Whether a name that is imported from a module of JAX was once there; None if nothing is imported."""
    name = re.search(r"cannot import name '(\w+)' from '(jax[\w.]*)'", str(error))
    if name is None or not isinstance(error, ImportError):
        return None
    return catalogue().at(version("jax")).view.removed(f"{name[2]}.{name[1]}") is not None


def _reads(code: types.CodeType) -> set[str]:
    """The variables of the document that a piece reads, and does not make itself before that."""
    made: set[str] = set()
    read: set[str] = set()
    for step in dis.get_instructions(code):
        if step.opname == "STORE_NAME":
            made.add(step.argval)
        elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
            read |= {step.argval} - made
    inner = [_reads(const) for const in code.co_consts if isinstance(const, types.CodeType)]
    return read.union(*(names - made for names in inner))


def _makes(code: types.CodeType, error: BaseException | None) -> tuple[set[str], set[str]]:
    """The variables that a piece made, and those that an exception kept it from making."""
    walk = None if error is None else error.__traceback__
    stop = 1 << 30
    while walk is not None:
        stop = walk.tb_lasti if walk.tb_frame.f_code is code else stop
        walk = walk.tb_next
    stores = [step for step in dis.get_instructions(code) if step.opname == "STORE_NAME"]
    made = {step.argval for step in stores if step.offset < stop}
    return made, {step.argval for step in stores} - made


def run(path: str) -> None:
    """Run one document; a line of JSON for each piece."""
    document = read_document(path, Path(path).read_bytes())
    module = types.ModuleType("__main__")
    module.__dict__["get_ipython"] = lambda: None
    sys.modules["__main__"] = module
    answers, sys.stdout = sys.stdout, io.StringIO()
    seen: set[int] = set()
    caught: set[int] = set()

    def trace(frame: Any, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != path:
            return None
        (caught if event == "exception" else seen).add(frame.f_lineno)
        return trace

    def place(line: int) -> Place:
        row = document.rows[line - 1]
        return row.cell, row.line

    warnings.simplefilter("ignore")
    stale: set[str] = set()
    for before, text in pieces(document):
        answer: dict[str, object] = {}
        code = None
        seen.clear()
        caught.clear()
        sys.settrace(trace)
        try:
            code = compile("\n" * before + text, path, "exec")
            exec(code, module.__dict__)
            stale -= _makes(code, None)[0]
        except BaseException as error:
            sys.settrace(None)
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
            line = (frames[-1].lineno if frames else getattr(error, "lineno", None)) or before + 1
            words = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
            spoilt = code is not None and stale & _reads(code)
            answer = {"place": place(line), "kind": REST if spoilt else _blame(error, path), "what": words}
            made, unmade = _makes(code, error) if code is not None else (set(), set())
            stale = (stale - made) | unmade
        sys.settrace(None)
        answer["ran"] = sorted({place(line) for line in seen - caught if 0 < line <= len(document.rows)})
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def outcome(path: Path, lines: list[str]) -> Outcome:
    """What happened when a document ran, and what is said of it."""
    result = Outcome(path)
    document = read_document(str(path), path.read_bytes())
    if document.failure is not None:
        result.unread = document.failure.message
        return result
    result.pieces = len(list(pieces(document)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / path.name
        shutil.copy(path, copy)
        for answer in map(json.loads, lines):
            result.ran |= {(cell, line) for cell, line in answer["ran"]}
            if "place" in answer:
                cell, line = answer["place"]
                result.raised.append(Raised((cell, line), answer["kind"], answer["what"]))
        result.left = result.pieces - len(lines)
        settings = Settings(min_severity=Severity.INFO)
        result.findings = check([str(copy)], settings, jobs=1, use_cache=False, context=[]).findings
    return result


def answers(path: Path, seconds: float) -> list[str]:
    """Run a document in a process of its own: what that says of the pieces that it reached in time."""
    with tempfile.TemporaryDirectory() as folder:
        return _answers(Path(shutil.copy(path, Path(folder).resolve())), seconds)


def _answers(copy: Path, seconds: float) -> list[str]:
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), "--run", str(copy)],
        cwd=copy.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "JAX_PLATFORMS": "cpu",
            "MPLBACKEND": "agg",
            **_UNFILTERED,
        },
    )
    try:
        out, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, _ = process.communicate()
    return [line for line in out.splitlines() if line.endswith("}")]


def documents(folders: list[Path]) -> list[Path]:
    """The files with code in them; of two with the same code, the first."""
    found: dict[tuple[str, ...], Path] = {}
    for folder in folders:
        for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.ipynb")]):
            document = read_document(str(path), path.read_bytes())
            code = tuple(text.partition("\n")[2].strip() for _, text in pieces(document))
            if code or document.failure is not None:
                found.setdefault((path.stem, *code), path)
    return sorted(found.values())


def report(outcomes: list[Outcome], listed: bool, kind: str) -> None:
    """Print the table, and each place if that is asked for."""
    raised = [(one, each) for one in outcomes for each in one.raised]
    false = [(one, each) for one in outcomes for each in one.false_errors()]
    if listed:
        for one, each in raised:
            if kind in ("", each.kind):
                cell, line = each.place
                said = " ".join(one.at(each)) or " ".join(f"({code})" for code in one.through(each)) or "-"
                print(f"{one.path}:{cell}:{line}: {each.kind}: {each.what[:150]} [{said}]")
        for one, finding in false:
            print(
                f"{one.path}:{finding.span.cell}:{finding.span.line}: FALSE {finding.code} {finding.message}"
            )
    for one in outcomes:
        if one.unread or one.left:
            print(f"{one.path}: {one.unread or f'{one.left} of {one.pieces} pieces were not reached'}")
    print(
        "\n| | pieces that raise | found at the line | found, with the line on its path |\n| --- | --- | --- | --- |"
    )
    for name in (JAX, VALUES, MACHINE, NEWER, REST):
        mine = [(one, each) for one, each in raised if each.kind == name]
        there = [(one, each) for one, each in mine if one.at(each)]
        through = [each for one, each in mine if not one.at(each) and one.through(each)]
        print(f"| {name} | {len(mine)} | {len(there)} | {len(through)} |")
    print(f"\n{len(outcomes)} documents, {sum(one.pieces for one in outcomes)} pieces, ", end="")
    print(f"{len(false)} errors where nothing raises: {dict(Counter(f.code for _, f in false))}")


def main() -> None:
    """Read the arguments, run everything, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--seconds", type=float, default=120, help="for each document")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--of", default="", help="list these only: 'JAX refuses' or 'the rest'")
    parser.add_argument("--keep", type=Path, help="a file that is read and written")
    parser.add_argument("--run", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        run(options.run)
        return
    found = documents([folder.resolve() for folder in options.folders])
    kept: dict[str, list[str]] = {}
    if options.keep and options.keep.exists():
        kept = json.loads(options.keep.read_text(encoding="utf-8"))
    with multiprocessing.pool.ThreadPool(options.jobs) as pool:
        missing = [path for path in found if str(path) not in kept]
        ran = pool.map(lambda path: answers(path, options.seconds), missing, chunksize=1)
    kept.update({str(path): lines for path, lines in zip(missing, ran)})
    if options.keep:
        options.keep.write_text(json.dumps(kept), encoding="utf-8")
    outcomes = [outcome(path, kept[str(path)]) for path in found]
    report(outcomes, options.list, options.of)


if __name__ == "__main__":
    main()
