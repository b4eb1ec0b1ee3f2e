"""Draws the rooms of the link and who imports whom, from the import graph: docs/rooms.svg.

python tools/draw_rooms.py           writes the picture
python tools/draw_rooms.py --check   exits with 1 if it is stale
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = ROOT / "jitlint" / "link"
PICTURE = ROOT / "docs" / "rooms.svg"
ORDER = ("program", "roots", "domains", "core", "models", "values", "engine", "tables")
"""From the top down, as the import contract has it."""

WIDTH, HEIGHT, GAP, LEFT = 560, 46, 22, 150


def imports() -> set[tuple[str, str]]:
    """Pairs of rooms: some module of the first imports one of the second."""
    found = set[tuple[str, str]]()
    for path in sorted(LINK.rglob("*.py")):
        relative = path.relative_to(LINK)
        room = relative.parts[0].removesuffix(".py")
        seen = set[str]()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jitlint.link"):
                parts = (node.module or "").split(".")[2:]
                names = parts[:1] or [alias.name for alias in node.names]
                seen.update(name for name in names if name in ORDER)
        found.update((room, other) for other in seen if other != room and room in ORDER)
    return found


def purpose(room: str) -> str:
    """The first sentence of the room's docstring."""
    path = LINK / room / "__init__.py"
    text = ast.get_docstring(ast.parse((path if path.is_file() else LINK / f"{room}.py").read_text("utf-8")))
    return (text or "").split(". ")[0].split(" (layer")[0].split(":")[0].rstrip(".")


def picture() -> str:
    """The rooms as boxes from the top down, an arc on the right for each import that skips none or some of them."""
    top = {room: 16 + i * (HEIGHT + GAP) for i, room in enumerate(ORDER)}
    total = 16 + len(ORDER) * (HEIGHT + GAP)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH + LEFT + 40}" height="{total}"'
        ' font-family="sans-serif" font-size="13">',
        "<style>text{fill:#555}.b{fill:none;stroke:#777}.n{font-weight:bold}.a{fill:none;stroke:#888}</style>",
    ]
    for room, y in top.items():
        out.append(f'<rect class="b" x="8" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>')
        out.append(f'<text class="n" x="20" y="{y + 20}">{room}</text>')
        out.append(f'<text x="20" y="{y + 38}" font-size="11">{purpose(room)}</text>')
    for a, b in sorted(imports()):
        start, end = top[a] + HEIGHT / 2, top[b] + HEIGHT / 2
        bend = WIDTH + 20 + 16 * abs(ORDER.index(a) - ORDER.index(b))
        out.append(
            f'<path class="a" d="M{WIDTH + 8} {start} C{bend} {start} {bend} {end}'
            f' {WIDTH + 8} {end}"><title>{a} imports {b}</title></path>'
        )
    return "\n".join([*out, "</svg>", ""])


def main() -> int:
    """Write the picture, or say whether it is stale."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    text = picture()
    if check:
        return int(not PICTURE.is_file() or PICTURE.read_text(encoding="utf-8") != text)
    PICTURE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
