"""Starts the recorder in every Python that has this folder on its path, then gives way to the user's own module.

Python imports a module of this name at start-up. Part of ``record``; the recorder itself is ``hook.py`` beside this folder.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _start() -> None:
    path = os.path.join(os.path.dirname(_HERE), "hook.py")
    spec = importlib.util.spec_from_file_location("_jitlint_record_hook", path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.start(os.environ)


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
