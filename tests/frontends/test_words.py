"""Words for somebody who learnt JAX last week: help with examples, one style of errors, no terms of our own."""

from __future__ import annotations

import re

import pytest

from jitlint.base.config import ConfigError, settings_from_mapping
from jitlint.base.diagnostic import Severity
from jitlint.driver.registry import rules
from jitlint.frontends.cli import cli, main
from tests.conftest import Write

pytestmark = pytest.mark.installed

Capture = pytest.CaptureFixture[str]
BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"
OUR_TERMS = re.compile(r"\b(staged|linear|ground|activations?|jit sites?|sink|memo|tracers?)\b", re.I)


def _help(capsys: Capture, *command: str) -> str:
    assert main([*command, "--help"]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", ["", "check", "confirm", "record", "traced", "why", "explain"])
def test_help_shows_examples_that_are_valid(command: str, capsys: Capture) -> None:
    shown = _help(capsys, *command.split())
    examples = re.findall(r"^ +jitlint (\w+)(.*?)(?:  .*)?$", shown.partition("Examples:\n")[2], re.MULTILINE)
    examples = [(name, rest) for name, rest in examples if name != "COMMAND"]
    assert len(examples) >= 2
    for name, rest in examples:
        offered = {option for each in cli.commands[name].params for option in each.opts} | {"--", "--help"}
        assert set(re.findall(r"(?<=\s)--?[a-z][\w-]*", rest)) <= offered


def test_every_command_stands_under_a_heading(capsys: Capture) -> None:
    shown = _help(capsys)
    assert set(re.findall(r"^  (\w+)  ", shown, re.MULTILINE)) >= set(cli.commands)


@pytest.mark.parametrize("command", ["check", "confirm"])
def test_options_stand_under_headings(command: str, capsys: Capture) -> None:
    rest = _help(capsys, command).partition("Other options:\n")[2]
    assert rest.split() == ["-h,", "--help", "Show", "this", "message", "and", "exit."]


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_help_explains_every_option_without_terms_of_our_own(command: str, capsys: Capture) -> None:
    assert not OUR_TERMS.search(_help(capsys, command))
    options = [each for each in cli.commands[command].params if each.param_type_name == "option"]
    assert [each.name for each in options if not getattr(each, "help", "")] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "--min-sever", "x"], "no such option '--min-sever'; did you mean '--min-severity'?"),
        (["check", "--zzz"], "no such option '--zzz'; `jitlint check --help` says more"),
        (["chek"], "no such command 'chek'; did you mean 'check'?"),
        (["explain"], "missing argument 'RULE...'; `jitlint explain --help` says more"),
        (
            ["check", "--jobs", "x"],
            "invalid value for '--jobs': 'x' is not a valid integer range; `jitlint check",
        ),
        (
            ["check", "--min-severity", "bad"],
            "--min-severity: 'bad' is not a severity; use error, warning or info",
        ),
    ],
)
def test_all_errors_have_one_style(arguments: list[str], said: str, capsys: Capture) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(f"jitlint: error: {said}") and captured.err.count("\n") == 1
    assert captured.out == ""


def test_the_old_name_of_an_option_and_a_key_stays(project: Write, capsys: Capture) -> None:
    project({"a.py": "import jax.numpy as np\n"})
    for option in ("--min-severity", "--severity"):
        assert main(["check", option, "info", "-q"]) == 1
        assert "JIT702" in capsys.readouterr().out
    for key in ("min-severity", "severity"):
        assert settings_from_mapping({key: "info"}, "x").min_severity is Severity.INFO
    with pytest.raises(ConfigError, match="old name of 'min-severity'"):
        settings_from_mapping({"severity": "info", "min-severity": "error"}, "x")


def test_the_story_of_traced_functions_needs_no_terms(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    assert main(["traced"]) == 0
    out = capsys.readouterr().out
    assert "a.py:4  f         compiled  your code  traced: x" in out
    assert "1 function is traced: JAX runs such a function in Python once" in out
    assert not OUR_TERMS.search(out)


def test_statistics_need_no_terms(project: Write, capsys: Capture) -> None:
    project({"a.py": BRANCH})
    main(["check", "--statistics"])
    assert not OUR_TERMS.search(capsys.readouterr().out)


def test_rules_speak_of_traced_values() -> None:
    """Only the rule about leaks needs the word of JAX, and explains it; quotations are JAX's own."""
    said = {
        rule.code
        for rule in rules().values()
        for line in (*rule.explanation.splitlines(), *rule.instead.splitlines(), rule.summary)
        if OUR_TERMS.search(line.replace("JIT304", "")) and not line.startswith(">")
    }
    assert said <= {"JIT304"}
