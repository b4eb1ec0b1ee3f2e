"""Ready for a package index, for GitHub's actions, for hooks and containers; every address follows one setting."""

from __future__ import annotations

import configparser
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import jitlint
from jitlint.base.home import CONTACT, REPOSITORY
from tests.conftest import Write

yaml = pytest.importorskip("yaml", reason="needs PyYAML")
ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


@pytest.fixture(scope="module")
def metadata() -> dict[str, Any]:
    """What `setup.py` adds to `setup.cfg`."""
    import setuptools

    given: dict[str, Any] = {}
    before, setuptools.setup = setuptools.setup, given.update
    try:
        runpy.run_path(str(ROOT / "setup.py"), run_name="__main__")
    finally:
        setuptools.setup = before
    return given


def test_the_readme_works_on_an_index(metadata: dict[str, Any]) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", metadata["long_description"])
    assert len(links) > 10
    assert [link for link in links if not link.startswith(("https://", "#"))] == []
    assert (
        f"![The same run in a terminal]({REPOSITORY}/raw/main/docs/example.svg)"
        in metadata["long_description"]
    )


def test_every_address_of_the_metadata_follows_the_setting(metadata: dict[str, Any]) -> None:
    assert metadata["url"] == REPOSITORY and metadata["author_email"] == CONTACT
    assert {"Documentation", "Changelog", "Issues"} <= set(metadata["project_urls"])
    assert all(url.startswith(REPOSITORY) for url in metadata["project_urls"].values())


def test_what_links_name_exists() -> None:
    for path in re.findall(r"\]\((?![a-z]+:|#)([^)\s#]+)", README):
        assert (ROOT / path).exists(), path


def test_no_address_is_written_twice() -> None:
    """Who moves the project changes the setting; what cannot follow it by itself is compared here."""
    owner = REPOSITORY.removeprefix("https://github.com/")
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["repository-code"] == REPOSITORY
    assert f"  - repo: {REPOSITORY} " in README and f"uses: {owner}@v" in README
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *(ROOT / "jitlint").rglob("*.py")):
        if path.name != "home.py":
            rest = path.read_text(encoding="utf-8").replace(f"  - repo: {REPOSITORY} ", "")
            assert "github.com/jitlint" not in rest, path


def test_the_citation_is_complete_and_of_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert set(citation) >= {"cff-version", "message", "title", "authors", "version", "license", "type"}
    assert citation["version"] == jitlint.__version__


def test_the_changelog_and_the_snippets_speak_of_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(rf"^## {re.escape(jitlint.__version__)} ", changelog, re.MULTILINE)
    assert set(re.findall(r"(?:rev: v|lint@v)([\d.]+)", README)) == {jitlint.__version__}


def test_a_release_is_prepared_in_all_places(tmp_path: Path) -> None:
    for name in ("jitlint/__init__.py", "CITATION.cff", "CHANGELOG.md", "README.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    changelog = (tmp_path / "CHANGELOG.md").read_text(encoding="utf-8")
    opened = re.sub(r"^## .*$", "## Unreleased", changelog, count=1, flags=re.MULTILINE)
    (tmp_path / "CHANGELOG.md").write_text(opened, encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "release.py"), "--root", str(tmp_path)]
    assert subprocess.run([*command, "7.x"], capture_output=True).returncode == 1
    done = subprocess.run([*command, "7.8.9"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    texts = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.*")}
    assert '__version__ = "7.8.9"' in texts["__init__.py"]
    assert "\nversion: 7.8.9\n" in texts["CITATION.cff"]
    assert re.search(r"^## 7\.8\.9 \(20\d\d-\d\d-\d\d\)$", texts["CHANGELOG.md"], re.MULTILINE)
    assert texts["README.md"].count("v7.8.9") == 2


def test_every_command_of_a_release_exists() -> None:
    page = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    commands = re.findall(r"^\| [^|]+ \| `([^`]+)` \|$", page, re.MULTILINE)
    assert len(commands) == 9
    for command in commands:
        for tool in re.findall(r"(?:tools/\w+\.py|\.ci/run)", command):
            assert (ROOT / tool).is_file()


def test_ci_builds_and_checks_the_package() -> None:
    assert "tools/check_package.py" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    assert "jitlint[confirm,dask,flake8,docs,lsp,release]" in parser["options.extras_require"]["dev"]


# ------------------------------------------------------------ the action


class Action:
    """Runs the steps of `action.yml` that are scripts, as GitHub would; pip and venv only write down what they are told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked = folder / "asked.txt"
        self.outputs = folder / "outputs.txt"
        self.summary = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
        self.steps = self.summary["runs"]["steps"]
        made = f'mkdir -p "$3/bin"\nprintf \'%s\\n\' \'#!/bin/sh\' \'echo "$@" >> "{self.asked}"\' > "$3/bin/python"'
        run = f'printf \'%s\\n\' \'#!/bin/sh\' \'PYTHONPATH="{ROOT}" exec "{sys.executable}" -m jitlint "$@"\' > "$3/bin/jitlint"'
        python = folder / "python"
        python.write_text(f'#!/bin/sh\n{made}\n{run}\nchmod +x "$3/bin/python" "$3/bin/jitlint"\n')
        python.chmod(0o755)

    def run(self, project: Path, **inputs: str) -> list[subprocess.CompletedProcess[str]]:
        given = {name: each["default"] for name, each in self.summary["inputs"].items()} | inputs
        known = {f"inputs.{name}": value for name, value in given.items()}
        known["steps.python.outputs.python-path"] = str(self.folder / "python")
        done = []
        for step in self.steps:
            if "run" not in step:
                continue
            if self.outputs.exists():
                for line in self.outputs.read_text().splitlines():
                    name, _, value = line.partition("=")
                    known[f"steps.check.outputs.{name}"] = value
            variables = {
                name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text)
                for name, text in step.get("env", {}).items()
            }
            runner = {
                "RUNNER_TEMP": str(self.folder),
                "GITHUB_ACTION_PATH": str(ROOT),
                "GITHUB_OUTPUT": str(self.outputs),
            }
            done.append(
                subprocess.run(
                    ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                    cwd=project,
                    env={**os.environ, **runner, **variables},
                    capture_output=True,
                    text=True,
                    timeout=60,
                )
            )
        return done


@pytest.fixture
def action(tmp_path_factory: pytest.TempPathFactory) -> Action:
    return Action(tmp_path_factory.mktemp("runner"))


def test_the_action_reports_and_fails_on_findings(action: Action, project: Write) -> None:
    root = project({"src/a b.py": BRANCH, "src/c.py": "import jax\n"})
    install, check, passed = action.run(root, paths="src", options="--min-confidence certain")
    assert (install.returncode, check.returncode, passed.returncode) == (0, 0, 1)
    assert action.asked.read_text().split()[-1] == str(ROOT)  # the checkout of the action
    assert "::error " in check.stdout and "title=JIT101" in check.stdout
    assert '"ruleId": "JIT101"' in (root / "jitlint.sarif").read_text(encoding="utf-8")


def test_the_action_passes_without_findings_and_runs_a_release(action: Action, project: Write) -> None:
    root = project({"a.py": "import jax\n"})
    steps = action.run(root, version="0.1.0", sarif="")
    assert [step.returncode for step in steps] == [0, 0, 0]
    assert action.asked.read_text().split()[-1] == "jitlint==0.1.0"
    assert not (root / "jitlint.sarif").exists()


def test_the_action_fails_for_input_that_cannot_be_analysed(action: Action, project: Write) -> None:
    root = project({"a.py": "import jax\n("})
    assert [step.returncode for step in action.run(root)] == [0, 0, 2]


def test_the_action_uploads_what_it_wrote(action: Action) -> None:
    uses = [step for step in action.steps if "uses" in step]
    assert [step["uses"].partition("@")[0] for step in uses] == [
        "actions/setup-python",
        "github/codeql-action/upload-sarif",
    ]
    assert uses[1]["with"]["sarif_file"] == "${{ inputs.sarif }}"
    assert [step.get("shell") for step in action.steps if "run" in step] == ["bash"] * 3
    named = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert named == set(action.summary["inputs"])


# ------------------------------------------------------------ hooks and the container


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_hooks_are_found_by_tag(tmp_path: Path) -> None:
    """`pre-commit autoupdate` goes from one release to the next."""
    pytest.importorskip("pre_commit", reason="needs pre-commit")
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "GIT_CONFIG_NOSYSTEM": "1"}

    def git(folder: Path, *arguments: str) -> None:
        name = ("-c", "user.name=n", "-c", "user.email=e@example.org")
        subprocess.run(
            ["git", *name, *arguments], cwd=folder, env=environment, check=True, capture_output=True
        )

    for folder in (ours, theirs):
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", ours)
    for tag in ("v0.1.0", "v0.2.0"):
        git(ours, "add", ".")
        git(ours, "commit", "-q", "--allow-empty", "-m", tag)
        git(ours, "tag", "-a", tag, "-m", tag)
    snippet = re.search(r"```yaml\n(repos:.*?)```", README, re.DOTALL)
    assert snippet
    config = theirs / ".pre-commit-config.yaml"
    config.write_text(snippet[1].replace(REPOSITORY, ours.as_uri()), encoding="utf-8")
    command = [sys.executable, "-m", "pre_commit", "autoupdate"]
    done = subprocess.run(command, cwd=theirs, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert yaml.safe_load(config.read_text(encoding="utf-8"))["repos"][0]["rev"] == "v0.2.0"


def test_the_container_copies_what_the_package_needs_and_runs_as_nobody() -> None:
    lines = [
        line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if line[0] != "#"
    ]
    assert len(lines) <= 10
    assert "USER nobody" in lines and 'ENTRYPOINT ["jitlint"]' in lines
    kept = {
        line[1:]
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line[0] == "!"
    }
    needed = {"setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "jitlint"}
    assert needed <= kept and all((ROOT / name).exists() for name in kept)


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
)
def test_workflows_in_the_documentation_are_whole(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    workflows = [block for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "jobs:" in block]
    for block in workflows:
        workflow = yaml.safe_load(block)
        assert {"name", True, "permissions", "jobs"} <= set(workflow)  # YAML 1.1 reads `on` as a truth
        for job in workflow["jobs"].values():
            assert {"runs-on", "steps"} <= set(job)
    assert workflows or page != "README.md"
