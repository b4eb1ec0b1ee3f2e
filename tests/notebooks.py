"""Notebooks for tests, written as scripts whose cells begin with ``# %%``."""

from __future__ import annotations

import json
import re

_MARK = re.compile(r"^# %%(?P<kind>[^\n]*)\n", re.MULTILINE)


def notebook(script: str) -> str:
    """The script as a notebook. A cell may be ``# %% [markdown]``; ``# %% raises`` says that it is meant to raise."""
    pieces = _MARK.split(script)[1:]
    cells = []
    for kind, source in zip(pieces[::2], pieces[1::2]):
        text = source.rstrip("\n")
        cell: dict[str, object] = {
            "cell_type": "markdown" if "markdown" in kind else "code",
            "metadata": {"tags": ["raises-exception"]} if "raises" in kind else {},
            "source": text.splitlines(keepends=True),
        }
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
        cells.append(cell)
    language = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    content = {"cells": cells, "metadata": language, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
