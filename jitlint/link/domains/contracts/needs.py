"""What a layer needs of those around it (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import NamedTuple, Optional

from jitlint.base.diagnostic import Confidence
from jitlint.infer.program import ClassInfo


class Need(NamedTuple):
    """One layer, where it is called or made, needs the collection or the stream ``name``, or a method around that may make it.

    kind: mutable, rngs, params (a key for parameters that it makes), scope. owner: the class whose method makes it. sure: whether
    it draws whatever its rate is, which may be nothing.
    """

    kind: str
    name: str
    api: str
    module: str
    at: int
    function: str
    confidence: Confidence
    owner: Optional[ClassInfo] = None
    sure: bool = True
