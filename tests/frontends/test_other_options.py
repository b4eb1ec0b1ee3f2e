"""Every option of `traced`, `confirm` and `record` does something; `test_options` does the same for `check`.

What `confirm` and `record` run is replaced here: their options are seen in what they ask for and in what they print.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.result import CheckResult, Statistics
from jitlint.confirm import engine
from jitlint.confirm.engine import ConfirmResult, Options
from jitlint.confirm.verdict import Confirmation, Missed, Verdict
from jitlint.driver.processes import schedule
from jitlint.frontends.cli import cli, main
from jitlint.record import run as record_run
from jitlint.record.store import NAME, RecordedFunction, Store, digest, read_store, write_store
from tests.conftest import Write

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
CALLED = "def f(x):\n    import jax.numpy as jnp\n    return jnp.sin(x)\n"
Capture = pytest.CaptureFixture[str]
Test = Callable[..., None]
COVERED: dict[str, Test] = {}


def _covers(*names: str) -> Callable[[Test], Test]:
    """The test shows that these options (``command option``) do something."""

    def register(test: Test) -> Test:
        COVERED.update(dict.fromkeys(names, test))
        return test

    return register


def _out(capsys: Capture, *arguments: str) -> str:
    capsys.readouterr()
    main(list(arguments))
    return capsys.readouterr().out


@_covers("traced config", "traced isolated", "traced show-path", "traced output-format", "traced statistics")
def test_what_traced_lists(project: Write, capsys: Capture) -> None:
    project({"a.py": CALLED, "other.toml": 'traced = ["a.f"]'})
    assert "you say so" not in _out(capsys, "traced")
    assert "you say so" in _out(capsys, "traced", "--config", "other.toml")
    project({"jitlint.toml": 'traced = ["a.f"]'})
    plain = _out(capsys, "traced")
    assert "you say so" in plain
    assert "you say so" not in _out(capsys, "traced", "--isolated")
    assert "    a.py:1: `f`" in _out(capsys, "traced", "--show-path")
    assert "    a.py:1: `f`" not in plain
    assert json.loads(_out(capsys, "traced", "--output-format", "json"))[0]["qualname"] == "f"
    assert "lines: 3" in _out(capsys, "traced", "--statistics")
    assert "lines: 3" not in plain


@_covers("traced no-cache", "traced color")
def test_cache_and_colours_of_traced(project: Write, capsys: Capture) -> None:
    root = project({"a.py": CALLED})
    assert "\033[" not in _out(capsys, "traced", "--no-cache", "--color", "never")
    assert not (root / ".jitlint_cache").exists()
    assert "\033[" in _out(capsys, "traced", "--color", "always")
    assert (root / ".jitlint_cache").exists()


@_covers("traced jobs", "check jobs")
@pytest.mark.parametrize("command", ["traced", "check"])
def test_jobs_are_the_processes_that_parse(
    command: str, project: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[int] = []

    def run_tasks(work: Any, inputs: list[Any], sizes: list[int], jobs: int, progress: Any) -> list[bytes]:
        used.append(jobs)
        return [work(each) for each in inputs]

    monkeypatch.setattr(schedule, "run_tasks", run_tasks)
    long = "# " + "a" * 200_000 + "\nimport jax\n"
    project({"a.py": long, "b.py": long})
    for jobs in ("1", "3", "7"):
        main([command, "--no-cache", "--jobs", jobs])
    assert used == [1, 3, 7]


FOUND = Finding(
    "JIT101", "traced-branch", Severity.ERROR, Confidence.CERTAIN, "yes", "a.py", Span(1, 1, 1, 2)
)
OTHER = Finding("JIT106", "traced-range", Severity.ERROR, Confidence.CERTAIN, "no", "a.py", Span(2, 1, 2, 2))


@pytest.fixture
def confirmed(project: Write, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What `confirm` was asked for, run by run. It answers with a confirmed finding and one that is not."""
    asked: list[dict[str, Any]] = []

    def confirm(*arguments: Any, **named: Any) -> ConfirmResult:
        bound = inspect.signature(real).bind(*arguments, **named).arguments
        asked.append(bound)
        verdicts = [(FOUND, Verdict.CONFIRMED, "raised"), (OTHER, Verdict.REFUTED, "ran")]
        lost = [Missed("a.py", 9, "SomeError", "f(1)")] if bound["options"].missed else []
        told = [Confirmation(*v) for v in verdicts]
        for known, each in enumerate(told, start=1):
            bound["told"](each, known, len(told))
        return ConfirmResult(CheckResult([FOUND, OTHER], [], Statistics(files=1)), told, lost)

    real = engine.confirm
    monkeypatch.setattr(engine, "confirm", confirm)
    project({"a.py": "x = 1\n", "other.toml": 'traced = ["a.f"]', "jitlint.toml": 'traced = ["a.g"]'})
    return asked


@_covers(
    "confirm select",
    "confirm ignore",
    "confirm min-confidence",
    "confirm min-severity",
    "confirm config",
    "confirm isolated",
)
def test_what_confirm_selects(confirmed: list[dict[str, Any]]) -> None:
    main(["confirm"])
    levels = ["--min-confidence", "certain", "--severity", "info"]
    main(["confirm", "--select", "JIT1", "--ignore", "JIT101,JIT102", *levels])
    main(["confirm", "--config", "other.toml"])
    main(["confirm", "--isolated"])
    plain, chosen, configured, isolated = (each["settings"] for each in confirmed)
    assert (plain.select, plain.ignore, plain.min_confidence) == ((), (), Confidence.LIKELY)
    assert (chosen.select, chosen.ignore) == (("JIT1",), ("JIT101", "JIT102"))
    assert chosen.min_confidence is Confidence.CERTAIN
    assert (plain.min_severity, chosen.min_severity) == (None, Severity.INFO)
    assert (plain.traced, configured.traced, isolated.traced) == (("a.g",), ("a.f",), ())


@_covers(
    "confirm jobs",
    "confirm timeout",
    "confirm total-timeout",
    "confirm finding-timeout",
    "confirm stub-missing",
    "confirm memory",
    "confirm platform",
    "confirm no-cache",
    "confirm missed",
)
def test_how_confirm_runs(confirmed: list[dict[str, Any]], capsys: Capture) -> None:
    assert "SomeError" not in _out(capsys, "confirm")
    limits = [
        "--timeout",
        "3",
        "--memory",
        "300",
        "--platform",
        "gpu",
        "--jobs",
        "7",
        "--total-timeout",
        "60",
        "--finding-timeout",
        "5",
        "--stub-missing",
    ]
    assert "SomeError" in _out(capsys, "confirm", "--no-cache", "--missed", *limits)
    assert confirmed[1]["options"] == Options(
        jobs=7,
        seconds=3.0,
        memory=300 << 20,
        platform="gpu",
        use_cache=False,
        missed=True,
        total=60.0,
        each=5.0,
        stub=True,
    )


@_covers("confirm confirmed-only", "confirm output-format", "confirm html", "confirm quiet", "confirm color")
def test_what_confirm_prints(confirmed: list[dict[str, Any]], capsys: Capture) -> None:
    plain = _out(capsys, "confirm")
    assert "JIT106" in plain
    assert "JIT106" not in _out(capsys, "confirm", "--confirmed-only")
    assert [row["code"] for row in json.loads(_out(capsys, "confirm", "--output-format", "json"))]
    lines = _out(capsys, "confirm", "--output-format", "jsonl").splitlines()
    assert [json.loads(line)["verdict"] for line in lines] == ["confirmed", "refuted"]
    assert "<html" in _out(capsys, "confirm", "--output-format", "html")
    main(["confirm", "--html", "page.html"])
    assert "<html" in Path("page.html").read_text(encoding="utf-8")
    assert "2 findings" in plain
    assert "2 findings" not in _out(capsys, "confirm", "--quiet")
    assert "\033[" in _out(capsys, "confirm", "--color", "always")
    assert "\033[" not in _out(capsys, "confirm", "--color", "never")


@_covers("confirm no-recorded")
def test_confirm_without_what_was_recorded(confirmed: list[dict[str, Any]]) -> None:
    write_store(Store(), NAME)
    main(["confirm"])
    main(["confirm", "--no-recorded"])
    assert confirmed[0]["recorded"] is not None
    assert confirmed[1]["recorded"] is None


@_covers("confirm fixes")
def test_confirm_of_fixes_confirms_no_findings(confirmed: list[dict[str, Any]], capsys: Capture) -> None:
    assert "JIT106" not in _out(capsys, "confirm", "--fixes")
    assert confirmed == []


@_covers("record store", "record reasons", "record merge", "record report", "record compare", "record color")
def test_record(project: Write, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    step = RecordedFunction("a.py", 1, "step", 1, root_of={"jit": 1})

    def record(command: object, root: str, reasons: bool) -> tuple[Store, int]:
        asked.append(reasons)
        return Store(functions=[step]), 3

    monkeypatch.setattr(record_run, "record", record)
    root = project({"a.py": "x = 1\n"})
    assert main(["record", "--store", "elsewhere.json", "--", "true"]) == 3
    assert (root / "elsewhere.json").exists()
    assert not (root / NAME).exists()
    assert main(["record", "--merge", "elsewhere.json"]) == 0
    assert [function.qualname for function in read_store(NAME).functions] == []  # nobody says which text ran
    main(["record", "--reasons", "--", "true"])
    assert asked == [False, True]
    report = _out(capsys, "record", "--report", "--color", "always")
    assert "step" in report
    assert "\033[" in report
    assert "\033[" not in _out(capsys, "record", "--report", "--color", "never")
    assert "traced-function recall" in _out(capsys, "record", "--compare")
    assert "traced-function recall" not in report


JITTED = (
    CALLED
    + """
import jax


@jax.jit
def g(x):
    return f(x)
"""
)


@_covers("why output-format", "why config", "why isolated", "why no-cache", "why color")
def test_how_why_answers(project: Write, capsys: Capture) -> None:
    root = project({"a.py": CALLED})
    plain = _out(capsys, "why", "--no-cache", "--color", "never", "a.py:3")
    assert "\033[" not in plain
    assert not (root / ".jitlint_cache").exists()
    assert "\033[" in _out(capsys, "why", "--color", "always", "a.py:3")
    assert (root / ".jitlint_cache").exists()
    project({"other.toml": 'traced = ["a.f"]'})
    declared = _out(capsys, "why", "--config", "other.toml", "a.py:3")
    assert declared != plain
    project({"jitlint.toml": 'traced = ["a.f"]'})
    assert _out(capsys, "why", "a.py:3") == declared
    assert _out(capsys, "why", "--isolated", "a.py:3") == plain
    project({"a.py": JITTED})
    rows = json.loads(_out(capsys, "why", "--output-format", "json", "a.py:3"))
    assert rows


@_covers("server stdio", "server tcp")
def test_how_the_server_talks(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygls", reason="the extra `lsp` is not installed")
    from jitlint.frontends.server import serve

    started: list[object] = []

    class Server:
        def start_io(self) -> None:
            started.append("stdio")

        def start_tcp(self, host: str, port: int) -> None:
            started.append((host, port))

    monkeypatch.setattr(serve, "Server", Server)
    for arguments in ([], ["--stdio"], ["--tcp", "4711"]):
        assert main(["server", *arguments]) == 0
    assert started == ["stdio", "stdio", ("127.0.0.1", 4711)]
    assert main(["server", "--stdio", "--tcp", "4711"]) == 2


@_covers("playground port", "playground no-browser")
def test_where_the_playground_is(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("jitlint.frontends.playground.serve.Playground.serve_forever", lambda self: None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        free = taken.getsockname()[1]
        taken.listen()
        assert main(["playground", "--no-browser", "--port", str(free)]) == 2
    assert f"http://127.0.0.1:{free}" in _out(capsys, "playground", "--no-browser", "--port", str(free))
    assert not opened
    assert f"http://127.0.0.1:{free}" in _out(capsys, "playground", "--port", str(free))
    assert len(opened) == 1


REPORTING = {
    "output-format": ["--output-format", "json"],
    "output-file": ["--output-file", "report.txt"],
    "statistics": ["--statistics"],
    "show-path": ["--show-path"],
    "baseline": ["--baseline", "known.json"],
    "write-baseline": ["--write-baseline", "new.json"],
    "prune-baseline": ["--baseline", "old.json", "--prune-baseline"],
    "no-recorded": ["--no-recorded"],
    "show-refuted": ["--show-refuted"],
    "exit-zero": ["--exit-zero"],
    "quiet": ["-q"],
    "verbose": ["-v"],
    "color": ["--color", "always"],
}


@_covers(*(f"merge {name}" for name in REPORTING))
@pytest.mark.parametrize("name", REPORTING)
def test_what_is_merged_is_reported_as_by_check(name: str, project: Write, capsys: Capture) -> None:
    def said(*arguments: str) -> tuple[int, str, str, str]:
        for path in ("report.txt", "new.json", "old.json"):
            Path(path).unlink(missing_ok=True)
        shutil.copy("known.json", "old.json")
        capsys.readouterr()
        code = main([*arguments])
        written = [
            Path(path).read_text() for path in ("report.txt", "new.json", "old.json") if Path(path).exists()
        ]
        out, err = (re.sub(r"\d+\.\d+ ?s|^time: .*$", "", text, flags=re.M) for text in capsys.readouterr())
        return code, out, err, "".join(written)

    project({"a.py": BRANCH, "b.py": BRANCH, "c.py": BRANCH})
    main(["check", "--no-cache", "--write-baseline", "known.json"])
    text = Path("b.py").read_text().replace("def f", "def g")
    Path("b.py").write_text(text)
    ran = RecordedFunction("b.py", 4, "g", 1, lines=[6, 7], returned=[6, 7], held={"6": ["x"]})
    write_store(Store(functions=[ran], digests={"b.py": digest("b.py")}), NAME)
    main(["check", "--no-cache", "--shard", "1/1", "--output-file", "part.json"])
    plain, option = said("merge", "part.json"), REPORTING[name]
    merged = said("merge", "part.json", *option)
    assert merged != plain
    if name != "verbose":  # nothing is configured, read or checked any more, so that less is to be said
        assert merged == said("check", "--no-cache", *option)


@_covers("explain color")
def test_colours_of_explanations(capsys: Capture) -> None:
    assert "\033[" in _out(capsys, "explain", "JIT101", "--color", "always")
    assert "\033[" not in _out(capsys, "explain", "JIT101", "--color", "never")


def test_no_option_is_left_out() -> None:
    options = {
        f"{name} {max(p.opts, key=len).lstrip('-')}"
        for name, command in cli.commands.items()
        if name != "check"
        for p in command.params
        if isinstance(p, click.Option)
    }
    assert options == set(COVERED) - {"check jobs"}
