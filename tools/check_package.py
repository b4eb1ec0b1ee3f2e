"""Build the wheel and the source archive, check them as a package index would, and try the wheel where no source is near.

    python tools/check_package.py                    # with this Python: what CI does
    python tools/check_package.py --every-python     # also install it into fresh environments of all supported Pythons
    python tools/check_package.py --keep dist        # leave the two files there, to be uploaded

Needs the extra `release`. The tests that are marked `installed` are run against the installed wheel. Exit code 1 if
anything is not as it should be.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools import pythons  # noqa: E402  (the path above comes first)

_OURS = (
    "build",
    "dist",
    "*.egg-info",
    "__pycache__",
    ".*_cache",
    ".git",
    ".venv",
    ".hypothesis",
    "node_modules",
)
_IN_ARCHIVE = (
    "tests/conftest.py",
    "fixtures/README.md",
    "docs/index.md",
    "tools/generate_docs.py",
    "CITATION.cff",
)
_IN_WHEEL = (
    "jitlint/py.typed",
    "jitlint/catalogue/catalogue.msgpack",
    "jitlint/record/site/sitecustomize.py",
)


class Failed(Exception):
    """Something is not as it should be; the message says what."""


def call(command: Sequence[str | Path], cwd: Path, **environment: str) -> str:
    """The output of a command. Raises Failed if it fails."""
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")} | environment
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=variables, capture_output=True, text=True, check=False
    )
    output = done.stdout + done.stderr
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{output}")
    return output


def build(folder: Path) -> tuple[Path, Path]:
    """The wheel, made from the source archive as an index's users would, and that archive."""
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*_OURS))
    call([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"], source)
    (wheel,) = (folder / "dist").glob("*.whl")
    (archive,) = (folder / "dist").glob("*.tar.gz")
    return wheel, archive


def check_files(wheel: Path, archive: Path) -> None:
    """Whether both hold what they should, and nothing else."""
    names = set(zipfile.ZipFile(wheel).namelist())
    missing = [name for name in _IN_WHEEL if name not in names]
    strangers = sorted(name for name in names if not name.startswith(("jitlint/", "jitlint-")))
    with tarfile.open(archive) as opened:
        inside = {name.partition("/")[2] for name in opened.getnames()}
    missing += [name for name in _IN_ARCHIVE if name not in inside]
    if missing or strangers:
        raise Failed(f"missing: {missing}, should not be there: {strangers}")


def check_metadata(wheel: Path, archive: Path, source: Path) -> None:
    """What an index asks for, and what makes a good package."""
    print(call([sys.executable, "-m", "twine", "check", "--strict", wheel, archive], source).strip())
    print(call([sys.executable, "-m", "check_wheel_contents", wheel], source).strip())
    rating = call([sys.executable, "-m", "pyroma", "--min", "10", source], source)
    print("pyroma:", next(line for line in rating.splitlines() if line.startswith("Final rating")))


def try_wheel(python: Path | str, folder: Path, **environment: str) -> str:
    """Run the marked tests where nothing of the source is near; their last line."""
    place = folder / f"place-{len(list(folder.glob('place-*')))}"
    place.mkdir()
    tests = ROOT / "tests"
    marked = [p for p in sorted(tests.rglob("test_*.py")) if "pytest.mark.installed" in p.read_text("utf-8")]
    packages = {tests, *(path.parent for path in marked)}
    for path in (*marked, tests / "conftest.py", *(package / "__init__.py" for package in packages)):
        copy = place / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    where = call([python, "-c", "import jitlint; print(jitlint.__file__)"], place, **environment)
    if where.startswith(str(ROOT)):
        raise Failed(f"not the wheel is tried, but {where}")
    (place / "pytest.ini").write_text("[pytest]\nmarkers = installed\npythonpath = .\n", encoding="utf-8")
    command = [python, "-m", "pytest", "-q", "-m", "installed", "--import-mode=importlib", "tests"]
    output = call(command, place, **environment)
    return output.strip().rsplit("\n", 1)[-1]


def in_fresh_environment(version: str, python: Path, wheel: Path, folder: Path) -> str:
    """Install the wheel with all it needs, as a user would, and try it there."""
    environment = folder / f"python-{version}"
    call([python, "-m", "venv", environment], folder)
    inner = environment / "bin" / "python"
    call([inner, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, "pytest"], folder)
    call([environment / "bin" / "jitlint", "--version"], folder)
    return try_wheel(inner, folder)


def run(every_python: bool, keep: Path | None) -> None:
    """All checks. Raises Failed at the first that fails."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel, archive = build(folder)
        check_files(wheel, archive)
        check_metadata(wheel, archive, folder / "source")
        installed = folder / "installed"
        call(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", installed, wheel], folder
        )
        print(f"this Python: {try_wheel(sys.executable, folder, PYTHONPATH=str(installed))}")
        for version in pythons.supported() if every_python else ():
            python = pythons.interpreter(version)
            if python is None:
                raise Failed(f"there is no Python {version} here")
            print(f"Python {version}: {in_fresh_environment(version, python, wheel, folder)}")
        if keep is not None:
            keep.mkdir(parents=True, exist_ok=True)
            for path in (wheel, archive):
                print(shutil.copy(path, keep))


def main() -> int:
    """Check, and say what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--every-python", action="store_true", help="fresh environments of all supported Pythons"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the wheel and the archive there")
    options = parser.parse_args()
    try:
        run(options.every_python, options.keep)
    except Failed as failed:
        print(f"FAILED: {failed}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
