"""What consumes PRNG keys, and whether they were consumed before (layer: ``link``, room ``domains``).

What it does: records consumption in the scope's variables (so that joins and loops treat it as any variable) and says
when a key is consumed again. What it does not: ask whether that is meant (`meant`), name keys (`jitlint.link.values.keys`), decide which parameters are keys
(`parameters`), what library objects do with keys (`libraries`), or repeat what calls do (`calls`).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ConstantKey, KeyReuse, Step
from jitlint.infer.keys import USES, Either, Key, KeyUses, Use, members_of
from jitlint.infer.values import (
    NO_CONST,
    NONE,
    Arr,
    Map,
    Py,
    S,
    Seq,
    Tup,
    Value,
)
from jitlint.link.domains.keys import meant
from jitlint.link.domains.keys.ledger import LOG, MANY, Ledger
from jitlint.link.domains.keys.meant import DRAW, RANDOM, SHUFFLE
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.sink import Condition
from jitlint.link.tables import naming
from jitlint.link.values import paths
from jitlint.link.values.keys import inside, keys_of, named, uses_of, with_key
from jitlint.syntax import ir
from jitlint.syntax.documents import is_document

CARRIED = "carried"
"""Consumed, and replaced where it is kept: the next call finds another key there."""

MODULE = "module"
"""Handed by name to a module that nobody knows: of interest where all lanes hand it one key, and nowhere else."""

MAX_LOG = 64

_COPIES = "copies"
"""The step from a key to an array that holds nothing but it."""

_EVERY = frozenset({"loop", "many", "shared", "calls"})
"""How a key is consumed again that is the same each time, at one place."""


def random_call(k: Ledger, f: Frame, at: int, name: str, args: Args, out: Value) -> Value:
    """After a call of ``jax.random.name``: record what it consumes, name what it makes."""
    short = name[len(RANDOM) :]
    if short in lexicon().keys.makers:
        return _made(k, f, at, short, args, out)
    keys = keys_of(args.get(0, "key"))
    again = False
    if short not in lexicon().keys.harmless:
        stream = _stream(short, args)
        for key in keys:
            again = use(k, f, at, key, stream, name, dims=out.dims if type(out) is Arr else None) or again
    if type(out) is not Arr or out.dtype != "key":
        return out
    parent = keys[0] if len(keys) == 1 and not again else None
    derived = _derived(k, f, at, short, args, parent) if parent is not None else None
    return named(k.m, out) if derived is None else with_key(out, derived)


def _stream(short: str, args: Args) -> str:
    """What is drawn: an order for an array, which another array may want as well, or numbers."""
    array = args.get(1, "a" if short == "choice" else "x")
    pairs = short in lexicon().keys.pairing and array is not None and type(array) is not Py
    return SHUFFLE if pairs and args.get(4, "p") is None else DRAW


def _derived(k: Ledger, f: Frame, at: int, short: str, args: Args, parent: Key) -> Key | None:
    """The key that is made of a single, fresh one."""
    given = args.get(1, "num" if short == "split" else "data")
    if short == "split":
        number = 2 if given is None else given.const if type(given) is Py else None
        number = number if isinstance(number, int) else None
        return k.m.keys.derived(parent, "split", number, f.module.name, at)
    if short == "fold_in" and type(given) is Py and isinstance(given.const, int):
        return k.m.keys.derived(parent, "fold", given.const)
    return None


def _made(k: Ledger, f: Frame, at: int, short: str, args: Args, out: Value) -> Value:
    seed = args.get(0, "seed")
    const = seed.const if type(seed) is Py else NO_CONST
    if type(out) is not Arr:
        return out
    if not isinstance(const, int):
        return named(k.m, out)
    makers = k.makers.setdefault((f.scope.key, const), set())
    makers.add(at)
    if f.world.here & S:
        k.m.emit(f, ConstantKey, at, None, api=f"{RANDOM}{short}")
    key = k.m.keys.derived(None, "const", f.scope.key, const)
    if len(makers) > 1:
        _start_again(f, key)
    if f.loops and _compares(k, f):
        _forget(f, key)
    return with_key(out, key)


def copied(k: Ledger, args: Args, result: Value) -> Value | None:
    """An array with copies of one key: every part of it is that key."""
    given = args.pos[0] if args.pos else None
    if type(given) is not Arr or given.key is None or args.more is not None:
        return None
    out = with_key(result if type(result) is Arr else given, k.m.keys.derived(given.key, _COPIES))
    out.rank = None
    return out


def is_copy(key: Key | None) -> bool:
    """Whether a key is one of several copies, or was derived from one."""
    while key is not None and key.step[0] != _COPIES:
        key = key.parent
    return key is not None


def _compares(k: Ledger, f: Frame) -> bool:
    """Whether the innermost loop goes through things that the program lists one by one: each is to get the same numbers.

    Things have names; sizes and shapes are those of layers, which are to differ.
    """
    loop = f.loops[-1]
    over = loop.iter if type(loop) is ir.For else None
    if type(over) is ir.Call and type(over.func) is ir.Attr and over.func.name in ("items", "keys", "values"):
        over = over.func.obj
    if isinstance(over, (ir.Tuple, ir.List)):
        return not any(_is_size(node) for node in over.elts)
    value = paths.peek(k.m, f, over) if isinstance(over, (ir.Name, ir.Attr)) else None
    if type(value) is Map or type(over) is ir.Dict:
        return True
    items = value.items if isinstance(value, (Tup, Seq)) else None
    return items is not None and not any(_is_number(item) for item in items)


def _is_size(node: ir.Node) -> bool:
    if isinstance(node, (ir.Tuple, ir.List)):
        return any(map(_is_size, node.elts))
    return type(node) is ir.Const and node.kind in ("int", "float")


def _is_number(value: Value) -> bool:
    if isinstance(value, (Tup, Seq)):
        return any(map(_is_number, value.items or ()))
    return type(value) is Py and value.kind in ("int", "float", "static")


def _forget(f: Frame, key: Key) -> None:
    """The uses of a key, and of those made of it, count for nothing: it is made once more, on purpose."""
    state = uses_of(f)
    if state is not None:
        kept = {place: use for place, use in state.table.items() if not meant.descends(use.key, key)}
        f.scope.vars[USES] = KeyUses(kept)


def _start_again(f: Frame, key: Key) -> None:
    """A key is made of the same seed at another place: who split the first one wants that stream from its beginning."""
    state = uses_of(f)
    found = state.table.get((key, DRAW)) if state is not None else None
    if state is not None and found is not None and found.api == f"{RANDOM}split":
        f.scope.vars[USES] = KeyUses({k: u for k, u in state.table.items() if k != (key, DRAW)})


def earlier(table: dict[Any, Use], key: Key, stream: str) -> Use | None:
    """The use that makes this one a repetition, or None."""
    stream = DRAW if stream == SHUFFLE else stream
    found = table.get((key, stream))
    if found is not None:
        return found
    if type(key) is Either:
        uses = [earlier(table, member, stream) for member in key.members]
        known = [use for use in uses if use is not None]
        return min(known, key=lambda use: (use.module, use.at)) if len(known) == len(uses) else None
    part = key
    while part.step[0] == "item" and part.parent is not None:
        part = part.parent
        found = table.get((part, stream))
        if found is not None:
            return found
    return table.get((key, "part", stream))


def use(
    k: Ledger,
    f: Frame,
    at: int,
    key: Key,
    stream: str,
    api: str,
    place: tuple[str, int, str] | None = None,
    dims: tuple[int | None, ...] | None = None,
    idle: bool | None = None,
) -> bool:
    """Record that a key is consumed. Answers whether it was consumed before on this path. What nobody computes draws nothing."""
    log = LOG.of(f)
    if log is None or f.world.excused or f.world.looks:
        return False
    module, where, function = place if place is not None else (f.module.name, at, f.qualname)
    idle = api == f"{RANDOM}split" if idle is None else idle
    this = Use(key, stream, module, where, function, api, (f.module.name, at), dims, idle)
    state: Any = f.scope.vars.get(USES)
    table = state.table if state is not None else {}
    found = earlier(table, key, stream)
    if meant.is_unseen(f, this) or (found is not None and meant.is_meant(f, this, found)):
        return False
    if found is not None:
        report(k, f, this, found)
    note(f, this, found is None)
    return found is not None


def note(f: Frame, this: Use, first: bool = True) -> None:
    """Keep that a key is consumed. first: it was not before."""
    log: Any = LOG.of(f)
    key, stream = this.key, this.stream
    if first:
        state: Any = f.scope.vars.get(USES)
        slot = DRAW if stream == SHUFFLE else stream
        table = {**(state.table if state is not None else {}), (key, slot): this}
        if key.step[0] == "item":
            table.setdefault((key.parent, "part", slot), this)
        f.scope.vars[USES] = KeyUses(table)
    if len(log) < MAX_LOG and all(u.key != key or u.stream != stream for u in log):
        log.append(this)


def report(
    k: Ledger, f: Frame, this: Use, found: Use, how: str = "", when: tuple[Condition, ...] = ()
) -> None:
    """Record that a key is consumed again. how: as in `KeyReuse`, "" to find out. when: what must hold in the end."""
    if not how and (found.module, found.at) == (this.module, this.at):
        how = "loop" if (this.module, this.function) == (f.module.name, f.qualname) else "calls"
    elif not how:
        how = "split" if found.api == f"{RANDOM}split" else "again"
    also = (
        ()
        if how in ("loop", "many", "shared", "calls", "streams")
        else (Step(found.module, found.at, _first(found)),)
    )
    level = Confidence.LIKELY if f.confidence is Confidence.CERTAIN else f.confidence
    if _is_on_purpose(k, f, this, found, how):
        level = Confidence.POSSIBLE
    k.m.emit(
        f,
        KeyReuse,
        this.at,
        None,
        level,
        (this.module, this.function),
        when,
        api=this.api,
        how=how,
        also=also,
    )


def _is_on_purpose(k: Ledger, f: Frame, this: Use, found: Use, how: str) -> bool:
    """Whether what the code around is there for speaks against a mistake."""
    made_apart = _made_apart(k, this.key)
    path = k.m.modules[this.module].path
    if naming.is_benchmark(path):
        return True  # what is measured does not depend on the numbers
    if _is_test(path):
        return made_apart or not _is_slip(this, found)
    told = is_document(path)
    if told and this.function == "<module>" and not this.api and how in ("again", "calls", "split"):
        return True  # step by step, another procedure starts from the same key, to be compared
    whole = told or not (this.api and found.api)
    if made_apart and this.function == "<module>" and whole:
        return True
    # Whoever goes through a few things by name, and hands each the same key, compares them.
    if how == "loop" and not this.api and f.loops and _compares(k, f):
        return True
    return how in _EVERY and meant.evaluates(f, this)


def _made_apart(k: Ledger, key: Key) -> bool:
    """Whether a key is made at several places from one constant."""
    while key.parent is not None:
        key = key.parent
    return key.step[0] == "const" and len(k.makers.get(key.step[1:], ())) > 1


@functools.cache
def _is_test(path: str) -> bool:
    """Whether a file holds tests; examples are programs."""
    parts = path.replace(chr(92), "/").split("/")
    name = parts[-1]
    named = name.startswith("test_") or name.endswith(("_test.py", "_tests.py")) or name == "conftest.py"
    return named or not {"test", "tests", "testing"}.isdisjoint(parts[:-1])


def _is_slip(this: Use, found: Use) -> bool:
    """Whether a test hardly means to use the key again: tests compare what equal keys give, but not different draws."""
    draws = all(u.api and u.api != f"{RANDOM}split" for u in (this, found))
    return draws and this.function == found.function and (this.api != found.api or _differ(this, found))


def _differ(this: Use, found: Use) -> bool:
    """Whether two draws surely have different shapes, so that nobody can compare them."""
    if this.dims is None or found.dims is None:
        return False
    return len(this.dims) != len(found.dims) or any(
        a is not None and b is not None and a != b for a, b in zip(this.dims, found.dims)
    )


def _first(found: Use) -> str:
    verb = "is split" if found.api == f"{RANDOM}split" else "is used first"
    return f"the key {verb} here"


def carried(f: Frame, old: Value | None) -> None:
    """A variable or attribute that outlives the activation gets another value: the next call finds that one there."""
    gone = {member for key in keys_of(old) for member in members_of(key)}
    log = LOG.of(f) if gone else None
    if log:
        log[:] = [
            dataclasses.replace(u, stream=CARRIED) if members_of(u.key) & gone and u.stream != MODULE else u
            for u in log
        ]


def check_carry(k: Ledger, f: Frame, given: Value, returned: Value, paired: bool) -> None:
    """A loop body that draws from a key of its carry must hand another one to the next turn, which nobody has drawn from.

    paired: the body returns its carry with something else, as that of a scan does.
    """
    many = MANY.of(f)
    if many is None or not many.used or LOG.of(f) is None:
        return
    if paired:
        returned = returned.items[0] if type(returned) is Tup and returned.items else NONE
    before, after = inside([given]), inside([returned])
    if len(before) == len(after):
        for old, new in zip(before, after):
            if old is new and old in many.used:
                found = many.used[old]
                report(k, f, found, found, "many")
            elif new in many.back and old in many.used:
                report(k, f, many.back[new], many.used[old], "carried")
