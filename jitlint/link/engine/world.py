"""The transforms in force around code, and their boundaries (layer: ``link``, room ``engine``)."""

from __future__ import annotations

from jitlint.infer.values import BACK, L


class World:
    """The transforms in force. ``here``: modes that a fresh `jax.numpy` result gets. ``level``: boundaries.

    base: the level right inside the innermost staging transform, whose tracers fresh results are. modes: of all transforms
    in force. excused: inside ``pytest.raises``. expected: inside a
    handler for tracing errors. eager_jit: ``disable_jit`` is active. floor: the level right inside the innermost
    transform that runs its function once for many calls, 0 when there is none: what is older outlives the trace.
    kernel: the code becomes a kernel, where Python loops are how registers are laid out. looks: somebody only wants to see
    what the code would do, as `jax.eval_shape` does: nothing is computed.
    """

    __slots__ = (
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
        "modes",
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
        self.key = (here, level, excused, eager_jit, modes, base, floor, expected, kernel, looks)

    def inside(
        self, modes: int, staged: int, looks: bool = False, kernel: bool = False, forward: bool = False
    ) -> World:
        """The world one transform further in.

        looks: the transform only wants to see what the function would do, such as `jax.eval_shape`.
        forward: a derivative that is not transposed.
        """
        return World(
            self.here | (modes & staged),
            self.level + 1,
            self.excused,
            self.eager_jit,
            self.modes | modes | (BACK if modes & L and not forward else 0),
            self.level + 1 if modes & staged else self.base,
            self.level + 1 if modes & staged and not looks else self.floor,
            self.expected,
            self.kernel or kernel,
            self.looks or looks,
        )

    def but(
        self,
        here: int | None = None,
        excused: bool | None = None,
        eager_jit: bool | None = None,
        expected: bool | None = None,
    ) -> World:
        """This world with some of its properties changed."""
        return World(
            self.here if here is None else here,
            self.level,
            self.excused if excused is None else excused,
            self.eager_jit if eager_jit is None else eager_jit,
            self.modes,
            self.base,
            self.floor,
            self.expected if expected is None else expected,
            self.kernel,
            self.looks,
        )


HOST = World(0, 0)
