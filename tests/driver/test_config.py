"""Configuration files are found, read and checked; mistakes are named."""

from __future__ import annotations

import pytest

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Confidence
from jitlint.driver.config import load_settings
from tests.conftest import Write


def test_without_configuration_the_defaults_hold(project: Write) -> None:
    root = project({"pyproject.toml": "[tool.other]\n", "setup.cfg": "[metadata]\nname = x\n"})
    assert load_settings(str(root)) == Settings()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("jitlint.toml", 'ignore = ["JIT5"]\ntraced = ["a.*", "b"]\nmin-confidence = "certain"\n'),
        (
            "pyproject.toml",
            '[tool.jitlint]\nignore = ["JIT5"]\ntraced = ["a.*", "b"]\nmin-confidence = "certain"\n',
        ),
        ("setup.cfg", "[jitlint]\nignore = JIT5\ntraced =\n    a.*\n    b\nmin-confidence = certain\n"),
    ],
)
def test_every_kind_of_file_says_the_same(project: Write, name: str, text: str) -> None:
    root = project({name: text, "deep/down/x.py": ""})
    settings = load_settings(str(root / "deep" / "down"))
    assert settings.ignore == ("JIT5",)
    assert settings.traced == ("a.*", "b")
    assert settings.min_confidence is Confidence.CERTAIN
    assert settings.directory == str(root)


def test_catalogue_files_are_relative_to_the_configuration(project: Write) -> None:
    root = project({"jitlint.toml": 'catalogue = ["more/mine.toml"]'})
    assert load_settings(str(root)).catalogue == (str(root / "more" / "mine.toml"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["JIT1"]', "jitlint.toml: unknown key 'selct'; did you mean 'select'?"),
        ('min_confidence = "likely"', "unknown key 'min_confidence'; did you mean 'min-confidence'?"),
        ("zzzzz = 1", "unknown key 'zzzzz'; the keys are "),
        ("select = 1", "jitlint.toml: select: expected a list of strings, not 1"),
        ("select = [1]", "select: expected a list of strings"),
        ('min-confidence = "sure"', "'sure' is not a confidence; use possible, likely or certain"),
        ("select = [", "jitlint.toml: not valid TOML"),
    ],
)
def test_mistakes_are_named(project: Write, text: str, message: str) -> None:
    root = project({"jitlint.toml": text})
    with pytest.raises(ConfigError) as error:
        load_settings(str(root))
    assert message in str(error.value)


def test_a_broken_setup_cfg_matters_only_if_it_speaks_of_us(project: Write) -> None:
    root = project({"setup.cfg": "no section\n"})
    assert load_settings(str(root)) == Settings()
    project({"setup.cfg": "jitlint without section\n"})
    with pytest.raises(ConfigError, match="not a valid configuration file"):
        load_settings(str(root))


def test_a_table_that_is_none(project: Write) -> None:
    root = project({"pyproject.toml": "[tool]\njitlint = 3\n"})
    with pytest.raises(ConfigError, match=r"tool\.jitlint must be a table"):
        load_settings(str(root))
