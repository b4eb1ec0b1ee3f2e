"""`jitlint` and `python -m jitlint`: the command line, and a word instead of a traceback while it is still loading."""

import contextlib
import gc
import os
import sys

_SHORT = ("check", "traced")
"""Commands that end with their answer: what they have allocated is not worth a search for garbage."""


def run() -> int:
    """The exit code of the command line."""
    if sys.argv[1:2] and sys.argv[1] in _SHORT:
        gc.disable()
    try:
        from jitlint.frontends.cli import main

        return main()
    except KeyboardInterrupt:  # before the command line could answer it, or after
        sys.stderr.write("jitlint: error: interrupted\n")
        return 2
    finally:
        if not gc.isenabled():
            gc.freeze()  # the end of the process need not look for garbage either


if __name__ == "__main__":
    # Python puts the working directory first, where modules of the project would take the place of its own.
    with contextlib.suppress(OSError):
        if sys.path[:1] == [os.getcwd()]:
            del sys.path[0]
    sys.exit(run())
