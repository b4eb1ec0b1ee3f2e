"""Whatever the code does, the run ends, says what happened, and leaves nothing behind."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.confirm.project import confirmed, run, write

pytest.importorskip("jax", reason="proof needs JAX")

HEAD = """\
import contextlib, os, signal, socket, sys, time
import jax


@jax.jit
def branch(x):
    if x > 0:
        return x
    return -x


def case_hostile():
    branch
    {body}


def case_innocent():
    branch(1.0)
"""
BODIES = {
    "exits": "sys.exit(3)",
    "leaves": "os._exit(0)",
    "hangs": "while True: pass",
    "forks": "os.fork(); time.sleep(60 * 60 + {mark})",
    "eats": "block = [bytearray(1 << 28) for _ in range(1000)]",
    "prints": "print('x' * (1 << 26)); os.write(1, b'y' * (1 << 26))",
    "deletes": "os.remove(__file__)",
    # Where it has no process table of its own (its parent would be in it), -1 would be everything on the machine.
    "kills": "os.kill(os.getppid(), signal.SIGKILL); os.getppid() or os.kill(-1, signal.SIGKILL); time.sleep(60)",
    "crashes": "os.abort()",
    "asks": "input()",
    "remounts": "import ctypes; ctypes.CDLL(None).mount(None, b'/', None, 32 | 4096, None); open(__file__, 'a').write('x')",
    "climbs": "open('/proc/1/root' + __file__, 'a').write('x')",
    "hides": "os.fork() or (os.setsid(), os.fork() or time.sleep(60 * 60 + {mark}), os._exit(0))",
    "links": "os.symlink(os.path.dirname(__file__), 'way'); open('way/new.txt', 'w').write('x')",
    "debugs": "import ctypes; ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0); time.sleep(0.1)",
    "speaks": "socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
    "makes": "os.mknod('disk', 0o60600, os.makedev(7, 0)); os.open('disk', os.O_RDWR)",
    "ends": "os.kill(os.getpid(), signal.SIGTERM); time.sleep(60)",
    "empties": "open(__file__, 'w').close()",
    "renames": "os.rename(__file__, __file__ + '.old')",
    "closes": "os.closerange(3, 256)",
    "spaces": "import ctypes; ctypes.CDLL(None).unshare(0x10000000); open(__file__, 'a').write('x')",
    "scribbles": "for fd in range(3, 64):\n        with contextlib.suppress(OSError):\n            os.write(fd, b'!' * 100)",
}
# A number by which the processes of this test can be told from others.
MARK = os.getpid() % 1000


# These do nothing to the module that they stand in.
TAME = ("prints", "deletes", "asks", "scribbles", "ends", "debugs", "closes")
SAID = {
    "exits": "SystemExit: 3",
    "leaves": "the process ended with exit code 0",
    "hangs": "stopped after 3 s",
    "forks": "stopped after 3 s",
    "eats": "MemoryError|stopped after 3 s",
    "deletes": "OSError",
    "asks": "EOFError",
    "crashes": "the process was killed by SIG(ABRT|SEGV)",
}
Done = tuple[Path, "subprocess.CompletedProcess[str]", Path]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("hostile")
    files = {
        f"{name}.py": HEAD.format(body=body.replace("{mark}", str(MARK))) for name, body in BODIES.items()
    }
    files |= {
        f"top_{name}.py": f"{HEAD.format(body='pass')}\n\n{body.replace('{mark}', str(MARK))}\n"
        for name, body in BODIES.items()
        if name not in TAME
    }
    files["stops.py"] = HEAD.format(body="pass") + "\n\nsys.exit(1)\n"
    assert len(files) >= 25
    write(folder, files)
    temporary = tmp_path_factory.mktemp("temporary")
    os.environ["TMPDIR"] = str(temporary)
    try:
        return folder, run(folder, "--timeout", "3", "--no-cache", "--color", "never", "."), temporary
    finally:
        del os.environ["TMPDIR"]


def _verdicts(process: subprocess.CompletedProcess[str]) -> dict[str, str]:
    lines = [
        line.split() for line in process.stdout.splitlines() if ".py:7" in line and not line.startswith(" ")
    ]
    return {words[1].partition(".")[0]: words[0] for words in lines}


def test_each_is_survived_and_the_next_call_is_made(done: Done) -> None:
    _, process, _ = done
    assert process.returncode == 1, process.stderr
    tops = [f"top_{name}" for name in BODIES if name not in TAME]
    assert _verdicts(process) == dict.fromkeys([*BODIES, *tops, "stops"], "confirmed")


def test_it_is_said_what_happened(tmp_path: Path) -> None:
    """Where it stands before the flagged line, and nothing else is left to be run."""
    source = HEAD.replace("    if x > 0", "    {body}\n    if x > 0").replace(
        "    branch\n    {body}", "    branch(1.0)"
    )
    write(
        tmp_path,
        {f"{name}.py": source.format(body=BODIES[name].replace("{mark}", str(MARK))) for name in SAID},
    )
    items = confirmed(tmp_path, "--timeout", "3", "--no-cache", ".")
    said = {item["path"].partition(".")[0]: (item["verdict"], item["evidence"]) for item in items}
    assert {name: verdict for name, (verdict, _) in said.items()} == dict.fromkeys(SAID, "not-reached")
    for name, words in SAID.items():
        assert re.search(words, said[name][1]), said[name]


def test_nothing_is_written(done: Done) -> None:
    """Where the kernel lets files be closed."""
    folder, process, _ = done
    if "your files" in process.stderr:
        pytest.skip("this system does not let files be closed")
    for name, body in BODIES.items():
        text = HEAD.format(body=body.replace("{mark}", str(MARK)))
        assert (folder / f"{name}.py").read_text(encoding="utf-8") == text
    assert not [path for path in folder.iterdir() if path.suffix not in (".py", ".toml") and path.is_file()]


def test_nothing_is_left(done: Done) -> None:
    folder, _, temporary = done
    assert not os.listdir(temporary)
    if os.path.isdir("/proc"):
        lines = [
            path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)
        ]
        assert not [line for line in lines if b"confirm.template" in line and str(temporary).encode() in line]
    assert not list(folder.glob("**/__pycache__"))
