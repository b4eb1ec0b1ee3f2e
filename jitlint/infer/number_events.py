"""What the interpreter tells the rules about numbers that change on their way into arrays (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass

from jitlint.infer.places import Event


@dataclass(frozen=True, slots=True)
class WideDtype(Event):
    """Numbers of 64 bits are asked for where they are off. asked: float64; given: float32."""

    asked: str = ""
    given: str = ""


@dataclass(frozen=True, slots=True)
class FarNumbers(Event):
    """Numbers of NumPy come to JAX for which 32 bits have no room. around: where they lie. whole: they are integers."""

    around: float = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class PaddingIndex(Event):
    """An array is changed at indices of which some stand for nothing. padding: the number that does, 0 where they are cells
    that may lie before the first. update: the method."""

    padding: int = -1
    update: str = ""


@dataclass(frozen=True, slots=True)
class CutNumbers(Event):
    """Numbers with a fraction are put into an array of integers. api: by what."""

    api: str = ""


@dataclass(frozen=True, slots=True)
class UnstableLog(Event):
    """A logarithm is taken of what runs out of numbers before. what: softmax, sigmoid, 1-sigmoid, 1-tanh, 1+exp or sum (of
    exponentials)."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class WidenedArray(Event):
    """A number of NumPy makes an array of 16-bit floats wider. narrow: bfloat16; wide: float32. number: how it is written."""

    narrow: str = ""
    wide: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class StalledAverage(Event):
    """A running average is kept in 16 bits. dtype: bfloat16 or float16. share: how much of the new number is added."""

    dtype: str = ""
    share: str = ""


@dataclass(frozen=True, slots=True)
class InvertedBool(Event):
    """``~`` of a Python bool. operand: how it is written, "" if that is no name. truth: True or False. result: what it gives."""

    operand: str = ""
    truth: str = ""
    result: int = -2


@dataclass(frozen=True, slots=True)
class PathText(Event):
    """An entry of a path to a leaf is compared with a text. operator: ``==`` or ``in``, or one of their opposites. text: "" if it is
    not one text."""

    operator: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class TwiceNormalised(Event):
    """Probabilities are taken for scores. api: what takes them. made: what has made them."""

    api: str = ""
    made: str = ""


@dataclass(frozen=True, slots=True)
class OutOfBounds(Event):
    """An index that no array of that size has. index: the number, or "" for one written with the size; size: of the
    axis. grows: a loop comes to that number in the end. update: the method of ``.at[]`` that gets it, or "". length: how many elements a window has that starts there,
    window: the function that places it, or "". beyond: how many of them may lie beyond an end that is no number. largest: the parameter with
    the number of places that is the largest index, or ""."""

    index: str = ""
    size: str = ""
    update: str = ""
    length: str = ""
    window: str = ""
    grows: bool = False
    beyond: int = 0
    largest: str = ""


@dataclass(frozen=True, slots=True)
class UnevenGrouping(Event):
    """An operator that is to be associative gives two results for three elements. counterexample: which, in words."""

    api: str = ""
    counterexample: str = ""


@dataclass(frozen=True, slots=True)
class UnstableSeed(Event):
    """A key is made of what is another number in each process. api: what makes it; of: the function that gives the number."""

    api: str = "jax.random.key"
    of: str = "hash"
