"""What a process that is shut in can do, and what it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.confirm.project import ROOT

PROGRAM = """
import contextlib, json, os, resource, socket, sys
from jitlint.confirm.sandbox import Limits, enter

project, directory, parent = sys.argv[1:4]
answer = os.dup(1)
server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
pid = os.fork()
if pid:
    os.waitpid(pid, 0)
    os._exit(0)

def tries(action):
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "done"

isolated = enter(Limits(7, 1 << 30, project, directory))
found = {
    "isolated": isolated,
    "network": tries(lambda: socket.create_connection(("127.0.0.1", port), timeout=2)),
    "signal": tries(lambda: os.kill(int(parent), 0)),
    "write": tries(lambda: open(os.path.join(project, "new"), "w").close()),
    "read": tries(lambda: open(os.path.join(project, "old")).close()),
    "own": tries(lambda: open("new", "w").close()),
    "here": os.getcwd() == directory == os.environ["HOME"] == os.environ["TMPDIR"],
    "input": os.read(0, 1) == b"",
    "output": os.ttyname(1) if os.isatty(1) else os.readlink("/proc/self/fd/1"),
    "cpu": resource.getrlimit(resource.RLIMIT_CPU)[0],
    "memory": resource.getrlimit(resource.RLIMIT_DATA)[0],
    "core": resource.getrlimit(resource.RLIMIT_CORE)[0],
    "session": os.getsid(0) != int(parent),
}
os.write(answer, json.dumps(found).encode())
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    project, directory = tmp_path_factory.mktemp("project"), tmp_path_factory.mktemp("own")
    (project / "old").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(project), str(directory), str(os.getpid())],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        check=True,
        timeout=60,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    assert not [name for name in os.listdir(project) if name == "new"] or not answer["isolated"]
    return answer


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_limits_hold_everywhere(found: dict[str, Any]) -> None:
    assert (found["cpu"], found["memory"], found["core"]) == (7, 1 << 30, 0)
    assert found["input"] and found["output"] == os.devnull
    assert found["here"] and found["session"] and found["own"] == found["read"] == "done"


def test_nothing_outside_can_be_reached(found: dict[str, Any]) -> None:
    if not found["isolated"]:
        pytest.skip("this system allows no namespaces")
    assert found["network"] != "done"
    assert (found["signal"], found["write"]) == ("ProcessLookupError", "OSError")
