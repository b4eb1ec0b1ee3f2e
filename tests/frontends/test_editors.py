"""Editors: python-lsp-server shows our findings by our plug-in for it, and line-based ones read what we print."""

from __future__ import annotations

import configparser
import json
import os
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from jitlint.frontends.cli import main
from tests.conftest import Write

ROOT = Path(__file__).resolve().parents[2]
HELPER = "def g(x):\n    if x > 0:\n        return x\n    return -x\n"
CALLER = "import jax\nfrom helper import g\n\nprint(jax.jit(g)(1.0))\n"
BRANCH = "import jax\n\n\n@jax.jit\ndef f(x):\n    if x > 0:\n        return x\n    return -x\n"


def _registered(folder: Path) -> str:
    """A search path on which the plug-in for pylsp is registered, as `setup.cfg` does for those who install jitlint."""
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    metadata = folder / "site" / "jitlint_in_editors-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: jitlint-in-editors\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(f"[pylsp]{parser['options.entry_points']['pylsp']}\n")
    return os.pathsep.join([str(ROOT), str(metadata.parent)])


def _diagnostics(root: Path, name: str, texts: list[str]) -> list[list[dict[str, Any]]]:
    """What pylsp publishes for a document that is opened and then changed, without being saved."""
    from pylsp_jsonrpc.endpoint import Endpoint
    from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter

    settings = json.loads((ROOT / "editors" / "pylsp.json").read_text(encoding="utf-8"))
    published: queue.Queue[list[dict[str, Any]]] = queue.Queue()
    server = subprocess.Popen(
        [sys.executable, "-m", "pylsp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": _registered(root / "elsewhere")},
    )
    try:
        handlers = {"textDocument/publishDiagnostics": lambda params: published.put(params["diagnostics"])}
        client = Endpoint(handlers, JsonRpcStreamWriter(server.stdin).write)
        reader = JsonRpcStreamReader(server.stdout)
        threading.Thread(target=reader.listen, args=(client.consume,), daemon=True).start()
        client.request("initialize", {"rootUri": root.as_uri(), "capabilities": {}}).result(60)
        client.notify("initialized", {})
        client.notify("workspace/didChangeConfiguration", {"settings": settings})
        uri = (root / name).as_uri()
        found = []
        for version, text in enumerate(texts):
            document = {"uri": uri, "version": version}
            if version == 0:
                opened = {**document, "languageId": "python", "text": text}
                client.notify("textDocument/didOpen", {"textDocument": opened})
            else:
                changes = {"textDocument": document, "contentChanges": [{"text": text}]}
                client.notify("textDocument/didChange", changes)
            found.append(published.get(timeout=60))
        return found
    finally:
        server.kill()
        server.wait(10)


def test_python_lsp_server_shows_findings_in_unsaved_text(project: Write) -> None:
    """The helper is only wrong because another file jits it. What stands before the place takes two units in UTF-16."""
    pytest.importorskip("pylsp", reason="needs python-lsp-server")
    root = project({"helper.py": "", "caller.py": CALLER})
    texts = [
        HELPER.replace("if x", 'if "\U0001d54f" and x'),
        HELPER.replace("x > 0", "x is None"),
        HELPER + "def (",
    ]
    opened, changed, broken = _diagnostics(root, "helper.py", texts)
    (finding,) = opened
    start, end = finding["range"]["start"], finding["range"]["end"]
    assert (start, end) == ({"line": 1, "character": 7}, {"line": 1, "character": 21})
    assert (finding["code"], finding["severity"], finding["source"]) == ("JIT101", 1, "jitlint")
    assert finding["codeDescription"]["href"].endswith("/JIT101.md")
    assert "(traced because caller.py:4: `g` is jitted with `jax.jit` here)" in finding["message"]
    assert changed == []
    assert {(each["code"], each["severity"], each["range"]["start"]["line"]) for each in broken} == {
        ("JIT001", 1, 4),
        ("JIT101", 1, 1),
    }


def _linted(root: Path, name: str) -> list[dict[str, Any]]:
    """What the plug-in answers about a file, without a server around it."""
    pytest.importorskip("pylsp", reason="needs python-lsp-server")
    from pylsp.config.config import Config
    from pylsp.workspace import Document, Workspace

    from jitlint.frontends.pylsp_plugin import pylsp_lint, pylsp_settings

    config = Config(root.as_uri(), {}, 0, {})
    config.update(pylsp_settings(config))
    workspace = Workspace(root.as_uri(), None, config)
    answer: list[dict[str, Any]] = pylsp_lint(
        config, workspace, Document((root / name).as_uri(), workspace), True
    )
    return answer


def test_the_baseline_holds_in_the_editor(project: Write) -> None:
    root = project({"a.py": BRANCH})
    assert len(_linted(root, "a.py")) == 1
    assert main(["check", "--write-baseline", "known.json"]) == 0
    project({"jitlint.toml": 'baseline = "known.json"\n'})
    assert _linted(root, "a.py") == []


def test_what_the_configuration_excludes_is_left_out_in_the_editor(project: Write) -> None:
    root = project({"a.py": BRANCH, "jitlint.toml": 'exclude = ["a.py"]\n'})
    assert _linted(root, "a.py") == []


def test_what_a_file_brings_about_in_another_is_shown_in_the_editor(project: Write) -> None:
    library = BRANCH.replace("import jax\n\n\n@jax.jit\n", "")
    root = project({"lib.py": library, "use.py": "import jax\nfrom lib import f\n\nprint(jax.jit(f)(1.0))\n"})
    (shown,) = _linted(root, "use.py")
    assert (shown["code"], shown["range"]["start"]["line"]) == ("JIT101", 3)


def test_a_bad_configuration_is_shown_in_the_editor(project: Write) -> None:
    root = project({"a.py": BRANCH, "jitlint.toml": "selct = 1\n"})
    (shown,) = _linted(root, "a.py")
    assert "unknown key 'selct'" in shown["message"] and shown["severity"] == 2


def _concise(root: Path) -> str:
    command = [sys.executable, "-m", "jitlint", "check", "-q", "--output-format", "concise"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        command, cwd=root, env=environment, capture_output=True, text=True, timeout=60
    ).stdout


def test_the_problem_matcher_of_vs_code_reads_concise_output(project: Write) -> None:
    root = project({"a.py": BRANCH})
    tasks = json.loads((ROOT / "editors" / "vscode-tasks.json").read_text(encoding="utf-8"))
    pattern = tasks["tasks"][0]["problemMatcher"]["pattern"]
    match = re.fullmatch(pattern["regexp"], _concise(root).splitlines()[0])
    assert match
    assert match[pattern["file"]] == "a.py"
    assert (match[pattern["line"]], match[pattern["column"]]) == ("6", "8")
    assert match[pattern["code"]] == "JIT101"
    assert match[pattern["message"]].startswith("`if` needs")


def test_the_errorformat_of_vim_fits_concise_output(project: Write) -> None:
    """``%f:%l:%c: %m``, translated as Vim does."""
    root = project({"a.py": BRANCH})
    script = (ROOT / "editors" / "jitlint.vim").read_text(encoding="utf-8")
    form = re.search(r"errorformat=(.+)", script)
    assert form
    text = form[1].replace("\\ ", " ")  # a space is written with a backslash
    for item, group in {
        "%f": r"(?P<f>.+)",
        "%l": r"(?P<l>\d+)",
        "%c": r"(?P<c>\d+)",
        "%m": r"(?P<m>.+)",
    }.items():
        text = text.replace(item, group)
    match = re.fullmatch(text, _concise(root).splitlines()[0])
    assert match
    assert (match["f"], match["l"], match["c"]) == ("a.py", "6", "8")


def test_the_flycheck_pattern_fits_concise_output(project: Write) -> None:
    root = project({"a.py": BRANCH})
    script = (ROOT / "editors" / "flycheck-jitlint.el").read_text(encoding="utf-8")
    assert '(file-name) ":" line ":" column ": " (id (+ (any "A-Z0-9")))' in script
    assert re.fullmatch(r"(.+?):(\d+):(\d+): ([A-Z0-9]+) (.+)", _concise(root).splitlines()[0])
