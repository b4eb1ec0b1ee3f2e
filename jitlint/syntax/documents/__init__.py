"""Files that hold Python among other things: notebooks and texts. One module is made of the code in each.

What it does: choose the reader by the file's name. What it does not: parse Python with libcst, decide which files are
looked at. Layer: ``syntax``.
"""

from __future__ import annotations

import os

from jitlint.syntax.documents.document import Document

NOTEBOOK = ".ipynb"
MARKDOWN = frozenset({".md", ".markdown", ".myst", ".qmd", ".rmd"})
RESTRUCTURED = frozenset({".rst"})
TEXTS = MARKDOWN | RESTRUCTURED
"""Suffixes of texts that may show code. They are only looked into where that is asked for."""


def is_document(path: str) -> bool:
    """Whether the file's name says that it is a notebook or a text, and no Python file."""
    suffix = _suffix(path)
    return suffix == NOTEBOOK or suffix in TEXTS


def read_document(path: str, data: bytes) -> Document:
    """The module that the file's code makes; ``Document.failure`` says why there is none. Only for `is_document`."""
    suffix = _suffix(path)
    if suffix == NOTEBOOK:
        from jitlint.syntax.documents.notebook import read_notebook

        return read_notebook(data)
    from jitlint.syntax.documents.texts import read_markdown, read_restructured

    text = data.decode("utf-8-sig", "replace")
    return read_markdown(text) if suffix in MARKDOWN else read_restructured(text)


def _suffix(path: str) -> str:
    return os.path.splitext(path)[1].lower()
