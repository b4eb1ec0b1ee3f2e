"""Runs tests that need more than a call: arguments, fixtures, made-up names (layer: ``confirm``). Runs in the worker only.

pytest runs them inside the worker, without the project's settings, and as few of their variants as will do.
"""

from __future__ import annotations

import os
from typing import Any

from jitlint.confirm.loading import CannotLoad, Loader

# So many variants of a test are run.
_VARIANTS = 4
_OPTIONS = (
    "-c", os.devnull, "-q", "-s", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", "no:randomly",
    "-p", "no:xdist", "-p", "no:logging",
)  # fmt: skip


def run_test(loader: Loader, path: str, target: str, root: str) -> Any:
    """Run the test ``::name`` or ``::Class::name`` of a file. Raises what the test raises, and CannotLoad if there is
    no such test or no pytest."""
    try:
        import pytest
    except ImportError:
        raise CannotLoad("pytest is not installed") from None
    chosen = _Chosen(target.split("::")[1:], loader)
    pytest.main([*_OPTIONS, f"--rootdir={root}", f"--confcutdir={root}", path], plugins=[chosen])
    if chosen.error is not None:
        raise chosen.error
    if not chosen.ran:
        raise CannotLoad(f"pytest finds no test {target[2:].replace('::', '.')} that can run")
    return None


class _Chosen:
    """A plugin: leaves the variants of one test, and keeps the first exception. ran: how many tests began."""

    def __init__(self, names: list[str], loader: Loader) -> None:
        self._names = names
        self._loader = loader
        self.ran = 0
        self.error: BaseException | None = None

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Throw all other tests away."""
        items[:] = [item for item in items if self._is_meant(item.nodeid)][:_VARIANTS]

    def _is_meant(self, node: str) -> bool:
        parts = node.partition("[")[0].split("::")[1:]
        # Some libraries give each variant a name that begins with the function's.
        return parts[:-1] == self._names[:-1] and bool(parts) and parts[-1].startswith(self._names[-1])

    def pytest_runtest_call(self, item: Any) -> None:
        """A test begins."""
        self.ran += 1
        self._loader.loads += 1

    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """A test failed, or its file could not be imported."""
        if self.error is None:
            error = call.excinfo.value
            # pytest's own error holds only the text of the one that the file ended with.
            self.error = (error.__cause__ if type(error).__name__ == "CollectError" else None) or error
