"""Where the project is at home: the one setting that every address of it follows (layer: ``base``).

The rule pages that reports link to, the metadata of the package, the links and pictures of the README on a package index
and the documentation are all made from ``REPOSITORY``. Whoever publishes a copy elsewhere changes this line.
"""

from __future__ import annotations

from typing import Final

REPOSITORY: Final = "https://github.com/jitlint/jitlint"
BRANCH: Final = "main"
CONTACT: Final = "jitlint@users.noreply.github.com"


def file_url(path: str) -> str:
    """The address of a file or folder of the repository."""
    return f"{REPOSITORY}/blob/{BRANCH}/{path}"


def picture_url(path: str) -> str:
    """The address of a picture as such, without a page around it."""
    return f"{REPOSITORY}/raw/{BRANCH}/{path}"


def rule_page(code: str) -> str:
    """The address of the page about one of jitlint's own rules."""
    return file_url(f"docs/rules/{code}.md")
