"""Finds arguments for a function by trying, and proves findings with them (layer: ``confirm``). Runs in the worker only.

A try runs the function without jit; the exception it ends with suggests the next try, and tries that get further into
the code are followed first. Bounded in tries and time. When a try runs through, the function is traced with the same
arguments.
"""

from __future__ import annotations

import contextlib
import heapq
import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import msgspec

from jitlint.confirm.inputs.guesses import (
    Guess,
    Path,
    Signature,
    first_guess,
    parse_example,
    parse_recorded,
)
from jitlint.confirm.inputs.kinds import others, variations
from jitlint.confirm.inputs.mutations import mutations, with_words
from jitlint.confirm.inputs.shapes import said_of
from jitlint.confirm.inputs.targets import Target, owners, target_of, why_not_found
from jitlint.confirm.inputs.unknown import NotMade, suggestions
from jitlint.confirm.loading import Loader, tracers_in
from jitlint.confirm.past import goes_past
from jitlint.confirm.protocol import Call, Result
from jitlint.confirm.stand_ins import missing_module
from jitlint.confirm.watch.observe import Observation, Raised, Watches, raised
from jitlint.confirm.watch.passing import Passing
from jitlint.confirm.watch.runs import Runs

_TRIES = 200
_BRANCHES = 24
_CALLS = 3
# Of the time that a call may take; the rest is for loading and tracing.
_SHARE, _UTMOST = 0.6, 0.9
# So many other kinds of made-up values are tried.
_OTHERS = 80


@dataclass(slots=True)
class Found:
    """What a search came to. results: of the best try. inputs: its arguments."""

    results: list[Result] = field(default_factory=list)
    inputs: str = ""
    problem: str = ""
    stage: str = ""


# Of one call, and of several, with the parameters that were made up without any hint.
Judge = Callable[[Runs, Runs, "frozenset[str]"], "list[Result]"]
# What shows behind places where tracing ends: the call, what it did, and what that showed.
Past = Callable[[Callable[[], Any], Runs, "list[Result]"], "list[Result]"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for. watches: the lines of the findings. judge: what runs show of them. proves: whether an exception
        at one of these lines without jit is what was predicted, or the arguments are just unfit. repaired: what a run, and the same with the module loaded
        anew, show of fixes, if it is these that are asked about. reached: the findings that a run without jit went beyond, whatever ended it
    later."""

    watches: Watches
    judge: Judge
    proves: Callable[[Raised], bool]
    reached: Callable[[Observation], frozenset[int]]
    past: Past
    repaired: Callable[[Runs, Callable[[], Any]], list[Result]] | None = None


def search(loader: Loader, call: Call, wanted: Wanted, seconds: float) -> Found:
    """Look for arguments of ``call.target`` with which the findings show."""
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        module, target, problem = None, None, ""
        try:
            if not call.part:
                module = stack.enter_context(loader.loaded())
                target = target_of(module, call)
        except (Exception, SystemExit) as error:  # importing runs any code
            problem = str(raised(error, loader.is_project))
            if loader.task.stub and missing_module(problem):
                return Found(problem=problem, stage="import")
        if target is None or not target.is_at(call):
            # What fails, or gives the name to another function, may stand elsewhere in the module.
            with contextlib.suppress(Exception, SystemExit):
                stack.enter_context(loader.only([call.line], False, False))
                part = stack.enter_context(loader.loaded())
                found = target_of(part, call)
                if found is not None and (target is None or found.is_at(call)):
                    module, target = part, found
        if module is None or (target is None and problem):
            return Found(problem=problem, stage="import")
        if target is None:
            return Found(problem=why_not_found(module, call.target), stage="inputs")
        # What loading took is not the search's; the last tenth is for the answer.
        utmost = began + seconds * _UTMOST
        deadline = min(time.monotonic() + seconds * _SHARE, utmost)
        return _Search(loader, call, wanted, module, target, (deadline, utmost)).run()


class _Waiting:
    """Arguments that wait to be tried: first those that come from where a try got furthest."""

    def __init__(self) -> None:
        self._order = itertools.count()
        self._seen: set[str] = set()
        self._heap: list[tuple[int, int, dict[str, Guess]]] = []

    def add(self, progress: int, guesses: dict[str, Guess], again: bool = False) -> None:
        """Add what was not there yet, or is to be tried ``again``."""
        key = _key(guesses)
        if again or key not in self._seen:
            self._seen.add(key)
            heapq.heappush(self._heap, (-progress, next(self._order), guesses))

    def take(self) -> dict[str, Guess] | None:
        """The next ones; None if there are no more."""
        return heapq.heappop(self._heap)[2] if self._heap else None


class _Search:
    def __init__(
        self,
        loader: Loader,
        call: Call,
        wanted: Wanted,
        module: ModuleType,
        target: Target,
        until: tuple[float, float],
    ) -> None:
        self._loader = loader
        self._call = call
        self._target = target
        self._deadline, self._utmost = until
        self._wanted = wanted
        self._module = module
        self._best: Found | None = None
        self._last = ""
        self._asked: NotMade | None = None
        self._reached: frozenset[int] = frozenset()
        self._believed: set[int] = set()
        self._passing = Passing(loader.is_project)

    def run(self) -> Found:
        try:
            for guesses, fails in self._candidates(self._module):
                if self._prove(guesses, fails):
                    break
        except ValueError as error:
            return Found(problem=str(error), stage="inputs")
        if self._best is not None:
            return self._best
        why = f"; the last one ended with {self._last}" if self._last else ""
        return Found(problem=f"no arguments found for `{self._call.target}`{why}", stage="inputs")

    def _candidates(self, module: ModuleType) -> Iterator[tuple[dict[str, Guess], str]]:
        """Arguments with which the function runs through, best first, or fails as predicted without any tracing, or goes
        beyond what is flagged; and where it fails: nowhere, at what is flagged, or beyond."""
        if self._call.example:
            given, named = parse_example(self._call.example, module)
            yield {**dict(zip(self._target.signature.names, given)), **named}, ""
            return
        waiting = _Waiting()
        for first in self._starts():
            waiting.add(0, first)
        for _ in range(_TRIES):
            guesses = waiting.take()
            if guesses is None or time.monotonic() > self._deadline:
                return
            observed = self._try(guesses)
            error, asked = observed.raised, self._asked
            beyond = self._is_beyond(observed)
            if error is None or beyond or not self._flagged_at(observed) <= self._confirmed():
                yield guesses, self._fails(error, beyond)
            progress = len(observed.lines)
            if error is not None and goes_past(self._passing, error):
                waiting.add(progress, guesses, again=True)
                continue
            for mutated in itertools.islice(self._following(guesses, observed, asked), _BRANCHES):
                waiting.add(progress, mutated)

    def _fails(self, error: Raised | None, beyond: bool) -> str:
        if self._passing.places:
            return "at"  # what goes past a mistake does not say that the arguments fit
        return "" if error is None else "beyond" if beyond else "at"

    def _following(
        self, guesses: dict[str, Guess], observed: Observation, asked: NotMade | None
    ) -> Iterator[dict[str, Guess]]:
        """What to try after a try, the likeliest first."""
        error = observed.raised
        if error is not None:
            self._last = str(error)[:120]
            return suggestions(guesses, asked) if asked is not None else self._changed(guesses, error)
        if self._wanted.reached(observed) or self._wanted.repaired is not None:
            # It ran, and this was not enough: other kinds of arguments may take the other path.
            return iter(())
        return itertools.chain(with_words(guesses, self._call.words), variations(guesses))

    def _changed(self, guesses: dict[str, Guess], error: Raised) -> Iterator[dict[str, Guess]]:
        yield from with_words(guesses, self._call.words)
        yield from mutations(guesses, error)

    def _starts(self) -> Iterator[dict[str, Guess]]:
        """The first arguments to try: recorded ones, then what names and annotations say."""
        signature, owner = self._target.signature, self._target.owner
        start = {
            name: first_guess(name, signature.annotations.get(name), name in self._call.static)
            for name in signature.names
        }
        shapes = {name: said_of(name, self._target.documentation) for name in start}
        told = {
            name: replace(start[name], shape=shape)
            for name, shape in shapes.items()
            if shape is not None and start[name].kind in ("array", "host")
        }
        start.update(told)
        for recorded in map(parse_recorded, self._call.recorded):
            known = {n: g for n, g in recorded.items() if n in signature.names or n in signature.optional}
            yield {**start, **known}
        for instance in owners(owner) if owner is not None else ():
            yield {**start, signature.names[0]: instance}
        if owner is None:
            yield start

    def _flagged_at(self, observed: Observation) -> set[int]:
        """The findings at the line where it failed, without any tracing, as was predicted."""
        error = observed.raised
        if error is None or error.place is None or not self._wanted.proves(error):
            return set()
        return {watch.number for watch in self._wanted.watches.get(error.place, ())}

    def _confirmed(self) -> set[int]:
        shown = self._best.results if self._best is not None else []
        return {result.number for result in shown if result.status == "confirmed"}

    def _is_beyond(self, observed: Observation) -> bool:
        """It went beyond something that is flagged, and that no earlier try has come to."""
        reached = self._wanted.reached(observed)
        fresh = reached - self._reached
        self._reached |= reached
        return bool(fresh)

    def _try(self, guesses: dict[str, Guess]) -> Observation:
        from jitlint.confirm.watch.observe import observe

        self._asked = None
        with self._passing.active(jit=False):
            return observe(
                lambda: self._apply(self._target.plain, guesses), self._loader.is_project, jit=False
            )

    def _prove(self, guesses: dict[str, Guess], fails: str) -> bool:
        """Trace with these arguments; whether every finding is confirmed."""
        made_up = self._guessed(guesses)
        if self._wanted.repaired is not None:
            results = self._wanted.repaired(self._runs(guesses, 1), self._anew(guesses))
            made_up = frozenset()
        else:
            results = self._shown(guesses, made_up if fails == "at" else frozenset())
            if fails or any(map(_is_invented, guesses.values())):
                results = self._independent(results, guesses)
        found = Found(
            [_open(result) for result in results] if made_up else results,
            ", ".join(f"{name}={guess}" for name, guess in guesses.items()),
        )
        if self._best is None or _rank(found) > _rank(self._best):
            self._best = found
        return all(result.status == "confirmed" for result in self._best.results)

    def _shown(self, guesses: dict[str, Guess], made_up: frozenset[str]) -> list[Result]:
        """What a call shows, also behind places where tracing ends."""
        once, several = self._runs(guesses, 1), self._runs(guesses, _CALLS)
        results = self._wanted.judge(once, several, made_up)
        return self._wanted.past(once.run, once, results)

    def _independent(self, results: list[Result], guesses: dict[str, Guess]) -> list[Result]:
        """What shows with made-up values counts if it shows with values of all other kinds, too, that get beyond the place."""
        believed = {r.number for r in results if r.status == "confirmed"} - self._believed
        why = "shown with made-up values of one kind, and not with those of another"
        for other in itertools.islice(others(guesses, self._is_said), _OTHERS):
            if not believed:
                break
            if time.monotonic() > self._utmost:
                believed, why = (
                    set(),
                    "shown with made-up values, and there was no time to try those of other kinds",
                )
                break
            reached = self._wanted.reached(self._try(other)) & believed
            if reached:
                shown = self._shown(other, frozenset())
                believed -= {
                    r.number for r in shown if r.number in reached and r.status not in ("confirmed", "missed")
                }
        self._believed |= believed
        return [
            Result(result.number, "unshown", why)
            if result.status == "confirmed" and result.number not in self._believed
            else result
            for result in results
        ]

    def _is_said(self, name: str) -> bool:
        """Whether it is known what a parameter is: an annotation says so, or it is a reference that a kernel gets."""
        signature = self._target.signature
        if self._target.owner is not None and name == signature.names[0]:
            return False
        is_reference = self._call.transform == "kernel" and name not in signature.by_name
        return is_reference or signature.annotations.get(name) is not None

    def _runs(self, guesses: dict[str, Guess], calls: int) -> Runs:
        return Runs(
            lambda: [self._apply(self._target.traced, guesses) for _ in range(calls)],
            self._loader.is_project,
            self._wanted.watches,
            lambda: tracers_in(self._module),
            self._loader.probes,
        )

    def _anew(self, guesses: dict[str, Guess]) -> Callable[[], Any]:
        """The call, of the function of that name in the module as it is loaded then."""

        def run() -> Any:
            with self._loader.loaded() as module:
                target = target_of(module, msgspec.structs.replace(self._call, line=0))
                if target is None:
                    raise LookupError(f"`{self._call.target}` is gone")
                return [self._apply(target.traced, guesses)]

        return run

    def _guessed(self, guesses: dict[str, Guess]) -> frozenset[str]:
        """The parameters that neither a comment nor an annotation says anything about."""
        if self._call.example:
            return frozenset()
        return frozenset(name for name in guesses if not self._is_said(name))

    def _apply(self, function: Callable[..., Any], guesses: dict[str, Guess]) -> Any:
        made: list[tuple[Path, Any]] = []
        try:
            return self._call_results(_called(function, self._target.signature, guesses, made))
        except NotMade as asked:
            self._asked = asked
            raise
        except AttributeError as error:
            for place, value in made:
                if value is error.obj and guesses[place[0]].at(place[1:]) is not None:
                    self._asked = NotMade(place, "attribute", error.name)
            raise

    def _call_results(self, result: Any) -> Any:
        """A factory answers functions: call those, too."""
        made = [part for part in (result if isinstance(result, tuple) else (result,)) if callable(part)]
        for function in made[:3]:
            if self._is_own(function):
                signature = Signature.of(function)
                hints = signature.annotations
                guesses = {n: first_guess(n, hints.get(n), False) for n in signature.names}
                _called(function, signature, guesses, [])
        return result

    def _is_own(self, function: Any) -> bool:
        code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
        return code is not None and self._loader.is_project(code.co_filename)


def _called(
    function: Callable[..., Any],
    signature: Signature,
    guesses: dict[str, Guess],
    made: list[tuple[Path, Any]],
) -> Any:
    """Call it with new values, which ``made`` gets."""
    values = {name: guess.value((name,), made) for name, guess in guesses.items()}
    by_position = [name for name in signature.names if name not in signature.by_name and name in values]
    unnamed = [values.pop(name) for name in by_position]
    return function(*unnamed, **values)


def _is_invented(guess: Guess) -> bool:
    """Whether it is an object with attributes that were made up as they were asked for."""
    inside = any(part.kind in ("record", "unknown", "partial") for _, part in guess.parts)
    return guess.kind == "partial" or (guess.kind == "instance" and inside)


def _open(result: Result) -> Result:
    """What does not go wrong with arguments that were made up may well do so with others: a number is no mask."""
    if result.status != "passed":
        return result
    why = "nothing was raised with made-up arguments, which may be of another kind"
    return msgspec.structs.replace(result, status="unshown", evidence=why)


def _rank(found: Found) -> tuple[int, int, int]:
    statuses = [result.status for result in found.results]
    return statuses.count("confirmed"), statuses.count("passed"), statuses.count("unshown")


def _key(guesses: dict[str, Guess]) -> str:
    return repr(sorted((name, str(guess)) for name, guess in guesses.items()))
