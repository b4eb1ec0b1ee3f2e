"""What the JAX that the program runs with does not have: names, arguments, options (layer: ``link``, room ``domains``).

The catalogue's view says what is there; nothing is compared here. Code that asks before it uses a name is prepared, and
silent (`jitlint.link.engine.regions`).
"""

from __future__ import annotations

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.schema import Removed
from jitlint.infer.events import ApiMisuse
from jitlint.infer.places import Place
from jitlint.infer.program import ModuleInfo
from jitlint.infer.values import Arr, Func, Value
from jitlint.link.domains.versions.spelling import is_spelled
from jitlint.link.engine.domain import Domain, Library
from jitlint.link.engine.frame import Args, Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables import ir_walk
from jitlint.link.values import paths
from jitlint.link.values.boxes import const_text
from jitlint.syntax import ir

_JIT = "jax.jit"


class Versions(Domain[None]):
    """Compares calls with the history of what they call, and tells of the names that were seen to be gone."""

    nodes = frozenset({ir.AnnAssign})

    def __init__(self, m: Machine) -> None:
        super().__init__(m)
        self._unread: dict[str, frozenset[int] | None] = {}
        self._annotations: dict[int, list[ir.Attr]] = {}

    def on_make(self, f: Frame, at: int, value: Value) -> None:
        """A definition reads its annotations."""
        if type(value) is Func and not self.m.guards:
            read = self._annotations.get(value.fn.id)
            if read is None:
                node = value.fn.node
                read = _attributes([*(param.annotation for param in node.params), node.returns])
                self._annotations[value.fn.id] = read
            if read:
                self._read(f, read)

    def on_run(self, f: Frame, node: ir.Node, value: Value) -> None:
        """So does a module or class that annotates its variables."""
        if type(node) is ir.AnnAssign and not self.m.guards:
            self._read(f, _attributes([node.annotation]))

    def _read(self, f: Frame, attributes: list[ir.Attr]) -> None:
        """What Python looks up: not what is quoted, and nothing where annotations are only kept."""
        unread = self._unread_in(f.module)
        if unread is None:
            return
        view = self.m.catalogue.view
        for node in attributes:
            if node.at not in unread:
                owner = paths.dotted(self.m, f, node.obj)
                dotted = f"{owner}.{node.name}"
                if owner.partition(".")[0] == "jax" and view.removed(dotted) and not view.removed(owner):
                    self.m.removed_seen.setdefault((f.module.name, node.at), dotted)

    def _unread_in(self, module: ModuleInfo) -> frozenset[int] | None:
        """The origins in quoted annotations of a module; None if it reads no annotations at all."""
        if module.name not in self._unread:
            imports = [
                node
                for node in module.tree.body
                if type(node) is ir.ImportFrom and node.module == "__future__"
            ]
            kept = any(name.name == "annotations" for node in imports for name in node.names)
            self._unread[module.name] = None if kept else frozenset(module.tree.quoted)
        return self._unread[module.name]

    def hears_of(self, dotted: str) -> bool:
        """Functions that have taken something else once, and what sets an option."""
        return dotted in (_JIT, *lexicon().compilation.options) or self.m.catalogue.view.speaks_of(dotted)

    def on_library(self, f: Frame, library: Library) -> Value | None:
        """A call is made that this version may refuse, or understand otherwise."""
        if self.m.guards or _perhaps_no_array(library.owner):
            return None
        view, args, dotted = self.m.catalogue.view, library.args, library.dotted
        if dotted == _JIT and _names_options_only(args) and view.behaves("jit-makes-decorators") is False:
            self.m.emit(f, ApiMisuse, library.at, api=dotted, problem="no-function", since=view.version)
        if dotted in lexicon().compilation.options:
            option = const_text(args.get(0, "name"))
            gone = view.lacks_option(option) if option else None
            if gone is not None:
                self._say(f, library.at, dotted, f"`{option}`", gone)
            return None
        for name in args.kw:
            gone = view.lacks(dotted, name)
            if gone is not None:
                self._say(f, library.at, dotted, f"`{name}`", gone)
        if args.more is None and args.pos:
            gone = view.lacks_position(dotted, len(args.pos))
            if gone is not None:
                self._say(f, library.at, dotted, f"argument {len(args.pos)} by position", gone)
            moved = view.moved(dotted, len(args.pos))
            if moved is not None:
                self.m.emit(
                    f,
                    ApiMisuse,
                    library.at,
                    api=dotted,
                    problem="moved",
                    parameter=f"argument {moved.position} by position",
                    cure=moved.old,
                    since=moved.new,
                    target=view.version,
                )
        return None

    def _say(self, f: Frame, at: int, dotted: str, argument: str, gone: Removed) -> None:
        target = self.m.catalogue.view.version if gone.upgrade else ""
        self.m.emit(
            f,
            ApiMisuse,
            at,
            api=dotted,
            problem="removed",
            parameter=argument,
            cure=gone.replacement,
            since=gone.removed_in,
            target=target,
        )

    def finish(self) -> None:
        """Names stand where they stand, whoever comes there."""
        view = self.m.catalogue.view
        for (module, at), dotted in self.m.removed_seen.items():
            gone = view.removed(dotted)
            if gone is None:
                self._say_nowhere(module, at, dotted)
            if gone is not None:
                place = Place(module, at, "", (), "eager", Confidence.CERTAIN)
                event = ApiMisuse(
                    place,
                    api=dotted,
                    problem="removed",
                    cure=gone.replacement,
                    since=gone.removed_in,
                    target=view.version if gone.upgrade else "",
                )
                self.m.sink.add((ApiMisuse, module, at, "removed"), event)

    def _say_nowhere(self, module: str, at: int, dotted: str) -> None:
        """A name is nowhere, unless the program has put it there, or means another library's."""
        if dotted not in self.m.replaced and is_spelled(self.m.modules[module], at, dotted):
            place = Place(module, at, "", (), "eager", Confidence.CERTAIN)
            event = ApiMisuse(
                place,
                api=dotted,
                problem="unknown-name",
                cure=self.m.catalogue.view.like(dotted),
                since=self.m.catalogue.view.oldest,
            )
            self.m.sink.add((ApiMisuse, module, at, "unknown-name"), event)


def _attributes(annotations: list[ir.Expr | None]) -> list[ir.Attr]:
    return [node for node in ir_walk.nodes(annotations) if type(node) is ir.Attr]


def _perhaps_no_array(owner: Value | None) -> bool:
    """Whether a method is asked of something that is only taken for an array."""
    return type(owner) is Arr and owner.softness > 0


def _names_options_only(args: Args) -> bool:
    """Whether a call of a transform surely gives it no function."""
    return not (args.pos or "fun" in args.kw or args.more is not None or args.kw_more is not None)
