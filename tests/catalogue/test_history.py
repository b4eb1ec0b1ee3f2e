"""What releases of JAX have: how the history is read, and that the installed JAX is as it says."""

from __future__ import annotations

import enum
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jitlint.catalogue.history import History, Moved, View
from jitlint.catalogue.load import catalogue, history
from jitlint.catalogue.schema import Removed
from tests.versions import installed

TOOL = Path(__file__).parents[2] / "tools" / "probe_names.py"
SMALL = History(
    releases=("0.4.30", "0.5.3", "0.6.2", "0.7.2"),
    names={"jax.old": "-0.6.2", "jax.new": "+0.6.2", "jax.short": "+0.5.3 -0.7.2", "jax.dated": "-0.5.3"},
    arguments={"jax.f(a)": "-0.5.3", "jax.f(3)": "-0.6.2", "jax.f(4)": ""},
    moved={"jax.g(2)": "a b 0.6.2"},
    options={"jax_option": "-0.5.3"},
    said={"jax.dated": ("jax.better", "0.4.36")},
)


def _view(version: str = "", before: str = "") -> View:
    return View(SMALL, {"jax.known": ("jax.mended", "0.4.34")}, {"jax.f(a)": "b"}, version, before)


@pytest.mark.parametrize(
    ("name", "version", "gone"),
    [
        ("jax.old", "", True),
        ("jax.old", "0.6", True),
        ("jax.old", "0.6.2", True),
        ("jax.old", "0.9", True),
        ("jax.old", "0.5.3", False),
        ("jax.old", "0.6.0", False),  # between 0.5.3, which has it, and 0.6.2
        ("jax.old", "0.4.1", False),  # older than all that was measured
        ("jax.old.part", "0.6.2", True),
        ("jax.new", "0.5.3", False),  # not yet there is not gone
        ("jax.new", "", False),
        ("jax.short", "0.4.30", False),
        ("jax.short", "0.6.2", False),
        ("jax.short", "0.7.2", True),
        ("jax.dated", "0.4.35", False),
        ("jax.dated", "0.4.36", True),
        ("jax.known", "0.4.33", False),
        ("jax.known", "0.4.34", True),
        ("jax.never_heard_of", "", False),
    ],
)
def test_a_name_is_gone_where_a_measured_release_lacks_it(name: str, version: str, gone: bool) -> None:
    assert (_view(version).removed(name) is not None) is gone


def test_it_says_since_when_and_what_is_there_instead() -> None:
    assert _view().removed("jax.old") == Removed("", "after 0.5.3")
    assert _view().removed("jax.dated") == Removed("jax.better", "0.4.36")
    assert _view().lacks("jax.f", "a") == Removed("b", "after 0.4.30")


def test_what_the_version_before_has_is_an_upgrade() -> None:
    names = ("jax.old", "jax.dated", "jax.known")
    assert [_view("0.7", "0.4.30").removed(name) for name in names] == [
        Removed("", "after 0.5.3", upgrade=True),
        Removed("jax.better", "0.4.36", upgrade=True),
        Removed("jax.mended", "0.4.34", upgrade=True),
    ]
    assert not any(gone.upgrade for name in names if (gone := _view("0.7", "0.6.2").removed(name)))


def test_arguments_have_a_history_too() -> None:
    view = _view("0.6.2", "0.4.30")
    assert view.lacks("jax.f", "a") and view.lacks_option("jax_option")
    assert not view.lacks("jax.f", "b") and not _view("0.4.30").lacks("jax.f", "a")
    assert [bool(view.lacks_position("jax.f", count)) for count in (2, 3, 5)] == [False, True, False]
    assert view.speaks_of("jax.f") and view.speaks_of("jax.g") and not view.speaks_of("jax.old")


def test_an_argument_by_position_moves_between_two_versions() -> None:
    assert _view("0.6.2", "0.4.30").moved("jax.g", 2) == Moved(2, "a", "b", "0.6.2")
    for version, before, given in (
        ("0.6.2", "0.6.2", 2),
        ("0.5.3", "0.4.30", 2),
        ("0.6.2", "", 2),
        ("0.6.2", "0.4.30", 1),
    ):
        assert _view(version, before).moved("jax.g", given) is None


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """What the installed JAX has."""
    here = installed("jax")
    if here not in history().releases:
        pytest.skip(f"needs jax=={' or '.join(history().releases)}, here is {here or 'none'}")
    command = [sys.executable, str(TOOL)]
    asked = json.dumps(list(history().names))
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def _at(story: str) -> bool:
    here = history().releases.index(installed("jax"))
    there = story.startswith("-")
    for change in story.split():
        if history().releases.index(change[1:]) <= here:
            there = change.startswith("+")
    return there


def test_the_installed_release_has_the_names_that_the_history_says(found: dict[str, Any]) -> None:
    """What cannot be imported here (for want of another library) is left out."""
    unknown = tuple(found["unknown"])
    stories = {name: story for name, story in history().names.items() if not name.startswith(unknown)}
    assert [name for name, story in stories.items() if (name in found["names"]) is not _at(story)] == []


def test_the_installed_release_has_the_options_that_the_history_says(found: dict[str, Any]) -> None:
    stories = history().options
    assert [name for name, story in stories.items() if (name in found["options"]) is not _at(story)] == []


def test_the_installed_release_takes_the_arguments_that_the_history_says(found: dict[str, Any]) -> None:
    """Of functions with one name: what several names take together is the tool's business."""
    known = {name: entry["takes"] for name, entry in found["names"].items() if "takes" in entry}
    aliased = {catalogue().canonical(name) for name in known if catalogue().canonical(name) != name}
    wrong, asked = [], 0
    for key, story in history().arguments.items():
        function, _, argument = key.rstrip(")").partition("(")
        takes = known.get(function)
        if takes is None or function in aliased or any(kind == 4 for kind, _ in takes) or argument.isdigit():
            continue
        asked += 1
        if ((1, argument) in map(tuple, takes) or (3, argument) in map(tuple, takes)) is not _at(story):
            wrong.append(key)
    assert wrong == [] and asked > 500


def test_a_member_of_an_enumeration_takes_what_its_call_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Since Python 3.12 `inspect` says of it what its class takes, and Pallas's memory spaces are such members."""
    monkeypatch.syspath_prepend(str(TOOL.parent))
    import probe_names

    class Space(enum.Enum):
        FAST = 1

        def __call__(self, shape: object, dtype: object) -> None:
            """A place for an array."""

    assert [name for _, name in probe_names.parameters(Space.FAST)] == ["shape", "dtype"]
    assert catalogue().at("0.12").view.lacks("jax.experimental.pallas.tpu.VMEM", "shape") is None


def test_behaviours_begin_with_a_release() -> None:
    def behaves(version: str) -> bool | None:
        return View(SMALL, {}, {}, version, "", {"new": "+0.6.2"}).behaves("new")

    assert [behaves(version) for version in ("0.4.30", "0.6.0", "0.6.2", "0.9")] == [False, None, True, True]


def test_a_release_of_flax_is_there_for_certain_not_at_all_or_perhaps() -> None:
    def there(flax: tuple[str, str], jax: str = "0.9.2") -> bool | None:
        return catalogue().at(jax, "", flax).view.has_flax("0.11.0", "0.6.0")

    assert there(("", "")) is there(("0.8.1", "0.12.8")) is None
    assert there(("0.11.0", "0.12.8")) is True
    assert there(("0.8.1", "0.10.7")) is there(("", ""), "0.5.3") is False


def test_what_must_be_static_is_what_the_versions_around_agree_on() -> None:
    tables = {"0.6": {"jax.f(a)": "", "jax.f(b)": "I"}, "0.12": {"jax.f(c)": ""}}

    def static(version: str) -> list[str | None]:
        view = View(SMALL, {}, {}, version, "", {}, tables)
        return [
            view.static("jax.f", name, described) for name, described in (("a", "T"), ("b", "T"), ("c", None))
        ]

    assert static("0.6.2") == static("0.4.30") == [None, "I", None]
    assert static("0.10.2") == ["T", "T", None]
    assert static("0.7.2") == [None, "T", None]  # one of the versions around takes a tracer for `a`


def test_a_function_is_as_the_version_has_it() -> None:
    def static(version: str) -> bool:
        method = catalogue().at(version).array_method("astype")
        dtype = method.parameter("dtype") if method is not None else None
        assert dtype is not None
        return dtype.must_be_static

    assert [static(version) for version in ("0.6.2", "0.10.2", "0.12")] == [False, True, True]


def test_it_is_known_where_a_name_is_that_not_all_releases_have() -> None:
    states = [
        [_view(version).there(name) for version in ("0.4.30", "0.6.0", "0.6.2")]
        for name in ("jax.new", "jax.old")
    ]
    assert states == [[False, None, True], [True, None, False]] and _view().there("jax.sum") is None


@pytest.mark.parametrize(
    ("name", "version", "nowhere"),
    [
        ("jax.random.seed", "", True),
        ("jax.random.norml", "", True),
        ("jax.random.normal", "", False),
        ("jax.random._normal", "", False),
        ("jax.random.norml", "0.8.0", False),  # newer than what was measured
        ("jax.random.norml", "0.4.13", False),  # older
        ("jax.other.norml", "", False),  # nobody has asked this module
        ("jax.new", "", False),
        ("jax.known", "", False),
    ],
)
def test_names_that_are_nowhere(name: str, version: str, nowhere: bool) -> None:
    listed = {"jax.random": frozenset({"normal", "split"}), "jax": frozenset({"jit"})}
    small = msgspec.structs.replace(SMALL, listed=listed)
    assert View(small, {"jax.known": ("jax.mended", "0.4.34")}, {}, version).is_nowhere(name) is nowhere


def test_names_that_are_like_others() -> None:
    view = View(msgspec.structs.replace(SMALL, listed={"jax.random": frozenset({"normal", "split"})}), {}, {})
    assert view.like("jax.random.norml") == "normal"
    assert view.like("jax.random.seed") == ""


def test_names_are_those_of_the_installed_release() -> None:
    spec = importlib.util.spec_from_file_location("probe_known", TOOL.with_name("probe_known.py"))
    assert spec is not None
    assert spec.loader is not None
    probe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(probe)
    listed = history().listed
    assert set(listed) == set(probe.MODULES)
    for module in probe.MODULES:
        told = {name.rpartition(".")[2] for name in history().names if name.rpartition(".")[0] == module}
        assert set(probe.names(module)) <= listed[module] | told, module
