"""What consumes PRNG keys, and whether they were consumed before (layer: ``link``, room ``domains``).

What it does: records consumption in the scope's variables (so that joins and loops treat it as any variable) and says
when a key is consumed again. What it does not: ask whether that is meant (`meant`), name keys (`jitlint.link.values.keys`), decide which parameters are keys
(`parameters`), what library objects do with keys (`libraries`), or repeat what calls do (`calls`).
"""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ConstantKey, KeyReuse
from jitlint.infer.keys import USES, Either, Key, KeyUses, Use, descends, members_of, root_of
from jitlint.infer.places import Step
from jitlint.infer.values import (
    NO_CONST,
    NONE,
    Arr,
    Py,
    S,
    Tup,
    Value,
)
from jitlint.link.domains.keys import meant, met, turns
from jitlint.link.domains.keys.ledger import LOG, MANY, RANDOM, Ledger
from jitlint.link.domains.keys.meant import DRAW, SHUFFLE
from jitlint.link.domains.keys.purpose import compares, is_made_apart, is_on_purpose
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.sink import Condition
from jitlint.link.values import paths
from jitlint.link.values.keys import inside, keys_of, named, uses_of, with_key
from jitlint.syntax import ir

CARRIED = "carried"
"""Consumed, and replaced where it is kept: the next call finds another key there."""

MODULE = "module"
"""Handed by name to a module that nobody knows: of interest where all lanes hand it one key, and nowhere else."""

CONSTANT = "constant"
"""Drawn from a key that code makes of a constant: of interest where that code runs many times, and nowhere else."""

OF_RUNS = frozenset({MODULE, CONSTANT})
"""What is of interest where code runs many times, and is no use otherwise."""

MAX_LOG = 64
_PROCESS: Final = "jax.process_index"


def random_call(k: Ledger, f: Frame, at: int, name: str, args: Args, out: Value) -> Value:
    """After a call of ``jax.random.name``: record what it consumes, name what it makes."""
    short = name[len(RANDOM) :]
    if short in lexicon().keys.makers:
        return _made(k, f, at, short, args, out)
    given = args.get(0, "key")
    keys = keys_of(met.key(k.m, f, at, given))
    again = False
    if short not in lexicon().keys.harmless:
        stream = _stream(short, args)
        for key in keys:
            again = use(k, f, at, key, stream, name, dims=out.dims if type(out) is Arr else None) or again
    if type(out) is not Arr or out.dtype != "key":
        return out
    parent = keys[0] if len(keys) == 1 and not again else None
    derived = _derived(k, f, at, short, args, parent) if parent is not None else None
    if short == "fold_in" and parent is not None:
        _folded(k, f, at, parent, name)
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
    if short == "fold_in" and _is_of_process(k, f, at):
        return k.m.keys.derived(parent, "fold", _PROCESS)
    call = k.m.texts.table(f).calls.get(at) if short == "fold_in" else None
    if call is not None and turns.is_same_part(f, call):
        return k.m.keys.derived(parent, turns.AGAIN, f.scope.key)
    return None


def _is_of_process(k: Ledger, f: Frame, at: int) -> bool:
    """Whether what is folded in is the number of the process, which all of its devices share."""
    call = k.m.texts.table(f).calls.get(at)
    data = call.args[1].value if call is not None and len(call.args) > 1 else None
    return type(data) is ir.Call and paths.dotted(k.m, f, data.func) == _PROCESS


def _folded(k: Ledger, f: Frame, at: int, parent: Key, name: str) -> None:
    """A number is folded in, perhaps one that comes again."""
    call = k.m.texts.table(f).calls.get(at)
    if call is None or f.world.excused or f.world.looks or not turns.begins_again(f, call):
        return
    this = Use(parent, DRAW, f.module.name, at, f.qualname, name, (f.module.name, at))
    report(k, f, this, this, "epochs")


def _made(k: Ledger, f: Frame, at: int, short: str, args: Args, out: Value) -> Value:
    made = _named(k, f, at, short, args, out)
    for key in keys_of(made):
        k.m.keys.makers.setdefault(root_of(key), set()).add(short)
    return made


def _named(k: Ledger, f: Frame, at: int, short: str, args: Args, out: Value) -> Value:
    seed = args.get(0, "seed")
    const = seed.const if type(seed) is Py else NO_CONST
    if type(out) is not Arr:
        return out
    if not isinstance(const, int):
        call = k.m.texts.table(f).calls.get(at)
        if call is None or not turns.is_same_seed(f, call):
            return named(k.m, out)
        return with_key(out, k.m.keys.derived(k.m.keys.fresh(), turns.AGAIN, f.scope.key))
    makers = k.makers.setdefault((f.scope.key, const), set())
    makers.add(at)
    if f.module.is_test:
        k.tests.add((f.scope.key, const))
    if f.world.here & S:
        k.m.emit(f, ConstantKey, at, None, api=f"{RANDOM}{short}")
    key = k.m.keys.derived(None, "const", f.scope.key, const)
    if len(makers) > 1:
        _start_again(f, key)
    if f.loops and compares(k, f, f.loops[-1]):
        _forget(f, key)
    return with_key(out, key)


def _forget(f: Frame, key: Key) -> None:
    """The uses of a key, and of those made of it, count for nothing: it is made once more, on purpose."""
    state = uses_of(f)
    if state is not None:
        kept = {place: use for place, use in state.table.items() if not descends(use.key, key)}
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
    told: bool = False,
    drawn: tuple[str, int, str] | None = None,
) -> bool:
    """Record that a key is consumed. Answers whether it was consumed before on this path. What nobody computes draws nothing."""
    log = LOG.of(f)
    if log is None or f.world.excused or f.world.looks:
        return False
    module, where, function = place if place is not None else (f.module.name, at, f.qualname)
    idle = api == f"{RANDOM}split" if idle is None else idle
    end = (module, where, function) if drawn is None else drawn
    this = Use(key, stream, module, where, function, api, (f.module.name, at), dims, idle, told, end)
    state: Any = f.scope.vars.get(USES)
    table = state.table if state is not None else {}
    found = earlier(table, key, stream)
    if meant.is_unseen(f, this) or (found is not None and meant.is_meant(f, this, found)):
        return False
    if found is not None:
        report(k, f, this, found)
    elif key.step == (turns.AGAIN, f.scope.key):
        report(k, f, this, this, "loop")
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
) -> bool:
    """Record that a key is consumed again. how: as in `KeyReuse`, "" to find out. when: what must hold in the end.

    Answers whether that is hardly meant.
    """
    if not how and (found.module, found.at) == (this.module, this.at):
        how = "loop" if (this.module, this.function) == (f.module.name, f.qualname) else "calls"
    elif not how:
        how = "split" if found.api == f"{RANDOM}split" else "returned" if found.returned else "again"
    also = (
        ()
        if how in ("loop", "many", "steps", "shared", "calls", "streams", "epochs")
        else (Step(found.module, found.at, _first(found)),)
    )
    module, at, function = this.drawn
    if function and (module, at) != (this.module, this.at):  # the call at hand may not even show the key
        also = (*also, Step(module, at, f"`{function}` draws from it here"))
    level = Confidence.LIKELY if f.confidence is Confidence.CERTAIN else f.confidence
    if is_on_purpose(k, f, this, found, how):
        level = Confidence.POSSIBLE
    if how == "again" and is_made_apart(k, this.key):
        how = "seed"
    told = k.told_by_module(this)
    k.m.emit(
        f,
        KeyReuse,
        this.at,
        None,
        level,
        (this.module, this.function),
        when if told is None else (*when, told),
        api=this.api,
        how=how,
        also=also,
    )
    return level is not Confidence.POSSIBLE


def _first(found: Use) -> str:
    verb = "is split" if found.api == f"{RANDOM}split" else "is used first"
    return f"the key {verb} here"


def carried(f: Frame, old: Value | None) -> None:
    """A variable or attribute that outlives the activation gets another value: the next call finds that one there."""
    gone = {member for key in keys_of(old) for member in members_of(key)}
    log = LOG.of(f) if gone else None
    if log:
        log[:] = [
            dataclasses.replace(u, stream=CARRIED)
            if members_of(u.key) & gone and u.stream not in OF_RUNS
            else u
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
    for old, new in zip(before, after) if len(before) == len(after) else ():
        first = many.used.get(old)
        again = first if old is new else many.back.get(new) or many.used.get(new)
        if first is None or again is None:
            continue
        if old is not new:
            report(k, f, again, first, "carried")
        elif not first.told:
            report(k, f, first, first, "many")
