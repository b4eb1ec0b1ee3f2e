"""Check ``removed.toml`` against installed versions of JAX: is a name still there before the version that dropped it?

    python tools/probe_history.py PYTHON...      # interpreters of environments with different versions of JAX

Prints one line for every name that a version has although the data says it was gone, or lacks although it was not yet.
Names that came later than a version cannot be told from removed ones: "lacks" is only printed when an older version
given here has the name.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = Path(__file__).parents[1] / "jitlint" / "catalogue" / "data" / "removed.toml"
PROGRAM = """
import importlib, json, sys, warnings
warnings.simplefilter("ignore")
import jax

def exists(dotted):
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except Exception:
            continue
        try:
            for part in parts[length:]:
                found = getattr(found, part)
        except Exception:
            return False
        return True
    return False

print(json.dumps([jax.__version__, [name for name in json.load(sys.stdin) if exists(name)]]))
"""


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def main(pythons: list[str]) -> int:
    tables = tomllib.loads(DATA.read_text(encoding="utf-8"))["removed"]
    removed = {
        f"{module}.{name}": entry[1] for module, names in tables.items() for name, entry in names.items()
    }
    found: dict[tuple[int, ...], set[str]] = {}
    for python in pythons:
        command = [python, "-c", PROGRAM]
        done = subprocess.run(
            command, input=json.dumps(list(removed)), capture_output=True, text=True, check=True
        )
        version, names = json.loads(done.stdout.splitlines()[-1])
        found[number(version)] = set(names)
    wrong = checked = 0
    for name, gone_in in removed.items():
        if not gone_in:
            continue
        for version in sorted(found):
            text = ".".join(map(str, version))
            older = any(name in found[other] for other in found if other < version)
            if name in found[version] and version >= number(gone_in):
                print(f"{name}: the data says gone in {gone_in}, but {text} has it")
                wrong += 1
            elif name not in found[version] and version < number(gone_in) and older:
                print(f"{name}: the data says gone in {gone_in}, but {text} lacks it")
                wrong += 1
            checked += name in found[version] or older
    print(f"{len(removed)} names, {len(found)} versions, {checked} checks, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
