"""The playground's page in a real browser: what one sees, points at, types, opens and shares."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from jitlint.frontends.playground.look import Looker
from jitlint.frontends.playground.serve import Playground

pytest.importorskip("playwright", reason="needs playwright")

from playwright.sync_api import expect, sync_playwright

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")
BAD = "import jax\n\n@jax.jit\ndef f(x, n=3):\n    if x > 0:\n        return x\n    return -x * n\n"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with Looker() as looker, Playground(0, looker) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.url
        server.shutdown()


@pytest.fixture(scope="module")
def context() -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        # The sandbox needs what containers do not give; the page is ours.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser.new_context(viewport={"width": 1280, "height": 800})
        browser.close()


@pytest.fixture
def page(context: BrowserContext, url: str) -> Iterator[Page]:
    """The page, with its first example; no error is written to its console, and nothing is asked of anybody else."""
    page = context.new_page()
    page.set_default_timeout(20_000)
    problems: list[str] = []
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith((url, "data:")) else problems.append(request.url),
    )
    page.goto(url)
    page.wait_for_selector("#findings li")
    yield page
    page.close()
    assert problems == []


def _typed(page: Page, text: str, count: str = "") -> None:
    """Type a text over all that is there; wait for so many findings."""
    page.locator("textarea").first.fill(text)
    if count:
        expect(page.locator("#count")).to_have_text(count)


def _notebook(*cells: tuple[str, str]) -> str:
    listed = [
        {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)} for kind, text in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed})


def _opened(page: Page, name: str, text: str) -> None:
    page.set_input_files("#file", [{"name": name, "mimeType": "text/plain", "buffer": text.encode()}])


def _coloured(page: Page, status: str) -> list[str]:
    return page.locator(f"pre span.{status}").all_text_contents()


def test_every_example_shows_findings_and_traced_values(page: Page) -> None:
    names = page.locator("#examples option").all_text_contents()
    assert len(names) > 2
    for name in names:
        page.select_option("#examples", name)
        expect(page.locator("#name")).to_have_text(name)
        expect(page.locator("#findings li").first).to_be_visible()
        expect(page.locator("pre span.traced").first).to_be_visible()


def test_findings_follow_the_typing_and_colours_outlive_half_a_statement(page: Page) -> None:
    _typed(page, BAD, "1 finding")
    expect(page.locator("#findings li")).to_contain_text("JIT101 traced-branch · line 5")
    assert page.locator("pre span.error").all_text_contents() == ["x", " > ", "0"]
    assert "x" in _coloured(page, "traced") and "n" in _coloured(page, "static")
    for half in (BAD + "y = (\n", '"""' + BAD):  # the second leaves nothing that could be looked at
        _typed(page, BAD, "1 finding")
        _typed(page, half)
        expect(page.locator("#findings li").last).to_contain_text("JIT001")
        assert "x" in _coloured(page, "traced")
    _typed(page, BAD.replace("if x > 0", "if n > 0"))
    expect(page.locator("#count")).to_have_text("No findings")
    assert page.locator("#path circle").count() == 0


def test_a_value_says_why_and_its_path_is_drawn(page: Page) -> None:
    _typed(page, BAD, "1 finding")
    assert page.locator("#path circle").count() == 2 and page.locator("#path path").count() == 1
    assert page.locator(".note:not(:empty)").all_text_contents() == ["1 f is jitted with jax.jit here"]
    spot = page.locator("pre span.traced", has_text="x").last.bounding_box()
    assert spot is not None
    page.mouse.move(spot["x"] + 3, spot["y"] + spot["height"] / 2)
    hover = page.locator("#hover")
    expect(hover).to_be_visible()
    expect(hover).to_contain_text("traced array, from parameter x of f")
    expect(hover).to_contain_text("line 3: f is jitted with jax.jit here")
    expect(page.locator("#value")).to_contain_text("traced array")
    page.mouse.move(1, 1)
    expect(hover).to_be_hidden()


def test_the_keyboard_reaches_everything(page: Page) -> None:
    _typed(page, BAD, "1 finding")
    page.locator("textarea").evaluate(
        "(each, at) => { each.focus(); each.setSelectionRange(at, at); }", BAD.index("x > 0")
    )
    expect(page.locator("#value")).to_contain_text("traced array, from parameter x of f")
    page.keyboard.press("Tab")
    assert "if     x > 0" in page.locator("textarea").input_value()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") != "TEXTAREA"


def test_a_notebook_is_opened_cell_by_cell(page: Page) -> None:
    cells = [
        ("markdown", "# Words"),
        ("code", "import jax"),
        ("code", BAD.partition("\n")[2]),
        ("code", "%time f(1.)"),
    ]
    _opened(page, "mine.ipynb", _notebook(*cells))
    expect(page.locator(".cell")).to_have_count(4)
    expect(page.locator("#findings li")).to_contain_text("cell 3, line 4")
    assert page.locator(".cell.words textarea").input_value() == "# Words"
    tops = [each["y"] for each in map(_box, page.locator("#path circle").all())]
    third = _box(page.locator(".cell").nth(2))
    assert tops and all(third["y"] < top < third["y"] + third["height"] for top in tops[-1:])


def _box(locator: Any) -> dict[str, float]:
    found: dict[str, float] | None = locator.bounding_box()
    assert found is not None
    return found


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": 3}', ""])
def test_a_notebook_that_is_none_is_said(page: Page, text: str) -> None:
    before = page.locator("textarea").first.input_value()
    _opened(page, "broken.ipynb", text)
    expect(page.locator("#state")).to_contain_text("broken.ipynb is no notebook")
    assert page.locator("textarea").first.input_value() == before


def test_a_link_holds_the_code(page: Page, context: BrowserContext, url: str) -> None:
    text = "# 𝒳 é 日本\n" + BAD
    _opened(page, "mine.ipynb", _notebook(("code", text), ("markdown", "words")))
    page.click("#share")
    expect(page.locator("#state")).to_contain_text("in the address bar")
    link = page.url
    assert link.startswith(f"{url}#")
    other = context.new_page()
    other.goto(link)
    expect(other.locator("#findings li")).to_contain_text("JIT101 traced-branch · cell 1, line 6")
    assert [other.locator("textarea").nth(at).input_value() for at in range(2)] == [text, "words"]
    assert other.locator("pre span.error").all_text_contents() == ["x", " > ", "0"]
    other.goto("about:blank")
    other.goto(link[: len(url) + 20])
    expect(other.locator("#state")).to_contain_text("this link holds no code")
    other.close()


def test_text_is_text(page: Page) -> None:
    evil = '<img src=x onerror="document.title=1"><script>document.title = 2</script>'
    _typed(
        page, f"import jax\n\n@jax.jit\ndef f(x):\n    return x['{evil}'] if x > 0 else '{evil}'\n# {evil}\n"
    )
    expect(page.locator("#findings li").first).to_be_visible()
    page.wait_for_timeout(300)
    assert page.title() == "jitlint playground"
    assert page.locator("main img, main script").count() == 0


def test_a_thousand_lines_stay_quick_to_point_at(page: Page) -> None:
    function = "@jax.jit\ndef f{0}(x, y):\n    z = x + y * 2\n    w = z - x\n    return w / y\n\n"
    text = (
        "import jax\n\n" + "".join(function.format(number) for number in range(160)) + BAD.partition("\n")[2]
    )
    _typed(page, text, "1 finding")
    expect(page.locator("#findings li")).to_contain_text("line 966")
    spent = page.evaluate(
        """() => {
            const spans = [...document.querySelectorAll('pre span.traced')].slice(0, 50);
            const field = document.querySelector('textarea');
            const start = performance.now();
            for (const span of spans) {
                const { x, y } = span.getBoundingClientRect();
                field.dispatchEvent(new MouseEvent('mousemove', { clientX: x + 2, clientY: y + 2 }));
            }
            return (performance.now() - start) / spans.length;
        }"""
    )
    assert spent < 100
