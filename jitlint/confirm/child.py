"""Makes the calls of one task and judges what they show (layer: ``confirm``). Runs in a sandboxed process only."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from jitlint.base.outcome import (
    BakesConstant,
    DropsResult,
    NeverHandles,
    Outcome,
    Raises,
    RepeatsDraw,
    Retraces,
    RunsOnce,
    Unrolls,
    Unsynced,
)
from jitlint.confirm.loading import Loader, runner
from jitlint.confirm.past import better, past_refusals
from jitlint.confirm.protocol import Begin, Call, Done, Flag, Message, Result, Seen, Shown, Task, spend
from jitlint.confirm.stand_ins import missing_module
from jitlint.confirm.statement import Statement
from jitlint.confirm.verdict import ENDED_BEFORE
from jitlint.confirm.watch.applied import jitted_apply
from jitlint.confirm.watch.observe import Observation, Place, Raised, Watch, Watches
from jitlint.confirm.watch.passing import Passing
from jitlint.confirm.watch.probes import Probes, wanted_of
from jitlint.confirm.watch.runs import Runs
from jitlint.confirm.witness import evidence, jitted_at
from jitlint.driver.registry import rules
from jitlint.syntax.documents import is_document

# An effect may need several calls in the same module.
_CALLS = 3
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError")


def run_task(task: Task, send: Callable[[Message], None], reachable: list[str]) -> None:
    """Make every call, telling ``send`` before and after each. ``reachable``: see `Done`."""
    sys.argv = [task.entry]
    probes = Probes(wanted_of(filter(_is_to_be_seen, task.flags)))
    loader = Loader(task, probes)
    loader.used.add(task.entry)
    flags = {flag.number: flag for flag in task.flags}
    confirmed = set(task.settled)
    left = dict(task.left)
    told = _Told(send, "", "", left)
    for number, call in enumerate(task.calls):
        wanted = [flags[flag] for flag in call.flags if flag not in confirmed]
        if not wanted and call.flags:
            continue
        send(Begin(number))
        began, told = time.monotonic(), replace(told, words=_words(call, task))
        seen = _made_with_stand_ins(loader, number, call, wanted, told)
        spend(left, [flag.number for flag in wanted], time.monotonic() - began)
        # What a module needs and does not find is not there for its next call, either.
        if _is_plain(call) and seen.stage == "import" and "ModuleNotFoundError" in seen.problem:
            told = replace(told, unloaded=seen.problem)
        confirmed |= {result.number for result in seen.results if result.status == "confirmed"}
        send(seen)
    send(Done({path: digest for path in sorted(loader.used) if (digest := _digest(path))}, reachable))


def _made_with_stand_ins(loader: Loader, number: int, call: Call, flags: list[Flag], told: _Told) -> Seen:
    """What a call shows, where that is asked for with stand-ins for modules that are not there. Of a part of a module, that
    goes on past what fails, there is no need of them."""
    ins = loader.stand_ins
    if call.part:
        ins.remove()
    while True:
        ins.begin(strict=call.target in ("", "__main__"))
        seen = _made(loader, number, call, flags, told)
        missing = missing_module(seen.problem) if seen.stage == "import" and loader.task.stub else ""
        if call.part or not missing or not ins.add(missing):
            break
    if not ins.names:
        return seen
    words = f"with a stand-in for {' and '.join(ins.names)}"
    results = [_trusted(loader, result) for result in seen.results]
    if ins.used:
        seen = msgspec.structs.replace(seen, problem=ins.missing, stage="import")
    return msgspec.structs.replace(seen, results=results, inputs=f"{seen.inputs}, {words}", strays=[])


def _trusted(loader: Loader, result: Result) -> Result:
    """What a stand-in took part in shows nothing."""
    used = loader.stand_ins.used
    if not used and "stand-in for" not in result.evidence:
        return result
    return Result(
        result.number, "unshown", f"it uses {f'`{used}`' if used else 'something'}, which is not there"
    )


def _is_plain(call: Call) -> bool:
    return not call.search and not call.part


def _is_up(left: Mapping[int, float], call: Call, flags: list[Flag]) -> bool:
    """Whether all that a call is made for has had its time. A search limits itself, and may find what calls do not."""
    return bool(flags) and not call.search and all(left.get(flag.number, 1.0) <= 0 for flag in flags)


@dataclass(frozen=True, slots=True)
class _Told:
    """``send`` is told at once what a call shows. unloaded: why its module cannot be loaded, if that is known. words: what
    is run. left: see `Task`."""

    send: Callable[[Message], None]
    unloaded: str
    words: str
    left: Mapping[int, float]


def _made(loader: Loader, number: int, call: Call, flags: list[Flag], told: _Told) -> Seen:
    """What a call shows."""
    task = loader.task
    if told.unloaded and _is_plain(call) and not call.target.startswith("::"):
        return Seen(number, [], told.words, told.unloaded, "import")
    if _is_up(told.left, call, flags):
        return Seen(number, [], told.words, "not run: the time for this finding was up", "budget")
    with loader.probes.active():
        if task.repairs:
            from jitlint.confirm.repairs import seen

            return seen(loader, number, call, flags, told.words)
        if call.search:
            return _search(loader, number, call, flags, task)
        make = _drive_part if call.part else _drive
        return make(loader, number, call, flags, told)


def _is_to_be_seen(flag: Flag) -> bool:
    """Whether it matters what the flagged expression comes to, and that is no variable's value."""
    return isinstance(outcome_of(flag), BakesConstant) and not flag.reads


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            return hashlib.blake2b(stream.read(), digest_size=16).hexdigest()
    except OSError:
        return ""


def statement_of(flag: Flag) -> Statement:
    """The flagged statement as the witnesses want it."""
    return Statement(
        flag.path,
        flag.line,
        flag.first,
        flag.last,
        flag.owner,
        flag.number,
        flag.tried,
        flag.handler,
        flag.columns if flag.accepted else None,
        frozenset(flag.accepted),
        flag.alone,
        flag.always or not flag.accepted,
        flag.calls,
        flag.repeats,
    )


def outcome_of(flag: Flag) -> Outcome:
    """What is predicted of a finding."""
    return rules()[flag.code].outcome_of(flag.case)


def watches(flags: list[Flag]) -> Watches:
    """What to look at on the flagged lines."""
    found: dict[Place, list[Watch]] = {}
    for flag in flags:
        outcome = outcome_of(flag)
        watch = Watch(
            flag.number,
            frozenset(flag.names),
            tuple(flag.reads),
            isinstance(outcome, Unrolls),
            isinstance(outcome, Unsynced),
            varies=isinstance(outcome, Retraces),
            keys=isinstance(outcome, RepeatsDraw),
            values=isinstance(outcome, BakesConstant) and bool(flag.reads),
            leaks=isinstance(outcome, Raises) and outcome.later,
            mentions=frozenset(flag.mentions),
            last=flag.last,
        )
        found.setdefault((flag.path, flag.line), []).append(watch)
    return found


def _drive_part(loader: Loader, number: int, call: Call, flags: list[Flag], told: _Told) -> Seen:
    """The call with only a part of the module, past what fails there."""
    task = loader.task
    show = not any(isinstance(outcome_of(flag), DropsResult) for flag in flags)
    words = f"a part of {os.path.basename(task.entry)}"
    words = f"{call.target}() with {words}" if call.target else words
    try:
        with loader.only(call.part, call.target == "", show):
            seen = _drive(loader, number, call, flags, replace(told, words=words))
    except (SyntaxError, ValueError, RecursionError, OSError) as error:
        return Seen(number, [], "", str(error), "import")
    if loader.failed:
        line, error_class = next(iter(loader.failed.items()))
        words = f"{words}, past {error_class} at line {line}"
        if is_document(task.entry):  # what is behind it may be as an earlier cell has left it
            seen = msgspec.structs.replace(seen, results=[_not_refuted(result) for result in seen.results])
    return msgspec.structs.replace(seen, inputs=words, strays=[])


def _not_refuted(result: Result) -> Result:
    return msgspec.structs.replace(result, status="unshown") if result.status == "passed" else result


def _drive(loader: Loader, number: int, call: Call, flags: list[Flag], told: _Told) -> Seen:
    task = loader.task
    loader.loads = 0
    watch = watches(flags)
    # In the part that one finding needs, what it goes past is told otherwise; of several, what fails for one is no effect of another.
    alone = bool(call.part) and len(call.flags) == 1
    once = _runs(loader, runner(loader, call, 1), watch, None, None if alone else lambda: loader.stopped)
    results = []
    # What needs no other run first: the run without jit may take too long.
    for flag in sorted(flags, key=lambda flag: not isinstance(outcome_of(flag), Raises)):
        results.append(judge(flag, once))
        told.send(Shown(_trusted(loader, results[-1]), told.words))
    jitted = once.jitted
    strays = _stray(jitted, task.flags)
    if results and all(result.status == "confirmed" for result in results):
        return Seen(number, results, told.words, strays=strays)
    stage, problem = ("", "") if call.part and call.flags[1:] else _ended(jitted, bool(loader.loads), task)
    if call.target not in ("", "__main__") and not call.target.startswith("::"):
        results = _called_again(loader, call, flags, once, results)
    if jitted.raised is None and not jitted.stopped:
        results = _as_meant(loader, call, flags, watch, results)
    elif not call.part:
        results = _past_refusals(loader, runner(loader, call, 1), flags, once, results)
    return Seen(number, results, told.words, problem, stage, strays)


def _runs(
    loader: Loader,
    run: Callable[[], Any],
    watch: Watches,
    passing: Passing | None = None,
    stopped: Callable[[], Sequence[Raised]] | None = None,
) -> Runs:
    return Runs(run, loader.is_project, watch, lambda: loader.leaked, loader.probes, passing, stopped)


def _called_again(
    loader: Loader, call: Call, flags: list[Flag], once: Runs, results: list[Result]
) -> list[Result]:
    """What shows when a function is called several times."""
    by_number = {result.number: result for result in results}
    again = [flag for flag in flags if _shows_when_repeated(flag, by_number[flag.number], once)]
    if not again:
        return results
    watch = watches(flags)
    several = _runs(loader, runner(loader, call, _CALLS), watch)
    better = {flag.number: _repeated(flag, once, several) for flag in again}
    return [better.get(result.number) or result for result in results]


def _past_refusals(
    loader: Loader, run: Callable[[], Any], flags: list[Flag], once: Runs, results: list[Result]
) -> list[Result]:
    """What stands behind the places where tracing ends: the same run past them."""

    def again(open_flags: list[Flag], passing: Passing) -> Runs:
        return _runs(loader, run, watches(open_flags), passing, once.stopped)

    return past_refusals(Passing(loader.is_project), once, flags, results, again, judge)


def _as_meant(
    loader: Loader, call: Call, flags: list[Flag], watch: Watches, results: list[Result]
) -> list[Result]:
    """What a test that passes shows of modules that are meant to be jitted, if it is they alone that are jitted as well."""
    still_open = {result.number for result in results if result.status in ("missed", "unshown")}
    meant = [flag for flag in flags if flag.meant and flag.number in still_open]
    if not any(isinstance(o := outcome_of(flag), Raises) and not o.later for flag in meant):
        return results
    with jitted_apply() as is_possible:
        if not is_possible:
            return results
        runs = _runs(loader, runner(loader, call, 1), watch)
        shown = {flag.number: judge(flag, runs) for flag in meant if isinstance(outcome_of(flag), Raises)}
    return better(results, shown, "with `apply` jitted")


def _shows_when_repeated(flag: Flag, result: Result, once: Runs) -> bool:
    """Whether calling again may show more: of a line that ran while JAX traced, and as often as without jit."""
    if result.status != "unshown" or not isinstance(outcome_of(flag), RunsOnce):
        return False
    place = (flag.path, flag.line)
    return once.jitted.staged[place] > 0 and once.jitted.lines[place] == once.eager.lines[place]


def _repeated(flag: Flag, once: Runs, several: Runs) -> Result | None:
    """What several calls show that one does not; nothing if the program remembers that it was called before."""
    place = (flag.path, flag.line)
    if several.eager.lines[place] != _CALLS * once.eager.lines[place]:
        return None
    found = judge(flag, several)
    if found.status != "confirmed":
        return None
    return msgspec.structs.replace(found, evidence=f"of {_CALLS} calls, {found.evidence}")


def _ended(seen: Observation, loaded: bool, task: Task) -> tuple[str, str]:
    """The same of a run whose parts may have ended, of which it names what is not there before anything else."""
    if seen.raised is not None or not seen.stopped:
        return ended_at(seen.raised, loaded, task)
    missing = [error for error in seen.stopped if error.kind in _IMPORT_ERRORS]
    return ("import", str(missing[0])) if missing else ended_at(seen.stopped[0], True, task)


def ended_at(error: Raised | None, loaded: bool, task: Task) -> tuple[str, str]:
    """At which stage a run ended with an exception, and with which."""
    if error is None:
        return "", ""
    where = error.place
    if where is None or error.kind in _IMPORT_ERRORS:
        return "" if loaded else "import", str(error)
    said = f"{ENDED_BEFORE}, at line {where[1]} of {os.path.basename(where[0])}: {error}"
    by_a_mistake = any(statement_of(flag).covers(where) for flag in task.flags)
    return "" if loaded or by_a_mistake else "import", said


def judge(flag: Flag, runs: Runs) -> Result:
    """What the runs show of one finding."""
    outcome = outcome_of(flag)
    statement = statement_of(flag)
    shown = evidence(outcome, statement, runs)
    if shown is not None:
        return Result(flag.number, "confirmed", shown)
    seen = runs.jitted
    count = max(seen.lines[place] for place in statement.places)
    if isinstance(outcome, NeverHandles) and not count and any(seen.lines[p] for p in statement.tried_places):
        return Result(flag.number, "unshown", "the lines above ran, and raised nothing with or without jit")
    if not count:
        return Result(flag.number, "missed", "the line did not run")
    if isinstance(outcome, Raises):
        said = _did_not_raise(flag, outcome, statement, runs, count)
    else:
        said = _no_effect(flag, outcome, statement, runs, count)
    if isinstance(said, Result):
        return said
    said = said or f"the line ran {_times(count)}, and the predicted effect did not show"
    return Result(flag.number, "unshown", said)


def _did_not_raise(
    flag: Flag, outcome: Raises, statement: Statement, runs: Runs, count: int
) -> Result | str | None:
    """Why a line that ran may not have raised; that it was refuted is a result."""
    if outcome.later or flag.eager or outcome.spread:
        return None
    seen = runs.jitted
    others = [e for e in seen.errors if e.place is not None and statement.covers(e.place)]
    if others:
        return f"something else on the line raised {others[0]}"[:200]
    unknown = seen.unknown[flag.number]
    told = sys.version_info >= (3, 11)  # which expression of the line it was
    broken = seen.stopped or any(place in seen.broken for place in statement.places)
    if told and unknown and flag.always and not broken:
        said = f"the line ran with traced values {_times(unknown)} and nothing was raised"
        return Result(flag.number, "passed", said)
    return _undecided(flag, seen, count)


def _undecided(flag: Flag, seen: Observation, count: int) -> str | None:
    """Why a line that ran, and raised nothing, refutes nothing."""
    if flag.names and not seen.tracers[flag.number]:
        return f"the line ran {_times(count)}, and none of its values was traced"
    if flag.names and not seen.unknown[flag.number]:
        return f"the line ran {_times(count)}, and not all of its values were traced"
    return None if flag.always else f"the line ran {_times(count)}; whether this part of it did is not known"


def _no_effect(flag: Flag, outcome: Outcome, statement: Statement, runs: Runs, count: int) -> str | None:
    """Why a line that ran may have shown no effect."""
    seen = runs.jitted
    if isinstance(outcome, RunsOnce) and count > 1 and runs.eager.lines[flag.path, flag.line] == count:
        return f"the line ran {_times(count)}, as often as without jit"
    if isinstance(outcome, Retraces) and (made := jitted_at(statement, runs)):
        return made
    if isinstance(outcome, BakesConstant) and seen.tracers[flag.number] and runs.eager.tracers[flag.number]:
        return f"the line ran {_times(count)}, with tracers also where nothing is jitted: there is nothing to compare with"
    if isinstance(outcome, (RunsOnce, BakesConstant)) and not seen.traces:
        return f"the line ran {_times(count)}, outside of any jit: there is nothing to compare it with"
    return None


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _stray(seen: Observation, flags: list[Flag]) -> list[tuple[str, int, str]]:
    """The tracing error that ended a run, if no finding explains it. What the program handles itself is its business."""
    found = []
    for error in [seen.raised] if seen.raised is not None else seen.stopped:
        place = error.place
        if place is None or not error.kind.startswith("jax.errors."):
            continue
        if not any(_explains(flag, error, place, seen) for flag in flags):
            found.append((*place, str(error)[:300]))
    return found


def _explains(flag: Flag, error: Raised, place: Place, seen: Observation) -> bool:
    statement, outcome = statement_of(flag), outcome_of(flag)
    ran = any(seen.lines[line] for line in statement.places)
    later = isinstance(outcome, Raises) and outcome.later and error.kind in outcome.classes
    return statement.covers(place) or (ran and later)


def _words(call: Call, task: Task) -> str:
    name = os.path.basename(task.entry)
    if call.target == "__main__":
        return f"python {name}"
    if call.target.startswith("::"):
        return f"pytest {name}{call.target}"
    if is_document(name) and not call.target:
        return f"all of {name}"
    return f"{call.target}() of {name}" if call.target else f"import of {name}"


def _predicts(flag: Flag, error: Raised) -> bool:
    """Whether an exception that came without any tracing is the predicted one. Where JAX refuses a traced value only,
    it says that the arguments do not fit."""
    outcome = outcome_of(flag)
    if not isinstance(outcome, Raises) or not statement_of(flag).fails(error):
        return False
    needs_no_trace = flag.eager or not any(name.startswith("jax.errors.") for name in outcome.classes)
    return needs_no_trace and outcome.is_meant(error.kind, error.message)


def _is_per_call(flag: Flag) -> bool:
    """Whether an effect shows when the function is called several times, as any caller would."""
    return isinstance(outcome_of(flag), (RunsOnce, BakesConstant))


def _believed(flag: Flag, result: Result, guessed: Collection[str]) -> Result:
    """What goes wrong without tracing, too, says nothing but that the arguments, which were made up, do not fit."""
    if result.status == "confirmed" and set(flag.mentions) & set(guessed):
        return Result(
            flag.number, "unshown", "shown with made-up arguments only, which may be of another kind"
        )
    return result


def _goes_beyond(flag: Flag, seen: Observation) -> bool:
    """Whether a run came to the flagged expression, and what ended it, if anything, was not that."""
    statement = statement_of(flag)
    came = any(seen.lines[place] for place in statement.places)
    ended = seen.raised.place if seen.raised is not None else None
    return came and (ended is None or not statement.covers(ended))


def _search(loader: Loader, number: int, call: Call, flags: list[Flag], task: Task) -> Seen:
    from jitlint.confirm.inputs.search import Wanted, search

    wanted = Wanted(
        watches(flags),
        lambda once, several, guessed: [
            _believed(flag, judge(flag, several if _is_per_call(flag) else once), guessed) for flag in flags
        ],
        lambda error: any(_predicts(flag, error) for flag in flags),
        lambda seen: frozenset(flag.number for flag in flags if _goes_beyond(flag, seen)),
        lambda run, once, results: _past_refusals(loader, run, flags, once, results),
    )
    found = search(loader, call, wanted, task.seconds)
    return Seen(number, found.results, found.inputs, found.problem, found.stage)
