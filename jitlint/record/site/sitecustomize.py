"""Starts the recorder in every Python that has this folder on its path, then gives way to the user's own module.

Python imports a module of this name at start-up. Part of ``record``; the recorder itself is ``hook.py`` beside this folder,
with what it loads.
"""

import importlib.machinery
import importlib.util
import os
import sys
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name: str) -> Any:
    path = os.path.join(os.path.dirname(_HERE), f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"_jitlint_record_{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _start() -> None:
    _load("hook").start(os.environ, _load)


def _give_way() -> None:
    others = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if os.environ.get("JITLINT_RECORD_FOLDER"):
    try:
        _start()
    except Exception as error:  # the user's program must run as it would without us
        sys.stderr.write(f"jitlint: this process is not recorded: {type(error).__name__}: {error}\n")
_give_way()
