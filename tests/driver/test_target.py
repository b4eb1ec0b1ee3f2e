"""Which JAX a project asks for, by its own files."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from jitlint.driver.target import Target, target_of


def _target(tmp_path: Path, files: dict[str, str], chosen: str = "", before: str = "") -> Target:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return target_of(str(tmp_path), chosen, before)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is installed beside jitlint: nothing, unless a test says so."""
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    monkeypatch.setattr(importlib.metadata, "version", version)
    return versions


PINNED = '[project]\ndependencies = ["jax[cuda12]<0.4.26", "numpy"]\n'


@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({}, ""),
        ({"pyproject.toml": '[project]\ndependencies = ["jax>=0.4.20"]\n'}, ""),
        ({"pyproject.toml": PINNED}, "0.4.25"),
        ({"pyproject.toml": PINNED, "requirements.txt": "jax<0.4.14  # older\n"}, "0.4.13"),
        ({"setup.cfg": "[options]\ninstall_requires =\n    jax==0.5.1\n"}, "0.5.1"),
        ({"setup.py": "setup(install_requires=['jax ~= 0.3.2', \"jaxlib\"])\n"}, "0.3.25"),
        ({"requirements.txt": "-r other.txt\njaxlib==0.4.1\njax==0.4.30 --hash=sha256:0\n"}, "0.4.30"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\njax = "^0.4.1"\n'}, "0.4.38"),
        ({"pyproject.toml": '[tool.poetry.dependencies]\njax = {version = "0.4.7"}\n'}, "0.4.7"),
        ({"uv.lock": '[[package]]\nname = "jax"\nversion = "0.6.2"\n'}, "0.6.2"),
        ({"pyproject.toml": "not [ toml", "setup.cfg": "neither", "uv.lock": "= ="}, ""),
        ({"requirements.txt": "jax<0.0.1\n"}, ""),
        ({"requirements-gpu.txt": "jax[cuda12]==0.4.30\n"}, "0.4.30"),
        ({"requirements/base.txt": "jax==0.5.3\n"}, "0.5.3"),
        ({"requirements.txt": "jax==0.5.3\n", "requirements-dev.txt": "jax==0.4.30\n"}, "0.5.3"),
        ({"pyproject.toml": '[project.optional-dependencies]\ncpu = ["jax==0.6.0"]\n'}, "0.6.0"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value) or "nothing",
)
def test_the_newest_release_that_the_project_allows(
    tmp_path: Path, files: dict[str, str], version: str
) -> None:
    assert _target(tmp_path, files).version == version


@pytest.mark.parametrize(
    ("files", "flax"),
    [
        ({}, ("", "")),
        ({"requirements.txt": "flax\njax==0.6.0\n"}, ("", "")),
        ({"requirements.txt": "flax==0.10.2\n"}, ("0.10.2", "0.10.2")),
        ({"pyproject.toml": '[project]\ndependencies = ["flax>=0.11,<0.12"]\n'}, ("0.11.0", "0.11.11")),
        ({"pyproject.toml": '[tool.poetry.dependencies]\nflax = "^0.8.1"\n'}, ("0.8.1", "0.8.11")),
        ({"setup.py": "setup(install_requires=['flax<0.3.2', 'jax'])\n"}, ("0.3.0", "0.3.1")),
        ({"requirements.txt": "flax>=0.8\n", "requirements-dev.txt": "flax<0.9\n"}, ("0.8.0", "0.8.11")),
        (
            {
                "requirements.txt": "flax>=0.8\n",
                "uv.lock": '[[package]]\nname = "flax"\nversion = "0.12.1"\n',
            },
            ("0.12.1", "0.12.1"),
        ),
        ({"requirements.txt": "flax<0.8\n", "requirements-dev.txt": "flax>0.9\n"}, ("", "")),
    ],
    ids=str,
)
def test_the_flax_that_the_project_allows(
    tmp_path: Path, files: dict[str, str], flax: tuple[str, str]
) -> None:
    assert _target(tmp_path, files).flax == _target(tmp_path, {}, "0.9.2").flax == flax


def test_the_configuration_decides_and_says_so(tmp_path: Path) -> None:
    target = _target(tmp_path, {"pyproject.toml": PINNED}, "0.7.0")
    assert (target.version, target.why) == ("0.7.0", "jax-version = 0.7.0")


def test_the_reason_names_file_and_requirement(tmp_path: Path) -> None:
    assert _target(tmp_path, {"pyproject.toml": PINNED}).why == "pyproject.toml: jax<0.4.26"


def test_what_is_installed_holds_where_nothing_is_asked_for(
    tmp_path: Path, installed: dict[str, str]
) -> None:
    installed["jax"] = "0.9.2.dev1+local"
    assert _target(tmp_path, {}) == Target("0.9.2", "installed beside jitlint")
    asked = _target(tmp_path, {"requirements.txt": "jax>=0.4.30\n"})
    assert (asked.version, asked.why, asked.lowest) == ("", "requirements.txt: jax>=0.4.30", "0.4.30")


@pytest.mark.parametrize(
    ("files", "chosen", "before", "found"),
    [
        ({"pyproject.toml": PINNED}, "0.12", "", "0.4.25"),
        ({"pyproject.toml": PINNED}, "0.4.20", "", ""),
        ({"requirements.txt": "jax==0.12.0\n"}, "0.12", "", ""),
        ({"requirements.txt": "jax>=0.4.30\n"}, "0.12", "", ""),
        ({"requirements.txt": "jax>=0.4.30\n"}, "0.12", "0.4.30", "0.4.30"),
        ({"requirements.txt": "jax>=0.4.30\n"}, "", "0.4.30", "0.4.30"),
        ({"pyproject.toml": PINNED}, "", "0.7", ""),
        ({}, "0.12", "", ""),
    ],
)
def test_a_newer_version_than_the_one_in_use_is_one_to_move_to(
    tmp_path: Path, files: dict[str, str], chosen: str, before: str, found: str
) -> None:
    assert _target(tmp_path, files, chosen, before).before == found


@pytest.mark.parametrize(
    ("version", "ran", "other"),
    [
        ("0.12", "0.12.0.1", False),
        ("0.4.30", "0.4.30", False),
        ("0.4.30", "0.4.31", True),
        ("0.10.2", "0.10.2.dev3+local", False),
        ("", "0.4.30", False),
        ("0.4.30", "", False),
    ],
)
def test_what_ran_may_be_another_version(version: str, ran: str, other: bool) -> None:
    assert Target(version).is_other(ran) is other


def test_a_project_that_asks_for_nothing_comes_from_what_is_installed(
    tmp_path: Path, installed: dict[str, str]
) -> None:
    installed["jax"] = "0.6.2"
    words = "0.12 (jax-version = 0.12), coming from 0.6.2 (installed beside jitlint)"
    assert _target(tmp_path, {}, "0.12").words == words


def test_jax_itself_is_what_it_says(tmp_path: Path) -> None:
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "version.py").write_text('_version = "0.4.37"\n_release = None\n')
    found = target_of(str(tmp_path))
    assert (found.version, found.lowest, found.why) == ("0.4.37", "0.4.37", "this is JAX itself")
