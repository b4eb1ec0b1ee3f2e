"""Draw the pictures of the playground in the documentation: `python tools/playground_pictures.py`.

Needs playwright and Chromium. Fonts differ from machine to machine, so nothing compares the pictures with older ones; look
at them before you keep them.
"""

from __future__ import annotations

import re
import shutil
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from jitlint.frontends.playground.look import Looker
from jitlint.frontends.playground.serve import Playground

DOCS = Path(__file__).resolve().parents[1] / "docs"


def _pointed(page: Page) -> None:
    """The first example, with the pointer on a value that a helper is given."""
    spot = page.locator("pre span.traced", has_text=re.compile("^x$")).last.bounding_box()
    assert spot is not None
    page.mouse.move(spot["x"] + 6, spot["y"] + 8)
    page.wait_for_timeout(200)


def main() -> None:
    """Draw both."""
    with Looker() as looker, Playground(0, looker) as server, sync_playwright() as playwright:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 710})
        page.goto(server.url)
        page.wait_for_selector("#findings li")
        page.wait_for_timeout(200)
        page.screenshot(path=DOCS / "playground.png")
        _pointed(page)
        page.screenshot(path=DOCS / "playground-hover.png")
        dark = browser.new_page(viewport={"width": 1280, "height": 560}, color_scheme="dark")
        dark.goto(server.url)
        dark.wait_for_selector("#findings li")
        dark.select_option("#examples", "A notebook")
        dark.wait_for_selector("#findings li")
        dark.wait_for_timeout(200)
        dark.screenshot(path=DOCS / "playground-notebook.png")
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
