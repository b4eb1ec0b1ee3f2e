"""`python -m jitlint`."""

import contextlib
import os
import sys

if __name__ == "__main__":
    # Python puts the working directory first, where modules of the project would take the place of its own.
    with contextlib.suppress(OSError):
        if sys.path[:1] == [os.getcwd()]:
            del sys.path[0]
    from jitlint.frontends.cli import main

    sys.exit(main())
