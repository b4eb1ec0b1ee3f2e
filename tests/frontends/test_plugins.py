"""Rules and catalogue files of other packages: installed as in the documentation's own example."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from jitlint.base import plugins
from jitlint.driver import registry
from jitlint.frontends.cli import main

ROOT = Path(__file__).resolve().parents[2]
RULES_PAGE = (ROOT / "docs" / "your-own-rules.md").read_text(encoding="utf-8")


def _blocks(page: str) -> dict[str, str]:
    """The files that a page shows: blocks that begin with their name."""
    return dict(re.findall(r"```\w+\n# ([\w/]+\.\w+)\n(.*?)```", page, re.DOTALL))


EXAMPLE = _blocks(RULES_PAGE)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """What `pip install` of the example would leave behind: its modules, and its entry points."""
    site = tmp_path / "site"
    for name in ("acme_rules.py", "acme_jax/__init__.py", "acme_jax/catalogue.toml"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(EXAMPLE[name], encoding="utf-8")
    _install(site, "jitlint.rules = acme = acme_rules:QUIET", "jitlint.catalogue = acme = acme_jax:CATALOGUE")
    return site


def _install(site: Path, *points: str) -> None:
    metadata = site / "acme_rules-1.0.dist-info"
    metadata.mkdir(parents=True, exist_ok=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-rules\nVersion: 1.0\n")
    lines = [f"[{group}]\n{rest}\n" for group, _, rest in (point.partition(" = ") for point in points)]
    (metadata / "entry_points.txt").write_text("".join(lines))


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def _run(site: Path, *arguments: str, **files: str) -> Done:
    """A run of this process that starts without knowing of other packages, and forgets what it has learnt."""
    folder = site.parent / "project"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    out, error = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.syspath_prepend(str(site))
        _forget()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                code = main(list(arguments))
        finally:
            patch.undo()
            _forget()
    return Done(code, out.getvalue(), error.getvalue())


def test_the_example_of_the_documentation_reports_what_it_says(site: Path) -> None:
    shown = re.search(
        r"```console\n\$ jitlint (check train\.py --select ACM)\n(.*?)```", RULES_PAGE, re.DOTALL
    )
    assert shown
    done = _run(site, *shown[1].split(), train=EXAMPLE["train.py"])
    assert done.stdout.strip() == shown[2].strip()
    assert (done.returncode, done.stderr) == (1, "")


def test_it_is_selected_silenced_and_listed_like_any_other(site: Path) -> None:
    code = EXAMPLE["train.py"]
    both = _run(site, "check", train=code).stdout
    assert "JIT301" in both and "ACM101" in both
    assert "ACM101" not in _run(site, "check", "--select", "JIT").stdout
    assert "ACM101" in _run(site, "check", "--select", "quiet-traces").stdout
    assert "ACM101" not in _run(site, "check", "--ignore", "ACM1").stdout
    for comment in ("noqa: ACM101", "jitlint: ignore[quiet-traces]"):
        silenced = code.replace('("step")', f'("step")  # {comment}', 1)
        assert "error[ACM101]" not in _run(site, "check", train=silenced).stdout
    assert "ACM101  quiet-traces" in _run(site, "rules").stdout
    page = _run(site, "explain", "ACM1").stdout
    assert page.startswith("# ACM101 quiet-traces (error)") and "wiki.acme.example" in page


def test_reports_for_machines_know_it(site: Path) -> None:
    done = _run(site, "check", "--output-format", "json", train=EXAMPLE["train.py"])
    (finding,) = [each for each in json.loads(done.stdout) if each["code"] == "ACM101"]
    assert (finding["code"], finding["url"]) == ("ACM101", "https://wiki.acme.example/jax/quiet-traces")
    log = json.loads(_run(site, "check", "--select", "ACM", "--output-format", "sarif").stdout)
    assert log["runs"][0]["tool"]["driver"]["rules"][0]["id"] == "ACM101"


def test_another_version_is_not_answered_from_the_cache(site: Path) -> None:
    assert "ACM101" in _run(site, "check", train=EXAMPLE["train.py"]).stdout
    changed = EXAMPLE["acme_rules.py"].replace("reaches the log reader while", "is read by nobody while")
    (site / "acme_rules.py").write_text(changed, encoding="utf-8")
    assert "is read by nobody" in _run(site, "check").stdout
    (site / "acme_rules-1.0.dist-info" / "entry_points.txt").unlink()
    assert "[ACM101]" not in _run(site, "check").stdout


def test_the_catalogue_of_a_package_holds_without_configuration(site: Path) -> None:
    code = 'from acme_jax import fast_jit\n\n\n@fast_jit(frozen=("n",))\ndef f(x, n):\n    if n:\n        return x\n    if x > 0:\n        return x\n    return -x\n'
    found = _run(site, "check", "--output-format", "concise", "-q", train=code)
    assert [line.split()[:2] for line in found.stdout.splitlines()] == [["train.py:8:8:", "JIT101"]]
    assert "catalogue.toml" in _run(site, "check", "--show-settings").stdout


@pytest.mark.parametrize(
    ("point", "says"),
    [
        (
            "jitlint.rules = a = nowhere:RULE",
            "cannot be loaded: ModuleNotFoundError: No module named 'nowhere'",
        ),
        ("jitlint.rules = a = acme_rules:check", "expected a Rule, or several, not <function check"),
        ("jitlint.rules = a = bad:OURS", "'JIT101' is no code for a rule of your own"),
        ("jitlint.rules = a = bad:NAMED", "'Bad Name' is no name for a rule"),
        ("jitlint.rules = a = bad:TWICE", "there is a rule ACM101 or quiet-traces already"),
        ("jitlint.rules = a = bad:CLASH", "there is a rule ACM102 or traced-branch already"),
        ("jitlint.catalogue = a = bad:GONE", "gone.toml: no such file"),
        ("jitlint.catalogue = a = bad:NUMBER", "expected the path of a file, or several, not 3"),
    ],
)
def test_what_is_wrong_with_a_package_is_said_with_its_name(site: Path, point: str, says: str) -> None:
    (site / "bad.py").write_text(
        "from dataclasses import replace\nfrom acme_rules import QUIET\n"
        "OURS = replace(QUIET, code='JIT101')\nNAMED = replace(QUIET, name='Bad Name')\n"
        "TWICE = [QUIET, QUIET]\nCLASH = replace(QUIET, code='ACM102', name='traced-branch')\n"
        "GONE, NUMBER = 'gone.toml', 3\n",
        encoding="utf-8",
    )
    _install(site, point)
    done = _run(site, "check", train=EXAMPLE["train.py"])
    assert done.returncode == 2
    assert done.stderr.startswith("jitlint: error: package acme-rules 1.0, entry point 'a': ")
    assert says in done.stderr and done.stderr.count("\n") == 1


def _forget() -> None:
    """What this process knows of other packages."""
    importlib.invalidate_caches()
    for name in ("acme_rules", "acme_jax", "bad"):
        sys.modules.pop(name, None)
    for known in (
        plugins.installed_rules,
        plugins.installed_catalogues,
        plugins._entry_points,
        plugins._is_mentioned,
        registry.rules,
    ):
        known.cache_clear()


def test_a_check_that_fails_is_named(site: Path) -> None:
    broken = EXAMPLE["acme_rules.py"].replace("    if event.effect", "    1 / 0\n    if event.effect")
    (site / "acme_rules.py").write_text(broken, encoding="utf-8")
    done = _run(site, "check", train=EXAMPLE["train.py"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "jitlint: error: rule ACM101 failed: ZeroDivisionError: division by zero\n"


def test_all_packages_can_be_left_out(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JITLINT_NO_PLUGINS", "1")
    listed = _run(site, "rules").stdout
    assert "ACM101" not in listed and "JIT101" in listed
