"""Try names, modules and tests of a project under the JAX of this interpreter, and print what is missing, as JSON.

    python tools/probe_upgrade.py FOLDER < question.json

The question has ``names`` (dotted, each looked up), ``arguments`` (pairs of a dotted name and a keyword, each tried in a
call), ``options`` (of ``jax.config``), ``modules`` (files of the folder, each imported), ``tests`` (files to run with
pytest), ``placeholders`` and ``paths`` (what another process had to put in place, and to look in). The answer says which names, arguments and options are refused, and where in the folder's own code imports and
tests fell over a missing name or keyword. What an import fell over is put in its place, as something that takes
everything, and the import is tried again: so all that is missing comes to light and not only the first. A foreign library
that is not installed is put in place in the same way.

Run by ``tools/check_upgrade.py``. It runs the project's code, with the user's rights.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import io
import json
import os
import re
import signal
import sys
import traceback
import types
import warnings

SECONDS = 60
ROUNDS = 40
MISSING = [
    re.compile(r"module '(?P<owner>jax(?:\.[\w.]+)?)' has no attribute '(?P<name>\w+)'"),
    re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<owner>jax(?:\.[\w.]+)?)'"),
    re.compile(r"(?P<owner>\bjax(?:\.\w+)*)\.(?P<name>\w+) (?:was|is|has been) (?:removed|deprecated)"),
    re.compile(r"No module named '(?P<owner>jax(?:lib)?(?:\.\w+)*)\.(?P<name>\w+)'"),
]
ARRAY = re.compile(
    r"\barr\.(?P<name>\w+) has been|(?:ArrayImpl'? object|Tracer) has no attribute '?(?P<other>\w+)"
)
KEYWORD = re.compile(r"(?P<name>\w+)\(\) got an unexpected keyword argument '(?P<keyword>\w+)'")
FOREIGN_NAME = re.compile(r"cannot import name '(?P<name>\w+)' from '(?P<owner>[\w.]+)'")
FLAG_TWICE = re.compile(r"The flag '(?P<name>[\w-]+)' is defined twice")
FOREIGN = re.compile(r"No module named '(?P<name>[\w.]+)'")


class Anything(types.ModuleType):
    """Takes the place of what is missing."""

    def __init__(self, name="anything"):
        super().__init__(name)
        self.__path__ = []
        self.__file__ = None

    def __getattr__(self, name):
        return getattr(PLACEHOLDER, name)


class Placeholder:
    """A class, function, decorator and constant that does nothing.

    It is no type, so that a class can have it among its bases whatever metaclass the other ones have.
    """

    def __mro_entries__(self, bases):
        return ()

    def __instancecheck__(self, value):
        return False

    __subclasscheck__ = __instancecheck__

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and isinstance(args[0], (types.FunctionType, type)):
            return args[0]
        return self

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, item):
        return self

    def __setitem__(self, item, value):
        pass

    def __iter__(self):
        return iter(())

    def _itself(self, *others):
        return self

    __or__ = __ror__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __truediv__ = __mod__ = _itself
    __enter__ = _itself

    def __exit__(self, *error):
        pass


PLACEHOLDER = Placeholder()


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules that are put in the place of missing ones."""

    def __init__(self):
        self.given = set()

    def find_spec(self, name, path=None, target=None):
        if any(name == one or name.startswith(one + ".") for one in self.given):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Anything(spec.name)

    def exec_module(self, module):
        pass


def look_up(dotted):
    """The value of a dotted name, or what is raised. What an array has is asked of an array."""
    if dotted.startswith("jax.Array."):
        return getattr(importlib.import_module("jax.numpy").ones(3), dotted.removeprefix("jax.Array."))
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise ImportError(dotted)


def refusal(ask, *args):
    """What asking raises, "" for nothing."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ask(*args)
    except Exception as error:
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"
    return ""


def call_with(dotted, keyword):
    """Call a function with one keyword; only a refusal of that keyword is a refusal."""
    function = look_up(dotted)
    try:
        function(**{keyword: None})
    except TypeError as error:
        if "unexpected keyword" in str(error) and keyword in str(error):
            raise
        # A required argument may be asked for first: give some.
        for count in (1, 2, 3):
            try:
                function(*[lambda *a: None] * count, **{keyword: None})
            except TypeError as again:
                if "unexpected keyword" in str(again) and keyword in str(again):
                    raise
            except Exception:
                pass
    except Exception:
        pass


def set_option(option):
    import jax

    jax.config.update(option, None)


def place(error, folder):
    """The innermost line of the folder's code, and whether JAX or Python itself raised below it (and no other library)."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        i for i, frame in enumerate(frames) if os.path.realpath(frame.filename).startswith(folder + os.sep)
    ]
    if not own:
        return None
    below = [frame.filename for frame in frames[own[-1] + 1 :]]
    libraries = [f for f in below if "site-packages" in f and not re.search(r"site-packages/jax(lib)?/", f)]
    frame = frames[own[-1]]
    return {"path": os.path.realpath(frame.filename), "line": frame.lineno, "library": bool(libraries)}


def understand(error, folder):
    """What is missing, as a row; None for an error of another kind."""
    text = str(error)
    for pattern in MISSING:
        found = pattern.search(text)
        if found and isinstance(error, (AttributeError, ImportError)):
            row = place(error, folder)
            name = f"{found['owner']}.{found['name']}"
            return {"what": name, "text": text[:200], **(row or {"path": "", "line": 0, "library": True})}
    found = ARRAY.search(text)
    if found and isinstance(error, AttributeError):
        row = place(error, folder)
        name = f"jax.Array.{found['name'] or found['other']}"
        return {"what": name, "text": text[:200], **(row or {"path": "", "line": 0, "library": True})}
    found = KEYWORD.search(text)
    if found and isinstance(error, TypeError):
        row = place(error, folder)
        frames = traceback.extract_tb(error.__traceback__)
        in_jax = bool(re.search(r"site-packages/jax(lib)?/", frames[-1].filename)) or text.startswith("jit(")
        if row is not None:
            kind = f"{found['name']}({found['keyword']})"
            return {"what": kind, "text": text[:200], **row, "in_jax": in_jax}
    return None


def put_in_place(row, finder):
    """Put something in the place of a missing name of JAX, for the next round."""
    owner, _, name = row["what"].rpartition(".")
    if not owner or owner == "jax.Array":
        return False
    module = sys.modules.get(owner)
    if module is None:
        with contextlib.suppress(Exception):
            module = importlib.import_module(owner)
    if module is None:
        finder.given.add(row["what"])
        return True
    full = f"{owner}.{name}"
    if full in finder.given:
        return False
    finder.given.add(full)
    sys.modules.setdefault(full, Anything(full))
    setattr(module, name, PLACEHOLDER)
    return True


def put_back(names, finder):
    """Put something in the place of all that another process has found to be missing."""
    for full in names:
        finder.given.add(full)
        owner, _, name = full.rpartition(".")
        with contextlib.suppress(Exception):
            module = importlib.import_module(owner)
            if not hasattr(module, name):
                sys.modules.setdefault(full, Anything(full))
                setattr(module, name, PLACEHOLDER)


def names_of(path, folder):
    """The dotted module name of a file, seen from the project's folder, or from its ``src``."""
    parts = os.path.splitext(os.path.relpath(path, folder))[0].split(os.sep)
    if parts[0] == "src":
        parts = parts[1:]
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts)


def find_foreign(name, path, finder):
    """Find a module that a file imports: beside it, as scripts do, or else something in its place."""
    above, itself = os.path.dirname(path), os.path.splitext(os.path.basename(path))[0]
    beside = any(os.path.exists(os.path.join(above, name + end)) for end in (".py", ""))
    if beside and name != itself and above not in sys.path:
        sys.path.append(above)
        return True
    if name in finder.given:
        return False
    finder.given.add(name)
    return True


def forget_flag(name):
    """Scripts that are started one by one may define the same flag; here they are all in one process."""
    known = sys.modules["absl.flags"].FLAGS
    if name not in known:
        return False
    delattr(known, name)
    return True


def import_all(files, folder, finder):
    """Rows of what is missing, and what else went wrong by file."""
    rows, other = [], {}
    sys.path[:0] = [folder, os.path.join(folder, "src")]
    for path in files:
        name, above = names_of(path, folder), os.path.dirname(path)
        if not name:
            continue
        if name.partition(".")[0] in {*sys.stdlib_module_names, "test"}:  # shadowed by the standard library
            name = name.rpartition(".")[2]
            sys.path.append(above)
        for _ in range(ROUNDS):
            try:
                signal.alarm(SECONDS)
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    importlib.import_module(name)
                break
            except BaseException as error:
                signal.alarm(0)
                row = understand(error, folder)
                if row is not None:
                    rows.append(row)
                    if put_in_place(row, finder):
                        continue
                foreign = FOREIGN.search(str(error)) if isinstance(error, ImportError) else None
                if row is None and foreign and find_foreign(foreign["name"].partition(".")[0], path, finder):
                    continue
                lacking = FOREIGN_NAME.search(str(error)) if isinstance(error, ImportError) else None
                if row is None and lacking and lacking["owner"] in sys.modules:
                    owner = sys.modules[lacking["owner"]]
                    if not hasattr(owner, lacking["name"]):
                        setattr(owner, lacking["name"], PLACEHOLDER)
                        finder.given.add(f"{lacking['owner']}.{lacking['name']}")
                        continue
                twice = FLAG_TWICE.search(str(error))
                if row is None and twice and forget_flag(twice["name"]):
                    continue
                if row is None:
                    other[path] = f"{type(error).__name__}: {str(error)[:160]}"
                break
            finally:
                signal.alarm(0)
    return rows, other


class Plugin:
    """Collects what tests fell over."""

    def __init__(self, folder):
        self.folder, self.rows, self.counts, self.others = folder, [], {}, {}

    def pytest_exception_interact(self, node, call, report):
        error = call.excinfo.value
        text = f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}"
        while error is not None:
            row = understand(error, self.folder)
            if row is not None:
                self.rows.append(row)
                return
            error = error.__cause__
        self.others[text] = self.others.get(text, 0) + 1

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            self.counts[report.outcome] = self.counts.get(report.outcome, 0) + 1


def run_tests(files, folder):
    import pytest

    with contextlib.suppress(ImportError):  # their own way to run tests would do so
        importlib.import_module("absl.flags").FLAGS.mark_as_parsed()
    plugin = Plugin(folder)
    with contextlib.redirect_stdout(io.StringIO()):
        options = [
            "-q",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
            "--tb=no",
            f"--rootdir={folder}",
        ]
        pytest.main([*options, "--import-mode=importlib", *files], plugins=[plugin])
    return plugin.rows, plugin.counts, plugin.others


def run_apart(files, folder):
    """Each file in a process of its own: what one of them sets for all of JAX is not what the next one begins with."""
    rows, counts, others = [], {}, {}
    for path in files:
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            os.close(reading)
            with os.fdopen(writing, "w", encoding="utf-8") as stream:
                json.dump(run_tests([path], folder), stream)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stream:
            text = stream.read()
        os.waitpid(child, 0)
        found = json.loads(text) if text else [[], {}, {f"{os.path.basename(path)} ended at once": 1}]
        rows += found[0]
        for total, more in ((counts, found[1]), (others, found[2])):
            for key, number in more.items():
                total[key] = total.get(key, 0) + number
    return rows, counts, others


def main():
    folder = os.path.realpath(sys.argv[1])
    question = json.load(sys.stdin)
    sys.dont_write_bytecode = True
    os.chdir(folder)
    output, sys.stdout = sys.stdout, io.StringIO()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, late)
    import jax

    answer = {
        "version": jax.__version__,
        "names": {name: refusal(look_up, name) for name in question["names"]},
        "arguments": [[f, k, refusal(call_with, f, k)] for f, k in question["arguments"]],
        "options": {name: refusal(set_option, name) for name in question["options"]},
    }
    finder = Finder()
    sys.meta_path.append(finder)
    put_back(question["placeholders"], finder)
    sys.path += question["paths"]
    found = len(sys.path)
    answer["imports"], answer["other"] = import_all(question["modules"], folder, finder)
    answer["placeholders"] = sorted(finder.given)
    answer["paths"] = sys.path[found + 2 :]  # two are the folder and its src
    if question["tests"]:
        answer["in_tests"], answer["tests"], answer["test_errors"] = run_apart(question["tests"], folder)
    print(json.dumps(answer), file=output)
    output.flush()
    os._exit(0)


def late(number, frame):
    raise TimeoutError("an import took too long")


if __name__ == "__main__":
    main()
