"""What is said below the tables of a recorded run."""

from __future__ import annotations

from jitlint.report.recorded import recorded_with


def test_it_says_which_jax_was_seen_and_whether_it_is_the_one_that_is_meant() -> None:
    assert recorded_with("0.10.2", "3.12.1", "") == "recorded with JAX 0.10.2, Python 3.12.1"
    assert recorded_with("0.10.2", "3.12.1", "0.4.30").endswith("; jitlint's findings are about JAX 0.4.30")
