"""The transforms in force around code, and their boundaries (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from typing import Final

from jitlint.infer.values import BACK, L

OWN: Final = 64
"""A mark beside the modes in force: the code is of a function with a derivative rule of its own, so that nobody differentiates it."""
SPREAD: Final = 128
"""Another one: what is mapped here is spread over devices, each of which runs the code on what it has."""
CHECKED: Final = 512
"""Checks at run time become results."""

TWICE: Final = 1 << 23
"""A derivative backwards inside of one forwards: what rules of `jax.custom_vjp` do is differentiated forwards."""
LEARNT: Final = 1 << 24
"""A module runs with parameters that have a derivative, and what it computes with them has one."""
BOTH: Final = 1 << 22
"""One branch of a choice that is made for each element by itself: the code runs for all of them, and results are picked."""


class World:
    """The transforms in force. ``here``: modes that a fresh `jax.numpy` result gets. ``level``: boundaries.

    base: the level right inside the innermost staging transform, whose tracers fresh results are. modes: of all transforms
    in force. excused: inside ``pytest.raises``. expected: inside a
    handler for tracing errors. eager_jit: ``disable_jit`` is active. floor: the level right inside the innermost
    transform that runs its function once for many calls, 0 when there is none: what is older outlives the trace.
    kernel: the code becomes a kernel, where Python loops are how registers are laid out. looks: somebody only wants to see
    what the code would do, as `jax.eval_shape` does: nothing is computed. pushed: the level right inside the innermost
    derivative, if that goes forwards only, else 0. sheltered: a handler around, of a caller perhaps, is there for what does not fit.
    axes: the names of axes that the maps around bind, None if some of these are not known. spread: the axes of a mesh of
    which it is followed what differs over them, by the places of their bits. mocked: the names of functions and classes that a test
    has put something else in the place of.
    """

    __slots__ = (
        "axes",
        "base",
        "eager_jit",
        "excused",
        "expected",
        "floor",
        "here",
        "kernel",
        "key",
        "level",
        "looks",
        "mocked",
        "modes",
        "pushed",
        "sheltered",
        "spread",
    )

    def __init__(
        self,
        here: int,
        level: int,
        excused: bool = False,
        eager_jit: bool = False,
        modes: int = 0,
        base: int = 0,
        floor: int = 0,
        expected: bool = False,
        kernel: bool = False,
        looks: bool = False,
        pushed: int = 0,
        sheltered: bool = False,
        axes: frozenset[str] | None = frozenset(),
        spread: tuple[str, ...] = (),
        mocked: frozenset[str] = frozenset(),
    ) -> None:
        self.here = here
        self.level = level
        self.excused = excused
        self.eager_jit = eager_jit
        self.modes = modes
        self.base = base
        self.floor = floor
        self.expected = expected
        self.kernel = kernel
        self.looks = looks
        self.pushed = pushed
        self.sheltered = sheltered
        self.axes = axes
        self.spread = spread
        self.mocked = mocked
        self.key = (
            here, level, excused, eager_jit, modes, base, floor, expected, kernel, looks, pushed, sheltered, mocked, axes, spread
        )  # fmt: skip

    def inside(
        self,
        modes: int,
        staged: int,
        looks: bool = False,
        kernel: bool = False,
        forward: bool = False,
        pushes: bool = False,
    ) -> World:
        """The world one transform further in.

        looks: the transform only wants to see what the function would do, such as `jax.eval_shape`.
        forward: a derivative that is not transposed. pushes: one that never is.
        """
        around = self.modes & ~OWN if modes & L else self.modes
        level = self.level + 1
        return World(
            self.here | (modes & staged),
            level,
            self.excused,
            self.eager_jit,
            around | modes | (BACK if modes & L and not forward else 0),
            level if modes & staged else self.base,
            level if modes & staged and not looks else self.floor,
            self.expected,
            self.kernel or kernel,
            self.looks or looks,
            (level if pushes else 0) if modes & L else self.pushed,
            self.sheltered,
            None if kernel else self.axes,  # it has axes of its own, named after its grid
            () if kernel else self.spread,
            self.mocked,
        )

    def mapped(self, axes: frozenset[str] | None, spread: tuple[str, ...] | None = None) -> World:
        """This world where a map binds these axes as well; None: perhaps any. spread: what is followed, None: what is already."""
        out = self.but()
        out.axes = None if self.axes is None or axes is None else self.axes | axes
        out.spread = self.spread if spread is None else spread
        out.key = (*self.key[:-2], out.axes, out.spread)
        return out

    def but(
        self,
        here: int | None = None,
        excused: bool | None = None,
        eager_jit: bool | None = None,
        expected: bool | None = None,
        marks: int = 0,
        sheltered: bool | None = None,
        mocked: frozenset[str] | None = None,
    ) -> World:
        """This world with some of its properties changed."""
        return World(
            self.here if here is None else here,
            self.level,
            self.excused if excused is None else excused,
            self.eager_jit if eager_jit is None else eager_jit,
            self.modes | marks,
            self.base,
            self.floor,
            self.expected if expected is None else expected,
            self.kernel,
            self.looks,
            self.pushed,
            self.sheltered if sheltered is None else sheltered,
            self.axes,
            self.spread,
            self.mocked if mocked is None else mocked,
        )


HOST = World(0, 0)
