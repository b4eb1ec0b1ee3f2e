"""The shape of the project: small modules that say what they are, contracts in place, nothing orphaned."""

from __future__ import annotations

import ast
import configparser
import re
from pathlib import Path

import pytest

from jitlint.driver.registry import rules

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted((ROOT / "jitlint").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
LAYERS = {path.parent.name for path in (ROOT / "jitlint").glob("*/__init__.py")}


def _id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _contract(name: str) -> configparser.SectionProxy:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    return parser[f"importlinter:contract:{name}"]


@pytest.mark.parametrize("path", [*MODULES, *TESTS], ids=_id)
def test_no_module_is_longer_than_500_lines(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 500


# A function that decides more than this decides several things. Some may come near it.
_MOST_BRANCHES, _MANY_BRANCHES, _MOST_WITH_MANY = 20, 15, 30


def _branches(function: ast.AST) -> int:
    """The ways through a function: one, and one more for each branch, boolean operator and comprehension."""
    found = 1
    for node in ast.walk(function):
        if isinstance(node, (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.Assert)):
            found += 1
        elif isinstance(node, ast.BoolOp):
            found += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            found += 1 + len(node.ifs)
    return found


def test_functions_decide_few_things() -> None:
    counted = [
        (_branches(node), f"{_id(path)}:{node.name}")
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert [name for count, name in sorted(counted) if count > _MOST_BRANCHES] == []
    many = [name for count, name in sorted(counted) if count > _MANY_BRANCHES]
    assert len(many) <= _MOST_WITH_MANY, many


# What the type checker is told not to look at. Imports are not counted, every other mention is.
_MOST_ANY = 110


def test_the_link_is_typed() -> None:
    mentions = [
        f"{_id(path)}:{node.lineno}"
        for path in MODULES
        if "link" in path.relative_to(ROOT).parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name) and node.id == "Any"
    ]
    assert len(mentions) <= _MOST_ANY, mentions


def _imported(tree: ast.Module, known: set[str]) -> set[str]:
    """The project's modules that a module imports when it is imported itself; names it imports may be modules."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            parts = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= parts & known or {node.module}
    return found & known


def test_no_import_circle_has_more_than_three_modules() -> None:
    trees = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            path.read_text(encoding="utf-8")
        )
        for path in MODULES
    }
    imports = {name: _imported(tree, set(trees)) for name, tree in trees.items()}
    reached: dict[str, set[str]] = {}
    for name in imports:
        waiting, seen = [name], set[str]()
        while waiting:
            fresh = imports[waiting.pop()] - seen
            seen |= fresh
            waiting += fresh
        reached[name] = seen
    circles = {
        name: sorted(other for other in seen if name in reached[other])
        for name, seen in reached.items()
        if name in seen
    }
    assert {name: circle for name, circle in circles.items() if len(circle) > 3} == {}


@pytest.mark.parametrize("path", MODULES, ids=_id)
def test_every_module_says_what_it_is_and_its_layer(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert docstring
    if path.name != "__init__.py" and path.parent.name in LAYERS:
        assert re.search(rf"[Ll]ayer: ``{path.parent.name}``", docstring)


def test_every_layer_is_in_the_contract() -> None:
    contract = _contract("layers")
    named = set(re.findall(r"\w+", contract["layers"]))
    assert named == LAYERS | {"__main__"}
    assert contract["exhaustive"] == "True"


def test_libcst_is_closed_off_from_every_layer_but_syntax() -> None:
    sources = set(re.findall(r"jitlint\.(\w+)", _contract("libcst")["source_modules"]))
    assert sources == LAYERS - {"syntax"}


def test_every_rule_folder_belongs_to_a_rule() -> None:
    known = {f"{rule.code}_{rule.name.replace('-', '_')}" for rule in rules().values()}
    folders = {path.name for path in (ROOT / "fixtures").glob("JIT*") if path.is_dir()}
    assert folders - known == set()


def test_every_proven_rule_has_a_folder() -> None:
    missing = [
        rule.code
        for rule in rules().values()
        if not rule.code.startswith("JIT0")
        and not (ROOT / "fixtures" / f"{rule.code}_{rule.name.replace('-', '_')}").is_dir()
    ]
    assert missing == []


def test_every_rule_file_is_named_after_its_rule() -> None:
    for rule in rules().values():
        name = f"{rule.code.lower()}_{rule.name.replace('-', '_')}.py"
        assert (ROOT / "jitlint" / "rules" / f"jit{rule.code[3]}xx" / name).is_file()


def test_the_text_speaks_of_the_project_only() -> None:
    # Absolute paths of somebody's machine have no place in what we ship.
    pattern = re.compile(r"(?<![\w.])/(?:home|root|work|Users)/")
    files = [*MODULES, *ROOT.glob("*.md"), *ROOT.glob("*.cfg"), *ROOT.glob("*.toml"), ROOT / ".ci" / "run"]
    assert [_id(path) for path in files if pattern.search(path.read_text(encoding="utf-8"))] == []


def test_every_data_file_is_packaged() -> None:
    parser = configparser.ConfigParser()
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    packaged: set[Path] = set()
    for package, patterns in parser["options.package_data"].items():
        folder = ROOT.joinpath(*package.split("."))
        packaged.update(path for pattern in patterns.split(",") for path in folder.glob(pattern.strip()))
    data = {
        path
        for path in (ROOT / "jitlint").rglob("*")
        if path.is_file() and path.suffix not in (".py", ".pyc")
    }
    assert data - packaged == set()


@pytest.mark.parametrize("folder", sorted(p for p in (ROOT / "jitlint").rglob("*") if p.is_dir()), ids=_id)
def test_no_folder_holds_more_than_5000_lines(folder: Path) -> None:
    assert sum(len(p.read_text(encoding="utf-8").splitlines()) for p in folder.glob("*.py")) <= 5000


def test_every_room_says_what_it_is_for() -> None:
    rooms = {path.parent for path in (ROOT / "jitlint" / "link").rglob("*.py")} - {ROOT / "jitlint" / "link"}
    assert {
        room.name
        for room in rooms
        if not ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8")))
    } == set()
    parents = {room for room in (ROOT / "jitlint" / "link").iterdir() if (room / "__init__.py").is_file()}
    assert {room.name for room in parents} == set(re.findall(r"\w+", _contract("rooms")["layers"])) - {
        "program"
    }


# What may open files for writing, beside the module that is made for it.
_WRITERS = {
    "driver/writing.py": "for everybody",
    "record/hook.py": "in the user's process, without the rest of jitlint, into a folder made for the run",
    "confirm/sandbox.py": "the kernel's own tables of users",
    "confirm/inputs/guesses.py": "made-up files for the code that is run, in the worker's own folder",
    "frontends/cli.py": "takes the place of a stream that was closed",
}
_WRITING = {
    "write_text",
    "write_bytes",
    "replace",
    "rename",
    "mkstemp",
    "NamedTemporaryFile",
    "copyfile",
    "move",
}


def _writes(call: ast.Call) -> bool:
    """Whether a call opens a file for writing or gives one another's name."""
    name = ast.unparse(call.func)
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    if name == "os.open":
        return any(flag in ast.unparse(call) for flag in ("O_CREAT", "O_TRUNC"))
    if name.split(".")[-1] == "open":
        return any(not isinstance(m, ast.Constant) or set(str(m.value)) & set("wax+") for m in modes)
    owner, _, last = name.rpartition(".")
    return last in _WRITING and (owner in ("os", "shutil", "tempfile") or last.startswith("write_"))


@pytest.mark.parametrize("path", MODULES, ids=_id)
def test_only_one_module_writes_files(path: Path) -> None:
    """Whoever writes with `open` turns a device into a file, or leaves half of one."""
    calls = [
        node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    ]
    name = path.relative_to(ROOT / "jitlint").as_posix()
    assert any(map(_writes, calls)) == (name in _WRITERS)


LIBRARY_NAME = re.compile(
    r"(jax|jaxlib|numpy|flax|equinox|optax|haiku|chex|builtins|typing|collections|math|time)\."
)


@pytest.mark.parametrize(
    "path", [p for p in MODULES if {"link", "infer"} & set(p.relative_to(ROOT).parts)], ids=_id
)
def test_sets_of_library_names_are_in_the_catalogue(path: Path) -> None:
    """A table from names to models is code; a set of names is knowledge, and belongs to `lexicon.toml`."""
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Call):
            value = value.args[0] if value.args else None
        if isinstance(value, (ast.Set, ast.Tuple, ast.List)):
            words = [e.value for e in value.elts if isinstance(e, ast.Constant) and isinstance(e.value, str)]
            found += [f"line {node.lineno}: {word}" for word in words if LIBRARY_NAME.match(word)]
    assert found == []
