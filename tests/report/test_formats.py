"""The forms for build servers: what their readers require is there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Related, Severity, Span
from jitlint.base.fingerprint import fingerprints
from jitlint.driver.registry import rules
from jitlint.report import ci
from jitlint.report.sarif import sarif

pytestmark = pytest.mark.installed

ODD = Finding(
    code="JIT101",
    name="traced-branch",
    severity=Severity.ERROR,
    confidence=Confidence.CERTAIN,
    message="`if` needs 100%: a <b> & \x00 'c',\nand more",
    path="a dir/ä,b:c.py",
    span=Span(6, 8, 6, 13),
    help="use `jnp.where`",
    related=(Related("other.py", Span(1, 1, 1, 4), "`f` is jitted"),),
)
LONG = Finding(
    "JIT304", "tracer-leak", Severity.WARNING, Confidence.LIKELY, "leaks", "/tmp/x.py", Span(2, 1, 4, 9)
)
PROBLEM = Finding(
    "JIT001", "syntax-error", Severity.ERROR, Confidence.CERTAIN, "no", "b.py", Span(1, 1, 1, 2)
)


def test_github_commands_are_one_line_each_and_escaped() -> None:
    first, second = ci.github([ODD, LONG])
    assert first.startswith(
        "::error file=a dir/ä%2Cb%3Ac.py,line=6,endLine=6,col=8,endColumn=13,title=JIT101 traced-branch::"
    )
    assert "100%25" in first
    assert "\n" not in first
    assert second.startswith("::warning file=/tmp/x.py,line=2,endLine=4,title=JIT304 tracer-leak::")


def test_gitlab_items_have_what_the_report_format_requires() -> None:
    (item,) = json.loads("".join(ci.gitlab([ODD], ["abc"])))
    assert item["description"].startswith("JIT101: ")
    assert item["fingerprint"] == "abc"
    assert item["severity"] in ("info", "minor", "major", "critical", "blocker")
    assert item["location"] == {"path": ODD.path, "lines": {"begin": 6, "end": 6}}


def test_junit_is_valid_xml_with_consistent_counts() -> None:
    root = ElementTree.fromstring("\n".join(ci.junit([ODD, LONG], 2)).encode())
    assert (root.get("tests"), root.get("failures")) == ("2", "2")
    assert [suite.get("name") for suite in root] == [ODD.path, LONG.path]
    assert [len(list(suite.iter("failure"))) for suite in root] == [1, 1]
    clean = ElementTree.fromstring("\n".join(ci.junit([], 3)).encode())
    assert (clean.get("tests"), clean.get("failures"), len(list(clean.iter("testcase")))) == ("1", "0", 1)


def _log() -> dict[str, object]:
    found: dict[str, object] = json.loads(
        "".join(sarif([ODD, LONG], [PROBLEM], ["a", "b"], rules(), {"JIT101": "https://x"}))
    )
    return found


def test_sarif_has_rules_places_flows_and_fingerprints() -> None:
    (run,) = _log()["runs"]  # type: ignore[misc, attr-defined]
    described = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == ["JIT101", "JIT304"]
    assert described[0]["helpUri"] == "https://x"
    assert all(rule["help"]["markdown"] and rule["shortDescription"]["text"] for rule in described)
    first, second = run["results"]
    assert described[second["ruleIndex"]]["id"] == second["ruleId"]
    assert first["partialFingerprints"] == {"jitlint/v1": "a"}
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20dir/%C3%A4%2Cb%3Ac.py"
    assert place["region"] == {"startLine": 6, "startColumn": 8, "endLine": 6, "endColumn": 13}
    assert first["relatedLocations"][0]["message"]["text"] == "`f` is jitted"
    flow = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in flow] == ["`f` is jitted", ODD.message]
    assert second["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "file:///tmp/x.py"
    assert run["invocations"][0]["executionSuccessful"] is False
    assert "JIT001" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


@pytest.mark.skipif(
    "SARIF_SCHEMA" not in os.environ,
    reason="SARIF_SCHEMA does not name a copy of the official schema, which is too large to keep here",
)
def test_sarif_follows_the_official_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    schema = json.loads(Path(os.environ["SARIF_SCHEMA"]).read_text(encoding="utf-8"))
    jsonschema.validate(_log(), schema)


@pytest.mark.skipif(
    "JUNIT_SCHEMA" not in os.environ,
    reason="JUNIT_SCHEMA does not name a copy of junit-10.xsd of the Jenkins xUnit plug-in",
)
@pytest.mark.parametrize("findings", [[], [ODD, LONG, PROBLEM]], ids=["none", "some"])
def test_junit_follows_the_schema_of_jenkins(findings: list[Finding]) -> None:
    xmlschema = pytest.importorskip("xmlschema", reason="needs xmlschema")
    xmlschema.XMLSchema(os.environ["JUNIT_SCHEMA"]).validate("\n".join(ci.junit(findings, 3)))


@pytest.mark.skipif(
    "GITLAB_SCHEMA" not in os.environ,
    reason="GITLAB_SCHEMA does not name a copy of GitLab's app/validators/json_schemas/codeclimate.json",
)
def test_gitlab_items_follow_the_schema_of_gitlab() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    schema = json.loads(Path(os.environ["GITLAB_SCHEMA"]).read_text(encoding="utf-8"))
    for item in json.loads("".join(ci.gitlab([ODD, LONG, PROBLEM], ["a", "b", "c"]))):
        jsonschema.validate(item, schema)


def test_fingerprints_survive_edits_elsewhere_and_tell_equals_apart() -> None:
    text = {"a.py": ["x = 1", "    if y:", "if y:"]}
    moved = {"a.py": ["", "", "if y:", "  if y:"]}

    def finding(line: int, function: str = "f") -> Finding:
        return Finding(
            "JIT101",
            "n",
            Severity.ERROR,
            Confidence.CERTAIN,
            "m",
            "a.py",
            Span(line, 1, line, 1 + len("    if y:")),
            function=function,
        )

    before = fingerprints([finding(2), finding(3), finding(3, "g")], text.__getitem__, str)
    after = fingerprints([finding(3), finding(4), finding(4, "g")], moved.__getitem__, str)
    assert before == after
    assert len(set(before)) == 3
