"""Whether the language server stands a storm: random edits, messages that mean nothing, kills; two servers at once.

    python benchmarks/storm.py [FOLDER] [--edits 10000] [--nonsense 2000] [--kills 20] [--seed 0]

Two clients type at random into the files of two servers over copies of a small project that share one cache, each change as a range, and
ask in between: hover, actions, lenses, tokens. Between the edits come messages that no client should send: text that is no
JSON, fields that are missing or of other types, places outside of every text, changes before an open and after a
close, answers that nobody asked for. At random moments a server is killed while it has a question, and started again. Then each
buffer gets a text that can be parsed, and what is shown must be what a check from scratch says. Exit code 1 if a server
ended by itself, a question stayed without an answer for a minute, or something else is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from jitlint.base.config import Settings  # noqa: E402
from jitlint.driver.run import check  # noqa: E402

PATIENCE = 60.0
PIECES = (
    "\n",
    "    ",
    "(",
    ")",
    '"""',
    "x",
    "jax.jit",
    "# jitlint: ignore\n",
    "if x > 0:\n    pass\n",
    "@jax.jit\n",
    "float(x)",
    "𝒳é",
    "\t",
    "\r\n",
    "import jax\n",
    "lambda: ",
    "return ",
)
ASKED = ("hover", "codeAction", "codeLens", "inlayHint", "semanticTokens/full")
Told = list[tuple[str, int, int]]


class Client:
    """A client of one server that knows the buffers, and what is shown of each."""

    def __init__(self, root: Path, rng: random.Random, cache: Path) -> None:
        self.root, self.rng, self.cache = root, rng, cache
        self.texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
        self.good = dict(self.texts)
        self.shown: dict[str, Told] = {}
        self.counts: Counter[str] = Counter()
        self.waiting: dict[int, asyncio.Future[object]] = {}
        self.number = 0
        self.version = 0
        self.problems: list[str] = []
        self.process: asyncio.subprocess.Process | None = None
        self.is_over = False

    # ------------------------------------------------------------ life

    async def start(self) -> None:
        """Start a server and open all buffers."""
        self.process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "jitlint", "server"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT), "JITLINT_CACHE_DIR": str(self.cache)},
        )
        self.shown.clear()
        self.reader = asyncio.create_task(self._read(self.process))
        options = {"debounce": 1, "inlayHints": True, "codeLens": True, "semanticTokens": True}
        folder = {"uri": self.root.as_uri(), "name": "project"}
        await self.answer(
            self.ask(
                "initialize",
                {
                    "processId": None,
                    "rootUri": None,
                    "capabilities": {},
                    "workspaceFolders": [folder],
                    "initializationOptions": options,
                },
            )
        )
        self.tell("initialized", {})
        for path, text in self.texts.items():
            self.open(path, text)

    def kill(self) -> None:
        """End it at once."""
        assert self.process is not None
        self.counts["kills"] += 1
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.reader.cancel()
        self.waiting.clear()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                header = await process.stdout.readuntil(b"\r\n\r\n")
                (size,) = [
                    int(line[15:]) for line in header.split(b"\r\n") if line.startswith(b"Content-Length:")
                ]
                self._take(json.loads(await process.stdout.readexactly(size)))
        status = await process.wait()
        if process is self.process and not self.is_over:
            self.problems.append(f"the server ended: {status}")
        for future in self.waiting.values():
            future.cancel()

    def _take(self, message: dict) -> None:  # type: ignore[type-arg]
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            places = [
                (d["code"], d["range"]["start"]["line"], d["range"]["start"]["character"])
                for d in params["diagnostics"]
            ]
            self.shown[params["uri"]] = sorted(places)
            self.counts["diagnostics"] += 1
        elif "method" not in message and message.get("id") in self.waiting:
            future = self.waiting.pop(message["id"])
            if not future.done():
                future.set_result(message)

    # ------------------------------------------------------------ messages

    def write(self, body: bytes) -> None:
        """Send these bytes as a message."""
        assert self.process is not None and self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def tell(self, method: str, params: object) -> None:
        """Send a notification."""
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def ask(self, method: str, params: object) -> int:
        """Send a request."""
        self.number += 1
        self.waiting[self.number] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        self.counts["questions"] += 1
        return self.number

    async def answer(self, number: int) -> None:
        """Wait until this question is answered, well or not."""
        try:
            await asyncio.wait_for(asyncio.shield(self.waiting[number]), PATIENCE)
        except (asyncio.TimeoutError, TimeoutError):
            self.problems.append(f"no answer to question {number}")
        except asyncio.CancelledError:
            if not self.problems:
                raise

    def open(self, path: Path, text: str) -> None:
        """Show a buffer to the server."""
        self.version += 1
        item = {"uri": path.as_uri(), "languageId": "python", "version": self.version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": item})

    def change(self, path: Path, event: object) -> None:
        """Tell of a change."""
        self.version += 1
        document = {"uri": path.as_uri(), "version": self.version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [event]})

    # ------------------------------------------------------------ the storm

    def edit(self) -> None:
        """Change a random range of a random buffer."""
        path = self.rng.choice(list(self.texts))
        text = self.texts[path]
        self.counts["edits"] += 1
        if self.rng.random() < 0.1 or len(text) > 4 * len(self.good[path]) + 1000:
            self.texts[path] = self.good[path]
            self.change(path, {"text": self.good[path]})
            return
        lines = text.splitlines(keepends=True) or [""]
        first = self.rng.randrange(len(lines))
        last = min(len(lines) - 1, first + self.rng.choice((0, 0, 0, 0, 1, 3)))
        start = self.rng.randrange(len(lines[first].rstrip("\r\n")) + 1)
        room = len(lines[last].rstrip("\r\n"))
        stop = self.rng.randint(start if first == last else 0, max(room, start if first == last else 0))
        new = "".join(self.rng.choice(PIECES) for _ in range(self.rng.choice((0, 1, 1, 2))))
        before = "".join(lines[:first]) + lines[first][:start]
        after = lines[last][stop:] + "".join(lines[last + 1 :])
        places = [
            {"line": line, "character": len(lines[line][:column].encode("utf-16-le")) // 2}
            for line, column in ((first, start), (last, stop))
        ]
        self.texts[path] = before + new + after
        self.change(path, {"range": {"start": places[0], "end": places[1]}, "text": new})

    def question(self) -> int:
        """Ask something about a random place."""
        place = {"line": self.rng.randrange(60), "character": self.rng.randrange(40)}
        uri = self.rng.choice(list(self.texts)).as_uri()
        params = {
            "textDocument": {"uri": uri},
            "position": place,
            "range": {"start": place, "end": place},
            "context": {"diagnostics": []},
        }
        return self.ask(f"textDocument/{self.rng.choice(ASKED)}", params)

    def nonsense(self) -> None:
        """A message that no client should send; none of them means a buffer of ours."""
        rng = self.rng
        self.counts["nonsense"] += 1
        nobody = {
            "uri": (self.root / f"nobody{rng.randrange(5)}.py").as_uri(),
            "version": rng.choice((1, 0, -1, None)),
        }
        uri = rng.choice(list(self.texts)).as_uri()
        far = {"line": 10 ** rng.randrange(10), "character": 10 ** rng.randrange(10)}
        text = {
            "uri": nobody["uri"],
            "languageId": "python",
            "version": 1,
            "text": "import jax\n(" * rng.randrange(9),
        }
        raw = rng.choice(
            (
                b"{", b"", b"[]", b"null", b"3", b'"x"', b"\xff\xfe", b"{}", b'{"jsonrpc": "2.0"}', b"[" * 3000,
                b'{"jsonrpc": "1.0", "method": "initialized"}', b'{"jsonrpc": "2.0", "method": 3}',
                b'{"jsonrpc": "2.0", "id": {}, "method": "textDocument/hover"}',
                b'{"jsonrpc": "2.0", "id": 999999, "result": null}',
                b'{"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}',
            )
        )  # fmt: skip
        told = rng.choice(
            (
                ("textDocument/didChange", {"textDocument": nobody, "contentChanges": [{"text": "x"}]}),
                ("textDocument/didChange", {"textDocument": {"uri": uri}, "contentChanges": "x"}),
                ("textDocument/didChange", {"contentChanges": []}),
                ("textDocument/didChange", None),
                ("textDocument/didOpen", {"textDocument": text}),
                ("textDocument/didOpen", {"textDocument": {"uri": 3}}),
                ("textDocument/didClose", {"textDocument": {"uri": nobody["uri"]}}),
                ("textDocument/didClose", {"textDocument": {"uri": "untitled:x"}}),
                ("textDocument/didSave", {"textDocument": {"uri": nobody["uri"]}}),
                ("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": rng.choice((1, 2, 3, 9))}]}),
                ("workspace/didChangeWatchedFiles", {"changes": None}),
                ("workspace/didChangeConfiguration", {"settings": rng.choice((None, 3, {"jitlint": []}))}),
                ("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
                ("$/cancelRequest", {"id": rng.choice((1, self.number, 10**9, "x"))}),
                ("$/setTrace", {"value": "loud"}),
                ("notebookDocument/didChange", {"notebookDocument": nobody, "change": {}}),
                ("no/such", [1, 2, 3]),
                ("initialized", {}),
                ("window/workDoneProgress/cancel", {"token": "nobody"}),
            )
        )  # fmt: skip
        asked = rng.choice(
            (
                ("textDocument/hover", {"textDocument": {"uri": uri}, "position": far}),
                ("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": -1, "character": -1}}),
                ("textDocument/hover", {"textDocument": nobody, "position": far}),
                ("textDocument/hover", {}),
                ("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": far}),
                ("codeAction/resolve", {"title": "x", "data": rng.choice((None, 3, {"uri": uri}))}),
                ("textDocument/semanticTokens/full", {"textDocument": nobody}),
                ("workspace/executeCommand", {"command": rng.choice(("jitlint.explain", "jitlint.show", "jitlint.confirm", "no.such"))}),
                ("workspace/executeCommand", {"command": "jitlint.confirm", "arguments": [{"uri": uri}]}),
                ("no/such", {}),
            )
        )  # fmt: skip
        kind = rng.randrange(3)
        if kind == 0:
            self.write(raw)
        elif kind == 1:
            self.tell(*told)
        else:  # pygls cannot answer where it does not understand the parameters
            del self.waiting[self.ask(*asked)]

    async def storm(self, edits: int, nonsense: int, kills: int) -> None:
        """All of it, in random order."""
        acts = ["edit"] * edits + ["nonsense"] * nonsense + ["kill"] * kills + ["ask"] * (edits // 20)
        self.rng.shuffle(acts)
        await self.start()
        for at, act in enumerate(acts):
            if self.problems:
                return
            if act == "edit":
                self.edit()
            elif act == "nonsense":
                self.nonsense()
            elif act == "ask":
                number = self.question()
                if self.rng.random() < 0.5:
                    await self.answer(number)
            else:
                self.question()
                await asyncio.sleep(self.rng.random() * 0.2)
                self.kill()
                await self.start()
            if at % 20 == 0:
                await asyncio.sleep(self.rng.choice((0, 0.001, 0.02)))
                assert self.process is not None and self.process.stdin is not None
                with contextlib.suppress(ConnectionError):
                    await self.process.stdin.drain()

    async def settle(self) -> None:
        """Give each buffer a text that can be parsed, and compare what is shown with a check from scratch."""
        for path in self.texts:
            lines = self.good[path].split("\n")
            at = self.rng.randrange(len(lines))
            self.texts[path] = "\n".join(["# settled", *lines[:at], *lines[at:], f"settled = {at}", ""])
            self.change(path, {"text": self.texts[path]})
        unsaved = {str(path): text.encode() for path, text in self.texts.items()}
        result = check([str(self.root)], Settings(), jobs=1, use_cache=False, unsaved=unsaved)
        expected: dict[str, Told] = {path.as_uri(): [] for path in self.texts}
        for finding in [*result.problems, *result.findings]:
            place = (finding.code, finding.span.line - 1, finding.span.column - 1)
            expected[Path(os.path.abspath(finding.path)).as_uri()].append(place)
        expected = {uri: sorted(places) for uri, places in expected.items()}
        for _ in range(int(PATIENCE * 10)):
            if all(self.shown.get(uri) == places for uri, places in expected.items()) or self.problems:
                break
            await asyncio.sleep(0.1)
        for uri, places in expected.items():
            if self.shown.get(uri) != places:
                self.problems.append(f"{uri} shows {self.shown.get(uri)}, not {places}")
        self.counts["findings in the end"] = sum(map(len, expected.values()))
        for number in list(self.waiting):
            await self.answer(number)
        if not self.problems:
            await self.answer(self.ask("shutdown", None))
            self.reader.cancel()
            self.tell("exit", None)
            assert self.process is not None
            await asyncio.wait_for(self.process.wait(), PATIENCE)


async def run(folder: Path, edits: int, nonsense: int, kills: int, seed: int) -> list[str]:
    """Two storms at once; what went wrong."""
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary).resolve()
        clients = []
        for number in range(2):
            shutil.copytree(folder, top / str(number) / folder.name)
            root = top / str(number) / folder.name
            clients.append(Client(root, random.Random(seed + number), top / "cache"))
        counts = (edits // 2, nonsense // 2, kills // 2)
        await asyncio.gather(*(client.storm(*counts) for client in clients))
        for client in clients:
            if not client.problems:
                await client.settle()
            client.is_over = True
            if client.process is not None and client.process.returncode is None:
                client.process.kill()
                await client.process.wait()
            print(", ".join(f"{count} {name}" for name, count in sorted(client.counts.items())))
        return [problem for client in clients for problem in client.problems]


def main() -> int:
    """Read the arguments, run, say what went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "fixtures" / "_projects" / "tour")
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--nonsense", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    problems = asyncio.run(
        run(options.folder.resolve(), options.edits, options.nonsense, options.kills, options.seed)
    )
    print("\n".join(problems) or "nothing went wrong")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
