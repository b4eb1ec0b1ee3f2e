"""What `flax.nnx` asks for since some release of flax (layer: ``link``, room ``domains``).

What it does: compares how an optimiser is made, and updates, with what newer releases want. What it does not: speak where the
project asks for an older one.
"""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine

OPTIMISER: Final = "flax.nnx.Optimizer"
_UPDATE: Final = f"{OPTIMISER}.update"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """An optimiser is made, or updates."""
    dotted, args = library.dotted, library.args
    if args.more is not None or args.kw_more is not None or m.guards:
        return
    if dotted == OPTIMISER and library.owner is None and "wrt" not in args.kw:
        _report(m, f, library.at, dotted, "wrt")
    elif dotted == _UPDATE and library.owner is not None and _lacks_model(args):
        _report(m, f, library.at, dotted, "model")


def _lacks_model(args: Args) -> bool:
    """Whether an update gets the gradients alone: by their name, or in the place of the model."""
    by_name = "grads" in args.kw
    return "model" not in args.kw and len(args.pos) == (0 if by_name else 1)


def _report(m: Machine, f: Frame, at: int, api: str, parameter: str) -> None:
    release, least = lexicon().contracts.asks_since[api]
    known = m.catalogue.view.has_flax(release, least)
    if known is not False:
        m.emit(
            f, ApiMisuse, at, api=api, problem="missing-argument", parameter=parameter,
            since=release.rpartition(".")[0], detail="asked" if known else "",
        )  # fmt: skip
