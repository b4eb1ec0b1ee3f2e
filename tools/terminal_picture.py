"""Draws the README's terminal picture from a real run on the README's own example.

python tools/terminal_picture.py           writes docs/example.svg
python tools/terminal_picture.py --check   says whether it is stale, and exits with 1 if so
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "example.svg"
_COLUMNS = 124


def picture() -> str:
    """The picture as SVG."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in re.findall(r"```python\n# (\w+\.py)\n(.*?)```", readme, re.DOTALL):
            Path(folder, name).write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "jitlint", "check", "--no-cache", "--color", "always"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    console = Console(
        record=True, width=_COLUMNS, file=io.StringIO(), force_terminal=True, color_system="standard"
    )
    console.print("$ jitlint check", style="bold")
    console.print(Text.from_ansi(done.stdout.rstrip()))
    svg = console.export_svg(title="jitlint", unique_id="jitlint")
    # The reader's own monospaced font: a picture must not load anything.
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL)


def main() -> int:
    """Write or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    drawn = picture()
    fresh = PICTURE.exists() and PICTURE.read_text(encoding="utf-8") == drawn
    if check:
        print("" if fresh else f"stale: {PICTURE.relative_to(ROOT)}")
        return 0 if fresh else 1
    PICTURE.write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
