"""How long the language server takes: from its start to the first diagnostics, and from a key to the next ones.

    python benchmarks/bench_server.py [FOLDER FILE] [--edits 1000] [--timed 60] [--debounce 150] [--seed 0]

Without a folder, a project is made: 500 files, in packages whose files import each other and a common module, with one file of 1,000
lines. Works on a copy. A client of the protocol types into the file: words in a comment, statements in the body
of a function, half a statement and its end; every edit adds or takes away something to wait for, so that it is known which diagnostics
are the answer. Prints wall and CPU seconds (median, 95th percentile), and the memory of another server after 10 and
after all edits.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).resolve().parents[1]
_READY, _PAUSE = 8.0, 0.5
"""Seconds after the first edit of a kind, until an analysis waits for the next one; and after each other, as somebody types."""
_TICK = os.sysconf("SC_CLK_TCK")
_BAD = "\n\nimport jax\n\n\n@jax.jit\ndef marked(x):\n    return float(x)\n"
"""Has one finding, JIT108, in its last line: where it is told tells which text was looked at."""


def made(root: Path, files: int, lines: int) -> Path:
    """A project of so many files; the one of so many lines."""
    util = "import jax.numpy as jnp\n\n\ndef scaled(x, n):\n    return x * n + jnp.sum(x)\n"
    (root / "common.py").write_text(util, encoding="utf-8")
    for number in range(files - 2 - files // 21):  # and a file for each package
        package = root / f"package{number // 20}"
        package.mkdir(exist_ok=True)
        (package / "__init__.py").touch()
        (package / f"part{number % 20}.py").write_text(_part(number, 10), encoding="utf-8")
    big = root / "package0" / "big.py"
    big.write_text(_part(19, lines // 7), encoding="utf-8")
    return big


def _part(number: int, functions: int) -> str:
    """A file that uses the one before it in its package."""
    before = number % 20 - 1
    head = ["import jax", "import jax.numpy as jnp", "from common import scaled"]
    if before >= 0:
        head.append(f"from package{number // 20}.part{before} import layer0 as inner")
    body = [
        f"\n\n{'@jax.jit' if at % 5 == 4 else ''}\ndef layer{at}(x, w):\n"
        f"    y = jnp.dot(x, w) + {at}\n"
        f"    y = scaled(y, {number})\n"
        f"    y = {'inner' if before >= 0 and at == 0 else 'jnp.tanh'}({'y, w' if before >= 0 and at == 0 else 'y'})\n"
        f"    return jnp.where(y > 0, y, {number})"
        for at in range(functions)
    ]
    return "\n".join(head) + "".join(body) + "\n"


class Typist:
    """A client that types into one file and waits for what is said of it."""

    def __init__(self, root: Path, file: Path, debounce: float) -> None:
        self.root, self.file, self.debounce = root, file, debounce
        self.uri = file.as_uri()
        self.client = LanguageClient("bench", "1")
        self.told: list[types.Diagnostic] = []
        self.news = asyncio.Event()
        self.version = 1
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._tell(params))

    def _tell(self, params: types.PublishDiagnosticsParams) -> None:
        if params.uri == self.uri:
            self.told = list(params.diagnostics)
            self.news.set()

    @property
    def process(self) -> int:
        """The number of the server's process."""
        return int(self.client._server.pid)

    async def start(self, text: str) -> None:
        """Start a server and wait for its first diagnostics."""
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        await self.client.start_io(sys.executable, "-m", "jitlint", "server", env=environment)
        folder = types.WorkspaceFolder(self.root.as_uri(), "project")
        options = {"debounce": self.debounce}
        await self.client.initialize_async(
            types.InitializeParams(
                types.ClientCapabilities(), workspace_folders=[folder], initialization_options=options
            )
        )
        self.client.initialized(types.InitializedParams())
        item = types.TextDocumentItem(self.uri, types.LanguageKind.Python, 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.until(lambda _: True)

    async def until(self, condition: Callable[[list[types.Diagnostic]], bool]) -> None:
        """Wait for diagnostics like these."""
        while True:
            await asyncio.wait_for(self.news.wait(), 300)
            self.news.clear()
            if condition(self.told):
                return

    async def type(self, text: str, code: str, line: int | None) -> tuple[float, float]:
        """Wall and CPU seconds from this text to diagnostics with this code in this line (None: without it)."""
        self.news.clear()
        self.version += 1
        start, spent = time.perf_counter(), cpu(self.process)
        document = types.VersionedTextDocumentIdentifier(self.version, self.uri)
        change = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [change]))
        await self.until(
            lambda told: (
                [d.range.start.line for d in told if d.code == code] == ([] if line is None else [line])
            )
        )
        return time.perf_counter() - start, cpu(self.process) - spent

    async def stop(self) -> None:
        """End it."""
        await self.client.shutdown_async(None)
        self.client.exit(None)
        await self.client.stop()


def cpu(process: int) -> float:
    """Seconds that a process has worked."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def memory(process: int) -> int:
    """Bytes that a process holds."""
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise OSError("no VmRSS")


def comments(text: str) -> Iterator[tuple[str, str, int | None]]:
    """Words in the first lines, of which there are one or two."""
    bad = text + _BAD
    number = 0
    while True:
        number += 1
        lines = 1 + number % 2
        yield f"# words {number}\n" * lines + bad, "JIT108", bad.count("\n") - 1 + lines


def _marked(text: str) -> tuple[str, list[str], list[int]]:
    """The text with what is looked for, its lines, and which of them end a function."""
    bad = text + _BAD
    lines = bad.split("\n")
    return bad, lines, [at for at, line in enumerate(lines) if line.startswith("    return ")]


def bodies(text: str, rng: random.Random) -> Iterator[tuple[str, str, int | None]]:
    """One more statement in the body of a function, and another number in that of another one."""
    bad, lines, places = _marked(text)
    while True:
        at = rng.choice(places)
        more = [*lines[:at], f"    changed = {rng.randrange(10**9)}", *lines[at:]]
        yield "\n".join(more), "JIT108", bad.count("\n")
        number = rng.choice([at for at, line in enumerate(lines) if "+ 1" in line])
        other = [
            *lines[:number],
            lines[number].replace("+ 1", f"+ {rng.randrange(10**9)}"),
            *lines[number + 1 :],
        ]
        yield "\n".join(other), "JIT108", bad.count("\n") - 1


def staying(text: str, rng: random.Random) -> Iterator[tuple[str, str, int | None]]:
    """One more statement in the body of a function, of one or two lines, eight times; then in that of another one."""
    bad, lines, places = _marked(text)
    while True:
        at = rng.choice(places)
        for _ in range(4):
            more = [*lines[:at], f"    changed = {rng.randrange(10**9)}", *lines[at:]]
            yield "\n".join(more), "JIT108", bad.count("\n")
            again = [*lines[:at], f"    _ = {rng.randrange(10**9)}", "", *lines[at:]]
            yield "\n".join(again), "JIT108", bad.count("\n") + 1


def halves(text: str) -> Iterator[tuple[str, str, int | None]]:
    """Half a statement at the end, and none."""
    while True:
        yield f"{text}\nhalf = (\n", "JIT001", text.count("\n") + 1
        yield text, "JIT001", None


def row(name: str, costs: list[tuple[float, float]]) -> str:
    """A line of the table."""
    wall, work = (sorted(cost[part] for cost in costs) for part in (0, 1))
    late = min(len(costs) - 1, int(len(costs) * 0.95))
    middle = len(costs) // 2
    return f"| {name} | {wall[middle]:.3f} | {wall[late]:.3f} | {work[middle]:.3f} | {work[late]:.3f} |"


async def bench(root: Path, file: Path, edits: int, timed: int, debounce: float, seed: int) -> None:
    """Print the table."""
    text = file.read_text(encoding="utf-8")
    count = sum(1 for _ in root.rglob("*.py"))
    print(
        f"{count} files, the one that is typed into has {text.count(chr(10))} lines; load {os.getloadavg()[0]:.1f}\n"
    )
    for name in ("cold", "warm"):
        start = time.perf_counter()
        typist = Typist(root, file, debounce)
        await typist.start(text)
        took, spent = time.perf_counter() - start, cpu(typist.process)
        print(f"{name} start to first diagnostics: {took:.2f} s, CPU {spent:.2f} s", flush=True)
        if name == "cold":
            await typist.stop()
            await asyncio.sleep(2.5)  # a file that has just been written is not trusted
    print("\n| a key in | wall, s | 95 % | CPU, s | 95 % |\n| --- | --- | --- | --- | --- |", flush=True)
    kinds = {
        "a comment": comments(text),
        "half a statement": halves(text),
        "the body of a function, eight times each": staying(text, random.Random(seed)),
        "the body of a function, each time another": bodies(text, random.Random(seed)),
    }
    for name, steps in kinds.items():
        if any(each.code == "JIT108" for each in typist.told):
            await typist.type(text, "JIT108", None)  # what is told of the first edit is news then
        await typist.type(*next(steps))
        await asyncio.sleep(_READY)
        costs = []
        for _, step in zip(range(timed), steps):
            costs.append(await typist.type(*step))
            await asyncio.sleep(_PAUSE)
        print(row(name, costs), flush=True)
    await typist.stop()
    typist = Typist(root, file, debounce)
    await typist.start(text)
    steps, slow = comments(text), bodies(text, random.Random(seed + 1))
    first = 0
    for number in range(edits):
        await typist.type(*next(slow if number % 10 == 5 else steps))
        first = memory(typist.process) if number == 9 else first
    last = memory(typist.process)
    print(
        f"\nmemory: {first / 1e6:.0f} MB after 10 edits (one in a body of ten), "
        f"{last / 1e6:.0f} MB after {edits}: {last / first:.2f} x"
    )
    await typist.stop()


@contextmanager
def project(folder: Path | None, file: Path | None) -> Iterator[tuple[Path, Path]]:
    """A copy of a project, or one that is made, and the file that is typed into."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "project"
        if folder is None or file is None:
            root.mkdir()
            (root / "pyproject.toml").touch()
            yield root, made(root, 500, 1000)
        else:
            shutil.copytree(
                folder, root, symlinks=True, ignore=shutil.ignore_patterns(".git", ".jitlint_cache")
            )
            yield root, root / file


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("file", nargs="?", type=Path, help="relative to the folder")
    parser.add_argument("--edits", type=int, default=1000)
    parser.add_argument("--timed", type=int, default=60)
    parser.add_argument("--debounce", type=float, default=150)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if (options.folder is None) != (options.file is None):
        parser.error("a folder and a file in it, or neither")
    with project(options.folder, options.file) as (root, file):
        asyncio.run(bench(root, file, options.edits, options.timed, options.debounce, options.seed))


if __name__ == "__main__":
    main()
