"""Objects that have no hash where a compiled function takes such objects as static arguments (layer: ``link``, room ``domains``).

What it does: reads which parameters are static and of which class of the project they are declared to be, and looks at the
objects of such classes that the program makes; and says of methods that run a Linen module that it has no hash while they do. What it does not: speak of an object that was seen to arrive, which is an
error where it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jitlint.base.diagnostic import Confidence
from jitlint.infer.events import TransformMisuse
from jitlint.infer.values import Class, Func, Inst, Xform
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.engine.sink import Found
from jitlint.link.engine.world import HOST
from jitlint.link.models.jax import boundaries
from jitlint.link.values import parameters
from jitlint.link.values.questions.kinds import mro
from jitlint.link.values.questions.signatures import signature, static_names

Made = dict[tuple[str, int], tuple[Frame, list[Inst]]]
"""By place, the objects that are made there."""


@dataclass(frozen=True, slots=True)
class Untold:
    """Nothing is said of objects of the class where they arrive."""

    name: str

    def holds(self, found: Found) -> bool:
        """Whether no such object is seen to arrive at a static argument."""
        return not any(
            type(event) is TransformMisuse
            and event.problem == "unhashable-static"
            and event.detail.split()[:1] == [self.name]
            for event in found.values()
        )


def made(found: Made, f: Frame, at: int, inst: Inst) -> None:
    """An object is made, and will be filled."""
    if inst.cls.hashed_by_fields and not f.module.is_test and not f.world.level:
        found.setdefault((f.module.name, at), (f, []))[1].append(inst)


def check(m: Machine, found: Made) -> None:
    """Record those that cannot be what their class is there for."""
    taken = dict(_taken(m)) if found else {}
    for (_, at), (f, objects) in found.items():
        by = next((taken[cls.id] for cls in mro(objects[0].cls) if cls.id in taken), None)
        why = [boundaries.unhashable(one) for one in objects]
        if by is not None and all(why):
            when = (Untold(objects[0].cls.name),)
            m.emit(
                f, TransformMisuse, at, None, Confidence.LIKELY, when=when,
                transform=by.spec.name, problem="unhashable-object", parameter=_name(by), detail=why[0],
            )  # fmt: skip


def check_modules(m: Machine) -> None:
    """Record methods that run a Linen module and are jitted with it as a static argument."""
    for site in m.sites:
        x, func = site.xform, site.xform.target
        if type(func) is not Func or func.owner is None or func.owner.role != "linen" or site.module.is_test:
            continue
        sig = signature(func, claimed=True) if x.spec.static_hash and x.spec.strict else None
        decorated = func.owner.namespace.get(func.fn.name)
        if (
            sig is None
            or not sig.positional
            or not boundaries.runs_module(func.fn)
            or type(decorated) is not Xform
        ):
            continue
        nums, names, _ = static_names(x, sig)
        if 0 in nums or sig.positional[0].name in names:
            frame = Frame(site.module, site.module.scope, HOST, ground="jit")
            m.emit(
                frame, TransformMisuse, x.site[1], None, Confidence.LIKELY, (x.site[0], func.fn.qualname),
                transform=x.spec.name, problem="static-module", parameter=func.fn.name, detail=func.owner.name,
            )  # fmt: skip


def _taken(m: Machine) -> Iterator[tuple[int, Xform]]:
    """Classes of static parameters, by their annotations."""
    for site in m.sites:
        x = site.xform
        sig = signature(x.target, claimed=True) if x.spec.static_hash else None
        if sig is None or type(x.target) is not Func or site.module.is_test:
            continue
        nums, names, _ = static_names(x, sig)
        names |= {param.name for i, param in enumerate(sig.positional) if i in nums}
        for param in x.target.fn.node.params:
            declared = parameters.resolve(m, x.target.scope, param.annotation)
            if param.name in names and type(declared) is Class:
                yield declared.info.id, x


def _name(x: Xform) -> str:
    return x.target.fn.name if type(x.target) is Func else ""
