"""Registers the group of tests that need a library beyond JAX."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "frameworks: needs a library on JAX (the extra `frameworks` has all of them)"
    )
