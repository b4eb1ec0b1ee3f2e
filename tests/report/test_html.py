"""The page of `jitlint confirm --html`: whole, harmless and complete."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from jitlint.base.diagnostic import Confidence, Finding, Related, Severity, Span
from jitlint.report.html import verdicts_html
from jitlint.report.verdicts import Row

EVIL = "</script><img src=https://evil.example/x onerror=\"alert('1')\"> & &lt; \x1b[31m \udce9 ‮"
VOID = {"meta", "input", "br", "img", "link", "hr"}
LOADING = {"src", "srcset", "data", "action", "poster", "background", "style"}


class Page(HTMLParser):
    """Checks that tags are balanced, and keeps what there is."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    @property
    def text(self) -> str:
        """All that a reader sees."""
        return "".join(data for tag, data in self.texts if tag not in ("style", "title"))

    def count(self, tag: str) -> int:
        """How many there are of a tag."""
        return sum(name == tag for name, _ in self.tags)


def _finding(line: int, text: str = "plain", code: str = "JIT101", path: str = "model.py") -> Finding:
    span = Span(line, 4, line, 9)
    related = (Related(path, Span(1, 1, 1, 3), f"jitted {text}"), Related("other.py", span, "called"))
    return Finding(
        code, f"name-{text}", Severity.ERROR, Confidence.LIKELY, f"message {text}", path, span, f"help {text}",
        related=related,
    )  # fmt: skip


def _page(
    rows: list[Row], lines: dict[str, list[str]], urls: dict[str, str] | None = None, **given: object
) -> str:
    missed = [("lost.py", 3, EVIL, EVIL)] if given.get("missed") else []
    return verdicts_html(
        rows, missed, urls or {}, lambda path: lines.get(path, []), str(given.get("subtitle", ""))
    )


SOURCE = [f"line {number} <b>&amp;\t{{$x}} '\"" for number in range(1, 41)]
SOURCE[9] = f"    {EVIL}"
ROWS = [
    Row(_finding(10, EVIL, path=EVIL), "confirmed", EVIL, EVIL),
    Row(_finding(10), "refuted", "it ran", ""),
    Row(_finding(30, code="JIT301"), "no-inputs", "nothing", "x=f32[4]"),
    Row(_finding(99), "not-reached", "not run", ""),
    Row(_finding(2, path="gone.py"), EVIL, "not run", ""),
]


@pytest.fixture(scope="module")
def text() -> str:
    lines = {EVIL: SOURCE, "model.py": SOURCE}
    return _page(ROWS, lines, {"JIT101": "https://docs.example/JIT101", "JIT301": "javascript:alert(1)"}, missed=True, subtitle=EVIL)  # fmt: skip


def test_tags_are_balanced_and_nothing_of_the_sources_is_markup(text: str) -> None:
    page = Page(text)
    assert {tag for tag, _ in page.tags} <= {
        *("html", "head", "meta", "title", "style", "body", "header", "h1", "h2", "p", "div", "label", "input", "span"),
        *("table", "thead", "tbody", "tr", "th", "td", "a", "section", "ul", "ol", "li", "code", "pre", "mark"),
        *("details", "summary"),
    }  # fmt: skip
    shown = "</script><img src=https://evil.example/x onerror=\"alert('1')\"> & &lt; ·[31m · ·"
    assert page.text.count(shown) >= 8
    assert not re.search("[\x00-\x08\x0b-\x1f\ud800-\udfff\u202e]", text)


def test_nothing_is_loaded_and_nothing_runs(text: str) -> None:
    page = Page(text)
    for tag, attributes in page.tags:
        assert not LOADING & set(attributes), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        href = attributes.get("href") or "#"
        assert tag == "a" or "href" not in attributes
        assert href == "https://docs.example/JIT101" or re.fullmatch(r"#(finding-\d+)?", href)
    (style,) = [data for tag, data in page.texts if tag == "style"]
    assert not re.search(r"url\(|@import|https?:|expression", style)
    policy = [a for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"]
    assert [a["content"] for a in policy] == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_every_finding_is_there_and_only_evidence_that_proves_something_is_unfolded(text: str) -> None:
    page = Page(text)
    assert page.count("details") == 2 * len(ROWS)
    unfolded = [attributes for tag, attributes in page.tags if tag == "details" and "open" in attributes]
    assert [attributes["class"] for attributes in unfolded] == ["evidence"]  # that of the confirmed one
    ids = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {f"finding-{number}" for number in range(len(ROWS))} <= ids
    targets = {a["href"] for tag, a in page.tags if tag == "a" and (a.get("href") or "").startswith("#")}
    assert targets and {str(target)[1:] for target in targets} <= ids
    assert "5 findings" in page.text and "Errors without a finding" in page.text
    classes = {a.get("class") for tag, a in page.tags if tag == "tr"}
    assert {"finding confirmed", "finding refuted", "finding no-inputs", "finding not-reached"} <= classes


def test_source_is_shown_around_the_findings_and_the_place_is_marked() -> None:
    lines = ["", "x = 1", "if traced > 0:", *["pass"] * 40, "y = 2"]
    page = Page(
        _page(
            [Row(_finding(3), "confirmed", "e", ""), Row(_finding(44), "refuted", "e", "")],
            {"model.py": lines},
        )
    )
    assert [data for tag, data in page.texts if tag == "mark"] == ["trace", " 2"]
    numbers = [data for tag, data in page.texts if tag == "td" and data.isdigit()]
    assert [int(number) for number in numbers] == [2, 3, 4, 5, 6, 7, 40, 41, 42, 43, 44]  # no blank edges
    assert page.text.count("⋯") == 1


def _spanning(line: int, column: int, end_line: int, end_column: int) -> Finding:
    return replace(_finding(line), span=Span(line, column, end_line, end_column))


def test_places_of_several_lines_are_marked_whole_and_the_finding_stands_below() -> None:
    lines = ["x = f(", "    a,", "", "    b + c,  ", ") + 1", "y = 2"]
    page = Page(_page([Row(_spanning(1, 5, 5, 2), "confirmed", "e", "")], {"model.py": lines}))
    assert [data for tag, data in page.texts if tag == "mark"] == ["f(", "a,", "b + c,", ")"]
    assert page.text.index(") + 1") < page.text.index("message plain") < page.text.index("y = 2")


def test_all_findings_on_a_line_are_marked() -> None:
    rows = [
        Row(_spanning(1, 10, 1, 14), "refuted", "e", ""),
        Row(_spanning(1, 1, 1, 5), "confirmed", "e", ""),
        Row(_spanning(1, 2, 1, 4), "no-inputs", "e", ""),
    ]
    page = Page(_page(rows, {"model.py": ["f(x) and g(x)"]}))
    assert [data for tag, data in page.texts if tag == "mark"] == ["f(x)", "g(x)"]
    assert [a["class"] for tag, a in page.tags if tag == "mark"] == ["confirmed", "refuted"]


def test_a_finding_that_is_longer_than_the_file_is_shown() -> None:
    page = Page(_page([Row(_spanning(1, 1, 9000, 5), "confirmed", "e", "")], {"model.py": ["f(x)", "g(x)"]}))
    assert [data for tag, data in page.texts if tag == "mark"] == ["f(x)", "g(x)"]


def test_nothing_to_show_is_a_page_too() -> None:
    page = Page(_page([], {}))
    assert "0 findings" in page.text and "Nothing to confirm." in page.text and not page.count("table")


def test_light_and_dark(text: str) -> None:
    assert "color-scheme: light dark" in text and "@media (prefers-color-scheme: dark)" in text
