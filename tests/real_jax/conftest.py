"""Registers the group of tests that need a library beyond JAX."""

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "frameworks: needs flax, equinox or optax (select with -m frameworks)")
