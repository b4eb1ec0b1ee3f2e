"""Whether a fix cures what was found, and changes nothing else (layer: ``confirm``). Runs in a sandboxed process only.

The same call is made twice, with the files as they are and with the fixed ones in their place. What JAX refused must run
through and give what the code gives without jit; what ran must give the same. What it does not: judge fixes that are meant
to give other results, or read what was printed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jitlint.base.outcome import Raises
from jitlint.confirm.child import ended_at, outcome_of, statement_of, watches
from jitlint.confirm.loading import Loader, runner
from jitlint.confirm.protocol import Call, Flag, Result, Seen, Task
from jitlint.confirm.watch.compare import difference
from jitlint.confirm.watch.observe import Observation, Raised
from jitlint.confirm.watch.runs import Runs

Texts = Mapping[str, str]
_OTHERWISE = frozenset({"JIT112", "JIT403", "JIT601"})
"""An answer that is right, an update that counts, other random numbers: that is what these fixes are for."""


def seen(loader: Loader, number: int, call: Call, flags: list[Flag], words: str) -> Seen:
    """What a call shows of the fixes of findings; a part of a module shows nothing."""
    from jitlint.confirm.inputs.search import Wanted, search

    task = loader.task
    watch = watches(flags)
    if call.part:
        return Seen(number, [Result(flag.number, "missed", "the line did not run") for flag in flags])
    if call.search:
        wanted = Wanted(
            watch,
            lambda *_: [],
            lambda _: False,
            lambda _: frozenset(),
            lambda _run, _once, results: results,
            lambda once, anew: [
                _judged(flag, once, task, lambda texts: _with_texts(loader, anew, texts)) for flag in flags
            ],
        )
        found = search(loader, call, wanted, task.seconds)
        return Seen(number, found.results, found.inputs, found.problem, found.stage)
    loader.loads = 0
    run = runner(loader, call, 1)
    once = Runs(run, loader.is_project, watch, lambda: loader.leaked)
    results = [_judged(flag, once, task, lambda texts: _with_texts(loader, run, texts)) for flag in flags]
    ended = once.jitted.raised
    reached = any(result.status != "missed" for result in results)
    stage, problem = ("", "") if reached else ended_at(ended, bool(loader.loads), task)
    return Seen(number, results, words, problem, stage)


def _judged(flag: Flag, before: Runs, task: Task, fixed: Callable[[Texts], Runs]) -> Result:
    """What a call shows of one fix: alone, and where that does not run through, with all others. fixed: the same call with
    other texts for some files."""
    if flag.code in _OTHERWISE:
        return Result(flag.number, "unshown", "the fix is meant to give other results")
    if not any(_ran(seen, flag) for seen in (before.jitted, before.eager)):
        behind = _behind(flag, before, task, fixed)
        return behind or Result(flag.number, "missed", "the line did not run")
    was = before.jitted.raised
    if isinstance(outcome_of(flag), Raises) and was is None:
        return Result(flag.number, "unshown", "nothing was raised before, either")
    alone = _compared(flag, was, before, fixed(task.repairs[flag.number]))
    return alone if alone.status != "unshown" else _behind(flag, before, task, fixed) or alone


def _behind(flag: Flag, before: Runs, task: Task, fixed: Callable[[Texts], Runs]) -> Result | None:
    """What shows where other findings stand in the way: all fixes but this one leave the error, all together do not."""
    outcome = outcome_of(flag)
    if before.jitted.raised is None or not isinstance(outcome, Raises) or flag.number not in task.without:
        return None
    left = fixed({**task.together, **task.without[flag.number]})
    error = left.jitted.raised
    if error is None or not outcome.is_meant(error.kind, error.message):
        return None
    found = _compared(flag, error, left, fixed(task.together))
    if found.status != "confirmed":
        return None
    return Result(flag.number, found.status, f"with the other fixes, {found.evidence}")


def _with_texts(loader: Loader, run: Callable[[], Any], texts: Texts) -> Runs:
    """A run with these texts in the place of files."""

    def run_fixed() -> Any:
        with loader.replaced(texts):
            return run()

    return Runs(run_fixed, loader.is_project)


def _ran(seen: Observation, flag: Flag) -> bool:
    return any(seen.lines[place] for place in statement_of(flag).places)


def _compared(flag: Flag, was: Raised | None, before: Runs, fixed: Runs) -> Result:
    now = fixed.jitted.raised
    if now is not None:
        status = "passed" if was is None else "unshown"
        said = "it ran through before, and" if was is None else "the fixed code"
        return Result(flag.number, status, f"{said} ends with {now}"[:300])
    expected, whose = _expected(before, fixed)
    if expected is None:
        return Result(flag.number, "unshown", "it runs through, and there is nothing to compare it with")
    found = _difference(fixed.jitted.value, expected.value)
    if found is None:
        said = f"{was.kind} is gone" if was is not None else "it runs through"
        return Result(flag.number, "confirmed", f"{said}, and the result is that {whose}")
    if _difference(fixed.eager_again().value, fixed.eager_again().value):
        return Result(flag.number, "unshown", "the result is another one at every run")
    return Result(flag.number, "passed", f"the result is not that {whose}: {_as_fixed(found)}"[:300])


def _expected(before: Runs, fixed: Runs) -> tuple[Observation | None, str]:
    """The run whose result the fixed code has to give, and which one that is."""
    if before.jitted.raised is None:
        return before.jitted, "of the code before"
    if before.eager.raised is None:
        return before.eager, "without jit"
    if fixed.eager.raised is None:
        return fixed.eager, "of the fixed code without jit"
    return None, ""


def _as_fixed(difference: str) -> str:
    """What `difference` says of a run with jit and one without, of fixed code and what it has to give."""
    return difference.replace(" with jit, ", " instead of ").removesuffix(" without")


def _difference(one: Any, other: Any) -> str | None:
    """As `difference`; of the variables of two modules, those that both have."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = [name for name in one if name in other]
        one, other = {name: one[name] for name in names}, {name: other[name] for name in names}
    return difference(one, other)
