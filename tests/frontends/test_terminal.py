"""What somebody sees who sits at a terminal: tried in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import sys
import termios

import pytest

from jitlint.frontends import console
from jitlint.frontends.cli import main
from tests.conftest import Write

pytestmark = pytest.mark.installed

BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


def _at_a_terminal(
    arguments: list[str],
    first_shown: float = 60,
    lines: int = 40,
    columns: int = 90,
    keys: bytes = b"",
    **environment: str,
) -> tuple[int, str]:
    """Exit code, and everything that reached the terminal. first_shown: when progress appears, in seconds.

    The child is a fork: it needs no new interpreter.
    """
    pid, terminal = pty.fork()
    if not pid:
        code = 99
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            for name in (
                "NO_COLOR",
                "FORCE_COLOR",
                "LINES",
                "COLUMNS",
                "TERM_PROGRAM",
                "VTE_VERSION",
                "LESS",
            ):
                os.environ.pop(name, None)
            os.environ.update({"TERM": "xterm-256color", "PAGER": "cat", **environment})
            sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
            console.FIRST_SHOWN, console.SHOWN_EVERY = first_shown, 0.001
            code = main(arguments)
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    seen = b""
    while True:
        if not select.select([terminal], [], [], 60)[0]:
            os.kill(pid, signal.SIGKILL)
            pytest.fail(f"nothing more after {seen!r}")
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux says that nobody writes any more
            break
        if not part:
            break
        if keys:
            os.write(terminal, keys)
            keys = b""
        seen += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode().replace("\r\n", "\n")


def _screen(seen: str) -> str:
    """What is left to see: a line that was removed is gone, colours and links do not count."""
    without = re.sub(r"\033\]8;;.*?\033\\|\033\[[\d;]*m", "", seen)
    return re.sub(r"[^\n]*\r(\033\[K)?", "", without)


@pytest.fixture(scope="module", autouse=True)
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What every child would load for itself is loaded before they fork."""
    from jitlint.base.config import Settings
    from jitlint.driver.run import check

    path = tmp_path_factory.mktemp("warm") / "a.py"
    path.write_text(BRANCH, encoding="utf-8")
    check([str(path)], Settings(), use_cache=False)


@pytest.fixture(autouse=True)
def _here(project: Write) -> None:
    project({"a.py": BRANCH, "pyproject.toml": ""})


def test_a_quick_run_draws_no_progress() -> None:
    code, seen = _at_a_terminal(["check", "--no-cache"])
    assert code == 1
    assert "\r" not in seen and "Reading" not in seen


def test_a_slow_run_says_what_it_does_and_leaves_nothing_of_it() -> None:
    code, seen = _at_a_terminal(["check", "--no-cache"], 0.001)
    assert code == 1
    assert "Analysing 1 file (0 s)" in seen
    assert "\r\033[K" in seen
    shown = _screen(seen)
    assert shown.startswith("a.py:6:8: error[JIT101]")
    assert "Analysing" not in shown


def test_nothing_is_drawn_for_a_machine_or_a_simple_terminal() -> None:
    assert "Analysing" not in _at_a_terminal(["check", "--no-cache", "--output-format", "json"], 0.001)[1]
    assert "Analysing" not in _at_a_terminal(["check", "--no-cache", "-q"], 0.001)[1]
    assert "\033" not in _at_a_terminal(["check", "--no-cache"], 0.001, TERM="dumb")[1]


def test_lines_end_where_the_terminal_does() -> None:
    _, seen = _at_a_terminal(["check", "--show-path"], columns=60)
    assert max(map(len, _screen(seen).splitlines())) <= 60


def test_codes_are_links_in_terminals_that_can() -> None:
    page = "docs/rules/JIT101.md"
    assert re.search(
        rf"\033\]8;;https://\S+/{page}\033\\\S*error\[JIT101\]",
        _at_a_terminal(["check"], TERM="xterm-kitty")[1],
    )
    assert page not in _at_a_terminal(["check"])[1]


def test_explain_is_rendered() -> None:
    code, seen = _at_a_terminal(["explain", "JIT106"], lines=100)
    assert code == 0
    assert "```" not in seen and "##" not in seen
    assert "\033[1;94mWhat to write instead\033[0m" in seen
    assert "    \033[1mfor\033[0m _ \033[1min\033[0m range(n):  \033[1;31m# <- JIT106\033[0m" in seen
    assert "The __index__() method" in seen
    assert max(map(len, _screen(seen).splitlines())) <= 90 + len(
        "https://docs.jax.dev"
    )  # addresses stay whole


def test_a_long_explanation_goes_through_the_pager_a_short_one_does_not() -> None:
    pager = f"{sys.executable} -c \"import sys; print('PAGED', len(sys.stdin.read()) > 500)\""
    assert "PAGED True" in _at_a_terminal(["explain", "JIT106"], lines=20, PAGER=pager)[1]
    assert "PAGED" not in _at_a_terminal(["explain", "JIT106"], lines=200, PAGER=pager)[1]


@pytest.mark.skipif(shutil.which("less") is None, reason="needs less")
def test_colours_reach_the_eye_through_less() -> None:
    code, seen = _at_a_terminal(["explain", "JIT106"], lines=20, keys=b"q", PAGER="less")
    assert code == 0
    assert "\033[1;35mJIT106" in seen and "ESC[" not in seen


def test_without_colours_headings_are_underlined() -> None:
    seen = _at_a_terminal(["explain", "JIT106"], lines=100, NO_COLOR="1")[1]
    assert "\033" not in seen
    assert "Bad\n---\n" in seen
