"""The same run in several ways: with and without jit, past places where tracing ends (layer: ``confirm``).

Each way is observed when first asked for. What a run does is `jitlint.confirm.watch.observe`'s business.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jitlint.confirm.watch.observe import Observation, Raised, Watches, observe
from jitlint.confirm.watch.passing import Passing
from jitlint.confirm.watch.probes import Probes

if TYPE_CHECKING:
    from jitlint.confirm.watch.devices import Taken
    from jitlint.confirm.watch.environment import Setting
    from jitlint.confirm.watch.modes import Ran
    from jitlint.confirm.watch.stops import Stop
    from jitlint.confirm.watch.widening import Widened


class Runs:
    """The same run with and without jit, each observed when first asked for. ``leaked``, ``stopped``: see `Observation`. ``probes`` sees
    the values of expressions, ``passing`` goes past places where tracing ends."""

    def __init__(
        self,
        run: Callable[[], Any],
        watched: Callable[[str], bool],
        watches: Watches | None = None,
        leaked: Callable[[], Mapping[str, Any]] | None = None,
        probes: Probes | None = None,
        passing: Passing | None = None,
        stopped: Callable[[], Sequence[Raised]] | None = None,
    ) -> None:
        self.run = run
        self._probes = probes
        self._passing = passing
        self._leaked = leaked
        self.stopped = stopped
        self._watches = watches
        self.watched = watched
        self._seen: dict[bool, Observation] = {}

    def _observed(self, jit: bool) -> Observation:
        if jit not in self._seen:
            if self._probes is not None:
                self._probes.begin()
            with self._passing.active(jit) if self._passing is not None else contextlib.nullcontext():
                self._seen[jit] = seen = observe(self.run, self.watched, jit=jit, watches=self._watches)
            for number, values in self._probes.values.items() if self._probes is not None else ():
                seen.values[number] = set(values)
            seen.leaked = self._leaked() if self._leaked is not None else {}
            seen.stopped = self.stopped() if self.stopped is not None else ()
        return self._seen[jit]

    @property
    def jitted(self) -> Observation:
        """As the program is written."""
        return self._observed(True)

    @property
    def eager(self) -> Observation:
        """Under `jax.disable_jit`."""
        return self._observed(False)

    @functools.cached_property
    def plain(self) -> Observation:
        """Without jit, and with Python's own numbers and NumPy's arrays where the program passes these."""
        return observe(self.run, self.watched, jit=False, lift=False)

    @functools.cached_property
    def nans(self) -> Observation:
        """Without jit, until a derivative is NaN."""
        from jitlint.confirm.watch.backwards import refusing_nans

        with refusing_nans():
            return observe(self.run, self.watched, jit=False)

    @functools.cached_property
    def narrowed(self) -> Sequence[tuple[tuple[str, int], str]]:
        """Where JAX warns, without jit, that it gives fewer bits than were asked for; and what it says."""
        from jitlint.confirm.watch.narrowing import NARROWS, hearing

        with hearing(NARROWS) as heard:
            observe(self.run, self.watched, jit=False)
        return heard

    @functools.cached_property
    def promoted(self) -> Sequence[tuple[tuple[str, int], str]]:
        """Where JAX warns, without jit, that it makes a table of two arrays of as many elements; and what it says."""
        import jax

        from jitlint.confirm.watch.narrowing import PROMOTES, hearing

        with hearing(PROMOTES) as heard, jax.numpy_rank_promotion("warn"):
            observe(self.run, self.watched, jit=False)
        return heard

    @functools.cached_property
    def widened(self) -> Sequence[Widened]:
        """Where numbers of NumPy, without jit, turn arrays of 16-bit floats into wider ones."""
        from jitlint.confirm.watch.widening import watching

        with watching() as found:
            observe(self.run, self.watched, jit=False)
        return found

    @functools.cached_property
    def cut(self) -> Sequence[tuple[tuple[str, int], str]]:
        """Where numbers with a fraction, without jit, become integers; and what shows it."""
        from jitlint.confirm.watch.cutting import watching

        with watching() as found:
            observe(self.run, self.watched, jit=False)
        return found

    @functools.cached_property
    def stops(self) -> Sequence[Stop]:
        """Where derivatives end, without jit, before a gradient that is zero."""
        from jitlint.confirm.watch.stops import watching

        with watching() as found:
            observe(self.run, self.watched, jit=False)
        return found

    @functools.cached_property
    def settings(self) -> Sequence[Setting]:
        """The variables for JAX that the program sets, without jit, and that change no option."""
        from jitlint.confirm.watch.environment import hearing

        with hearing() as heard:
            observe(self.run, self.watched, jit=False)
        return heard

    @functools.cached_property
    def modes(self) -> Sequence[Ran]:
        """The layers that have modes, as they run without jit."""
        from jitlint.confirm.watch.modes import hearing

        with hearing() as heard:
            observe(self.run, self.watched, jit=False)
        return heard

    @functools.cached_property
    def taken(self) -> Sequence[Taken]:
        """The derivatives that are taken with their values, as the program is compiled anew."""
        import jax

        from jitlint.confirm.watch.devices import following

        jax.clear_caches()  # what is compiled already is not traced
        with following() as found:
            observe(self.run, self.watched, jit=True)
        return found

    def left_out(self, covers: Callable[[tuple[str, int]], bool]) -> bool:
        """Whether some place asks for a function of the host that never runs in compiled code."""
        import jax

        from jitlint.confirm.watch.callbacks import counting

        jax.clear_caches()  # what is compiled already asks for nothing
        with counting() as (asked, ran):
            observe(self.run, self.watched, jit=True)
        places = [place for place in asked if covers(place)]
        return bool(places) and not any(ran[place] for place in places)

    def eager_again(self) -> Observation:
        """Another run without jit, to tell chance from effect."""
        return observe(self.run, self.watched, jit=False)
