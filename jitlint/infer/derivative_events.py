"""What the interpreter tells the rules of derivatives, and of numbers that are silently others (layer: ``infer``)."""

from __future__ import annotations

from dataclasses import dataclass

from jitlint.infer.places import Event


@dataclass(frozen=True, slots=True)
class NanGradient(Event):
    """The derivative of a value is not finite. operation: the function, or the operator, that has none at zero. argument:
    what is zero there, "" if it is not written as a name. choice: the function that throws the value away, "" if none does
    and each pair of the argument's rows is compared, those of one row with itself too. large: it is not zero there but so large that the operation overflows, below: but negative. edge: a bound,
    ``choice``, keeps it where the operation has no derivative, or an ``angle`` of two vectors is there."""

    operation: str = ""
    argument: str = ""
    choice: str = "where"
    large: bool = False
    below: bool = False
    edge: bool = False


@dataclass(frozen=True, slots=True)
class ZeroGradient(Event):
    """The derivative of ``loss`` by a part of its argument, ``parameter``, is zero, as ``operation`` has slope zero and no other
    way leads on. straight: it is a sum in which ``parameter`` cancels, and that has the slope of the ``rest``, of ``none``, or that
    of the parameter ``turned`` round. cut: instead, ``parameter`` is cut at a number and its opposite before it is squared."""

    parameter: str = ""
    operation: str = ""
    loss: str = ""
    straight: str = ""
    cut: bool = False


@dataclass(frozen=True, slots=True)
class MovingTarget(Event):
    """``loss`` squares the difference between what a model says and a target that is made with what the same model says, and the
    derivative is taken by both. target: what the target is called, "" if it has no name. discount: what its value is multiplied with.
    weight: instead, what a target is multiplied with that is only to weigh it, and has a derivative as well."""

    target: str = ""
    discount: str = ""
    loss: str = ""
    weight: str = ""


@dataclass(frozen=True, slots=True)
class WrappedDifference(Event):
    """Two arrays of unsigned integers, of this dtype, are subtracted, or a whole ``number`` from one."""

    dtype: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True)
class LostUpdate(Event):
    """Elements are set from their old values where an index may come twice. method: of ``x.at[i]``, which would count each."""

    method: str = ""


@dataclass(frozen=True, slots=True)
class LocalGradients(Event):
    """Gradients of one device's share are taken for those of all. name: what they are called. axes: that the devices are the
    lanes of. how: ``updates`` or ``returns``."""

    name: str = ""
    axes: tuple[str, ...] = ()
    how: str = "updates"


@dataclass(frozen=True, slots=True)
class SummedMeans(Event):
    """What is a mean on each device is added up over them. what: ``mean`` or ``gradients`` (of one); ``masked``:
    it is averaged over them, and each has divided by a number of its own; ``again``: gradients of one that a map over a mesh
    has added up already are averaged."""

    what: str = "mean"


@dataclass(frozen=True, slots=True)
class UnsettledResult(Event):
    """A result that differs from device to device is given as what is the same on all. split: the parameter of which each device has
    its share. share: the axes over which it is split."""

    split: str = ""
    share: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OddOptimiser(Event):
    """An optimiser does something else than what it looks like.

    problem: clipped-late (gradients are bounded by ``name`` after an optimiser has taken them in), once (its learning rate is what
    the schedule ``name`` gives for one step), masked (what a mask leaves out is handed on as it is), subtracted (the updates
    ``name``), restarted (the state ``name`` is made anew at each step), each-epoch (each epoch makes one for ``name``), swapped
    (``name`` is the value, not the gradients), misnamed (what a derivative gives is called by the names of each other; ``name``: its
    order), elsewhere (``name`` goes down a gradient that is taken by something else), grows (``name`` adds ``detail`` of the weights),
    replaced (the average ``name`` keeps ``detail`` of itself), laid-out (a schedule counts ``name`` in
    batches), counted-twice (the schedule ``name`` is given less than its length, as if it did not count its beginning).
    """

    problem: str = ""
    name: str = ""
    detail: str = ""


OUTPUT = -2


@dataclass(frozen=True, slots=True)
class CrossedGradient(Event):
    """A gradient by the argument ``by`` of ``loss`` changes another one, ``changed``, which is the argument ``number`` (-1: passed by
    name; `OUTPUT`: none, ``by`` was computed from it). around: instead, the function that is differentiated by ``by`` computes with the ``changed`` of the function around it."""

    by: str = ""
    changed: str = ""
    loss: str = ""
    number: int = -1
    around: bool = False
