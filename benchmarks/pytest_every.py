"""A plug-in for pytest that runs one test of every N: a sample of a whole suite in the time that there is.

python -m pytest -p pytest_every --every 20
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that says how many are passed over."""
    parser.addoption("--every", type=int, default=1, metavar="N", help="run one test of every N")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first of every N, in the order that they have."""
    every = config.getoption("every")
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % every])
    items[:] = items[::every]
