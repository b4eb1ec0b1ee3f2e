"""Options of JAX that come too late (layer: ``link``, room ``domains``).

JAX reads its options from the environment while it is imported, and makes arrays by those that hold then. What it does: looks for
code that sets a variable in a module that has imported JAX before, or started its devices, and for double precision that is switched on when arrays of the
module are there already. What it does not: speak of modules that start other processes, which inherit the variable, or that name
the option otherwise as well; or of arrays whose type was asked for.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import ApiMisuse, LateVariable
from jitlint.infer.values import Arr, Ext, Py, Value
from jitlint.link.domains.misuse import early_modules
from jitlint.link.engine.domain import Library
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.tables.ir_walk import call_at, last_name
from jitlint.link.values import paths
from jitlint.syntax import ir
from jitlint.syntax.children import below

SETTERS: Final = frozenset({"os.environ.__setitem__", "os.environ.setdefault", "os.putenv"})
SWITCH: Final = "jax.config.update"
INITIALIZE: Final = "jax.distributed.initialize"
_HOST_DEVICES: Final = "jax_num_cpu_devices"
_MADE: Final = frozenset({"array", "asarray", "key", "PRNGKey"})
_BY_DEVICES: Final = frozenset(
    {
        "XLA_FLAGS",
        "XLA_PYTHON_CLIENT_PREALLOCATE",
        "XLA_PYTHON_CLIENT_MEM_FRACTION",
        "XLA_PYTHON_CLIENT_ALLOCATOR",
        "CUDA_VISIBLE_DEVICES",
    }
)
"""Variables that are read when the devices are started, and not again."""
_PLAIN: Final = (ir.Assign, ir.ExprStmt)
_DEFINITIONS: Final = (ir.FuncDef, ir.ClassDef, ir.Import, ir.ImportFrom)
_WRITTEN: Final = frozenset({"array", "asarray"})
_DISPLAYS: Final = (ir.Const, ir.List, ir.Tuple, ir.UnaryOp)
_WIDE: Final = "jax_enable_x64"
_PROMOTED: Final = "jax.numpy.result_type"
_JAX: Final = "jax"


def heard(m: Machine, f: Frame, library: Library) -> None:
    """A variable of the environment is set."""
    key = library.args.get(0, "key")
    name = key.const if type(key) is Py and isinstance(key.const, str) else ""
    by_devices, by_import = name in _BY_DEVICES, name in lexicon().compilation.variables
    if f.module.is_test or not (by_devices or by_import) or _is_inherited(f):
        return
    first = next(_starting(m, f, library.at), "") if by_devices and _sets_once(f, name) else ""
    if first or (by_import and _is_imported_before(f, library.at) and not _is_named_otherwise(f, name)):
        m.emit(f, LateVariable, library.at, None, Confidence.LIKELY, name=name, first=first)


def _imports(f: Frame) -> list[ir.Node]:
    return [part for part in f.module.tree.body if type(part) in (ir.Import, ir.ImportFrom)]


def _is_inherited(f: Frame) -> bool:
    """Whether a module may start other processes, which read the variable anew."""
    return any(_of(part, lexicon().compilation.starting) for part in _imports(f))


def _is_imported_before(f: Frame, at: int) -> bool:
    """Whether a module has imported JAX when code of it runs."""
    return any(_of(part, {_JAX}) and (f.fn is not None or part.at < at) for part in _imports(f))


def _sets_once(f: Frame, name: str) -> bool:
    """Whether a module sets a variable at one place: where it does so at two, the second may give back what was there."""
    parts = [part for nodes in f.module.code() for part in nodes if type(part) is ir.Assign]
    places = [target.index for part in parts for target in part.targets if type(target) is ir.Sub]
    return sum(type(place) is ir.Const and place.value == name for place in places) < 2


def asked(m: Machine, f: Frame, library: Library) -> None:
    """JAX is asked for its devices, or its type of floats, maybe by a default that a module makes while it is imported."""
    first = library.args.get(0, "")
    of_type = type(first) is Ext and first.dotted.startswith("builtins.")
    if f.fn is not None or f.module.is_test or (library.dotted == _PROMOTED and not of_type):
        return
    params = (param for fn in f.module.functions for param in fn.node.params if param.default is not None)
    name = next((p.name for p in params if call_at(below(p.default), library.at)), "")
    if name:
        m.emit(f, LateVariable, library.at, None, Confidence.LIKELY, name=library.dotted, default=name)


def switched(m: Machine, f: Frame, library: Library) -> None:
    """An option of JAX is set by a call."""
    name, value = library.args.get(0, "name"), library.args.get(1, "val")
    on = type(name) is Py and name.const == _WIDE and type(value) is Py and value.const is True
    made = next(_made_before(m, f, library.at), "") if on and not f.module.is_test else ""
    if made:
        m.emit(f, LateVariable, library.at, None, Confidence.LIKELY, name=_WIDE, made=made)


def started(m: Machine, f: Frame, library: Library) -> None:
    """Several processes, or several devices of the host, are asked for: refused when the devices are there already."""
    name = library.args.get(0, "name")
    if library.dotted != INITIALIZE and not (type(name) is Py and name.const == _HOST_DEVICES):
        return
    first = next(_starting(m, f, library.at), None)
    if first is not None and not m.guards:
        m.emit(
            f, ApiMisuse, library.at, api=library.dotted, problem="wrong-call", parameter=first, detail="late",
            exception="RuntimeError",
        )  # fmt: skip


def _starting(m: Machine, f: Frame, at: int) -> Iterator[str]:
    """The calls that have started the devices by then: in the body of the module, or before in the same block of a function."""
    own = f.fn.body if f.fn is not None else []
    blocks = [(f.module.tree.body, at if f.fn is None else _first_run(f)), (own, at)]
    for body, limit in blocks:
        plain = [part for part in body if isinstance(part, _PLAIN) and (limit is None or part.at < limit)]
        for call in (part for part in below(plain) if type(part) is ir.Call and part.at != at):
            if _starts(dotted := paths.dotted(m, f, call.func)):
                yield dotted


def _first_run(f: Frame) -> int | None:
    """Where a module first mentions one of its own functions while it is imported: from there on they may run. None if it never does."""
    own = {fn.name for fn in f.module.functions} | {
        part.name for part in f.module.tree.body if type(part) is ir.ClassDef
    }
    for part in f.module.tree.body:
        if type(part) not in _DEFINITIONS and any(type(n) is ir.Name and n.id in own for n in below(part)):
            return part.at
    return None


def _starts(dotted: str) -> bool:
    """Whether a function of JAX makes an array, or asks for the devices."""
    module, _, name = dotted.rpartition(".")
    makes = module.startswith("jax.") and (name in lexicon().compilation.makers or name in _MADE)
    return makes or dotted in lexicon().compilation.at_import


def _made_before(m: Machine, f: Frame, at: int) -> Iterator[str]:
    """The arrays of floats that a call of JAX made for a variable of the module, or of the function, which is read later on."""
    parts = [part for fn in f.module.functions for part in fn.parts]
    for name, node in _bound(f.module.tree.body, at if f.fn is None else _first_run(f)):
        if _is_made(m, f, f.module.scope.vars.get(name), node) and _is_read(parts, name, 0):
            yield name
    body, parts = (f.fn.body, f.fn.parts) if f.fn is not None else ([], [])
    for name, node in _bound(body, at):
        if _is_made(m, f, f.scope.vars.get(name), node) and _is_read(parts, name, at):
            yield name
    yield from _made_elsewhere(m, f, at if f.fn is None else None)


def _made_elsewhere(m: Machine, f: Frame, at: int | None) -> Iterator[str]:
    """The same of the variables of modules that this one imports."""
    for there, read in early_modules.read(m, f.module, at, _WIDE):
        for name, node in _bound(there.module.tree.body, None):
            if name in read and _is_made(m, there, there.scope.vars.get(name), node):
                yield f"{there.module.name}.{name}"


def _bound(body: Sequence[ir.Node], limit: int | None) -> Iterator[tuple[str, ir.Expr]]:
    """Variables and what they are set to, before some place in the same block."""
    for part in body:
        if type(part) is ir.Assign and len(part.targets) == 1 and (limit is None or part.at < limit):
            target = part.targets[0]
            if type(target) is ir.Name:
                yield target.id, part.value


def _is_made(m: Machine, f: Frame, value: Value | None, node: ir.Expr) -> bool:
    """Whether a call of `jax.numpy` made an array of floats, of the type that was usual then."""
    usual = type(value) is Arr and not value.host and not value.modes and value.dtype == "float"
    if not usual or type(node) is not ir.Call or any(arg.name == "dtype" for arg in node.args):
        return False
    dotted = paths.dotted(m, f, node.func)
    plain = not any(type(part) is ir.Attr and part.name.startswith("float") for part in below(node))
    return plain and dotted.startswith(("jax.numpy.", "jax.random.")) and not _is_exact(node)


def _is_exact(call: ir.Call) -> bool:
    """Whether an array is made of numbers that are written out, and that 32 bits hold as they are: nothing was rounded."""
    given = [part for arg in call.args for part in below(arg.value)]
    numbers = [part.value for part in given if type(part) is ir.Const]
    if last_name(call.func) not in _WRITTEN or not all(type(part) in _DISPLAYS for part in given):
        return False
    return all(isinstance(n, (int, float)) and _is_short(n) for n in numbers)


def _is_short(number: float) -> bool:
    """Whether 32 bits hold a number as it is."""
    try:
        return bool(struct.unpack("f", struct.pack("f", number))[0] == number)
    except (OverflowError, struct.error):
        return False


def _is_read(parts: Sequence[ir.Node], name: str, after: int) -> bool:
    return any(type(node) is ir.Name and node.id == name and node.at > after for node in parts)


def _of(part: ir.Node, packages: set[str] | frozenset[str]) -> bool:
    """Whether a statement imports one of these packages, or something in it."""
    if type(part) is ir.ImportFrom:
        return not part.level and part.module.partition(".")[0] in packages
    return type(part) is ir.Import and any(one.name.partition(".")[0] in packages for one in part.names)


def _is_named_otherwise(f: Frame, name: str) -> bool:
    """Whether the module speaks of the option by the name that `jax.config` has for it."""
    option = name.lower()
    texts = (part for nodes in f.module.code() for part in nodes if type(part) in (ir.Const, ir.Attr))
    return any(option in (getattr(part, "value", None), getattr(part, "name", None)) for part in texts)
