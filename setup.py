"""What `setup.cfg` cannot say: addresses that follow from one setting, and a README whose links work on a package index."""

import re
import runpy
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
HOME = runpy.run_path(str(ROOT / "jitlint" / "base" / "home.py"))


def readme_for_index() -> str:
    """The README with absolute links and pictures."""

    def absolute(match: "re.Match[str]") -> str:
        mark, text, path = match.groups()
        url = HOME["picture_url"](path) if mark else HOME["file_url"](path)
        return f"{mark}[{text}]({url})"

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)", absolute, text)


if __name__ == "__main__":
    setup(
        url=HOME["REPOSITORY"],
        author_email=HOME["CONTACT"],
        project_urls={
            "Documentation": HOME["file_url"]("docs/index.md"),
            "Changelog": HOME["file_url"]("CHANGELOG.md"),
            "Rules": HOME["file_url"]("docs/rules/index.md"),
            "Issues": f"{HOME['REPOSITORY']}/issues",
        },
        long_description=readme_for_index(),
        long_description_content_type="text/markdown",
    )
