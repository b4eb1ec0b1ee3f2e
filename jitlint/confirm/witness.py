"""Does what was observed show what a rule predicts? (layer: ``confirm``)

Gets the predicted outcome, the flagged statement and the runs with and without jit; answers a sentence with the
numbers, or None. Runs nothing itself beyond asking for the runs it needs.
"""

from __future__ import annotations

import itertools
import linecache
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jitlint.base.outcome import (
    Advisory,
    BakesConstant,
    Cuts,
    DropsResult,
    IgnoresBounds,
    IgnoresVariable,
    JitsAgain,
    LeavesOut,
    MakesNan,
    MakesPairs,
    Narrows,
    NeverHandles,
    Outcome,
    Raises,
    RepeatsDraw,
    Retraces,
    Retypes,
    RunsInMode,
    RunsOnce,
    StaysLocal,
    StopsSlope,
    Unrolls,
    Unsynced,
    Widens,
)
from jitlint.confirm.draws import repeated_draws, repeats_draw
from jitlint.confirm.statement import Statement
from jitlint.confirm.told import (
    cuts,
    ignores_variable,
    leaves_out,
    makes_nan,
    makes_pairs,
    narrows,
    runs_in_mode,
    somewhere,
    stays_local,
    stops_slope,
    widens,
)
from jitlint.confirm.watch.observe import Function, Observation, Place, Raised, Tick, Trace
from jitlint.confirm.watch.runs import Runs
from jitlint.confirm.watch.spots import DOTTED

# So much of what was printed is shown.
_WIDTH = 80
_CALLED = re.compile(r"<function ([\w.<>]+) at ")
_WAS_TRACED = re.compile(r" at ([^\n]+?):(\d+) (?:traced for|should return) ")
# Python raises the class for many other reasons.
_MADE = re.compile(r"leaked intermediate value was created on line (?P<where>[^\n]*?)\. *$", re.MULTILINE)
_FRAME = re.compile(r"^(?:The leaked [\w ]+ on line )?(/[^\n]+?):(\d+):\d+ \(", re.MULTILINE)
_JAX_SAYS = re.compile(r"abstract array|JAX (type|array)|kernel function in the")
_CLASS = re.compile(r"([\w.]+)\(")
_NO_HASH = re.compile(r"[Nn]on-hashable static")
# From so many traces of the same code on, one speaks of "again and again".
TRACES = 3
# If the program was seen to grow at each of so many turns, the loop is unrolled.
COPIES = 2


def evidence(outcome: Outcome, statement: Statement, runs: Runs) -> str | None:
    """A sentence that shows ``outcome`` at ``statement``, or None if the runs do not show it."""
    return _WITNESSES[type(outcome)](outcome, statement, runs)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _raises(outcome: Raises, statement: Statement, runs: Runs) -> str | None:
    seen = runs.jitted
    for error in [*seen.errors, *([seen.raised] if seen.raised and not seen.errors else [])]:
        if not outcome.is_meant(error.kind, error.message):
            continue
        if outcome.later:
            if _speaks_of(outcome, error, seen, statement):
                return str(error)
        elif statement.fails(error) and _holds(outcome, error, statement):
            return str(error)
    return _leaks(outcome, statement, seen) if outcome.later else None


def _holds(outcome: Raises, error: Raised, statement: Statement) -> bool:
    """Whether the expression had to do with the value that made it fail."""
    if statement.columns is None:
        return True
    if outcome.spread and error.columns is not None and error.columns != statement.columns:
        return statement.number in error.deleted
    return not outcome.traced or error.kind.startswith("jax.errors.") or statement.number in error.holds


def _leaks(outcome: Raises, statement: Statement, seen: Observation) -> str | None:
    """What using a tracer raises that the run has left in a variable of the module."""
    from jitlint.confirm.watch.observe import class_name

    for name, tracer in seen.leaked.items() if _ran(seen, statement) else ():
        try:
            tracer + tracer
        except Exception as problem:  # any class is an answer
            error = Raised(class_name(problem), str(problem), ())
            if outcome.is_meant(error.kind, error.message) and _speaks_of(outcome, error, seen, statement):
                return f"`{name}` holds a tracer when all is over; using it raises {error}"
    return None


def _calls_owner(error: Raised, statement: Statement) -> bool:
    """Whether an error that names no function comes from a line that calls the flagged method."""
    text = linecache.getline(*error.place) if error.place is not None else ""
    return bool(statement.owner) and f".{statement.owner}(" in text


def _speaks_of(outcome: Raises, error: Raised, seen: Observation, statement: Statement) -> bool:
    """Whether an error from elsewhere is of the statement's making, by the functions that its message names."""
    if _NO_HASH.search(error.message):
        return _calls_owner(error, statement)
    return _names_owner(outcome, error, seen, statement)


def _names_owner(outcome: Raises, error: Raised, seen: Observation, statement: Statement) -> bool:
    if "." not in error.kind and not _JAX_SAYS.search(error.message):
        return any(map(statement.covers, error.places))  # raised by what the statement has called
    called = _CALLED.findall(error.message)
    if called and statement.owner:
        # Decorators run when the file is imported; the message names the function then.
        return any(name.rpartition(".")[2] == statement.owner for name in called)
    if not _ran(seen, statement):
        return False
    traced = {(path, int(line)) for path, line in _WAS_TRACED.findall(error.message)}
    if "." not in error.kind:
        # What a function returns is its own: not that of a function around it.
        inner = seen.inner.get(statement.number, set())
        return bool(traced) and (not inner or bool(traced & inner))
    around = seen.around.get(statement.number, set())
    if traced and around and not traced & around and not any(map(statement.covers, traced)):
        return False
    return _left(error, seen, statement)


def _left(error: Raised, seen: Observation, statement: Statement) -> bool:
    """Whether the tracer that an error speaks of is one that the statement had, or made."""
    made = _MADE.search(error.message)
    if made is None or statement.columns is None:
        return True
    frames = {(path, int(line)) for path, line in _FRAME.findall(error.message)}
    if any(map(statement.covers, frames)):
        return True
    return made["where"].strip() in seen.origins.get(statement.number, set())


def _ran(seen: Observation, statement: Statement) -> int:
    return max(seen.lines[place] for place in statement.places)


def _ended_alike(runs: Runs) -> bool:
    """Whether the same parts of a run ended early with jit and without; what others did, or left behind, differs for that."""
    ended = [[(error.kind, error.place) for error in seen.stopped] for seen in (runs.jitted, runs.eager)]
    return ended[0] == ended[1]


def _runs_once(outcome: RunsOnce, statement: Statement, runs: Runs) -> str | None:
    if not statement.always:
        return None  # that the line ran does not say that this ran
    if not _ended_alike(runs):
        return None
    for place in statement.places:
        jitted = runs.jitted.lines[place]
        if jitted and runs.jitted.staged[place] and jitted < (eager := runs.eager.lines[place]):
            return f"line {place[1]} ran {_times(jitted)}; without jit it runs {_times(eager)}"
    return None


def _bakes_constant(outcome: BakesConstant, statement: Statement, runs: Runs) -> str | None:
    if not _ran(runs.jitted, statement):
        return None
    if _is_constant(statement, runs) or not _ended_alike(runs):
        return None
    for seen, other in ((runs.jitted, runs.eager), (runs.eager, runs.jitted)):
        # An exception from elsewhere says nothing about this line, except an assertion about what it made.
        if seen.raised is not None and not statement.on(seen.raised.places):
            asserts = (
                seen.raised.kind == "AssertionError"
                and other.raised is None
                and seen.raised.place is not None
            )
            if not asserts or not _is_seen_to_vary(statement, runs) or seen.raised.place is None:
                return None
            words = ("fails with jit and holds", "holds with jit and fails")[seen is runs.eager]
            return f"the assertion at line {seen.raised.place[1]} {words} without"
    found = results_differ(runs)
    return f"the results differ: {found}" if found else None


def _is_constant(statement: Statement, runs: Runs) -> bool:
    """Whether the expression had the same value at all times, so that another one must have made the difference."""
    values = [seen.values.get(statement.number, {None}) for seen in (runs.jitted, runs.eager)]
    return len(values[0] | values[1]) == 1 and None not in values[0]


def _is_seen_to_vary(statement: Statement, runs: Runs) -> bool:
    """Whether the expression was seen to have several values without jit."""
    values = runs.eager.values.get(statement.number, {None})
    return len(values) > 1 and None not in values


def results_differ(runs: Runs) -> str | None:
    """How the answers with and without jit differ; None if they agree.

    An answer that is another one at every run (chance, time) proves nothing, except when the parts of a list are
    equal with jit and are not without.
    """
    found = _answers_differ(runs.jitted, runs.eager)
    if found is None or _answers_differ(runs.eager, runs.eager_again()) is None:
        return found
    return found if _distinct(runs.jitted.value) < _distinct(runs.eager.value) else None


def _distinct(value: Any) -> int:
    from jitlint.confirm.watch.compare import short

    return len({short(part, 1000) for part in value}) if isinstance(value, (list, tuple)) else 0


def _answers_differ(one: Observation, other: Observation) -> str | None:
    from jitlint.confirm.watch.compare import difference, same_text, short

    if one.raised is not None or other.raised is not None:
        kinds = [seen.raised.kind if seen.raised else "" for seen in (one, other)]
        if kinds[0] == kinds[1]:
            return None
        said = [str(seen.raised) if seen.raised else short(seen.value) for seen in (one, other)]
        return f"{said[0]} with jit, {said[1]} without"
    found = difference(one.value, other.value)
    for line, text in one.printed.items() if found is None else ():
        if line in other.printed and not same_text(text, other.printed[line]):
            said = [" ".join(seen.printed[line].split())[:_WIDTH] for seen in (one, other)]
            return f"line {line} printed `{said[0]}` with jit, `{said[1]}` without"
    return found


def _retraces(outcome: Retraces, statement: Statement, runs: Runs) -> str | None:
    seen = runs.jitted
    by_function: dict[Function, list[Trace]] = defaultdict(list)
    for trace in seen.traces:
        called, made = any(map(statement.is_at, trace.stack[:1])), any(map(statement.is_itself, trace.maker))
        if called or made or _is_of(trace, seen, statement):
            by_function[trace.function].append(trace)
    for function, traces in sorted(by_function.items(), key=lambda item: -len(item[1])):
        if len(traces) >= TRACES and _is_why(outcome, traces, seen, statement):
            built = seen.built[function.name]
            compiled = f" and compiled {_times(built)}" if 1 < built <= len(traces) else ""
            return f"`{function.name}` was traced {len(traces)} times{compiled}"
    return _compiled_again(by_function, seen, statement) if outcome.why == "again" else None


def _retypes(outcome: Retypes, statement: Statement, runs: Runs) -> str | None:
    if not _ran(runs.jitted, statement):
        return None
    if outcome.called:
        own = [trace for trace in runs.jitted.traces if any(map(statement.is_at, trace.stack[:1]))]
        return _types_differ(own, "")
    start = statement.columns[1] if statement.columns is not None else 0
    made = _CLASS.search(linecache.getline(statement.path, statement.line), start)
    if made is None:
        return None
    return _types_differ(runs.jitted.traces, made[1].rpartition(".")[2] + ".")


def _types_differ(traces: Sequence[Trace], owner: str) -> str | None:
    """Two traces of one function, for other types of an argument or of a field. owner: how its name begins."""
    for one, other in itertools.combinations(traces, 2):
        before, after = dict(one.types), dict(other.types)
        differing = [name for name in sorted(before.keys() & after.keys()) if before[name] != after[name]]
        if one.function == other.function and one.static == other.static and len(before) == len(after):
            for name in differing:
                if name.startswith(owner) and _shape(before[name]) == _shape(after[name]):
                    return f"`{one.function.name}` was traced for `{name}` as {before[name]} and as {after[name]}"
    return None


def _shape(text: str) -> str:
    """The shape in a type such as `float32[3] weak`."""
    return text[text.index("[") :].removesuffix(" weak")


def _compiled_again(traced: Iterable[Function], seen: Observation, statement: Statement) -> str | None:
    """What JAX itself counts: a function inside two transforms is traced once and compiled every time, and a library's
    own is not seen at all."""
    jitted = Counter(jit.name for jit in seen.jits if any(map(statement.is_at, jit.stack[:1])))
    named = Counter(event.name for event in seen.compiled if jitted[event.name] >= TRACES)
    known = {function.name for function in traced}
    for name, count in named.most_common(1):
        if count >= TRACES and (name not in known or _is_twice_made(name, seen)):
            return f"`{name}` was traced {count} times"
    return None


def _is_twice_made(name: str, seen: Observation) -> bool:
    """Whether JAX was not seen to trace the function of that name anew."""
    return sum(trace.function.name == name for trace in seen.traces) < TRACES


def _is_of(trace: Trace, seen: Observation, statement: Statement) -> bool:
    """Whether the statement is the definition that made the traced function, as often as it was traced."""
    begins = (trace.function.path, trace.function.line)
    return bool(statement.owner) and statement.covers(begins) and _ran(seen, statement) >= TRACES


def _is_why(outcome: Retraces, traces: list[Trace], seen: Observation, statement: Statement) -> bool:
    """Whether the traces are there for the predicted reason."""
    if outcome.why == "again":
        return len(traces) - len({trace.shapes for trace in traces}) >= TRACES - 1
    told = {"static": ("static",), "metadata": ("static", "shapes")}.get(outcome.why, ("shapes",))
    kinds = {tuple(getattr(trace, field) for field in told) for trace in traces}
    if len(kinds) < TRACES:
        return False
    varied = seen.varied.get(statement.number, {}).values()
    if statement.columns is None or statement.calls:
        return True
    return any(len(values) > 1 or None in values for values in varied)


def jitted_at(statement: Statement, runs: Runs) -> str | None:
    """How often the statement jitted the same function, and how often JAX traced that."""
    seen = runs.jitted
    made = Counter(
        (jit.function, jit.name)
        for jit in seen.jits
        if any(map(statement.is_at, jit.stack[:1]))
        and jit.function is not None
        and runs.watched(jit.function.path)
    )
    for (function, name), count in made.most_common(1):
        traced = sum(trace.function == function for trace in seen.traces)
        return f"`{name}` was jitted {_times(count)} here, and traced {_times(traced)}"
    return None


def _jits_again(outcome: JitsAgain, statement: Statement, runs: Runs) -> str | None:
    seen = runs.jitted
    made = Counter(
        jit.function for jit in seen.jits if any(map(statement.is_at, jit.stack)) and jit.function is not None
    )
    for function, count in made.most_common(1):
        traced = sum(trace.function == function for trace in seen.traces)
        if count >= TRACES and 0 < traced < count:
            built = seen.built[function.name]
            compiled = f", compiled {_times(built)}" if 0 < built < count else ""
            said = f"`{function.name}` was jitted {_times(count)} here, traced {_times(traced)}{compiled}"
            return f"{said}: JAX found its program again"
    return None


def _never_handles(outcome: NeverHandles, statement: Statement, runs: Runs) -> str | None:
    jitted = runs.jitted
    guarded = set(statement.tried_places)
    if not any(jitted.lines[place] for place in guarded) or _ran(jitted, statement):
        return None
    if any(guarded & set(error.places) for error in jitted.errors) or not _ran(runs.plain, statement):
        return None
    first, last = statement.handler
    if first > statement.last and not any(
        runs.plain.lines[statement.path, n] for n in range(first, last + 1)
    ):
        return None  # another handler took it
    for error in runs.plain.errors:
        here = guarded & set(error.places)
        if here:
            line = min(here)[1]
            return f"with Python's own values line {line} raises {error}; with jit it ran, and raised nothing"
    return None


def _unrolls(outcome: Unrolls, statement: Statement, runs: Runs) -> str | None:
    for sizes in runs.jitted.sizes.get(statement.number, {}).values():
        added = [after - before for before, after in itertools.pairwise(sizes) if after > before]
        if len(added) >= COPIES and 2 * len(added) >= len(sizes) - 1:
            each = f"{min(added)}" if min(added) == max(added) else f"{min(added)} to {max(added)}"
            return (
                f"the loop at line {statement.line} took {len(added)} turns while JAX traced, and each of them added"
                f" {each} equation{'' if each == '1' else 's'} to the program"
            )
    return None


def _ignores_bounds(outcome: IgnoresBounds, statement: Statement, runs: Runs) -> str | None:
    for seen in (runs.eager, runs.jitted):
        for access in seen.out_of_bounds:
            if statement.is_at(access.stack[0]):
                return f"JAX answered; NumPy raises IndexError: {access.message}"
    return None


def _drops_result(outcome: DropsResult, statement: Statement, runs: Runs) -> str | None:
    for drop in [*runs.jitted.dropped, *runs.eager.dropped]:
        if statement.is_at(drop.spot):
            return f"`{drop.name}` made a new array at line {drop.spot.line}, and nothing read it"
    return None


def _unsynced(outcome: Unsynced, statement: Statement, runs: Runs) -> str | None:
    started: Tick | None = None
    waited = False
    for tick in runs.jitted.ticks:
        if tick.kind == "wait":
            waited = True
            continue
        if started is not None and any(map(statement.is_at, tick.stack)):
            first, last = started.stack[0].line, tick.stack[0].line
            between = f"between the clock readings at line{f's {first} and' if first != last else ''} {last}"
            fresh = [name for name, made in tick.pending.items() if made not in started.known]
            if not waited and (fresh or _worked(started, tick)):
                return f"nothing waited for a result {between}"
            if fresh:
                return f"nothing waited for `{fresh[0]}` {between}"
        started, waited = tick, False
    return None


def _worked(started: Tick, ended: Tick) -> bool:
    """Whether JAX was given something to do between two readings of a clock."""
    if ended.made > started.made:
        return True
    ran = {place for place, count in ended.lines.items() if count > started.lines.get(place, 0)}
    # The line of the first reading is still running when the clock is read.
    ran -= {started.stack[0][:2]} - {ended.stack[0][:2]}
    words = {word for place in ran for word in DOTTED.findall(linecache.getline(*place))}
    return bool(words & ended.compiled)


def _advisory(outcome: Advisory, statement: Statement, runs: Runs) -> str | None:
    return f"line {statement.line} ran" if _ran(runs.jitted, statement) else None


_WITNESSES: dict[type, Callable[[Any, Statement, Runs], str | None]] = {
    Raises: _raises,
    RunsOnce: _runs_once,
    BakesConstant: _bakes_constant,
    Retraces: _retraces,
    Retypes: _retypes,
    JitsAgain: _jits_again,
    NeverHandles: _never_handles,
    Unrolls: _unrolls,
    RepeatsDraw: repeats_draw,
    IgnoresBounds: _ignores_bounds,
    DropsResult: _drops_result,
    LeavesOut: leaves_out,
    MakesNan: makes_nan,
    Narrows: narrows,
    Widens: widens,
    Cuts: cuts,
    StopsSlope: stops_slope,
    IgnoresVariable: ignores_variable,
    MakesPairs: makes_pairs,
    StaysLocal: stays_local,
    RunsInMode: runs_in_mode,
    Unsynced: _unsynced,
    Advisory: _advisory,
}


def incident(outcome: Outcome, runs: Runs) -> str | None:
    """What a program that should be free of ``outcome`` does all the same; None if it is clean."""
    if runs.jitted.raised is not None:
        return str(runs.jitted.raised)
    if isinstance(outcome, (RunsOnce, BakesConstant)):
        return results_differ(runs)
    if isinstance(outcome, Retraces):
        counts: Counter[tuple[Function, Place]] = Counter(
            (trace.function, trace.stack[0][:2])
            for trace in runs.jitted.traces
            if trace.depth == 1 and trace.stack
        )
        for (function, place), count in counts.most_common(1):
            if count >= TRACES:
                return f"line {place[1]} traced `{function.name}` {count} times"
    if isinstance(outcome, RepeatsDraw):
        for earlier, later in repeated_draws(runs.eager):
            return f"lines {earlier.stack[0].line} and {later.stack[0].line} consume the same key"
    if isinstance(outcome, (Cuts, MakesNan, Narrows, StopsSlope, Widens)):
        return somewhere(outcome, runs)
    if isinstance(outcome, IgnoresBounds):
        for access in [*runs.eager.out_of_bounds, *runs.jitted.out_of_bounds]:
            return f"line {access.stack[0][1]}: {access.message}"
    return None
