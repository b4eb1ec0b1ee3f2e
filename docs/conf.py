"""How Sphinx builds the documentation: ``python -m sphinx -W docs site``."""

project = "jitlint"
author = "the jitlint developers"
extensions = ["myst_parser"]
html_theme = "furo"
exclude_patterns = ["*.in.md"]
myst_heading_anchors = 3
linkcheck_anchors = False
