"""Check ``jitlint/catalogue/data/*.toml`` and pack it into ``jitlint/catalogue/catalogue.msgpack``.

    python tools/compile_catalogue.py            # write the compiled file
    python tools/compile_catalogue.py --check    # exit 1 when it is out of step with the data

Every line is parsed here, so a bad entry stops the build with its name, not a user's run.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import msgspec

from jitlint.catalogue import transforms
from jitlint.catalogue.dtypes import parse_exact
from jitlint.catalogue.history import History
from jitlint.catalogue.lexicon import Lexicon
from jitlint.catalogue.load import COMPILED, Catalogue, Packed, Results
from jitlint.catalogue.ranks import names_of, parse_dtypes, parse_rank
from jitlint.catalogue.schema import EXCEPTION_LETTERS, CatalogueError
from jitlint.catalogue.transforms import Transforms

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DATA = COMPILED.parent / "data"
# What other versions of JAX do with parameters: measured, and checked, by the tests.
DIFFERENCES = Path(__file__).parents[1] / "tests" / "catalogue" / "differences"
# Files of another form, read by jitlint/catalogue/transforms.py.
ENTRIES = ("transforms", "frameworks")
FILES = (
    "aliases",
    "array",
    "array_methods",
    "behaviours",
    "conditions",
    "constants",
    "effects",
    "jax_lax",
    "jax_misc",
    "jax_nn",
    "jax_numpy",
    "jax_random",
    "jax_scipy",
    "jax_small",
    "numpy",
    "optax",
    "scipy",
    "removed",
    "results",
    "parts",
    "sizes",
)
# Tables that are packed apart, and read when somebody asks.
RESULTS = ("ranks", "parts", "dtypes", "exact", "sizes")
# Tables by module: [functions."jax.numpy"] sum = ... becomes "jax.numpy.sum".
BY_MODULE = ("functions", "constants", "numpy", "removed", *RESULTS)
# Tables whose keys are complete names already.
FLAT = ("conditions", "ufunc_methods", "methods", "attributes", "updates", "aliases", "instead", "behaviours")
LISTS = ("ufuncs", "transforms", "libraries", "common_methods")
# Tables of lists by kind: [effects.log] logging = "info ..." makes "logging.info" a "log".
KINDS = ("effects",)
ATTRIBUTE_KINDS = ("static", "array", "updater", "concrete-only", "missing", "foreign")


def read(folder: Path) -> Packed:
    """All data files as one. Raises CatalogueError with file and entry for anything malformed."""
    merged: dict[str, dict[str, Any]] = {name: {} for name in (*BY_MODULE, *FLAT, *LISTS, *KINDS)}
    for path in (folder / f"{name}.toml" for name in FILES):
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise CatalogueError(f"{path.name}: {error}") from None
        for table, entries in content.items():
            if table in BY_MODULE:
                items = {
                    f"{module}.{key}": value
                    for module, names in entries.items()
                    for key, value in names.items()
                }
            elif table in FLAT:
                items = entries
            elif table in LISTS:
                items = {
                    f"{module}.{name}" if module else name: ""
                    for module, text in entries.items()
                    for name in text.split()
                }
            elif table in KINDS:
                items = {
                    f"{owner}.{name}": kind
                    for kind, owners in entries.items()
                    for owner, text in owners.items()
                    for name in text.split()
                }
            else:
                raise CatalogueError(f"{path.name}: unknown table [{table}]")
            twice = merged[table].keys() & items.keys()
            if twice:
                raise CatalogueError(f"{path.name}: `{min(twice)}` is listed twice in [{table}]")
            merged[table].update(items)
    conditions = {
        key: value if isinstance(value, list) else [value] for key, value in merged.pop("conditions").items()
    }
    entries = msgspec.Raw(msgspec.msgpack.encode(read_entries(folder), order="deterministic"))
    named = msgspec.Raw(msgspec.msgpack.encode(read_lexicon(folder), order="deterministic"))
    past = msgspec.Raw(msgspec.msgpack.encode(read_history(folder), order="deterministic"))
    sets = {key: sorted(merged.pop(key)) for key in ("transforms", "libraries", "common_methods")}
    try:
        tables = msgspec.convert({name: merged.pop(name) for name in RESULTS}, Results)
        lines = msgspec.Raw(msgspec.msgpack.encode(tables, order="deterministic"))
        other = msgspec.Raw(msgspec.msgpack.encode(read_differences(), order="deterministic"))
        raw = {"differences": other, "results": lines, "lexicon": named, "history": past, "entries": entries}
        whole = {**merged, **sets, "conditions": conditions, **raw}
        return msgspec.convert(whole, Packed)
    except msgspec.ValidationError as error:
        raise CatalogueError(str(error)) from None


def read_entries(folder: Path) -> Transforms:
    """The transforms, higher-order functions and framework classes. Raises CatalogueError."""
    out = Transforms()
    for path in (folder / f"{name}.toml" for name in ENTRIES):
        try:
            transforms.read(tomllib.loads(path.read_text(encoding="utf-8")), out, path.name)
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise CatalogueError(f"{path.name}: {error}") from None
    return out


def read_history(folder: Path) -> History:
    """The measured releases. Raises CatalogueError."""
    path = folder / "history.toml"
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        for table in ("names", "arguments"):
            modules = tables.get(table, {})
            tables[table] = {
                f"{m}.{name}": text for m, names in modules.items() for name, text in names.items()
            }
        tables["listed"] = read_listed(folder)
        found = msgspec.convert(tables, History)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path.name}: {error}") from None
    for name, text in {**found.names, **found.arguments, **found.options}.items():
        signs, releases = [word[:1] for word in text.split()], [word[1:] for word in text.split()]
        alternate = all(a != b for a, b in itertools.pairwise(signs)) and set(signs) <= {"+", "-"}
        if not releases or not alternate or not set(releases) <= set(found.releases):
            raise CatalogueError(f"{path.name}: {name}: cannot read {text!r}")
    return found


def read_listed(folder: Path) -> dict[str, list[str]]:
    """All names that modules have, as far as that was asked. Raises CatalogueError."""
    path = folder / "names.toml"
    try:
        modules = tomllib.loads(path.read_text(encoding="utf-8")).get("names", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CatalogueError(f"{path.name}: {error}") from None
    return {module: str(text).split() for module, text in modules.items()}


def read_differences(folder: Path = DIFFERENCES) -> dict[str, dict[str, str]]:
    """By minor version, what a tracer in a parameter raises there: a letter, "" for nothing. Other exceptions than those of
    tracers say that the function or the parameter is not there, which is for the history to say."""
    letters = {name: letter for letter, name in EXCEPTION_LETTERS.items() if name.startswith("jax.errors.")}
    found: dict[str, dict[str, str]] = {}
    for path in sorted(folder.glob("*.toml")):
        observed = tomllib.loads(path.read_text(encoding="utf-8")).get("parameters", {})
        words = {key: text.removeprefix("raises ") for key, text in observed.items()}
        known = {**letters, "nothing": ""}
        found[path.stem] = {key: known[word] for key, word in words.items() if word in known}
    return found


def read_lexicon(folder: Path) -> Lexicon:
    """The sets of names. Raises CatalogueError for a set that is missing, unknown or written wrongly."""
    path = folder / "lexicon.toml"
    try:
        topics = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(_fields(topics, Lexicon, ""), Lexicon)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise CatalogueError(f"{path.name}: {error}") from None


def _fields(table: dict[str, Any], struct: type[Any], place: str) -> dict[str, Any]:
    known = {info.name: info.type for info in msgspec.structs.fields(struct)}
    if set(table) != set(known):
        odd = min(set(table) - set(known) or set(known) - set(table))
        raise CatalogueError(f"lexicon.toml: `{place}{odd}` is {'unknown' if odd in table else 'missing'}")
    return {name: _names(value, known[name], f"{place}{name}.") for name, value in table.items()}


def _names(value: Any, kind: Any, place: str) -> Any:
    """One value of the file in the form that its type asks for."""
    is_table = isinstance(value, dict)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return _fields(value if is_table else {}, kind, place)
    if not all(isinstance(text, str) for text in (value.values() if is_table else [value])):
        raise CatalogueError(f"lexicon.toml: `{place[:-1]}` holds something else than text")
    if kind == dict[str, str]:
        pairs = [(name, word) for word, text in value.items() for name in text.split()]
    elif kind == dict[str, tuple[str, ...]]:
        return {name: text.split() for name, text in value.items()}
    elif is_table:
        pairs = [(f"{owner}.{name}", "") for owner, text in value.items() for name in text.split()]
    else:
        pairs = [(name, "") for name in value.split()]
    if len(dict(pairs)) != len(pairs):
        raise CatalogueError(f"lexicon.toml: a name is twice in `{place[:-1]}`")
    return dict(pairs) if kind == dict[str, str] else [name for name, _ in pairs]


def validate(packed: Packed) -> None:
    """Parse every line. Raises CatalogueError at the first bad entry."""
    data = Catalogue(packed)
    for source, target in packed.aliases.items():
        parts = target.split(".")
        if any(".".join(parts[:n]) in packed.aliases for n in range(1, len(parts) + 1)):
            raise CatalogueError(f"{source}: its target {target} is an alias itself")
    for name in packed.functions:
        if data.canonical(name) != name:
            raise CatalogueError(f"{name}: is an alias of {data.canonical(name)}, list it there")
        if name in packed.transforms:
            raise CatalogueError(f"{name}: is a transform, not a function")
        data.function(name)
    for name in packed.ufuncs:
        if name not in packed.functions:
            raise CatalogueError(f"{name}: a ufunc without a function line")
    for owner, method in zip(packed.ufuncs, packed.ufunc_methods):
        data.function(f"{owner}.{method}")
    for name in packed.methods:
        data.array_method(name)
    for name in packed.updates:
        data.update_method(name)
    for name in packed.numpy:
        data.numpy(name)
    told = msgspec.msgpack.decode(packed.results, type=Results)
    validate_results(told, data)
    validate_parts(told, data)
    for name, text in packed.attributes.items():
        kind, _, letter = text.partition(" ")
        if kind not in ATTRIBUTE_KINDS or (letter and letter not in EXCEPTION_LETTERS):
            raise CatalogueError(f"array attribute {name}: cannot read {text!r}")
    for name in packed.conditions:
        if name not in packed.functions and name.removeprefix("array.") not in packed.methods:
            raise CatalogueError(f"{name}: a condition on an unknown function")


def validate_results(results: Results, data: Catalogue) -> None:
    """Parse what is said about results; it may speak of parameters that the function has."""
    for name in (*results.ranks, *results.dtypes, *results.exact):
        twin = name if data.numpy(name) is None else f"jax.{name}"
        method = name.removeprefix("array.")
        fn = data.array_method(method) if name.startswith("array.") else data.function(twin)
        if fn is None:
            raise CatalogueError(f"{name}: a result of an unknown function")
        if name in results.dtypes:
            parse_dtypes(name, results.dtypes[name])
        known = {"self", *(parameter.name for parameter in fn.parameters)}
        spoken = set(names_of(parse_rank(name, results.ranks[name]))) if name in results.ranks else set()
        if name in results.exact:
            exact = parse_exact(name, results.exact[name])
            spoken |= {*exact.names, *exact.beside, *exact.unless}
        if spoken - known:
            raise CatalogueError(f"{name}: no parameter `{min(spoken - known)}`")


def validate_parts(results: Results, data: Catalogue) -> None:
    """Parse what is said about the arrays of a result: of as many as it has, in terms of the function's parameters."""
    for name, line in results.parts.items():
        fn, parts = data.function(name), line.split(";")
        if fn is None or fn.result.kind not in ("tuple", "list", "sequence"):
            raise CatalogueError(f"{name}: parts of a result that has none")
        if fn.result.kind == "tuple" and len(parts) != len(fn.result.arguments):
            raise CatalogueError(f"{name}: {len(fn.result.arguments)} arrays, but {len(parts)} lines")
        spoken = {word for part in parts for word in names_of(parse_rank(name, part))}
        if unknown := spoken - {parameter.name for parameter in fn.parameters}:
            raise CatalogueError(f"{name}: no parameter `{min(unknown)}`")


def main(arguments: list[str]) -> int:
    try:
        packed = read(DATA)
        validate(packed)
    except CatalogueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    compiled = msgspec.msgpack.encode(packed, order="deterministic")
    if "--check" in arguments:
        if COMPILED.is_file() and COMPILED.read_bytes() == compiled:
            return 0
        print("error: catalogue.msgpack is out of step: run tools/compile_catalogue.py", file=sys.stderr)
        return 1
    COMPILED.write_bytes(compiled)
    print(f"{len(packed.functions)} functions, {len(packed.numpy)} NumPy functions, {len(compiled)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
