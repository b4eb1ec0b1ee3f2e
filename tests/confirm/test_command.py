"""`jitlint confirm`, from a project on disk to verdicts."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jitlint.confirm import walls
from tests.confirm.project import ROOT, confirmed, run, write

pytest.importorskip("jax", reason="proof needs JAX")

FILES = {
    "pkg/__init__.py": "",
    "pkg/layers.py": """
        def gate(x, limit):
            if x > limit:
                return x
            return limit


        def unused(x):
            return x
        """,
    "pkg/model.py": """
        import jax

        from .layers import gate


        @jax.jit
        def apply(x):
            return gate(x, 0.5)
        """,
    "tests/test_model.py": """
        from pkg.model import apply


        def test_apply():
            apply(1.0)
        """,
    "script.py": """
        import jax
        import jax.numpy as jnp


        @jax.jit
        def loud(x):
            print("x is", x)
            return x + 1


        if __name__ == "__main__":
            for n in range(3):
                loud(jnp.float32(n))
        """,
    "searched.py": """
        import jax
        import jax.numpy as jnp
        from functools import partial


        @jax.jit
        def loss(params, batch):
            x, y = batch
            h = x @ params["w"]
            if jnp.any(h != h):
                return 0.0
            return jnp.mean((h - y) ** 2)


        # jitlint: example(f32[8, 3], key, n=4)
        @partial(jax.jit, static_argnames="n")
        def sample(x, key, n):
            assert x.shape == (8, 3) and n == 4
            return float(x[0, 0])


        def make(rate):
            @jax.jit
            def step(x):
                return rate if x.mean() > 0 else 0.0

            return step


        class Model:
            def __init__(self, width, key):
                self.w = jax.random.normal(key, (width, width))

            def score(self, x):
                return int((self.w @ x)[0])

            def fit(self, xs):
                return jax.jit(self.score)(xs)
        """,
    "broken.py": """
        import jax
        import not_installed_anywhere


        @not_installed_anywhere.wrap
        @jax.jit
        def f(x):
            if x > 0:
                return x
            return -x
        """,
    "optional.py": """
        import jax
        import not_installed_anywhere


        @jax.jit
        def f(x):
            if x > 0:
                return x
            return -x


        def test_f():
            f(1.0)


        not_installed_anywhere.report(f)
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    write(folder, FILES)
    return folder


@pytest.fixture(scope="module")
def verdicts(project: Path) -> dict[str, dict[str, Any]]:
    return {f"{item['path']}:{item['line']}": item for item in confirmed(project, ".")}


def test_every_finding_has_a_verdict(verdicts: dict[str, dict[str, Any]]) -> None:
    assert {place: item["verdict"] for place, item in verdicts.items()} == {
        "broken.py:9": "could-not-import",
        "optional.py:8": "confirmed",
        "pkg/layers.py:3": "confirmed",
        "script.py:8": "confirmed",
        "searched.py:11": "confirmed",
        "searched.py:20": "confirmed",
        "searched.py:26": "confirmed",
        "searched.py:36": "confirmed",
    }


@pytest.mark.parametrize(
    ("place", "evidence", "inputs"),
    [
        ("pkg/layers.py:3", "jax.errors.TracerBoolConversionError", "test_apply() of test_model.py"),
        ("script.py:8", "line 8 ran once; without jit it runs 3 times", "python script.py"),
        ("searched.py:11", "jax.errors.TracerBoolConversionError", "params={'w': "),
        ("searched.py:20", "jax.errors.ConcretizationTypeError", "x=f32[8, 3], key=key, n=4"),
        (
            "optional.py:8",
            "jax.errors.TracerBool",
            "test_f() with a part of optional.py",
        ),
        ("broken.py:9", "ModuleNotFoundError: No module named 'not_installed_anywhere'", ""),
    ],
)
def test_evidence_and_inputs_are_named(
    verdicts: dict[str, dict[str, Any]], place: str, evidence: str, inputs: str
) -> None:
    assert verdicts[place]["evidence"].startswith(evidence)
    assert inputs in verdicts[place]["inputs"]


def test_second_run_is_answered_from_memory(project: Path, verdicts: dict[str, dict[str, Any]]) -> None:
    again = {f"{item['path']}:{item['line']}": item for item in confirmed(project, ".")}
    assert again == verdicts
    script = project / "script.py"
    script.write_text(script.read_text().replace("range(3)", "range(4)"))
    changed = {f"{item['path']}:{item['line']}": item for item in confirmed(project, ".")}
    script.write_text(script.read_text().replace("range(4)", "range(3)"))
    assert changed["script.py:8"]["evidence"] == "line 8 ran once; without jit it runs 4 times"


def test_confirmed_only_leaves_out_the_rest(project: Path) -> None:
    done = run(project, "--confirmed-only", "broken.py")
    assert (done.returncode, done.stdout) == (0, "0 findings: nothing to confirm.\n")
    done = run(project, "broken.py")
    assert done.returncode == 1
    assert done.stdout.startswith("could-not-import  broken.py:9  JIT101")


TESTED = {
    "conftest.py": """
        import pytest


        @pytest.fixture
        def limit():
            return 0.5
        """,
    "test_layers.py": """
        import unittest

        import jax
        import pytest


        @pytest.mark.parametrize("scale", [1.0, 2.0])
        def test_scaled(scale, limit):
            jax.jit(lambda x: x if x > scale * limit else limit)(1.0)


        class TestKeys:
            def test_twice(self, limit):
                key = jax.random.key(0)
                a = jax.random.normal(key) - limit * 9
                assert a < jax.random.uniform(key)

            def test_other(self):
                raise AssertionError("nobody asked for this one")


        def for_both(method):
            method.both = True
            return method


        class Variants(type):
            def __new__(kind, name, bases, members):
                for key, member in list(members.items()):
                    if getattr(member, "both", False):
                        members |= {f"{key}_{variant}": members[key] for variant in "ab"}
                        del members[key]
                return super().__new__(kind, name, bases, members)


        class ManyTest(unittest.TestCase, metaclass=Variants):
            @for_both
            def test_many(self):
                jax.jit(lambda x: x if x > 0 else 0.0)(1.0)
        """,
}


def test_tests_with_arguments_are_run(tmp_path: Path) -> None:
    write(tmp_path, {**TESTED, "jitlint.toml": 'tests = "all"\n'})
    found = confirmed(tmp_path, "--no-cache", "test_layers.py")
    assert [(item["line"], item["verdict"], item["inputs"]) for item in found] == [
        (10, "confirmed", "pytest test_layers.py::test_scaled"),
        (17, "confirmed", "pytest test_layers.py::TestKeys::test_twice"),
        (40, "confirmed", "ManyTest.test_many() of test_layers.py"),
    ]


def test_what_importing_runs_is_imported(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": "import jax.numpy\nfrom jax.experimental.optimizers import adam\n"})
    (item,) = confirmed(tmp_path, "--no-cache", "--severity", "error", "m.py")
    assert (item["code"], item["verdict"]) == ("JIT511", "confirmed")
    assert item["inputs"].startswith(("import of m.py", "a part of m.py"))


def test_a_verdict_of_another_version_than_the_one_that_is_meant_says_so(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "m.py": "import jax\n\n\n@jax.jit\ndef f(x):\n    return int(x)\n\n\nf(1.0)\n",
            "requirements.txt": "jax==0.4.30\n",
        },
    )
    (item,) = confirmed(tmp_path, "--no-cache", "m.py")
    here = importlib.metadata.version("jax")
    assert (item["verdict"], item["jax"], item["target"]) == ("confirmed", here, "0.4.30")
    table = run(tmp_path, "m.py").stdout
    assert f"(in JAX {here}, not in 0.4.30)" in table and f"1 confirmed (JAX {here}).\n" in table
    (tmp_path / "requirements.txt").write_text(f"jax=={here}\n", encoding="utf-8")
    (item,) = confirmed(tmp_path, "m.py")
    assert (item["jax"], item["target"]) == (here, None)


def test_severity_is_heeded(project: Path) -> None:
    done = run(project, "--severity", "error", "script.py")
    assert (done.returncode, done.stdout) == (0, "0 findings: nothing to confirm.\n")


def test_missed_errors_are_listed(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": """
        import jax


        def outside(name):
            return getattr(jax, name)


        def f(x):
            return bool(x)


        def case_hidden():
            outside("j" + "it")(f)(1.0)
        """})  # fmt: skip
    found = confirmed(tmp_path, "--missed", "m.py")
    assert [(item["verdict"], item["line"]) for item in found] == [("missed", 10)]
    assert found[0]["evidence"].startswith("jax.errors.TracerBoolConversionError")


def test_check_needs_neither_jax_nor_this_package(project: Path) -> None:
    code = (
        "import sys\nfrom jitlint.frontends.cli import main\nmain(['check', '--no-cache', '.'])\n"
        "sys.exit(any(name.split('.')[0] in ('jax', 'numpy') or name.startswith('jitlint.confirm') for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=project, env={"PYTHONPATH": str(ROOT)}, check=False, timeout=120
    )
    assert done.returncode == 0


def _without_words(said: str) -> str:
    return re.sub(r"(?<=Error: ).*(?= \[params)|(?<=\(JAX )[\d.]+", "", said)


def test_readme_shows_what_confirm_says(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    write(tmp_path, dict(re.findall(r"```python\n# (\w+\.py)\n(.*?)```", readme, re.DOTALL)))
    shown = re.search(r"```console\n\$ jitlint confirm\n(.*?)```", readme, re.DOTALL)
    assert shown
    assert shown[0] in (ROOT / "docs" / "confirm.md").read_text(encoding="utf-8")
    done = run(tmp_path)
    assert done.returncode == 1
    # How JAX words it differs from release to release.
    assert _without_words(done.stdout) == _without_words(shown[1])


def test_page_is_written_beside_the_table(project: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run(project, "--html", str(page), "broken.py")
    assert done.stdout.startswith("could-not-import  broken.py:9  JIT101")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "not_installed_anywhere" in text
    assert run(project, "--output-format", "html", "broken.py").stdout == text
    done = run(project, "--html", str(tmp_path / "missing" / "page.html"), "broken.py")
    assert done.returncode == 2 and "cannot be written" in done.stderr


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs a way to forbid namespaces")
def test_what_stays_open_without_namespaces_is_said(project: Path) -> None:
    forbid = "".join(f"echo 0 > /proc/sys/user/max_{kind}_namespaces && " for kind in ("user", "pid", "net"))
    command = f"{forbid} exec {sys.executable} -m jitlint confirm --no-cache broken.py"
    shell = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    if subprocess.run([*shell, f"{forbid} true"], check=False, capture_output=True).returncode:
        pytest.skip("namespaces cannot be made, and so cannot be forbidden")
    done = subprocess.run(
        [*shell, command],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "could-not-import  broken.py:9" in done.stdout
    closed = walls.landlock_version() >= 6 and platform.machine() in ("x86_64", "aarch64")
    assert ("does not let `jitlint` shut the code in" in done.stderr) is not closed
    assert "shut the code in" not in run(project, "--no-cache", "broken.py").stderr
