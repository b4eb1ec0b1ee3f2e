"""An open project answers as a run from scratch would, and looks at what has changed alone."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from jitlint.base.config import ConfigError, Settings
from jitlint.base.diagnostic import Finding, Severity
from jitlint.driver import run
from jitlint.driver.session import Session, Stopped
from tests.conftest import Write
from tests.driver.test_incremental import APART, LOSS, PROJECT, TRAIN

SETTINGS = Settings(min_severity=Severity.INFO, tests="all", extend_select=("JIT004",))


def _scratch(unsaved: dict[str, str], settings: Settings = SETTINGS) -> dict[str, list[Finding]]:
    texts = {os.path.abspath(path): text.encode() for path, text in unsaved.items()}
    new = [path for path in texts if not os.path.exists(path)]
    result = run.check([".", *new], settings, jobs=1, use_cache=False, unsaved=texts)
    found: dict[str, list[Finding]] = {}
    for finding in sorted([*result.problems, *result.findings], key=lambda each: each.sort_key):
        found.setdefault(os.path.abspath(finding.path), []).append(finding)
    return found


@pytest.fixture
def session(project: Write) -> Session:
    project(PROJECT)
    session = Session(["."], SETTINGS, jobs=1)
    assert session.refresh() == _scratch({})
    return session


def test_only_files_with_something_new_to_say_are_told(session: Session) -> None:
    assert session.refresh() == {}
    text = LOSS.replace("range(n)", "range(3)")
    changed = session.update("losses.py", text)
    assert changed == {os.path.abspath("losses.py"): []}
    assert session.findings == _scratch({"losses.py": text})
    assert session.statistics.units_run == 1
    back = session.update("losses.py", None)
    assert [f.code for f in back[os.path.abspath("losses.py")]] == ["JIT106"]
    assert session.statistics.units_run == session.statistics.lowered == 0
    assert session.findings == _scratch({})


def test_typing_a_comment_analyses_nothing(session: Session) -> None:
    text = "# moved\n" + TRAIN
    changed = session.update("train.py", text)
    assert session.statistics.units_run == 0
    # The finding stands in the other file, and tells of lines in this one.
    assert list(changed) == [os.path.abspath("losses.py")]
    assert session.findings == _scratch({"train.py": text})


def test_new_files_that_nobody_has_saved(session: Session) -> None:
    text = "import jax, losses\n\n\ndef run(x):\n    return jax.jit(losses.loss)(x, x, x)\n"
    session.update("new.py", text)
    assert session.findings == _scratch({"new.py": text})
    session.update("new.py", text + "(")
    assert [f.code for f in session.findings[os.path.abspath("new.py")]] == ["JIT001"]
    assert session.findings == _scratch({"new.py": text + "("})
    Path("new.py").write_text(text)
    session.update("new.py", None)
    assert session.findings == _scratch({})


def test_imports_that_come_and_go_while_typing(session: Session) -> None:
    for text in (
        "import losses\n" + APART,
        "import losse\n" + APART,
        "import train, losses\n" + APART,
        APART,
    ):
        session.update("scripts/apart.py", text)
        assert session.findings == _scratch({"scripts/apart.py": text})


def test_files_that_change_on_the_disk(session: Session) -> None:
    os.unlink("train.py")
    session.refresh()
    assert session.findings == _scratch({})
    Path("train.py").write_text(TRAIN.replace("jax.grad(loss)", "loss"))
    Path("late.py").write_text(APART)
    assert os.path.abspath("late.py") in session.refresh()
    assert session.findings == _scratch({})


def test_a_deleted_file_that_is_still_open_keeps_its_text(session: Session) -> None:
    session.update("train.py", TRAIN)
    os.unlink("train.py")
    session.refresh()
    assert session.findings == _scratch({"train.py": TRAIN})
    session.update("train.py", None)
    assert session.findings == _scratch({})


def test_another_configuration(session: Session) -> None:
    text = APART.replace("> 0", "< 0")
    session.update("scripts/apart.py", text)
    for change in ({"ignore": ("JIT101",)}, {"traced": ("losses.*",)}, {"exclude": ("train.py",)}, {}):
        settings = replace(SETTINGS, directory=os.getcwd(), **change)  # type: ignore[arg-type]
        session.reload(settings)
        assert session.findings == _scratch({"scripts/apart.py": text}, settings)
    before = session.findings
    with pytest.raises(ConfigError):
        session.reload(replace(SETTINGS, select=("JIT9999",)))
    session.refresh()
    assert session.findings == before


def test_who_does_not_want_the_answer_gets_none(session: Session) -> None:
    before = session.findings
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 5  # in the middle of the analysis

    text = LOSS.replace("range(n)", "range(n + 1)")
    with pytest.raises(Stopped):
        session.update("losses.py", text, stop)
    assert asked == 6
    assert session.findings == before
    session.update("train.py", "\n" + TRAIN, lambda: False)
    assert session.findings == _scratch({"losses.py": text, "train.py": "\n" + TRAIN})


def test_what_is_typed_is_not_written_to_the_disk(session: Session) -> None:
    def cache() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in Path(".jitlint_cache").iterdir()}

    before = cache()
    session.update("losses.py", LOSS.replace("range(n)", "range(n + 1)"))
    session.update("brand_new.py", APART)
    assert cache() == before


def test_notebooks_are_open_like_other_files(project: Write) -> None:
    def notebook(source: str) -> str:
        cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    project({**PROJECT, "n.ipynb": notebook(APART), "other.ipynb": notebook("import losses\n" + APART)})
    session = Session(["."], SETTINGS, jobs=1)
    session.refresh()
    assert session.findings == _scratch({})
    for text in ("# a comment\n" + APART, "import train\n" + APART, APART.replace("x > 0", "x < 1")):
        session.update("n.ipynb", notebook(text))
        assert session.findings == _scratch({"n.ipynb": notebook(text)})
        assert os.path.abspath("n.ipynb") in session.findings
    session.update("losses.py", LOSS + "# moved\n")
    assert session.statistics.units_run == 0


def test_a_session_without_a_cache_folder(project: Write) -> None:
    root = project(PROJECT)
    session = Session(["."], SETTINGS, use_cache=False)
    session.update("losses.py", LOSS + "# more\n")
    session.update("losses.py", LOSS + "# yet more\n")
    assert session.statistics.units_run == 0
    assert session.findings == _scratch({"losses.py": LOSS + "# yet more\n"})
    assert not (root / ".jitlint_cache").exists()
