"""Gives the tests the known differences between versions of JAX, or writes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.catalogue.differences import Book


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--write-differences",
        action="store_true",
        help="write down where the installed JAX differs from the described one",
    )


@pytest.fixture(scope="session")
def book(request: pytest.FixtureRequest) -> Iterator[Book]:
    """What differs."""
    found = Book(bool(request.config.getoption("--write-differences", default=False)))
    yield found
    if found.writing:
        found.write()
