"""What the README shows is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import jitlint
from jitlint.base.config import KEYS, settings_from_mapping
from jitlint.driver.registry import rules
from jitlint.driver.select import selected_codes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _command(name: str) -> str:
    match = re.search(rf"<!-- command: {name} -->\n```console\n(.+)\n```\n", README)
    assert match, f"no command {name!r}"
    return match[1]


def _jitlint(arguments: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(jitlint.__file__).parents[1])}
    return subprocess.run(
        [sys.executable, "-m", "jitlint", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("name", ["try", "test"])
def test_both_commands_make_an_environment_and_install_the_project(name: str) -> None:
    assert re.match(
        r"python3 -m venv \.venv && \.venv/bin/pip install --quiet \S*.+ && \(?(cd|\.venv/bin/)",
        _command(name),
    )


def test_the_first_command_prints_findings() -> None:
    change, command = _command("try").split(" && ", 2)[2].strip("()").split(" && ")
    folder = ROOT / change.removeprefix("cd ")
    program, *arguments = command.split()
    assert (folder / program).resolve() == (ROOT / ".venv/bin/jitlint").resolve()
    done = _jitlint([*arguments, "--no-cache"], folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[1] for line in lines if ".py:" in line] == [
        "JIT601", "JIT101", "JIT202", "JIT401", "JIT303", "JIT501", "JIT701"
    ]  # fmt: skip
    assert len(lines) <= 24  # one screen, the summary included
    assert max(map(len, lines)) <= 120


def test_the_second_command_runs_the_tests() -> None:
    program, *arguments = _command("test").rsplit(" && ", 1)[1].split()
    assert (program, arguments[:2]) == (".venv/bin/python", ["-m", "pytest"])


def test_the_check_script_takes_both_from_here() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "readme test" in script
    assert "pip install" not in script
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    sources = dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", README, re.DOTALL))
    assert set(sources) == {"train.py", "losses.py"}
    for name, text in sources.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    shown = re.search(r"```console\n\$ (jitlint check)\n(.*?)```", README, re.DOTALL)
    assert shown
    done = _jitlint(["check"], tmp_path)
    assert done.stdout.strip() == shown[2].strip()
    assert done.returncode == 1


def test_the_rules_are_those_that_exist() -> None:
    table = re.search(r"<!-- rules -->\n\n(.*?)\n\n", README, re.DOTALL)
    assert table
    rows = re.findall(r"^\| (JIT\d+) \| `([\w-]+)` \| (.+) \|$", table[1], re.MULTILINE)
    assert rows == [(rule.code, rule.name, rule.summary) for rule in rules().values()]


def test_the_configuration_is_valid() -> None:
    match = re.search(r"```toml\n(.*?)```", README, re.DOTALL)
    assert match
    table = tomllib.loads(match[1])["tool"]["jitlint"]
    assert set(table) == {key.name for key in KEYS}
    assert selected_codes(settings_from_mapping(table, "README.md"), rules())


def test_every_option_is_described() -> None:
    described = set(re.findall(r"`(-{1,2}[\w-]+)[` ]", README))
    offered = set(re.findall(r"(?<=\s)(--?[a-z][\w-]*)", _jitlint(["check", "--help"], ROOT).stdout))
    assert offered - described == {"-h", "--help", "--quiet"}
