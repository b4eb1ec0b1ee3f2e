"""Measure how many axes results have, and of which kind their numbers are, and write ``data/results.toml``.

    JAX_PLATFORMS=cpu python tools/probe_ranks.py --write       # the data file
    JAX_PLATFORMS=cpu python tools/probe_ranks.py --diff        # only where data and the installed libraries disagree
    JAX_PLATFORMS=cpu python tools/probe_ranks.py jax.numpy     # print the lines of these modules

Each call of ``tests/catalogue/calls.toml`` is made again with arrays of other ranks, other axes and other shapes, under
``jax.eval_shape``. A function gets the simplest form of ``jitlint/catalogue/ranks.py`` that foretells every answer; an
optional parameter that makes it wrong, or that no call reaches, goes behind ``unless``. Where no form fits nothing is
written, and the analysis stays silent. NumPy functions are measured with the calls of their twin in ``jax.numpy``.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import itertools
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import jax
import msgspec
import numpy as np
from probe_calls import (
    RECEIVERS,
    Call,
    function_of,
    namespace,
    parameters,
    parse_call,
    runner,
    staged,
    value_of,
)
from probe_catalogue import ARRAYS, CALLS, element, is_key, is_traceable
from probe_forms import (
    AXES,
    EVERY_PART,
    NO_ARRAY,
    RANKS,
    SHAPES,
    Seen,
    Subject,
    candidates,
    contradicts,
    fitting,
    weight,
)
from probe_overrides import FILES, NO_RANK
from probe_values import BY_NAME

from jitlint.catalogue.dtypes import HOW, Exact, Operand, is_weak, kind_of, of_pair
from jitlint.catalogue.load import COMPILED, catalogue
from jitlint.catalogue.ranks import EVERY_AXIS, Argument, Rank
from jitlint.catalogue.schema import VAR_POSITIONAL, ApiFunction

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SIDE = 4
"""Every axis of the arrays that are tried has this size."""

AXIS_TEXTS = ("None", "0", "-1", "(0, 1)", "()")
SHAPE_TEXTS = ("()", "(4, 4)", "(1, 4, 4)", "4")
STARRED = (
    [],
    ["4", "4"],
    ["1", "4", "4"],
    ["(4, 4)"],
    ["(1, 4, 4)"],
    ["16"],
    ["-1"],
    ["1", "0"],
    ["0", "2", "1"],
)
ONE_ARRAY = ("array", "bool", "int", "float", "keys", "like")
"""Kinds of results that have axes; a single key has none."""

KINDS = {"bool": "bool", "int": "np.int32", "float": "np.float32", "complex": "np.complex64"}
MOST_TEXTS = 2
"""Values of an option that are tried."""

MOST_FREE = 3
"""Ranks are combined freely for this many arrays; more are varied one at a time and together."""


CASTS = ("[0, 0]", "[0]", "", "[None]", "[None, None]")
"""Behind the receiver of a method: other numbers of axes."""


def axes_named(value: Any) -> int | None:
    if value is None:
        return EVERY_AXIS
    if isinstance(value, (tuple, list)):
        return len(value)
    return 1 if isinstance(value, (int, np.integer)) and not isinstance(value, bool) else None


def described(value: Any) -> Argument:
    """A concrete argument as the analysis would see it with full knowledge."""
    if isinstance(value, bool):
        return Argument(0, None, None, value)
    if isinstance(value, (*ARRAYS, np.ndarray, np.generic)):
        return Argument(np.ndim(value) if not is_key(value) else value.ndim)
    if isinstance(value, (int, float, complex)):
        return Argument(0, axes_named(value), 1)
    if isinstance(value, (tuple, list)):
        inner = {described(item).rank for item in value}
        rank = 1 if not inner else max(inner) + 1 if None not in inner else None
        return Argument(rank, len(value), len(value))
    return Argument(axes=axes_named(value), present=value is not None)


def observe(subject: Subject, call: Call, cast: str = "", receiver: int | None = None) -> None:
    """Make one call and remember what it gave, if it worked."""
    fn = subject.fn
    if (str(call), cast) in subject.made:
        return
    subject.made.add((str(call), cast))
    arguments: dict[str, Argument] = {}
    telling: set[str] = set()
    try:
        texts = [*call.args, *call.kwargs.values()]
        bound = fn.bind(len(call.args), list(call.kwargs))
        for parameter, text in zip(bound, texts):
            if parameter is None:
                return
            value = value_of(text)
            one = described(value)
            if not same(value, subject.defaults.get(parameter.name, inspect.Parameter.empty)):
                telling.add(parameter.name)
            if parameter.name in arguments:
                one = Argument(length=(arguments[parameter.name].length or 1) + 1)
            elif parameter.kind == VAR_POSITIONAL:
                one = Argument(one.rank, one.axes, one.length)
            arguments[parameter.name] = one
        if receiver is not None:
            arguments["self"] = Argument(receiver)
        kept: list[Any] = []
        run = runner(subject.name, call, cast)
        if subject.name.startswith("numpy."):
            kept.append(run(None))
        else:
            jax.eval_shape(lambda: kept.append(run(None)))
    except Exception:
        return
    subject.seen.append(Seen(arguments, rank_of(kept[0], subject.part), frozenset(telling)))


def rank_of(result: Any, part: int | None) -> int:
    """The axes of a result, or of the part that is asked about; `NO_ARRAY` where that is no array, or its parts differ."""
    if part is not None:
        if not isinstance(result, (list, tuple)) or not result or part >= len(result):
            return NO_ARRAY
        ranks = {rank_of(one, None) for one in (result if part == EVERY_PART else [result[part]])}
        return ranks.pop() if len(ranks) == 1 else NO_ARRAY
    is_array = isinstance(result, (*ARRAYS, np.ndarray, np.generic)) and hasattr(result, "ndim")
    return int(result.ndim) if is_array else NO_ARRAY


def same(value: Any, default: Any) -> bool:
    """Whether an argument says what leaving it out says."""
    return type(value) is type(default) and not isinstance(value, np.ndarray) and bool(value == default)


def array_text(value: Any, rank: int) -> str:
    """An array like this one, or a list of arrays, with another number of axes."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(array_text(item, rank) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
    if is_key(value):
        return f"jax.random.split(KEY, {(SIDE,) * rank})" if rank else "KEY"
    return f"np.ones({(SIDE,) * rank}, np.{np.asarray(value).dtype.name})"


def varied(subject: Subject, call: Call, keys: bool = False) -> dict[int | str, Any]:
    """The arguments of a call that are arrays (or PRNG keys) and may have another rank, by place."""
    found: dict[int | str, Any] = {}
    places: list[int | str] = [*range(len(call.args)), *call.kwargs]
    for place, parameter in zip(places, subject.fn.bind(len(call.args), list(call.kwargs))):
        value = value_of(call.args[place] if isinstance(place, int) else call.kwargs[place])
        static = parameter is None or parameter.must_be_static or isinstance(value, bool)
        if not static and is_traceable(value) and is_key(jax.tree.leaves(value)[0]) == keys:
            found[place] = value
    return found


def with_ranks(call: Call, arrays: dict[int | str, Any], ranks: dict[int | str, int]) -> Call:
    for place, rank in ranks.items():
        call = call.put(place, array_text(arrays[place], rank))
    return call


def rank_choices(places: list[int | str]) -> Iterator[dict[int | str, int]]:
    yield {}
    if len(places) <= MOST_FREE:
        for ranks in itertools.product(RANKS[: 4 if len(places) < MOST_FREE else 3], repeat=len(places)):
            yield dict(zip(places, ranks))
        yield dict.fromkeys(places, RANKS[-1])
        yield from ({place: rank} for place in places for rank in RANKS[3:])
        return
    for rank in RANKS:
        yield dict.fromkeys(places, rank)
        for place in places:
            yield {place: rank}


def place_of(fn: ApiFunction, name: str, call: Call) -> int | str:
    """Where a parameter stands in a call: its position when it is given by position, else its name."""
    positional = [p.name for p in fn.parameters if p.kind.startswith("positional")]
    place = positional.index(name) if name in positional else len(call.args)
    return place if place < len(call.args) else name


def receivers(name: str) -> list[tuple[str, int | None]]:
    """What to put behind the array that a method belongs to, and how many axes it has then."""
    whole = RECEIVERS.get(name, RECEIVERS["array"])
    axes: int = value_of(whole).ndim
    return [(cast, axes + change) for cast, change in zip(CASTS, (-2, -1, 0, 1, 2)) if axes + change in RANKS]


def contradictions(subject: Subject, rank: Rank) -> list[Seen]:
    """The calls of the file, with a few other ranks, of which a rank says something false."""
    casts = receivers(subject.name) if subject.name.startswith("array.") else [("", None)]
    base = subject.calls[0]
    for call in (*subject.calls, *(base.without(keyword) for keyword in base.kwargs)):
        places = varied(subject, call)
        choices: list[dict[int | str, int]] = [{}, dict.fromkeys(places, 1), dict.fromkeys(places, 2)]
        for ranks, (cast, receiver) in itertools.product(choices, casts):
            observe(subject, with_ranks(call, places, ranks), cast, receiver)
    return [seen for seen in subject.seen if contradicts(rank, seen)]


def gather(subject: Subject) -> None:
    """Make every variant of every call."""
    method = subject.name.startswith("array.")
    casts = receivers(subject.name) if method else [("", None)]
    base = subject.calls[0]
    arrays = varied(subject, base)

    def make(call: Call, places: dict[int | str, Any], choices: Iterable[dict[int | str, int]]) -> None:
        for ranks, (cast, receiver) in itertools.product(list(choices), casts):
            observe(subject, with_ranks(call, places, ranks), cast, receiver)

    for call in (base, *(base.without(keyword) for keyword in base.kwargs)):
        present = {
            place: value for place, value in arrays.items() if place in call.kwargs or type(place) is int
        }
        make(call, present, rank_choices(list(present)))
        keys = varied(subject, call, True)
        make(call, keys, [{place: 1} for place in keys])
        for place in present:  # a number may mean something else than an array
            make(call.put(place, "3"), {}, [{}])
    for call in subject.calls[1:]:
        places = varied(subject, call)
        alone = [{place: rank} for place in places if place not in arrays for rank in RANKS]
        make(call, places, [*together(places, RANKS), *alone])
    for name, text in options(subject):
        make(base.put(place_of(subject.fn, name, base), text), arrays, together(arrays, (2, 3)))
    for call in settings(subject, base):
        make(call, arrays, together(arrays, (1, 2, 3)))
    if method and any(p.kind == VAR_POSITIONAL for p in subject.fn.parameters):
        for texts in STARRED:
            make(Call(tuple(texts), {}), {}, [{}])


def together(places: dict[int | str, Any], ranks: Sequence[int]) -> list[dict[int | str, int]]:
    """The ranks as they are, all alike, and each array's alone."""
    groups = [list(places), *([place] for place in places if len(places) > 1)] if places else []
    return [{}, *(dict.fromkeys(group, rank) for group in groups for rank in ranks)]


def options(subject: Subject) -> Iterator[tuple[str, str]]:
    """Values other than their default for the optional parameters that are no arrays."""
    base = subject.calls[0]
    for p, text in zip(subject.fn.bind(len(base.args), []), base.args):
        if p is not None and p.must_be_static and type(value_of(text)) is int and p.name not in AXES | SHAPES:
            yield from ((p.name, repr(value_of(text) + more)) for more in range(1, MOST_TEXTS + 1))
    for p in subject.fn.parameters:
        default = subject.defaults.get(p.name)
        texts = list(BY_NAME.get(p.name, ())) if p.optional and p.must_be_static else []
        if isinstance(default, bool) and p.must_be_static:
            texts.append(repr(not default))
        elif isinstance(default, int) and p.must_be_static:
            texts += [repr(default + 1), repr(default + 3)]
        if p.name == "dtype":
            texts = ["np.float16", "np.int32"]
        known = p.name in AXES | SHAPES | {"keepdims"}
        others = [] if known else [t for t in dict.fromkeys(texts) if not same(value_of(t), default)]
        yield from ((p.name, text) for text in others[:MOST_TEXTS])


def settings(subject: Subject, base: Call) -> Iterator[Call]:
    """The basic call with other axes and other shapes."""
    fn = subject.fn
    special = [(p.name, AXIS_TEXTS) for p in fn.parameters if p.name in AXES]
    special += [(p.name, SHAPE_TEXTS) for p in fn.parameters if p.name in SHAPES]
    keeps = [None, *(p.name for p in fn.parameters if p.name == "keepdims")]
    for (name, texts), keep in itertools.product(special, keeps):
        for text in texts if keep is None else texts[:2]:
            call = base.put(place_of(fn, name, base), text)
            yield call.put(place_of(fn, keep, call), "True") if keep else call


def named(subject: Subject, call: Call) -> list[str]:
    """The parameters whose rank was varied in a call."""
    places = varied(subject, call)
    bound = subject.fn.bind(len(call.args), list(call.kwargs))
    order: list[int | str] = [*range(len(call.args)), *call.kwargs]
    return list(dict.fromkeys(p.name for place, p in zip(order, bound) if p is not None and place in places))


def arrays_of(subject: Subject) -> list[str]:
    """The parameters whose rank was varied in the basic call."""
    return (["self"] if subject.name.startswith("array.") else []) + named(subject, subject.calls[0])


def rank_line(subject: Subject) -> str:
    """The rank in the catalogue's language, "" when no form fits."""
    gather(subject)
    arrays = arrays_of(subject)
    subject.arrays += dict.fromkeys(
        [*arrays, *(n for call in subject.calls[1:] for n in named(subject, call))]
    )
    if not any(seen.rank >= 0 for seen in subject.seen):
        return ""
    best: Rank | None = None
    for forms in candidates(subject, arrays):
        found = fitting(subject, forms, arrays)
        if found is not None and (best is None or weight(subject, found) < weight(subject, best)):
            best = found
    return str(best) if best is not None else ""


def dtype_line(subject: Subject) -> str:
    """Kinds of numbers that a ``like(...)`` result does not share with its arguments."""
    result = subject.fn.result
    if result.kind != "like" or subject.name.startswith("numpy."):
        return ""
    found = {kind: kind_of_result(subject, dtype) for kind, dtype in KINDS.items()}
    words = [f"{kind}:{given}" for kind, given in found.items() if given in KINDS and given != kind]
    if kind_of_result(subject, "") == "int":
        words.append("python:int")
    return " ".join(words)


def kind_of_result(subject: Subject, dtype: str) -> str:
    """The kind of the basic call's result when what it follows has this dtype, or is a Python integer; "" for none."""
    kept: list[Any] = []
    result, base = subject.fn.result, subject.calls[0]
    bound = subject.fn.bind(len(base.args), list(base.kwargs))
    call = base
    for place, parameter in zip([*range(len(base.args)), *base.kwargs], bound):
        if parameter is not None and parameter.name in result.arguments:
            text = base.args[place] if isinstance(place, int) else base.kwargs[place]
            call = call.put(place, cast_text(value_of(text), dtype) if dtype else "3")
    if "self" in result.arguments and not dtype:
        return ""
    try:
        run = runner(subject.name, call, f".astype({dtype})" if "self" in result.arguments else "")
        jax.eval_shape(lambda: kept.append(run(None)))
    except Exception:
        return ""
    if not isinstance(kept[0], ARRAYS) or is_key(kept[0]):
        return ""
    if not dtype and kept[0].weak_type:
        return "number"
    return "complex" if np.dtype(kept[0].dtype).kind == "c" else element(kept[0])


Places = dict[str, tuple[int | str, ...]]
"""Where the arguments of a call stand, by parameter: several fill one like ``*operands``."""
EXACT = ("int8", "int32", "bfloat16", "float32", "int", "float", "int*", "float*")
"""The exact dtypes that arguments are given."""
OF_DEFAULTS = {"int": "int", "float": "float"}
BASES = ("float32", "int*")
FIRST = ("a", "x", "arr", "m")
"""What a function calls the array that is the receiver of the method of that name."""
FEWEST = 2


def exact_line(subject: Subject) -> str:
    """What the exact dtype of the result follows, in the language of ``jitlint/catalogue/dtypes.py``; "" if nothing fits."""
    fn, base = subject.fn, subject.calls[0]
    owner, _, short = subject.name.rpartition(".")
    if fn.result.kind not in ("like", "int", "float", "array") or owner.startswith("numpy"):
        return ""
    if any(not p.optional and "type" in p.name for p in fn.parameters):
        return ""  # who calls it says what the result is
    twin = twins().get(short) if owner == "array" else None
    if twin is not None and twin.fn.parameters[0].name in FIRST:
        return re.sub(rf"\b{twin.fn.parameters[0].name}\b", "self", exact_line(twin))
    places: Places = {}
    for p, place in zip(fn.bind(len(base.args), list(base.kwargs)), places_of(base)):
        if p is not None and (place in varied(subject, base) or p.name in fn.result.arguments):
            places[p.name] = (*places.get(p.name, ()), place)
    method = subject.name.startswith("array.")
    names = [*(["self"] if method else []), *places]
    seen: list[tuple[dict[str, Operand], str]] = []
    for assigned in assignments(names):
        result = exact_result(subject, base, places, assigned)
        if result:
            seen.append(({name: (kind_of(exact), exact) for name, exact in assigned.items()}, result))
    if len({result for _, result in seen}) == 0 or (names and len(seen) < FEWEST):
        return ""
    form = next(
        (
            form
            for form in exact_forms(fn, names)
            if all(form.of(ops, set(ops)) == result for ops, result in seen)
        ),
        None,
    )
    if form is None:
        return ""
    return str(
        msgspec.structs.replace(
            form,
            beside=frozenset(names) - {*form.names},
            unless=frozenset(disturbing(subject, base, places, names, form)),
        )
    )


@cache
def twins() -> dict[str, Subject]:
    """The functions of ``jax.numpy`` that methods are the same as, by name."""
    return {subject.name.rpartition(".")[2]: subject for subject in subjects(["jax.numpy"])}


def places_of(call: Call) -> list[int | str]:
    return [*range(len(call.args)), *call.kwargs]


def assignments(names: list[str]) -> Iterator[dict[str, str]]:
    """All arguments alike, and each of them otherwise than the rest."""
    if not names:
        yield {}
        return
    for exact in EXACT:
        yield dict.fromkeys(names, exact)
    if len(names) > 1:
        for base, name, exact in itertools.product(BASES, names, EXACT):
            yield {**dict.fromkeys(names, base), name: exact}


def exact_forms(fn: ApiFunction, names: list[str]) -> Iterator[Exact]:
    """The forms that a line may have, simple ones first."""
    like = [name for name in fn.result.arguments if name in names]
    groups = [like, names, *([name] for name in names)]
    for group in [list(g) for g in dict.fromkeys(tuple(g) for g in groups if g)]:
        yield from (Exact(tuple(group), "", how, frozenset(names)) for how in HOW)
    if fn.result.kind == "like":
        return
    yield from (
        Exact(fixed=fixed, beside=frozenset(names))
        for fixed in ("int", "float", "int32", "float32", "uint32", "uint8")
    )


def disturbing(subject: Subject, base: Call, places: Places, names: list[str], form: Exact) -> Iterator[str]:
    """The options with which a form says something false."""
    for name, text in options(subject):
        if name in ("dtype", *names):
            continue
        call = base.put(place_of(subject.fn, name, base), text)
        for assigned in assignments(names):
            result = exact_result(subject, call, places, assigned)
            if result and result != form.of({n: (kind_of(e), e) for n, e in assigned.items()}, set(names)):
                yield name
                break


def exact_result(subject: Subject, call: Call, places: Places, assigned: dict[str, str]) -> str:
    """The exact dtype of a call whose arguments have these; "" when the call fails or gives no array."""
    for name, place in ((name, place) for name, filled in places.items() for place in filled):
        text = call.args[place] if isinstance(place, int) else call.kwargs[place]
        call = call.put(place, exact_text(value_of(text), assigned[name]))
    if is_weak(assigned.get("self", "")):
        return ""
    cast = f".astype({dtype_text(assigned['self'])})" if "self" in assigned else ""
    return exact_of_run(runner(subject.name, call, cast))


def exact_of_run(run: Callable[[Any], Any]) -> str:
    """The exact dtype of the array that a function gives, without and with 64 bits; "" when it fails."""
    found: list[tuple[str, bool]] = []
    for wide in (False, True):
        kept: list[Any] = []
        try:
            with enable_x64(wide):
                jax.eval_shape(lambda given=kept: given.append(run(None)))
        except Exception:
            return ""
        if not isinstance(kept[0], ARRAYS) or is_key(kept[0]):
            return ""
        found.append((np.dtype(kept[0].dtype).name, bool(kept[0].weak_type)))
    (narrow, weak), (wide_name, weak_too) = found
    exact = of_pair(narrow, wide_name)
    return f"{exact}{'*' if weak else ''}" if exact and weak == weak_too else ""


def enable_x64(on: bool) -> Any:
    """A context with 64 bits or without, in any version."""
    if hasattr(jax, "enable_x64"):
        return jax.enable_x64(on)
    return importlib.import_module("jax.experimental").enable_x64(on)


def dtype_text(exact: str) -> str:
    return OF_DEFAULTS.get(exact, f"jnp.{exact}")


def exact_text(value: Any, exact: str) -> str:
    if isinstance(value, (list, tuple)):
        inner = ", ".join(exact_text(item, exact) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
    if isinstance(value, (int, float)):
        return {"int*": "3", "float*": "3.0"}.get(exact, "NO_SUCH_NUMBER")
    if is_weak(exact):
        return f"jnp.full({np.shape(value)}, {'2' if exact == 'int*' else '2.0'})"
    return f"jnp.ones({np.shape(value)}, {dtype_text(exact)})"


def cast_text(value: Any, dtype: str) -> str:
    if isinstance(value, (list, tuple)):
        inner = ", ".join(cast_text(item, dtype) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)"
    return f"np.ones({np.shape(value)}, {dtype})"


def subjects(modules: list[str]) -> Iterator[Subject]:
    """The functions of these modules that return one array."""
    with CALLS.open("rb") as file:
        texts = tomllib.load(file)["calls"]
    data = catalogue()
    namespace()["numpy"] = np
    for name, calls in texts.items():
        owner, _, short = name.rpartition(".")
        fn = data.array_method(short) if owner == "array" else data.function(name)
        if not calls or fn is None or fn.result.kind not in ONE_ARRAY or owner == "at" or not is_there(name):
            continue
        twin = name.removeprefix("jax.")
        wanted = [name] if owner in modules else []
        if owner.startswith("jax.numpy") and owner.removeprefix("jax.") in modules:
            known = data.numpy(twin)
            wanted += [twin] if known is not None and known.result == "array" else []
        parsed = [call for call in map(parse_call, calls) if can_be_made(call)]
        wanted = [one for one in wanted if one not in NO_RANK]
        base = smallest(name, fn, parsed[0])
        for one in wanted:
            defaults = {p.name: p.default for p in parameters(name, function_of(name))}
            yield Subject(one, fn, [base, *parsed], defaults)


def is_there(name: str) -> bool:
    """Whether the installed JAX has the function."""
    try:
        function_of(name)
    except (AttributeError, ImportError):
        return False
    return True


def can_be_made(call: Call) -> bool:
    """Whether the installed JAX has what the arguments mention."""
    try:
        _ = [value_of(text) for text in (*call.args, *call.kwargs.values())]
    except AttributeError:
        return False
    return True


def smallest(name: str, fn: ApiFunction, call: Call) -> Call:
    """A call that works without what may be left out of this one."""
    for keyword in call.kwargs:
        fewer = call.without(keyword)
        call = fewer if staged(name, fewer)[0] else call
    bound = fn.bind(len(call.args), [])
    while call.args and (last := bound[len(call.args) - 1]) is not None and last.optional:
        fewer = Call(call.args[:-1], call.kwargs)
        if not staged(name, fewer)[0]:
            break
        call = fewer
    return call


def all_modules() -> list[str]:
    found = [name for _, names in FILES.values() for name in names if name != "at"]
    return [*found, *(name.removeprefix("jax.") for name in found if name.startswith("jax.numpy"))]


LINES: dict[str, Callable[[Subject], str]] = {"ranks": rank_line, "dtypes": dtype_line, "exact": exact_line}


def measured(modules: list[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Tables of lines by module and name."""
    out: dict[str, dict[str, dict[str, str]]] = {table: {} for table in LINES}
    for subject in subjects(modules):
        owner, _, short = subject.name.rpartition(".")
        for table, line_of in LINES.items():
            if line := line_of(subject):
                out[table].setdefault(owner, {})[short] = line
    return out


def text_of(tables: dict[str, dict[str, dict[str, str]]]) -> str:
    parts = []
    for table, modules in tables.items():
        for owner, lines in sorted(modules.items()):
            body = "\n".join(f"{name} = {json.dumps(line)}" for name, line in sorted(lines.items()))
            parts.append(f'[{table}."{owner}"]\n{body}')
    return "\n\n".join(parts) + "\n"


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    jax.config.update("jax_traceback_filtering", "off")
    np.seterr(all="ignore")
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for option in ("--write", "--diff"):
        parser.add_argument(option, action="store_true")
    parser.add_argument("modules", nargs="*")
    chosen = parser.parse_args(arguments)
    tables = measured(chosen.modules or all_modules())
    file = COMPILED.parent / "data" / "results.toml"
    version = ".".join(jax.__version__.split(".")[:2])
    head = (
        f"# What results look like. Generated by tools/probe_ranks.py from JAX {version}: do not edit.\n"
        "# The language is described in jitlint/catalogue/ranks.py. dtypes: kinds of numbers that a result does not\n"
        "# share with the arguments that it otherwise follows. exact: see jitlint/catalogue/dtypes.py.\n\n"
    )
    if chosen.write:
        file.write_text(head + text_of(tables), encoding="utf-8")
        return 0
    if chosen.diff:
        known = tomllib.loads(file.read_text(encoding="utf-8"))
        found = 0
        for table in LINES:
            owners = {*known.get(table, {}), *tables[table]}
            for owner in sorted(owners):
                old, new = known.get(table, {}).get(owner, {}), tables[table].get(owner, {})
                if chosen.modules and owner not in chosen.modules:
                    continue
                for name in sorted({*old, *new}):
                    if old.get(name) != new.get(name):
                        print(f"{owner}.{name}: measured {new.get(name)!r}; the data says {old.get(name)!r}")
                        found += 1
        return 1 if found else 0
    print(text_of(tables), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
