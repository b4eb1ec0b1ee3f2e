"""What is said of epochs, rounds over all data, by names (layer: ``link``, room ``domains``).

What it does: knows loops over epochs by their variable, or by the name of how many there are. What it does not: take the steps of an
epoch for epochs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_names, last_name, path_text
from jitlint.syntax import ir
from jitlint.syntax.children import below

_RANGES: Final = ("range", "trange")


def says_so(name: str) -> bool:
    """Whether a name speaks of epochs, and not of what these are made of."""
    words = lexicon().contracts
    return naming.has_word(name, words.epochs) and not naming.has_word(name, words.within)


def is_over(loop: ir.For) -> bool:
    """Whether the turns of a loop are epochs."""
    bounds = (bound.rpartition(".")[2] for bound in bounds_of(loop))
    return any(map(says_so, (*(one.id for one in bound_names([loop.target])), *bounds)))


def bounds_of(loop: ir.For) -> Iterator[str]:
    """The variables and attributes that say how often a loop turns: of ``range(epochs)`` and ``range(1, epochs + 1)``, in others or
    not."""
    for call in below(loop.iter):
        if type(call) is ir.Call and last_name(call.func) in _RANGES and call.args:
            last = call.args[min(len(call.args), 2) - 1].value
            if type(last) is ir.BinOp and last.op == "+":
                last = last.left
            yield path_text(last)
