"""The snippets for editors, in these: findings and their path, a helper mended in another buffer, hover, a fix chosen."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Write

pytest.importorskip("pygls", reason="needs pygls")

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent

TRAIN = "import jax\nfrom sizes import size\n\n@jax.jit\ndef step(x):\n    if size(x) > 0:\n        return x\n    return -x\n"
SIZES = "def size(x):\n    return x.sum()\n"
FILL = "import jax\nimport jax.numpy as jnp\n\n@jax.jit\ndef fill(n):\n    x = jnp.zeros(3) + n\n    x[0] = 1.0\n    return x\n"
PROJECT = {"train.py": TRAIN, "sizes.py": SIZES, "fill.py": FILL}


def _prepared(own: Path, language: str) -> dict[str, str]:
    """An environment in which editors start the `jitlint` of this tree, as the snippet in a language says."""
    (own / "bin").mkdir()
    script = own / "bin" / "jitlint"
    start = f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m jitlint "$@"\n'
    script.write_text(start, encoding="utf-8")
    script.chmod(0o755)
    text = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (snippet,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    (own / "snippet").write_text(snippet, encoding="utf-8")
    return {
        **os.environ,
        "PATH": f"{own / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(own),
        "SNIPPET": str(own / "snippet"),
        "ANSWER": str(own / "answer.json"),
        **{f"XDG_{kind}_HOME": str(own / kind.lower()) for kind in ("CONFIG", "DATA", "STATE", "CACHE")},
    }


def _played(command: list[str], root: Path, environment: dict[str, str]) -> dict[str, Any]:
    """What the editor's script saw."""
    done = subprocess.run(
        command,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    answer = Path(environment["ANSWER"])
    assert answer.exists(), done.stdout + done.stderr
    played = json.loads(answer.read_text(encoding="utf-8"))
    assert played["problem"] is None, played["problem"]
    seen: dict[str, Any] = played["seen"]
    return seen


def _check(seen: dict[str, Any]) -> None:
    """What is the same in all editors."""
    assert "`x`: **traced** array, from parameter `x` of `step`" in seen["hover"]
    assert not seen["without"]
    assert seen["again"] == seen["caller"]
    kinds = [title.partition(":")[0] for title in seen["titles"]]
    assert kinds == ["Fix JIT401", "Silence JIT401 in this line", "Explain JIT401"]
    assert seen["fixed"].rstrip("\n") == FILL.replace("x[0] = 1.0", "x = x.at[0].set(1.0)").rstrip("\n")


def test_neovim(project: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    neovim = shutil.which("nvim")
    if neovim is None:
        pytest.skip("Neovim is not installed")
    root = project(PROJECT)
    environment = _prepared(tmp_path_factory.mktemp("neovim"), "lua")
    seen = _played([neovim, "--headless", "--clean", "-S", str(HERE / "neovim.lua")], root, environment)
    _check(seen)
    (finding,) = seen["caller"]
    assert (finding["code"], finding["line"], finding["column"]) == ("JIT101", 6, 8)
    assert (finding["severity"], finding["source"]) == ("ERROR", "jitlint")
    assert finding["related"] == [["train.py", 4, "`step` is jitted with `jax.jit` here"]]
    assert [(each["code"], each["line"]) for each in seen["fill"]] == [("JIT401", 7)]


def test_emacs(project: Write, tmp_path_factory: pytest.TempPathFactory) -> None:
    """eglot shows no related places. Older ones do not ask for what a fix does: it comes with the offer."""
    emacs = shutil.which("emacs")
    asked = ["--batch", "--eval", "(unless (require 'eglot nil t) (kill-emacs 3))"]
    if emacs is None or subprocess.run([emacs, *asked], capture_output=True, check=False).returncode == 3:
        pytest.skip("Emacs with eglot is not installed")
    root = project(PROJECT)
    environment = _prepared(tmp_path_factory.mktemp("emacs"), "lisp")
    seen = _played([emacs, "--batch", "--load", str(HERE / "eglot.el")], root, environment)
    _check(seen)
    (finding,) = seen["caller"]
    assert (finding["line"], finding["marked"]) == (6, "size(x) > 0")
    assert "JIT101" in finding["text"] and "`if` needs a concrete True or False" in finding["text"]
    assert [(each["line"], each["marked"]) for each in seen["fill"]] == [(7, "x[0]")]
