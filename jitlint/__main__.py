"""`jitlint` and `python -m jitlint`: the command line, and a word instead of a traceback while it is still loading."""

import contextlib
import os
import sys


def run() -> int:
    """The exit code of the command line."""
    try:
        from jitlint.frontends.cli import main

        return main()
    except KeyboardInterrupt:  # before the command line could answer it, or after
        sys.stderr.write("jitlint: error: interrupted\n")
        return 2


if __name__ == "__main__":
    # Python puts the working directory first, where modules of the project would take the place of its own.
    with contextlib.suppress(OSError):
        if sys.path[:1] == [os.getcwd()]:
            del sys.path[0]
    sys.exit(run())
