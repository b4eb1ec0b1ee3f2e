"""What is told before a check has come to its end is what the check says, and is told once."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest

from jitlint.base.config import Settings
from jitlint.base.diagnostic import Confidence, Finding, Severity, Span
from jitlint.base.result import CheckResult, Statistics
from jitlint.confirm.engine import Options, _Proof, confirm
from jitlint.confirm.planning import ahead
from jitlint.confirm.pool import Answer, run
from jitlint.confirm.stopping import Stop
from jitlint.confirm.verdict import Confirmation, Verdict
from jitlint.driver.run import check
from tests.confirm.project import write

FILES = {
    "pkg/__init__.py": "",
    "pkg/layers.py": """
        def gate(x, limit):
            if x > limit:
                return x
            return limit


        def quiet(x):
            return float(x)  # jitlint: ignore
        """,
    "pkg/model.py": """
        import jax
        import jax.numpy as jnp

        from .layers import gate, quiet


        @jax.jit
        def apply(x):
            return gate(x, 0.5) + quiet(x)


        apply(1.0)
        table = jnp.zeros(3)
        table[0] = 1.0
        """,
    "other.py": """
        import jax


        @jax.jit
        def loud(x):
            print("x is", x)
            return int(x)


        loud(2.0)
        """,
}


def _key(finding: Finding) -> tuple[str, int, str]:
    return Path(finding.path).name, finding.span.line, finding.code


def test_errors_are_heard_of_as_the_check_will_report_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ahead, "_PATIENCE", 0.0)
    monkeypatch.setattr(ahead, "_TOGETHER", 0.0)
    early: list[Finding] = []
    listener = ahead.Ahead(Settings(), early.extend)
    checked = check(["."], Settings(), jobs=1, use_cache=False, listener=listener)
    assert sorted(map(_key, early)) == [
        ("layers.py", 3, "JIT101"),
        ("model.py", 15, "JIT401"),
        ("other.py", 8, "JIT108"),
    ]
    assert [finding for finding in early if finding not in checked.findings] == []
    assert all(finding.severity is Severity.ERROR for finding in early)


def test_nobody_is_told_before_it_pays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    early: list[Finding] = []
    check(["."], Settings(), jobs=1, use_cache=False, listener=ahead.Ahead(Settings(), early.extend))
    assert early == []


def test_verdicts_are_the_same_and_each_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jax", reason="proof needs JAX")
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    options = Options(jobs=1, use_cache=False)
    later = confirm(["."], Settings(), options)
    monkeypatch.setattr(ahead, "_PATIENCE", 0.0)
    monkeypatch.setattr(ahead, "_TOGETHER", 0.0)
    told: list[Finding] = []
    sooner = confirm(["."], Settings(), options, lambda said, known, total: told.append(said.finding))
    words = [[(_key(c.finding), c.verdict) for c in result.confirmations] for result in (sooner, later)]
    assert words[0] == words[1]
    assert {verdict for _, verdict in words[0]} == {Verdict.CONFIRMED}
    assert sorted(map(_key, told)) == sorted(key for key, _ in words[0])


def _proof(tmp_path: Path, told: list[Confirmation]) -> _Proof:
    options = Options(jobs=1, use_cache=False)
    return _Proof([str(tmp_path)], Settings(), options, lambda said, *_: told.append(said), None)


def test_what_is_only_likely_is_told_with_the_check(tmp_path: Path) -> None:
    write(tmp_path, {"m.py": "x = 1\ny = 2\nz = 3\n"})
    told: list[Confirmation] = []
    proof = _proof(tmp_path, told)
    likely, gone, sure = (
        Finding("JIT101", "", Severity.ERROR, confidence, "", str(tmp_path / "m.py"), Span(line, 1, line, 2))
        for line, confidence in ((1, Confidence.LIKELY), (2, Confidence.LIKELY), (3, Confidence.CERTAIN))
    )
    proof.expect([likely, gone])
    proof.expect([sure])
    for number in list(proof._findings):
        proof._settle(number)
    assert [said.finding for said in told] == [sure]
    surer = replace(likely, confidence=Confidence.CERTAIN)
    proof.begin(CheckResult([surer, sure], [], Statistics()))
    assert [said.finding for said in told] == [sure, surer]
    proof._settle_all(list(proof._findings))
    assert [said.finding for said in told] == [sure, surer]


class _NoWork:
    def take(self) -> Answer | None:
        return None

    def heard(self, answer: Answer, call: int) -> None: ...

    def finished(self, answer: Answer) -> None: ...


def test_who_asks_for_an_end_does_not_wait_for_the_check() -> None:
    stop, over = Stop(), threading.Event()
    stop.why, stop.asked = "the run was ended by SIGINT", True
    run(_NoWork(), 1, "cpu", stop, lambda news: (over.wait(60), None)[1])
    assert not over.is_set()
    over.set()


def test_what_goes_wrong_while_looking_is_raised() -> None:
    def fails(news: object) -> None:
        raise ValueError("no such rule")

    with pytest.raises(ValueError, match="no such rule"):
        run(_NoWork(), 1, "cpu", Stop(), fails)
