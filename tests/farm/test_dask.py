"""The workers of a Dask cluster give the answers of one process, also when some of them are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jitlint.driver.processes.carried import carried, unpacked
from jitlint.driver.processes.schedule import WorkerDied
from jitlint.frontends.cli import main
from tests.conftest import Write
from tests.farm.test_shards import BRANCH, FILES

Capture = pytest.CaptureFixture[str]


def _run(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    out = capsys.readouterr()
    return code, out.out, out.err


# ---------------------------------------------------------------- without a cluster


def test_dask_is_asked_for_where_it_is_missing(
    project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(FILES)
    monkeypatch.setitem(sys.modules, "distributed", None)
    told = _run(capsys, "check", "--executor", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert told == (2, "", "jitlint: error: --executor dask needs Dask: pip install 'jitlint[dask]'\n")


def test_a_cluster_needs_an_address_and_an_address_a_cluster(project: Write, capsys: Capture) -> None:
    project(FILES)
    assert "needs a running cluster" in _run(capsys, "check", "--executor", "dask")[2]
    assert "--scheduler is for --executor dask" in _run(capsys, "check", "--scheduler", "tcp://h:1")[2]


def test_nothing_of_dask_is_imported_unless_it_is_asked_for(project: Write) -> None:
    project({"a.py": "import jax\n"})
    code = (
        "import sys; from jitlint.frontends.cli import main; main(['check', '-q']);"
        " sys.exit(bool({'dask', 'distributed'} & set(sys.modules)))"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_files_are_taken_along(tmp_path: Path) -> None:
    for name in ("one.toml", "two.toml"):
        (tmp_path / name).write_text(name)
    files = carried([str(tmp_path / "one.toml"), str(tmp_path / "two.toml")])
    (tmp_path / "one.toml").unlink()
    with unpacked(files) as paths:
        assert [Path(path).read_text() for path in paths] == ["one.toml", "two.toml"]
    assert not any(map(os.path.exists, paths))
    with unpacked(()) as none:
        assert none == ()


# ---------------------------------------------------------------- with one


def _two() -> Iterator[Any]:
    """Two processes with one thread each."""
    distributed = pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as made:
        yield made


cluster = pytest.fixture(scope="module")(_two)
mortal = pytest.fixture(_two)
"""For whoever kills."""


def _with(cluster: Any, *arguments: str) -> list[str]:
    return ["check", "--executor", "dask", "--scheduler", cluster.scheduler_address, *arguments]


MINE = '[wrap."mine.fast"]\nparams = "function"\nfunction = "function"\nmodes = "S"\n'
WRAPPED = "from mine import fast\n\n\n@fast\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


def test_a_cluster_says_what_one_process_says(cluster: Any, project: Write, capsys: Capture) -> None:
    project(
        {**FILES, "mine.toml": MINE, "wrapped.py": WRAPPED, "jitlint.toml": 'catalogue = ["mine.toml"]\n'}
    )
    for options in (["--no-cache"], ["--no-cache", "--select", "ALL", "--output-format", "json"]):
        one = _run(capsys, "check", *options)
        assert _run(capsys, *_with(cluster, *options)) == one
    assert "wrapped.py" in one[1]
    cold = _run(capsys, *_with(cluster, "--output-format", "json"))
    assert _run(capsys, "check", "--output-format", "json") == cold
    Path("a.py").write_text(BRANCH.replace("def f", "def other"))
    one = _run(capsys, "check", "--no-cache")
    assert _run(capsys, *_with(cluster)) == one


def test_a_bad_catalogue_is_named_as_it_is_here(cluster: Any, project: Write, capsys: Capture) -> None:
    project({**FILES, "mine.toml": "[wrap", "jitlint.toml": 'catalogue = ["mine.toml"]\n'})
    one = _run(capsys, "check", "--no-cache")
    assert one[0] == 2
    assert _run(capsys, *_with(cluster, "--no-cache")) == one


def test_a_shard_may_be_done_by_a_cluster(cluster: Any, project: Write, capsys: Capture) -> None:
    project(FILES)
    one = _run(capsys, "check", "--no-cache")
    for number in (1, 2):
        arguments = _with(cluster, "--no-cache", "-q", "--shard", f"{number}/2", "-o", f"{number}.json")
        assert main(arguments) == 0
    assert _run(capsys, "merge", "1.json", "2.json") == one


def _many(count: int) -> dict[str, str]:
    """Units that take a while."""
    body = "".join(
        f"\n\n@jax.jit\ndef f{i}(x):\n    def body(carry, _):\n        return f{i - 1}(carry), x\n"
        f"    out, _ = jax.lax.scan(body, x, None, length=3)\n    if out > {i}:\n        return out\n    return x + {i}\n"
        for i in range(1, 40)
    )
    return {
        f"m{number}.py": f"import jax\n\n\ndef f0(x):\n    return x + {number}\n{body}"
        for number in range(count)
    }


class _Killer(threading.Thread):
    """Kills one worker as soon as all are at work."""

    def __init__(self, cluster: Any, workers: int = 1) -> None:
        super().__init__(daemon=True)
        self._cluster = cluster
        self._workers = workers
        self.killed: list[int] = []

    def run(self) -> None:
        from distributed import Client

        with Client(self._cluster.scheduler_address, set_as_default=False) as client:
            pids = client.run(os.getpid)
            until = time.monotonic() + 120
            while time.monotonic() < until:
                busy = [worker for worker, tasks in client.processing().items() if tasks and worker in pids]
                if len(busy) >= self._workers:
                    for worker in busy[: self._workers]:
                        os.kill(pids[worker], signal.SIGKILL)
                        self.killed.append(pids[worker])
                    return
                time.sleep(0.01)


@pytest.mark.parametrize("workers", [1, 2], ids=["one of two", "both"])
def test_killed_workers_change_nothing(workers: int, mortal: Any, project: Write, capsys: Capture) -> None:
    project(_many(12))
    one = _run(capsys, "check", "--no-cache", "--output-format", "json", "--jobs", "2")
    assert one[0] == 1
    killer = _Killer(mortal, workers)
    killer.start()
    told = _run(capsys, *_with(mortal, "--no-cache", "--output-format", "json"))
    killer.join()
    assert len(killer.killed) == workers
    assert told == one


def _deadly(number: int) -> bytes:
    if number == 13:
        time.sleep(1.0)  # a worker that dies while it starts is not started again
        os.kill(os.getpid(), signal.SIGKILL)
    return str(number * number).encode()


def test_what_kills_every_worker_is_found_out_alone(mortal: Any) -> None:
    from jitlint.farm.dask import connected

    farm = connected(mortal.scheduler_address)
    try:
        numbers = [1, 13, 2, 3]
        outcomes = farm.run(partial(_deadly), numbers, [1_000_000, 10, 10, 10], 0)
    finally:
        farm.close()
    assert [outcome for outcome in outcomes if isinstance(outcome, bytes)] == [b"1", b"4", b"9"]
    assert isinstance(outcomes[1], WorkerDied)


def _failing(number: int) -> bytes:
    if number == 13:
        raise ValueError("unlucky")
    return b"%d" % number


def test_an_exception_takes_only_its_own_task(cluster: Any) -> None:
    from jitlint.farm.dask import connected

    told: list[tuple[int, int]] = []
    farm = connected(cluster.scheduler_address)
    try:
        outcomes = farm.run(_failing, [1, 13, 2], [1, 1, 1], 0, lambda done, of: told.append((done, of)))
    finally:
        farm.close()
    assert [str(outcome) for outcome in outcomes] == ["b'1'", "ValueError: unlucky", "b'2'"]
    assert told[-1] == (3, 3)


def test_nobody_there_is_an_error_in_one_line(
    project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    monkeypatch.setattr("jitlint.farm.dask._REACHED_WITHIN", "1s")
    project(FILES)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1"):
        code, out, err = _run(capsys, "check", "--executor", "dask", "--scheduler", address)
        assert (code, out) == (2, "")
        assert err.startswith(f"jitlint: error: --scheduler {address}: cannot be reached: ")
        assert err.count("\n") == 1


def test_a_cluster_without_workers_or_with_others_is_refused(
    cluster: Any, project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distributed import LocalCluster

    project(FILES)
    monkeypatch.setattr("jitlint.farm.dask._REACHED_WITHIN", "1s")
    with LocalCluster(n_workers=0, processes=True, dashboard_address=None) as empty:
        assert "the cluster has no workers" in _run(capsys, *_with(empty))[2]
    monkeypatch.setenv("JITLINT_TEST_PROCESS", str(os.getpid()))
    monkeypatch.setattr("jitlint.farm.dask.identity", _another)
    ours = "CPython 3.9.1"
    err = _run(capsys, *_with(cluster))[2]
    assert err.startswith(f"jitlint: error: --scheduler {cluster.scheduler_address}: worker tcp://")
    assert err.endswith(f", where here is {ours}\n")
    monkeypatch.setattr(
        "jitlint.farm.dask.Cluster.refuse_others", lambda self: None
    )  # one that has come later
    err = _run(capsys, *_with(cluster))[2]
    assert err.startswith("jitlint: error: a worker has ") and err.endswith(f", where here is {ours}\n")


def _another() -> tuple[str, str]:
    """In a worker, as it is; here, of another Python."""
    from jitlint.driver.memory.fingerprint import content_fingerprint, python_version

    here = os.environ.get("JITLINT_TEST_PROCESS") == str(os.getpid())
    return content_fingerprint(), "CPython 3.9.1" if here else python_version()
