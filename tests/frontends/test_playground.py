"""The playground's server: what it answers, and to whom."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jitlint.frontends.playground.look import Looker
from jitlint.frontends.playground.serve import Playground

HELPER = "import jax\n\n@jax.jit\ndef f(x, n):\n    if x > 0:\n        return x\n    return -x\n"


@pytest.fixture(scope="module")
def served() -> Iterator[Playground]:
    with Looker() as looker, Playground(0, looker) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def _asked(
    served: Playground, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", served.server_port, timeout=60)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"Content-Type": "application/json", **named})
    response = connection.getresponse()
    return response, response.read().decode()


def _look(served: Playground, kind: str, *texts: str) -> dict[str, Any]:
    body = json.dumps({"kind": kind, "cells": [{"text": text} for text in texts]})
    response, text = _asked(served, "POST", "/look", body.encode())
    assert response.status == 200, text
    answer: dict[str, Any] = json.loads(text)
    return answer


def _places(answer: dict[str, Any]) -> list[tuple[str, int | None, int]]:
    return [(finding["code"], finding["cell"], finding["line"]) for finding in answer["findings"]]


def test_findings_with_their_paths_and_values_with_their_reasons(served: Playground) -> None:
    answer = _look(served, "python", HELPER)
    assert _places(answer) == [("JIT101", None, 5)]
    (step,) = answer["findings"][0]["related"]
    assert (step["line"], step["message"]) == (3, "`f` is jitted with `jax.jit` here")
    (row,) = [
        each for each in answer["values"] if (each["line"], each["column"]) == (5, 8) and each["text"] == "x"
    ]
    assert (row["status"], row["why"]) == ("traced", "parameter `x` of `f`")
    assert [each["line"] for each in row["because"]] == [3]


def test_cells_of_a_notebook_are_one_program(served: Playground) -> None:
    answer = _look(served, "notebook", "%pip install jax\nimport jax", HELPER.partition("\n")[2], "f(1.0, 2)")
    assert _places(answer) == [("JIT101", 2, 4)]
    assert {each["cell"] for each in answer["values"]} >= {2, 3}


def test_the_code_in_a_text(served: Playground) -> None:
    assert _places(_look(served, "markdown", f"# Words\n\n```python\n{HELPER}```\n")) == [("JIT101", None, 8)]


def test_what_cannot_be_read_is_said(served: Playground) -> None:
    answer = _look(served, "python", "import jax\nx = (\n")
    assert _places(answer) == [("JIT001", None, 2)] and answer["values"] == []


def test_nothing_on_the_disk_belongs_to_it(
    served: Playground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "caller.py").write_text("import jax\nfrom code import g\njax.jit(g)(1)\n", encoding="utf-8")
    (tmp_path / "helper.py").write_text("def h(x):\n    return bool(x)\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = "import jax\nfrom helper import h\n\ndef g(x):\n    return bool(x)\n\njax.jit(h)(1)\n"
    answer = _look(served, "python", code)
    assert answer["findings"] == []
    assert "path" not in json.dumps(answer)


def test_the_code_is_not_run(served: Playground, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    _look(served, "python", f"import jax\nopen({str(mark)!r}, 'w')\n")
    _look(served, "notebook", f"!touch {mark}")
    assert not mark.exists()


def test_rules_are_explained(served: Playground) -> None:
    response, text = _asked(served, "GET", "/rules/JIT101")
    assert response.status == 200 and text.startswith("# JIT101 traced-branch")
    assert (response.getheader("Content-Type") or "").startswith("text/plain")


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {"Host": "attacker.example"}, 403),
        ("GET", "/", {"Host": "127.0.0.1"}, 403),
        ("POST", "/look", {"Host": "attacker.example"}, 403),
        ("POST", "/look", {"Origin": "https://attacker.example"}, 403),
        ("POST", "/look", {"Origin": "null"}, 403),
        ("POST", "/look", {"Content_Type": "text/plain"}, 403),
        ("POST", "/elsewhere", {}, 403),
        ("POST", "/look", {"Content_Length": "99999999"}, 413),
        ("POST", "/look", {"Content_Length": "many"}, 413),
        ("GET", "/rules/JIT999", {}, 404),
        ("GET", "/../look.py", {}, 404),
        ("GET", "/page.js/../../look.py", {}, 404),
        ("GET", "/%2e%2e/look.py", {}, 404),
        ("DELETE", "/", {}, 501),
    ],
)
def test_who_and_what_is_refused(
    served: Playground, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    body = b"{}" if method == "POST" and "Content_Length" not in headers else None
    assert _asked(served, method, path, body, **headers)[0].status == status


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"kind": "python"}',
        b'{"kind": "ruby", "cells": [{"text": ""}]}',
        b'{"kind": "python", "cells": []}',
        b'{"kind": "python", "cells": [{"text": 3}]}',
        b'{"kind": "python", "cells": [{"text": ""}, {"text": ""}]}',
        b'{"kind": "python", "cells": ' + b"[" * 100_000,
        b"\xff\xfe",
    ],
)
def test_a_message_that_means_nothing(served: Playground, body: bytes) -> None:
    response, text = _asked(served, "POST", "/look", body)
    assert response.status == 400 and text and "Traceback" not in text


def test_pages_may_load_nothing_from_elsewhere(served: Playground) -> None:
    response, _ = _asked(served, "GET", "/", Host=f"localhost:{served.server_port}")
    assert response.status == 200
    rules = (response.getheader("Content-Security-Policy") or "").split("; ")
    assert "default-src 'none'" in rules and "script-src 'self'" in rules


def test_a_port_that_is_taken(served: Playground) -> None:
    command = [
        sys.executable,
        "-m",
        "jitlint",
        "playground",
        "--no-browser",
        "--port",
        str(served.server_port),
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert done.returncode == 2 and "in use" in done.stderr and "Traceback" not in done.stderr
