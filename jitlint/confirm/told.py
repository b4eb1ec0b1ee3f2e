"""Effects that JAX, or a layer of a library, tells itself while a program runs (layer: ``confirm``)."""

from __future__ import annotations

from jitlint.base.outcome import (
    Cuts,
    IgnoresVariable,
    LeavesOut,
    MakesNan,
    MakesPairs,
    Narrows,
    RunsInMode,
    StaysLocal,
    StopsSlope,
    Widens,
)
from jitlint.confirm.statement import Statement
from jitlint.confirm.watch.runs import Runs


def leaves_out(outcome: LeavesOut, statement: Statement, runs: Runs) -> str | None:
    """A function of the host never runs."""
    return "JAX traced the call, and its function never ran" if runs.left_out(statement.covers) else None


def makes_nan(outcome: MakesNan, statement: Statement, runs: Runs) -> str | None:
    """Going back through the statement gives NaN."""
    error = runs.nans.raised
    if error is None or error.source is None or not statement.covers(error.source):
        return None
    return f"under `jax.debug_nans`, going back through line {error.source[1]} raises {error}"


def narrows(outcome: Narrows, statement: Statement, runs: Runs) -> str | None:
    """JAX warns that it gives fewer bits than the statement asks for."""
    said = (message for place, message in runs.narrowed if statement.covers(place))
    message = next(said, None)
    return None if message is None else f"JAX warns: {message}"


def widens(outcome: Widens, statement: Statement, runs: Runs) -> str | None:
    """A number of NumPy widens an array in the statement."""
    found = next((one for one in runs.widened if statement.covers(one.place)), None)
    return None if found is None else f"{found.narrow} and a `{found.number}` gave {found.wide}"


def cuts(outcome: Cuts, statement: Statement, runs: Runs) -> str | None:
    """Numbers with a fraction become integers in the statement."""
    said = (message for place, message in runs.cut if statement.covers(place))
    return next(said, None)


def stops_slope(outcome: StopsSlope, statement: Statement, runs: Runs) -> str | None:
    """A derivative ends in the statement, and a gradient is zero."""
    found = next((one for one in runs.stops if statement.covers(one.place)), None)
    where = f" at `{found.leaf}`" if found is not None and found.leaf else ""
    return (
        None
        if found is None
        else f"the derivative ends at `{found.name}`, and the gradient{where} is zero at three points"
    )


def ignores_variable(outcome: IgnoresVariable, statement: Statement, runs: Runs) -> str | None:
    """The statement sets a variable, and the option of JAX stays as it was."""
    found = next((one for one in runs.settings if statement.covers(one.place)), None)
    return None if found is None else f"`jax.config.{found.option}` is {found.value!r} as before"


def makes_pairs(outcome: MakesPairs, statement: Statement, runs: Runs) -> str | None:
    """JAX warns that the statement brings arrays of unlike ranks together."""
    said = (message for place, message in runs.promoted if statement.covers(place))
    message = next(said, None)
    return None if message is None else f"JAX warns: {message.partition('. ')[0]}"


def runs_in_mode(outcome: RunsInMode, statement: Statement, runs: Runs) -> str | None:
    """A layer of a library runs in the mode that is predicted."""
    learns = outcome.how == "trained"
    for ran in runs.modes:
        wrong = ran.evaluates if learns else not ran.evaluates
        here = statement.on(ran.stack) or (
            learns and any(runs.eager.lines[place] for place in statement.places)
        )
        if wrong and ran.differentiated is learns and here:
            mode = "evaluation, under a derivative" if learns else "training"
            return f"`{ran.layer}` ran in the mode for {mode}"
    return None


def stays_local(outcome: StaysLocal, statement: Statement, runs: Runs) -> str | None:
    """Gradients go through no collective, what came with them does."""
    for taken in runs.taken:
        if (statement.path, statement.line) in taken.places and taken.stays_local:
            return f"what came with them went through `{taken.settled[0]}`, none of {len(taken.gradients)} gradients did"
    return None


def somewhere(outcome: Cuts | MakesNan | Narrows | StopsSlope | Widens, runs: Runs) -> str | None:
    """Where a program has an effect that is told while it runs, whichever line that is."""
    if isinstance(outcome, Cuts):
        return f"line {runs.cut[0][0][1]}: {runs.cut[0][1]}" if runs.cut else None
    if isinstance(outcome, MakesNan):
        return str(runs.nans.raised) if runs.nans.raised is not None else None
    if isinstance(outcome, Widens):
        return f"line {runs.widened[0].place[1]} gives {runs.widened[0].wide}" if runs.widened else None
    if isinstance(outcome, StopsSlope):
        return f"line {runs.stops[0].place[1]} ends the derivative" if runs.stops else None
    return f"line {runs.narrowed[0][0][1]}: {runs.narrowed[0][1]}" if runs.narrowed else None
