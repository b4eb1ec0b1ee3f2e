"""Does what was observed show what a rule predicts? (layer: ``confirm``)

Gets the predicted outcome, the flagged statement and the runs with and without jit; answers a sentence with the
numbers, or None. Runs nothing itself beyond asking for the runs it needs.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from jitlint.base.outcome import (
    Advisory,
    BakesConstant,
    DropsResult,
    IgnoresBounds,
    JitsAgain,
    NeverHandles,
    Outcome,
    Raises,
    RepeatsDraw,
    Retraces,
    RunsOnce,
    Unrolls,
    Unsynced,
)
from jitlint.confirm.observe import Draw, Function, Observation, Place, Raised, Runs, Tick

# So much of what was printed is shown.
_WIDTH = 80
_CALLED = re.compile(r"<function ([\w.<>]+) at ")
_WAS_TRACED = re.compile(r" at ([^\n]+?):(\d+) traced for ")
# Python raises the class for many other reasons.
_JAX_SAYS = re.compile(r"abstract array|JAX (type|array)")
# From so many traces of the same code on, one speaks of "again and again".
TRACES = 3
# A loop of fewer turns is no unrolled loop, if nothing but the whole program's size is known ...
TURNS = 8
# ... and if it was seen to grow at each of so many turns, it is one.
COPIES = 2


@dataclass(frozen=True, slots=True)
class Statement:
    """The flagged statement: the line of the finding, and the first and last line around it.

    owner: the function or class that a flagged decorator belongs to, or "". number: of the finding. tried: the lines
    that a flagged handler guards.
    """

    path: str
    line: int
    first: int
    last: int
    owner: str = ""
    number: int = -1
    tried: tuple[int, int] = (0, 0)

    def covers(self, place: Place) -> bool:
        """Whether a place lies in the statement."""
        return place[0] == self.path and self.first <= place[1] <= self.last

    def on(self, stack: Iterable[Place]) -> bool:
        """Whether one of the places lies in the statement."""
        return any(self.covers(place) for place in stack)

    @property
    def places(self) -> list[Place]:
        """Its places, the flagged line first."""
        others = [(self.path, line) for line in range(self.first, self.last + 1) if line != self.line]
        return [(self.path, self.line), *others]

    @property
    def tried_places(self) -> list[Place]:
        """The places that a flagged handler guards."""
        first, last = self.tried
        return [(self.path, line) for line in range(first, last + 1)] if first else []


def evidence(outcome: Outcome, statement: Statement, runs: Runs) -> str | None:
    """A sentence that shows ``outcome`` at ``statement``, or None if the runs do not show it."""
    return _WITNESSES[type(outcome)](outcome, statement, runs)


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _raises(outcome: Raises, statement: Statement, runs: Runs) -> str | None:
    seen = runs.jitted
    for error in [*([seen.raised] if seen.raised else []), *seen.errors]:
        if error.kind not in outcome.classes:
            continue
        if outcome.later:
            if _speaks_of(error, seen, statement):
                return str(error)
        elif error.place is not None and statement.covers(error.place):
            return str(error)
    return _leaks(outcome, statement, seen) if outcome.later else None


def _leaks(outcome: Raises, statement: Statement, seen: Observation) -> str | None:
    """What using a tracer raises that the run has left in a variable of the module."""
    from jitlint.confirm.observe import class_name

    for name, tracer in seen.leaked.items() if _ran(seen, statement) else ():
        try:
            tracer + tracer
        except Exception as problem:  # any class is an answer
            error = Raised(class_name(problem), str(problem), ())
            if error.kind in outcome.classes and _speaks_of(error, seen, statement):
                return f"`{name}` holds a tracer when all is over; using it raises {error}"
    return None


def _speaks_of(error: Raised, seen: Observation, statement: Statement) -> bool:
    """Whether an error from elsewhere is of the statement's making, by the functions that its message names."""
    if "." not in error.kind and not _JAX_SAYS.search(error.message):
        return False
    called = _CALLED.findall(error.message)
    if called and statement.owner:
        # Decorators run when the file is imported; the message names the function then.
        return any(name.rpartition(".")[2] == statement.owner for name in called)
    if not _ran(seen, statement):
        return False
    traced = {(path, int(line)) for path, line in _WAS_TRACED.findall(error.message)}
    around = seen.around.get(statement.number, set())
    return not traced or not around or bool(traced & around) or any(map(statement.covers, traced))


def _ran(seen: Observation, statement: Statement) -> int:
    return max(seen.lines[place] for place in statement.places)


def _runs_once(outcome: RunsOnce, statement: Statement, runs: Runs) -> str | None:
    if not _ran(runs.jitted, statement):
        return None
    for place in statement.places:
        jitted, eager = runs.jitted.lines[place], runs.eager.lines[place]
        if 0 < jitted < eager:
            return f"line {place[1]} ran {_times(jitted)}; without jit it runs {_times(eager)}"
    return None


def _bakes_constant(outcome: BakesConstant, statement: Statement, runs: Runs) -> str | None:
    if not _ran(runs.jitted, statement):
        return None
    for seen in (runs.jitted, runs.eager):
        # An exception from elsewhere says nothing about this line.
        if seen.raised is not None and not statement.on(seen.raised.places):
            return None
    if _is_constant(statement, runs):
        return None
    found = results_differ(runs)
    return f"the results differ: {found}" if found else None


def _is_constant(statement: Statement, runs: Runs) -> bool:
    """Whether the statement read the same at all times, so that another one must have made the difference."""
    values = [seen.values.get(statement.number, {None}) for seen in (runs.jitted, runs.eager)]
    return len(values[0] | values[1]) == 1 and None not in values[0]


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
    from jitlint.confirm.compare import short

    return len({short(part, 1000) for part in value}) if isinstance(value, (list, tuple)) else 0


def _answers_differ(one: Observation, other: Observation) -> str | None:
    from jitlint.confirm.compare import difference, same_text, short

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
    made = [jit for jit in seen.jits if statement.on(jit.stack[:1])]
    counts = Counter(
        trace.function
        for trace in seen.traces
        if statement.on(trace.stack)
        or statement.on(trace.maker)
        or (_ran(seen, statement) >= TRACES and statement.covers((trace.function.path, trace.function.line)))
    )
    for function, count in counts.most_common(1):
        if count >= TRACES:
            built = seen.built[function.name]
            compiled = f" and compiled {_times(built)}" if 1 < built <= count else ""
            return f"`{function.name}` was traced {count} times{compiled}"
    # A function inside two transforms is traced once and compiled every time; JAX's own count has it.
    names = {jit.name for jit in made}
    named = Counter(event.name for event in seen.compiled if event.name in names)
    for name, count in named.most_common(1):
        if count >= TRACES:
            return f"`{name}` was traced {count} times"
    return None


def jitted_at(statement: Statement, runs: Runs) -> str | None:
    """How often the statement jitted the same function, and how often JAX traced that."""
    seen = runs.jitted
    made = Counter(
        (jit.function, jit.name)
        for jit in seen.jits
        if statement.on(jit.stack[:1]) and jit.function is not None and runs.watched(jit.function.path)
    )
    for (function, name), count in made.most_common(1):
        traced = sum(trace.function == function for trace in seen.traces)
        return f"`{name}` was jitted {_times(count)} here, and traced {_times(traced)}"
    return None


def _jits_again(outcome: JitsAgain, statement: Statement, runs: Runs) -> str | None:
    seen = runs.jitted
    made = Counter(jit.function for jit in seen.jits if statement.on(jit.stack) and jit.function is not None)
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
    for error in runs.plain.errors:
        here = guarded & set(error.places)
        if here:
            line = min(here)[1]
            return f"with Python's own values line {line} raises {error}; with jit it ran, and raised nothing"
    return None


def _unrolls(outcome: Unrolls, statement: Statement, runs: Runs) -> str | None:
    from jitlint.confirm.compare import equations, jaxprs

    for sizes in runs.jitted.sizes.get(statement.number, {}).values():
        added = [after - before for before, after in itertools.pairwise(sizes) if after > before]
        if len(added) >= COPIES and 2 * len(added) >= len(sizes) - 1:
            each = f"{min(added)}" if min(added) == max(added) else f"{min(added)} to {max(added)}"
            return (
                f"the loop at line {statement.line} took {len(added)} turns while JAX traced, and each of them added"
                f" {each} equation{'' if each == '1' else 's'} to the program"
            )
    turns = _ran(runs.jitted, statement)
    sizes = [equations(jaxpr) for jaxpr in jaxprs(runs.jitted.value)]
    if turns >= TURNS and sizes and max(sizes) >= turns - 1:
        return f"the loop at line {statement.line} took {turns - 1} turns while JAX traced: {max(sizes)} equations"
    return None


def repeated_draws(seen: Observation) -> list[tuple[Draw, Draw]]:
    """Pairs of draws from equal keys: the first one, and each later one."""
    first: dict[bytes, Draw] = {}
    pairs = []
    for draw in seen.draws:
        earlier = first.setdefault(draw.data, draw)
        if earlier is not draw:
            pairs.append((earlier, draw))
    return pairs


def _repeats_draw(outcome: RepeatsDraw, statement: Statement, runs: Runs) -> str | None:
    # Keys that are traced have no data: those are seen without jit only.
    pairs = (pair for jit in (True, False) for pair in repeated_draws(runs.jitted if jit else runs.eager))
    for earlier, later in pairs:
        if statement.on(later.stack):
            where = "the same line" if earlier.stack[0] == later.stack[0] else f"line {earlier.stack[0][1]}"
            return f"`{later.name}` consumed a key that `{earlier.name}` had consumed at {where}"
    for seen in (runs.jitted, runs.eager):
        made = {data for data, place in seen.keys.items() if statement.covers(place)}
        for earlier, later in repeated_draws(seen) if made else ():
            if later.data in made:
                by = [f"by `{draw.name}` at line {draw.stack[0][1]}" for draw in (earlier, later)]
                return (
                    f"the key made here was consumed {by[0]} and {by[1] if by[0] != by[1] else 'again there'}"
                )
    return None


def _ignores_bounds(outcome: IgnoresBounds, statement: Statement, runs: Runs) -> str | None:
    for seen in (runs.eager, runs.jitted):
        for access in seen.out_of_bounds:
            if statement.covers(access.stack[0]):
                return f"JAX answered; NumPy raises IndexError: {access.message}"
    return None


def _drops_result(outcome: DropsResult, statement: Statement, runs: Runs) -> str | None:
    for drop in [*runs.jitted.dropped, *runs.eager.dropped]:
        if statement.covers(drop.place):
            return f"`{drop.name}` made a new array at line {drop.place[1]}, and nothing read it"
    return None


def _unsynced(outcome: Unsynced, statement: Statement, runs: Runs) -> str | None:
    started: Tick | None = None
    waited = False
    for tick in runs.jitted.ticks:
        if tick.kind == "wait":
            waited = True
            continue
        if started is not None and statement.on(tick.stack):
            first, last = started.stack[0][1], tick.stack[0][1]
            between = f"between the clock readings at line{f's {first} and' if first != last else ''} {last}"
            fresh = [name for name, made in tick.pending.items() if made not in started.known]
            if not waited:
                return f"nothing waited for a result {between}"
            if fresh:
                return f"nothing waited for `{fresh[0]}` {between}"
        started, waited = tick, False
    return None


def _advisory(outcome: Advisory, statement: Statement, runs: Runs) -> str | None:
    return f"line {statement.line} ran" if _ran(runs.jitted, statement) else None


_WITNESSES: dict[type, Callable[[Any, Statement, Runs], str | None]] = {
    Raises: _raises,
    RunsOnce: _runs_once,
    BakesConstant: _bakes_constant,
    Retraces: _retraces,
    JitsAgain: _jits_again,
    NeverHandles: _never_handles,
    Unrolls: _unrolls,
    RepeatsDraw: _repeats_draw,
    IgnoresBounds: _ignores_bounds,
    DropsResult: _drops_result,
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
            (trace.function, trace.stack[0])
            for trace in runs.jitted.traces
            if trace.depth == 1 and trace.stack
        )
        for (function, place), count in counts.most_common(1):
            if count >= TRACES:
                return f"line {place[1]} traced `{function.name}` {count} times"
    if isinstance(outcome, RepeatsDraw):
        for earlier, later in repeated_draws(runs.eager):
            return f"lines {earlier.stack[0][1]} and {later.stack[0][1]} consume the same key"
    if isinstance(outcome, IgnoresBounds):
        for access in [*runs.eager.out_of_bounds, *runs.jitted.out_of_bounds]:
            return f"line {access.stack[0][1]}: {access.message}"
    return None
