"""Where a project begins, what its modules are called, and what an import reaches."""

from __future__ import annotations

import os
from pathlib import Path

from jitlint.driver.project import Layout, is_test, module_names, project_root
from jitlint.driver.scan import mention_pattern, scan
from tests.conftest import Write

PATTERN = mention_pattern(["jax"])


def _names(root: Path) -> dict[str, str]:
    files = sorted(str(path) for path in root.rglob("*.py"))
    imports = {path: scan(Path(path).read_bytes(), PATTERN).imports for path in files}
    named = module_names(Layout(str(root)), imports)
    return {Path(path).relative_to(root).as_posix(): name for path, name in named.items()}


def _resolve(root: Path, path: str, imported: str) -> list[str]:
    found = Layout(str(root)).resolve(str(root / path), imported)
    return [Path(each).relative_to(root).as_posix() for each in found]


def test_root_is_the_nearest_marked_directory_above_all_paths(project: Write) -> None:
    root = project({"pkg/sub/a.py": "", "pkg/b.py": ""})
    assert project_root([str(root / "pkg/sub/a.py"), str(root / "pkg/b.py")]) == str(root)
    assert project_root([str(root)]) == str(root)


def test_packages_scripts_and_source_folders_have_their_import_names(project: Write) -> None:
    root = project(
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "",
            "pkg/sub/__init__.py": "",
            "pkg/sub/b.py": "",
            "script.py": "",
            "tools/run-me.py": "",
            "src/lib/__init__.py": "",
            "src/lib/c.py": "",
            "src/space/deep/d.py": "",
        }
    )
    assert _names(root) == {
        "pkg/__init__.py": "pkg",
        "pkg/a.py": "pkg.a",
        "pkg/sub/__init__.py": "pkg.sub",
        "pkg/sub/b.py": "pkg.sub.b",
        "script.py": "script",
        "tools/run-me.py": "tools.run-me",
        "src/lib/__init__.py": "lib",
        "src/lib/c.py": "lib.c",
        "src/space/deep/d.py": "space.deep.d",
    }


def test_the_projects_imports_decide_where_names_start(project: Write) -> None:
    root = project(
        {
            "python/inner/__init__.py": "",
            "python/inner/a.py": "from inner import b",
            "cloud/part/__init__.py": "",
            "cloud/part/b.py": "import cloud.part",
        }
    )
    names = _names(root)
    assert names["python/inner/a.py"] == "inner.a"
    assert names["cloud/part/b.py"] == "cloud.part.b"


def test_a_folder_without_init_beside_a_script(project: Write) -> None:
    root = project(
        {
            "demo/main.py": "from space.tools import f",
            "demo/space/tools.py": "",
            "demo/space/inner/worker.py": "from space.tools import f",
            "demo/types.py": "",
            "demo/run.py": "import types",
        }
    )
    names = _names(root)
    assert names["demo/space/tools.py"] == "space.tools"
    assert names["demo/space/inner/worker.py"] == "space.inner.worker"
    # A single module keeps its long name: a short one could hide a module of the standard library.
    assert names["demo/types.py"] == "demo.types"


def test_names_are_unique(project: Write) -> None:
    root = project(
        {
            "one/pkg/__init__.py": "",
            "one/main.py": "import pkg",
            "two/pkg/__init__.py": "",
            "two/main.py": "import pkg",
            "a.py": "",
            "a/__init__.py": "",
        }
    )
    names = _names(root)
    assert names["one/pkg/__init__.py"] == "one.pkg"
    assert names["two/pkg/__init__.py"] == "two.pkg"
    assert names["a/__init__.py"] == "a"
    assert len(set(names.values())) == len(names)


def test_a_subproject_starts_its_own_names(project: Write) -> None:
    root = project({"libs/x/setup.py": "", "libs/x/pkg/__init__.py": "", "libs/x/pkg/a.py": ""})
    assert _names(root)["libs/x/pkg/a.py"] == "pkg.a"


def test_a_project_that_is_itself_a_package(project: Write) -> None:
    root = project({"__init__.py": "", "a.py": ""})
    layout = Layout(str(root))
    named = module_names(layout, {str(root / "a.py"): (), str(root / "__init__.py"): ()})
    assert named == {str(root / "__init__.py"): root.name, str(root / "a.py"): f"{root.name}.a"}
    assert layout.resolve(str(root / "a.py"), f"{root.name}.a")[-1] == str(root / "a.py")


def test_neighbours_of_a_package_project_do_not_belong_to_it(project: Write) -> None:
    root = project({"mine/__init__.py": "", "mine/a.py": "", "other/__init__.py": ""})
    layout = Layout(str(root / "mine"))
    assert layout.resolve(str(root / "mine/a.py"), "other") == []


def test_absolute_imports(project: Write) -> None:
    root = project(
        {
            "src/lib/__init__.py": "",
            "src/lib/c.py": "",
            "tests/test_c.py": "",
            "pkg/__init__.py": "",
            "pkg/types.py": "",
            "pkg/a.py": "",
            "scripts/run.py": "",
            "scripts/helper.py": "",
        }
    )
    assert _resolve(root, "tests/test_c.py", "lib.c.f") == ["src/lib/__init__.py", "src/lib/c.py"]
    assert _resolve(root, "scripts/run.py", "helper") == ["scripts/helper.py"]
    assert _resolve(root, "pkg/a.py", "types") == []
    assert _resolve(root, "pkg/a.py", "jax.numpy") == []


def test_scripts_of_a_folder_with_an_init_file_import_their_neighbours(project: Write) -> None:
    root = project({"run/__init__.py": "", "run/main.py": "", "run/model.py": "", "model.py": ""})
    assert _resolve(root / "run", "main.py", "model") == ["__init__.py", "model.py"]
    # Seen from above, it is a package like any other.
    assert _resolve(root, "run/main.py", "model") == ["model.py"]


def test_relative_imports(project: Write) -> None:
    root = project({"pkg/__init__.py": "", "pkg/a.py": "", "pkg/sub/__init__.py": "", "pkg/sub/b.py": ""})
    assert _resolve(root, "pkg/sub/b.py", "..a.f") == ["pkg/__init__.py", "pkg/a.py"]
    assert _resolve(root, "pkg/sub/__init__.py", ".b") == ["pkg/sub/__init__.py", "pkg/sub/b.py"]
    assert _resolve(root, "pkg/a.py", "....x") == []


def test_tests_and_examples_are_known_by_name_and_place() -> None:
    assert is_test("/p/tests/unit/x.py", "/p")
    assert is_test("/p/pkg/x_test.py", "/p")
    assert is_test("/p/examples/mnist/train.py", "/p")
    assert not is_test("/p/pkg/x.py", "/p")
    assert not is_test("/p/tests/pkg/x.py", "/p/tests")


def test_files_that_share_nothing_but_the_root_of_the_file_system(project: Write) -> None:
    root = project({"a/x.py": "import jax\nimport nowhere_to_be_found\n"})
    layout = Layout(os.path.abspath(os.sep))
    assert layout.resolve(str(root / "a" / "x.py"), "nowhere_to_be_found") == []


def test_what_is_not_saved_yet_can_be_imported(project: Write) -> None:
    root = str(project({"a.py": "", "pkg/__init__.py": ""}))
    unsaved = [
        os.path.join(root, *name.split("/")) for name in ("new.py", "pkg/more.py", "other/deep/far.py")
    ]
    layout = Layout(root, unsaved)
    here = os.path.join(root, "a.py")
    assert layout.resolve(here, "new") == unsaved[:1]
    assert layout.resolve(here, "pkg.more")[-1:] == unsaved[1:2]
    assert layout.resolve(here, "other.deep.far") == unsaved[2:]
    assert Layout(root).resolve(here, "new") == []
