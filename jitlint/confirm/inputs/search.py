"""Finds arguments for a function by trying, and proves findings with them (layer: ``confirm``). Runs in the worker only.

A try runs the function without jit; the exception it ends with suggests the next try, and tries that get further into
the code are followed first. Bounded in tries and time. When a try runs through, the function is traced with the same
arguments.
"""

from __future__ import annotations

import contextlib
import gc
import heapq
import inspect
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

import jax
import msgspec

from jitlint.confirm.inputs.guesses import (
    Guess,
    Signature,
    first_guess,
    instance_of,
    parse_example,
    parse_recorded,
)
from jitlint.confirm.inputs.mutations import mutations
from jitlint.confirm.loading import Loader, tracers_in
from jitlint.confirm.protocol import Call, Result
from jitlint.confirm.stand_ins import missing_module
from jitlint.confirm.watch.observe import Observation, Raised, Watches, raised
from jitlint.confirm.watch.runs import Runs

_TRIES = 80
_BRANCHES = 24
_CALLS = 3
# Of the time that a call may take; the rest is for loading and tracing.
_SHARE = 0.6


@dataclass(slots=True)
class Found:
    """What a search came to. results: of the best try. inputs: its arguments."""

    results: list[Result] = field(default_factory=list)
    inputs: str = ""
    problem: str = ""
    stage: str = ""


@dataclass(slots=True)
class _Target:
    """What to call. plain: to run without jit. traced: the same as the program would trace it."""

    plain: Callable[..., Any]
    traced: Callable[..., Any]
    signature: Signature

    def is_at(self, call: Call) -> bool:
        """Whether it is the function that is written where the call says; True for what has no place."""
        code = getattr(inspect.unwrap(self.plain), "__code__", None)
        return code is None or not call.line or code.co_firstlineno == call.line


# Of one call, and of several, with the parameters that were made up without any hint.
Judge = Callable[[Runs, Runs, "frozenset[str]"], "list[Result]"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is looked for. watches: the lines of the findings. judge: what runs show of them. proves: whether an exception
    at one of these lines without jit is what was predicted, or the arguments are just unfit. repaired: what a run, and the same with the module loaded
    anew, show of fixes, if it is these that are asked about."""

    watches: Watches
    judge: Judge
    proves: Callable[[Raised], bool]
    repaired: Callable[[Runs, Callable[[], Any]], list[Result]] | None = None


def search(loader: Loader, call: Call, wanted: Wanted, seconds: float) -> Found:
    """Look for arguments of ``call.target`` with which the findings show."""
    deadline = time.monotonic() + seconds * _SHARE
    with contextlib.ExitStack() as stack:
        module, target, problem = None, None, ""
        try:
            if not call.part:
                module = stack.enter_context(loader.loaded())
                target = _target(module, call)
        except (Exception, SystemExit) as error:  # importing runs any code
            problem = str(raised(error, loader.is_project))
            if loader.task.stub and missing_module(problem):
                return Found(problem=problem, stage="import")
        if target is None or not target.is_at(call):
            # What fails, or gives the name to another function, may stand elsewhere in the module.
            with contextlib.suppress(Exception, SystemExit):
                stack.enter_context(loader.only([call.line], False, False))
                part = stack.enter_context(loader.loaded())
                found = _target(part, call)
                if found is not None and (target is None or found.is_at(call)):
                    module, target = part, found
        if module is None or (target is None and problem):
            return Found(problem=problem, stage="import")
        if target is None:
            return Found(problem=_why_not_found(module, call.target), stage="inputs")
        return _Search(loader, call, wanted, module, target, deadline).run()


class _Search:
    def __init__(
        self,
        loader: Loader,
        call: Call,
        wanted: Wanted,
        module: ModuleType,
        target: _Target,
        deadline: float,
    ) -> None:
        self._loader = loader
        self._call = call
        self._target = target
        self._deadline = deadline
        self._wanted = wanted
        self._module = module
        self._best: Found | None = None
        self._last = ""

    def run(self) -> Found:
        try:
            for guesses, ran in self._candidates(self._module):
                if self._prove(guesses, ran):
                    break
        except ValueError as error:
            return Found(problem=str(error), stage="inputs")
        if self._best is not None:
            return self._best
        why = f"; the last one ended with {self._last}" if self._last else ""
        return Found(problem=f"no arguments found for `{self._call.target}`{why}", stage="inputs")

    def _candidates(self, module: ModuleType) -> Iterator[tuple[dict[str, Guess], bool]]:
        """Arguments with which the function runs through, best first, or fails as predicted without any tracing; and
        whether it ran."""
        if self._call.example:
            given, named = parse_example(self._call.example, module)
            yield {**dict(zip(self._target.signature.names, given)), **named}, True
            return
        order = itertools.count()
        seen: set[str] = set()
        waiting: list[tuple[int, int, dict[str, Guess]]] = []
        for first in self._starts():
            if _key(first) not in seen:
                seen.add(_key(first))
                waiting.append((0, next(order), first))
        for _ in range(_TRIES):
            if not waiting or time.monotonic() > self._deadline:
                return
            guesses = heapq.heappop(waiting)[2]
            observed = self._try(guesses)
            if observed.raised is None or self._is_at_flag(observed):
                yield guesses, observed.raised is None
                if observed.raised is None:
                    # It ran, and this was not enough: other kinds of arguments may take the other path.
                    continue
            self._last = str(observed.raised)[:120]
            progress = -len(observed.lines)
            assert observed.raised is not None
            for mutated in itertools.islice(mutations(guesses, observed.raised), _BRANCHES):
                if _key(mutated) not in seen:
                    seen.add(_key(mutated))
                    heapq.heappush(waiting, (progress, next(order), mutated))

    def _starts(self) -> Iterator[dict[str, Guess]]:
        """The first arguments to try: recorded ones, then what names and annotations say."""
        signature = self._target.signature
        start = {
            name: first_guess(name, signature.annotations.get(name), name in self._call.static)
            for name in signature.names
        }
        for recorded in map(parse_recorded, self._call.recorded):
            known = {n: g for n, g in recorded.items() if n in signature.names or n in signature.optional}
            yield {**start, **known}
        yield start

    def _is_at_flag(self, observed: Observation) -> bool:
        """It failed at the flagged line, without any tracing, as was predicted."""
        error = observed.raised
        return error is not None and error.place in self._wanted.watches and self._wanted.proves(error)

    def _try(self, guesses: dict[str, Guess]) -> Observation:
        from jitlint.confirm.watch.observe import observe

        return observe(lambda: self._apply(self._target.plain, guesses), self._loader.is_project, jit=False)

    def _prove(self, guesses: dict[str, Guess], ran: bool) -> bool:
        """Trace with these arguments; whether every finding is confirmed."""
        once, several = self._runs(guesses, 1), self._runs(guesses, _CALLS)
        made_up = self._guessed(guesses)
        if self._wanted.repaired is not None:
            results, made_up = self._wanted.repaired(once, self._anew(guesses)), frozenset()
        else:
            results = self._wanted.judge(once, several, frozenset() if ran else made_up)
        found = Found(
            [_open(result) for result in results] if made_up else results,
            ", ".join(f"{name}={guess}" for name, guess in guesses.items()),
        )
        if self._best is None or _rank(found) > _rank(self._best):
            self._best = found
        return all(result.status == "confirmed" for result in found.results)

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
                target = _target(module, msgspec.structs.replace(self._call, line=0))
                if target is None:
                    raise LookupError(f"`{self._call.target}` is gone")
                return [self._apply(target.traced, guesses)]

        return run

    def _guessed(self, guesses: dict[str, Guess]) -> frozenset[str]:
        """The parameters that neither a comment nor an annotation says anything about."""
        if self._call.example:
            return frozenset()
        return frozenset(n for n in guesses if self._target.signature.annotations.get(n) is None)

    def _apply(self, function: Callable[..., Any], guesses: dict[str, Guess]) -> Any:
        return self._call_results(_called(function, self._target.signature, guesses))

    def _call_results(self, result: Any) -> Any:
        """A factory answers functions: call those, too."""
        made = [part for part in (result if isinstance(result, tuple) else (result,)) if callable(part)]
        for function in made[:3]:
            if self._is_own(function):
                signature = Signature.of(function)
                hints = signature.annotations
                _called(
                    function, signature, {n: first_guess(n, hints.get(n), False) for n in signature.names}
                )
        return result

    def _is_own(self, function: Any) -> bool:
        code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
        return code is not None and self._loader.is_project(code.co_filename)


def _called(function: Callable[..., Any], signature: Signature, guesses: dict[str, Guess]) -> Any:
    values = {name: guess.value() for name, guess in guesses.items()}
    by_position = [name for name in signature.names if name not in signature.by_name and name in values]
    unnamed = [values.pop(name) for name in by_position]
    return function(*unnamed, **values)


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


def _target(module: ModuleType, call: Call) -> _Target | None:
    """The function as an object: by name, else by where it is written."""
    owner, _, name = call.target.rpartition(".")
    if owner:
        return _method(module, owner, name, call)
    found = getattr(module, call.target, None)
    if found is None or not callable(found):
        found = _by_place(module, call)
    if found is None:
        return None
    plain = _unjitted(found)
    traced = found if plain is not found else _traced(found, call)
    return _Target(plain, traced, Signature.of(plain))


def _why_not_found(module: ModuleType, target: str) -> str:
    kind: Any = module
    for part in target.split(".")[:-1]:
        kind = getattr(kind, part, None)
    if isinstance(kind, type):
        return f"no `{kind.__qualname__}` could be made with made-up arguments"
    return f"`{target}` cannot be found at run time"


def _unjitted(function: Any) -> Any:
    """What a jitted function wraps, as far as it is a wrapper of JAX's."""
    while hasattr(function, "lower") and hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _traced(function: Callable[..., Any], call: Call) -> Callable[..., Any]:
    if call.transform != "jit":
        return function
    static = [name for name in call.static if name in Signature.of(function).names]
    jitted: Callable[..., Any] = jax.jit(function, static_argnames=static or None)
    return jitted


def _method(module: ModuleType, owner: str, name: str, call: Call) -> _Target | None:
    kind: Any = module
    for part in owner.split("."):
        kind = getattr(kind, part, None)
    if not isinstance(kind, type):
        return None
    guess = instance_of(kind, 3)
    if guess is None:
        return None
    try:
        instance = guess.value()
        bound = getattr(instance, name)
    except Exception:  # the user's constructor
        return None
    plain = _unjitted(bound)
    is_jitted = plain is not bound
    if is_jitted and not inspect.ismethod(plain):
        plain = plain.__get__(instance) if isinstance(plain, FunctionType) else plain
    traced = bound if is_jitted else _traced(bound, call)
    return _Target(plain, traced, Signature.of(bound))


def _by_place(module: ModuleType, call: Call) -> Any:
    """A function without a name of its own: some variable of the module holds it, or what wraps it, or anything else."""
    for value in vars(module).values():
        code = getattr(inspect.unwrap(value), "__code__", None) if callable(value) else None
        if code is not None and code.co_firstlineno == call.line and code.co_filename == module.__file__:
            return value
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__globals__ is vars(module):
            code = value.__code__
            if code.co_firstlineno == call.line and code.co_name == call.target.rpartition(".")[2]:
                return value
    return None
