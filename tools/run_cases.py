"""Run programs under the JAX of this interpreter and print what each did, as JSON, a line each.

    python tools/run_cases.py < programs.json

Standard input is a list of programs, each a list of files, of which the first is run as ``__main__``, in a process of its
own that is forked after JAX was imported. The first line printed is the version of JAX. Run by ``tools/check_cases.py``
under many versions: nothing but the standard library, JAX and what the programs import is needed.
"""

import contextlib
import importlib
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

SECONDS = 120
# Imported once, before the forks.
COMMON = ("jax", "jax.numpy", "flax.linen", "flax.nnx", "equinox", "optax")
NEEDS = re.compile(r"^# (?:needs|requires): (.+)$", re.MULTILINE)


def missing(main):
    with open(main, encoding="utf-8") as stream:
        found = NEEDS.search(stream.read())
    wanted = found.group(1).replace(",", " ").split() if found else []
    return ", ".join(f"needs {name}" for name in wanted if importlib.util.find_spec(name) is None)


# What a tracer of jit is called in the version of JAX that the programs were written for; their assertions say it.
TRACER = "JitTracer"


def tracer_name():
    """What it is called here, as texts made of it begin; asked after the fork, which JAX's threads do not survive."""
    jax, texts = sys.modules["jax"], []
    jax.jit(lambda x: texts.append(str(x)))(1.0)
    return re.match(r"\w+", texts[0]).group()


def run(path, name):
    """Run a file as ``__main__``, with the name that tracers have here in its texts."""
    with open(path, encoding="utf-8") as stream:
        source = stream.read()
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = path
    exec(compile(source.replace(TRACER, name), path, "exec"), main.__dict__)


def perform(files):
    """What the program did, in the process of its own."""
    signal.alarm(SECONDS)
    sys.argv = [files[0]]
    sys.path.insert(0, os.path.dirname(files[0]))
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            run(files[0], tracer_name())
    except SystemExit as error:
        return {"raised": "SystemExit" if error.code else "", "message": str(error.code), "lines": []}
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [[frame.filename, frame.lineno] for frame in frames if frame.filename in files]
        message = (str(error).splitlines() or [""])[0][:160]
        return {"raised": type(error).__name__, "message": message, "lines": lines}
    return {"raised": "", "message": "", "lines": []}


def main():
    sys.dont_write_bytecode = True
    warnings.simplefilter("ignore")
    for name in COMMON:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    print(json.dumps(sys.modules["jax"].__version__), flush=True)
    for files in json.load(sys.stdin):
        lacking = missing(files[0])
        result = {"raised": "", "message": "", "lines": []}
        if not lacking:
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                with os.fdopen(writer, "w", encoding="utf-8") as stream:
                    json.dump(perform(files), stream)
                os._exit(0)
            os.close(writer)
            with os.fdopen(reader, encoding="utf-8") as stream:
                text = stream.read()
            os.waitpid(child, 0)
            result = json.loads(text) if text else {"raised": "killed", "message": "", "lines": []}
        print(json.dumps({"missing": lacking, **result}), flush=True)


if __name__ == "__main__":
    main()
