"""What traced code reads of the world outside, and who writes it later (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.objects import itself
from jitlint.infer.program import FuncInfo
from jitlint.infer.values import Arr, Func, Inst, Map, Seq, Value, Xform
from jitlint.link.domains.captures import judge
from jitlint.link.domains.captures.log import ANY, ENTERED, Log, Remembered
from jitlint.link.engine.domain import Activation, Change, Domain, Library, Load, Rename, Store, Transformed
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

_NAMES: Final = {"name": "name", "global": "name", "nonlocal": "name", "module": "name"}
"""Kinds of stores to a variable."""


class Captures(Domain[Remembered]):
    """Logs loads and writes in the order of execution, and judges them when the whole program has run."""

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self.log = Log(m)
        self._trained: set[int] = set()
        self._places = judge.Places()

    def hears_of(self, dotted: str) -> bool:
        """What gives the variables of a module other values."""
        return dotted in lexicon().captures.training

    def on_root(self, fn: FuncInfo | None) -> None:
        """An episode begins."""
        self.log.begin(fn)

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """What is read of something cannot be older than it."""
        if isinstance(value, (Func, Xform, Inst)):
            value.born = self.log.now

    def on_load(self, f: Frame, load: Load) -> None:
        """A trace reads something."""
        log, kind = self.log, load.kind
        if kind == "name":
            log.load_name(f, load.at, load.owner, load.key, load.value)
        elif kind == "attribute":
            log.load_attr(f, load.at, load.owner, load.key, load.value)
        elif kind == "class":
            log.load_class(f, load.at, load.owner, load.key, load.value)
        elif kind == "element":
            log.load_item(f, load.at, load.whole, load.owner, load.key, load.value)
        elif load.owner is not f.scope and load.owner.level < f.world.floor:
            log.load(f, load.at, kind, load.owner, load.key, load.value)

        model = load.value
        if (
            type(model) is Inst
            and model.cls.role in lexicon().captures.refusing_roles
            and kind in ("name", "attribute")
        ):
            log.load_model(f, load.at, load.owner, model)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A module is trained, be it in a function that gets it as an argument."""
        model = library.args.get(0, "model")
        if type(model) is Inst and model.cls.role in lexicon().captures.refusing_roles:
            self._trained.add(model.cls.id)
            self.log.write(f, library.at, "model", itself(model), ANY, None)
        return None

    def on_target(self, f: Frame, at: int, changed: Value | None) -> None:
        """It was not read for its own sake."""
        self.log.forget(at, changed)

    def on_store(self, f: Frame, store: Store) -> None:
        """Host code writes something."""
        if store.key is None:
            return
        log, kind = self.log, store.kind
        if kind in _NAMES:
            log.write(f, store.at if kind == "module" else f.at, "name", store.owner, store.key, store.value)
        elif kind == "attribute" and not _may_refuse(store.owner):
            log.write(f, store.at, "attr", store.owner, store.key, store.value)
        elif kind == "element":
            log.write_item(f, store.at, store.owner, store.key, store.value)
        elif kind in ("class", "part"):
            log.write(f, store.at, kind, store.owner, store.key, store.value)

    def on_change(self, f: Frame, change: Change) -> None:
        """Host code changes a container or a NumPy array."""
        box, how = change.box, change.how
        if how in ("in-place", "at") or (how in lexicon().arrays.host_in_place_methods and type(box) is Arr):
            self.log.write_in_place(f, change.at, box)
        elif how in lexicon().containers.changing and isinstance(box, (Seq, Map)):
            self.log.write(f, change.at, "elem", box, ANY, None)

    def on_transform(self, f: Frame, transformed: Transformed) -> None:
        """The host may call a staged function."""
        if transformed.inner.world.floor and not f.world.floor:
            self.log.root(transformed.inner)

    def on_result(self, f: Frame, transformed: Transformed, result: Value) -> None:
        """The staged function has run."""
        if transformed.inner.world.floor and not f.world.floor:
            self.log.called(f, transformed.x, transformed.args, transformed.inner)
            self._tell_trained(f, transformed)

    def _tell_trained(self, f: Frame, transformed: Transformed) -> None:
        """A function that trains has given its changes to the module that it got, if there is but one of a class that is trained."""
        given = [*transformed.args.pos, *transformed.args.kw.values()] if self._trained else []
        models = [value for value in given if type(value) is Inst and value.cls.id in self._trained]
        if len(models) == 1 and not transformed.x.spec.name.startswith("jax."):
            self.log.write(f, f.at, "model", itself(models[0]), ANY, None)

    def on_side(self, number: int | None) -> None:
        """What follows is another way to go on, not something that happens later."""
        self.log.side(number)

    def on_enter(self, f: Frame, inner: Frame) -> None:
        """An activation has loads of its own."""
        log = self.log
        ENTERED.put(inner, (log.current, len(log.log)))
        log.current = {} if inner.world.floor else None

    def summarise(self, inner: Frame, activation: Activation) -> Remembered | None:
        """What an activation read, or did to the log."""
        return self.log.leave(inner, activation.watched, activation.value)

    def replay(self, f: Frame, activation: Activation, summary: Remembered) -> Rename | None:
        """It reads and does the same again."""
        self.log.replay(summary, activation)
        return None

    def progress(self) -> int:
        """The length of the log."""
        return len(self.log.log)

    def on_pause(self) -> None:
        """What was logged is put in order."""
        self._places.read(self.log.log)

    def finish(self) -> None:
        """Which reads are stale."""
        judge.judge(self.m, self.log, self._places)


def _may_refuse(owner: object) -> bool:
    """Whether a class of the program raises when some of the attributes of its objects are set: then they stay as they were."""
    setter = find_method(owner, "__setattr__") if isinstance(owner, Inst) else None
    return type(setter) is Func and any(type(part) is ir.Raise for part in setter.fn.parts)
