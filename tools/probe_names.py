"""Print what the installed JAX has: public names and the parameters of what can be called, as JSON.

    JAX_PLATFORMS=cpu python tools/probe_names.py < names.json

Standard input holds a list of names to ask for besides those that are found by looking; ``[]`` for none. Run by
``tools/probe_history.py`` under many versions of JAX: nothing but the standard library and JAX is imported, and nothing
is called but ``getattr`` and ``inspect.signature``. A name is public if no part of it begins with an underscore; what a
module has only imported from elsewhere (``functools.partial``) is left out.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import inspect
import io
import json
import os
import pkgutil
import sys
import types
import warnings

# Modules that need what is not installed, or that do something when imported.
APART = (
    "jax.tools",
    "jax.experimental.jax2tf",
    "jax.experimental.mosaic",
    "jax.collect_profile",
    "jax.extend.mlir",
)
# What arrays have is asked of an array: the class that it is an instance of is not public.
ARRAY = "jax.Array."
FOREIGN = frozenset(
    "abc collections collections.abc contextlib copy dataclasses enum functools itertools operator threading types "
    "typing warnings weakref".split()
)


def is_public(dotted):
    return not any(part.startswith("_") for part in dotted.split("."))


def modules():
    """Public modules by name; None for one that cannot be imported here."""
    import jax

    found = {"jax": jax}
    for info in pkgutil.walk_packages(jax.__path__, "jax.", onerror=lambda name: None):
        name = info.name
        if not is_public(name) or name.startswith(APART):
            continue
        try:
            found[name] = importlib.import_module(name)
        except BaseException:
            found[name] = None
    return found


def is_own(value):
    """Whether what a module holds is JAX's own and not only imported."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in ("jax", "jaxlib")
    module = getattr(value, "__module__", None)
    return not (isinstance(module, str) and (module in FOREIGN or module == "__future__"))


def read(owner, name):
    """The attribute, whether it is there, and what a warning says about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = getattr(owner, name)
        except Exception as error:
            return None, False, str(error)
    said = [
        str(one.message) for one in caught if issubclass(one.category, (DeprecationWarning, FutureWarning))
    ]
    return value, True, said[0] if said else ""


def names_of(owner):
    """Public names below a module or class, deprecated ones included."""
    if isinstance(owner, type):
        plain = {name for base in owner.__mro__ if not of_jax(base) for name in dir(base)}
        return [name for name in dir(owner) if not name.startswith("_") and name not in plain]
    hidden = getattr(owner, "_deprecations", None)
    names = {*dir(owner), *(hidden if isinstance(hidden, dict) else ())}
    return [name for name in names if isinstance(name, str) and not name.startswith("_")]


def of_jax(value):
    module = getattr(value, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in ("jax", "jaxlib")


def has_own_members(cls):
    """Whether a class is looked into: what arrays have is asked of an array."""
    import jax

    return of_jax(cls) and not issubclass(cls, (BaseException, jax.Array, jax.core.Tracer))


def find(dotted, known):
    """What a name means: value, whether it is there, what is said about it; None if nobody can know here."""
    parts = dotted.split(".")
    for length in range(len(parts) - 1, 0, -1):
        head = ".".join(parts[:length])
        if head not in known:
            continue
        owner = known[head]
        if owner is None:
            return None
        said = ""
        for part in parts[length:]:
            owner, there, text = read(owner, part)
            said = said or text
            if not there:
                return None, False, said
        return owner, True, said
    return None, False, ""


def parameters(value):
    """Kind and name of each parameter; None if it does not say."""
    if isinstance(value, enum.EnumMeta):
        return None
    try:  # since Python 3.12 the signature of a member is that of its class
        signature = inspect.signature(value.__call__ if isinstance(value, enum.Enum) else value)
    except Exception:
        return None
    return [[int(parameter.kind), parameter.name] for parameter in signature.parameters.values()]


def entry_of(value, said):
    entry = {}
    if callable(value):
        taken = parameters(value)
        if taken is not None:
            entry["takes"] = taken
    if said:
        entry["said"] = said
    return entry


def main():
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    warnings.simplefilter("ignore")
    asked = json.load(sys.stdin)
    import jax

    options = sorted(name for name in getattr(jax.config, "values", ()) if name.startswith("jax_"))
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        known = modules()
        found, unknown = {}, [name for name, module in known.items() if module is None]
        for name, module in known.items():
            if module is None:
                continue
            found[name] = {}
            for short in names_of(module):
                dotted = name + "." + short
                value, there, said = read(module, short)
                if (
                    not there
                    or not is_own(value)
                    or (isinstance(value, types.ModuleType) and dotted in known)
                ):
                    continue
                found[dotted] = {} if isinstance(value, types.ModuleType) else entry_of(value, said)
                if isinstance(value, type) and has_own_members(value):
                    for below in names_of(value):
                        _, there, text = read(value, below)
                        if there:
                            found[dotted + "." + below] = entry_of(None, said or text)
        gone = {}
        for dotted in asked:
            if dotted in found or dotted in known or dotted.startswith(ARRAY):
                continue
            answer = find(dotted, known)
            if answer is None:
                unknown.append(dotted)
            elif answer[1]:
                found[dotted] = entry_of(answer[0], answer[2])
            elif answer[2]:
                gone[dotted] = answer[2]
        array = jax.numpy.ones(2)
        for short in names_of(type(array)):
            value, there, said = read(array, short)
            if there:
                found[ARRAY + short] = entry_of(value, said)
    answer = {
        "version": jax.__version__,
        "python": sys.version.split()[0],
        "names": found,
        "gone": gone,
        "unknown": sorted(unknown),
        "options": options,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
