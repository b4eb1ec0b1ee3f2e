"""What a process that is shut in can do, and what it cannot: a test for each cell of the table in ``docs/confirm.md``."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.confirm.project import ROOT

# Without namespaces: a filter that refuses `unshare` comes first, as on systems where users get none.
REFUSED = """
from jitlint.confirm import walls
walls.forbid_new_privileges()
known = walls._MACHINES.get(walls.platform.machine())
walls._MACHINES = {walls.platform.machine(): (known[0], known[1], (272 if known[0] == 0xC000003E else 97,))}
calls = [(walls._LOAD, 0, 0, walls._NUMBER)]
for number in walls._MACHINES[walls.platform.machine()][2]:
    calls += [(walls._EQUAL, 0, 1, number), (walls._ANSWER, 0, 0, walls._DENY)]
assert walls._filter(walls.libc(), calls + [(walls._ANSWER, 0, 0, walls._ALLOW)])
walls._MACHINES = {walls.platform.machine(): known}
"""
# Another user, whom the interpreter's folder may be closed to: it has been started by then.
OTHER = """
from jitlint.confirm import system
import encodings.ascii
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
system.prctl(4, 1)  # its own `/proc/self` is root's otherwise
"""
PROGRAM = """
import contextlib, ctypes, encodings.idna, json, os, resource, socket, sys, traceback
from jitlint.confirm.sandbox import Limits, enter

project, directory, parent, unix, victim = sys.argv[1:6]
answer = os.dup(1)
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
{refused}
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
    os._exit(0)

def tries(action):
    try:
        return action() or "done"
    except OSError as error:
        return type(error).__name__

libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    done = getattr(libc, name)(*args)
    return "done" if done >= 0 else "refused"

def speaks(path):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(path)

def through_proc():
    open(f"/proc/{{parent}}/root{{project}}/new", "w").close()

def devices():
    os.mknod("disk", 0o600 | 0o060000, os.makedev(7, 0))
    os.close(os.open("disk", os.O_RDWR))

reachable = enter(Limits(7, 1 << 30, project, directory))
found = {{
    "reachable": reachable,
    "network": tries(lambda: socket.create_connection(("127.0.0.1", port), timeout=2).close()),
    "signal": tries(lambda: os.kill(int(victim), 0)),
    "write": tries(lambda: open(os.path.join(project, "new"), "w").close()),
    "remove": tries(lambda: os.remove(os.path.join(project, "old"))),
    "link": tries(lambda: (os.symlink(project, "way"), open("way/new", "w").close())[1]),
    "through /proc": tries(through_proc),
    "socket": tries(lambda: speaks(unix)),
    "remount": call("mount", None, b"/", None, 32 | 4096, None),
    "unmount": call("umount2", b"/proc", 2),
    "namespace": call("unshare", 0x10000000),
    "ptrace": call("ptrace", 16, int(victim), None, None),
    "device": tries(devices),
    "kernel": tries(lambda: open("/proc/sys/kernel/core_pattern", "r+").close()),
    "more rights": open("/proc/self/status").read().partition("NoNewPrivs:")[2].split()[0]
        if os.path.exists("/proc/self/status") else "1",
    "read": tries(lambda: open(os.path.join(project, "old")).close()),
    "own": tries(lambda: open("new", "w").close()),
    "here": os.getcwd() == directory == os.environ["HOME"] == os.environ["TMPDIR"],
    "input": os.read(0, 1) == b"",
    "cpu": resource.getrlimit(resource.RLIMIT_CPU)[0],
    "memory": resource.getrlimit(resource.RLIMIT_DATA)[0],
    "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
    "session": os.getsid(0) != int(parent),
}}
os.write(answer, json.dumps(found).encode())
"""
CLOSED = (
    "network", "write", "remove", "link", "through /proc", "socket", "remount", "unmount", "namespace", "ptrace", "device",
    "kernel", "signal",
)  # fmt: skip

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="these are Linux's walls")
USERS = ("root", "user", "neither")


def _run(folder: Path, user: str) -> dict[str, Any]:
    project, directory = folder / "project", folder / "own"
    project.mkdir(mode=0o777)
    directory.mkdir(mode=0o777)
    (project / "old").write_text("")
    for path in (folder, project, directory):
        path.chmod(0o777)
    as_user: dict[str, Any] = {}
    if user == "user":
        if os.getuid() != 0:
            pytest.skip("only root can be another user")
        as_user = {"user": 65534, "group": 65534, "extra_groups": []}
    if user == "root" and os.getuid() != 0:
        pytest.skip("this is not root")
    first = {"neither": REFUSED, "user": OTHER}.get(user, "")
    program = PROGRAM.format(refused=first)
    with socket.socket(socket.AF_UNIX) as listening, subprocess.Popen(["sleep", "60"], **as_user) as victim:
        listening.bind(str(folder / "ear"))
        (folder / "ear").chmod(0o777)
        listening.listen()
        arguments = [str(project), str(directory), str(os.getpid()), str(folder / "ear"), str(victim.pid)]
        try:
            done = subprocess.run(
                [sys.executable, "-c", program, *arguments],
                env=os.environ | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                check=True,
                timeout=60,
            )
        finally:
            victim.kill()
    answer: dict[str, Any] = json.loads(done.stdout)
    assert os.listdir(project) == ["old"] or answer["reachable"]
    return answer


@pytest.fixture(scope="module", params=USERS)
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    import shutil
    import tempfile

    # Not below pytest's folder, which other users cannot enter.
    folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
    try:
        return _run(folder, request.param)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@linux
def test_limits_hold_everywhere(found: dict[str, Any]) -> None:
    assert (found["cpu"], found["memory"], found["core"]) == (7, 1 << 30, 0)
    assert found["input"] and found["here"] and found["session"] and found["own"] == found["read"] == "done"


@linux
@pytest.mark.parametrize("what", CLOSED)
def test_what_is_closed_cannot_be_done(found: dict[str, Any], what: str) -> None:
    if found["reachable"]:
        pytest.skip(f"this kernel leaves open: {found['reachable']}")
    assert found[what] != "done"


@linux
def test_no_program_gets_more_rights(found: dict[str, Any]) -> None:
    assert found["more rights"] == "1"
