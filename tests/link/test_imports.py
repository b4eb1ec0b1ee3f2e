"""Every module of the interpreter can be the first one that a program imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import jitlint

ROOT = Path(jitlint.__file__).resolve().parent

FRESH_IMPORTS = """
import importlib, sys, traceback
for name in sys.stdin.read().split():
    for loaded in [m for m in sys.modules if m.startswith("jitlint.link")]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except Exception:
        print(name, traceback.format_exc(limit=-1))
"""


def test_each_module_is_importable_first() -> None:
    names = [
        ".".join(("jitlint", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")
        for path in sorted((ROOT / "link").glob("*.py"))
    ]
    assert {"jitlint.link", "jitlint.link.boxes", "jitlint.link.program"} <= set(names)
    done = subprocess.run(
        [sys.executable, "-c", FRESH_IMPORTS],
        input="\n".join(names),
        capture_output=True,
        text=True,
        cwd=ROOT.parent,
        check=True,
    )
    assert done.stdout == ""
