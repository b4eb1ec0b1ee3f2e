"""Mistakes that one statement shows by itself: a thrown away result, a misleading import (layer: ``link``, room ``domains``)."""

from __future__ import annotations

from typing import Final

from jitlint.base.diagnostic import Confidence
from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.events import DroppedUpdate, ImportIdiom
from jitlint.infer.lattice import traced_modes
from jitlint.infer.values import NONE, UNKNOWN, Arr, Ext, ExtInst, Func, Inst, Mod, S, Tree, Tup, Value
from jitlint.link.domains.misuse import helpers, successors
from jitlint.link.engine import evaluator, scopes
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.frameworks import train_states
from jitlint.link.tables import bound_once, ir_walk, naming
from jitlint.link.values import paths
from jitlint.link.values.questions.kinds import find_method
from jitlint.syntax import ir

_CHECK: Final = ".error_if"


def thrown_away(m: Machine, f: Frame, statement: ir.ExprStmt, value: Value) -> None:
    """Record ``x.at[i].set(v)``, and other calls that do nothing but make a value, that stand alone as a statement."""
    node = statement.value
    if type(node) is not ir.Call:
        return
    if type(node.func) is not ir.Attr or type(place := node.func.obj) is not ir.Sub:
        _made_for_nobody(m, f, statement, node, value)
        return
    if not _updates(m, node.func.name) or type(place.obj) is not ir.Attr or place.obj.name != "at":
        return
    base = paths.peek(m, f, place.obj.obj)
    if type(base) is Arr and type(value) is Arr:
        m.emit(f, DroppedUpdate, node.at, value, Confidence.CERTAIN, method=node.func.name)
    elif type(base) is not ExtInst and (type(value) is Arr or value is UNKNOWN) and _has_no_references(f):
        m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, method=node.func.name)


def never_read(m: Machine, f: Frame, statement: ir.Assign, value: Value) -> None:
    """Record ``column = column.at[i].set(v)`` in a function that does nothing else with the name: what it stood for does not change."""
    node, targets = statement.value, statement.targets
    if type(node) is not ir.Call or type(node.func) is not ir.Attr or f.fn is None or len(targets) != 1:
        return
    base = helpers.updated_at(m, node.func) if _updates(m, node.func.name) else None
    if type(base) is not ir.Name or not ir_walk.same_text(targets[0], base) or value is NONE:
        return
    name, function = base.id, f.fn.node
    elsewhere = name in function.global_names or name in function.nonlocal_names
    if elsewhere or name.startswith("_") or bound_once.is_read(f.fn, name, node):
        return
    if _has_no_references(f) and not _is_only_run(m, f, statement):
        m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, method=node.func.name, unread=name)


def _made_for_nobody(m: Machine, f: Frame, statement: ir.ExprStmt, node: ir.Call, value: Value) -> None:
    what = "" if _is_left_out(m, f, node) else _makes(m, f, node, value)
    if what and not _is_only_run(m, f, statement):
        m.emit(f, DroppedUpdate, node.at, None, Confidence.LIKELY, what=what)


def _is_left_out(m: Machine, f: Frame, node: ir.Call) -> bool:
    """Record a call that compiled code does not make, as nobody reads the result. Answers whether it is one."""
    name = _library_name(m, f, node.func) if f.world.here & S else ""
    if name not in lexicon().arrays.left_out or (name.endswith(_CHECK) and not _checks_traced(m, f, node)):
        return False
    m.emit(f, DroppedUpdate, node.at, None, Confidence.CERTAIN, what=name, left_out=True)
    return True


def _checks_traced(m: Machine, f: Frame, node: ir.Call) -> bool:
    """Whether a call checks what is only known when the program runs: all else it refuses while it is traced."""
    given = [arg.value for arg in node.args[1:2] if not arg.star]
    return any(traced_modes(evaluator.evaluate(m, f, value)) & S for value in given)


def _is_only_run(m: Machine, f: Frame, statement: ir.Stmt) -> bool:
    """Whether somebody wants to see how long a call takes, or whether it raises."""
    around = m.texts.table(f).around.get(statement.at, ())
    guarded = any(type(node) is ir.Try and node.handlers for node, _ in around)
    return f.module.is_test or naming.is_benchmark(f.module.path) or guarded


def _makes(m: Machine, f: Frame, node: ir.Call, value: Value) -> str:
    """What a call is called that does nothing but make a value; "" for any other.

    Functions over arrays are counted in traces only: elsewhere somebody may want to see that they run, or how fast.
    """
    method = _pure_method(m, f, node.func, value) if type(node.func) is ir.Attr else ""
    if method:
        return method
    dotted = _library_name(m, f, node.func)
    if dotted in lexicon().arrays.pure_functions or (
        dotted in lexicon().buffers.tree_maps and node.args and _only_computes(m, f, node.args[0].value)
    ):
        return dotted
    if dotted:
        pure = f.world.here & S and type(value) is Arr and dotted.startswith(("jax.numpy.", "jax.nn."))
        return dotted if pure and m.catalogue.function(dotted) is not None else ""
    return helpers.makes(m, f, node) or successors.restored(m, f, node)


def _pure_method(m: Machine, f: Frame, func: ir.Attr, value: Value) -> str:
    base, name = paths.peek(m, f, func.obj), func.name
    if isinstance(base, (Inst, Tup)):
        return f".{name}" if _renews(base, name) else successors.method(m, base, name)
    if base is None or base is UNKNOWN or type(base) is Tree:
        found = name == "_replace"  # what named tuples are renewed by
    elif type(base) is ExtInst:
        found = any(_is_update(base.dotted, name, update) for update in lexicon().arrays.pure_updates)
    else:
        found = type(base) is Arr and type(value) is Arr and not base.host and _is_of_array(f, base, name)
    return f".{name}" if found else ""


def _renews(base: Inst | Tup, name: str) -> bool:
    """Whether a method that a class has from its library gives a new object with other fields."""
    if type(base) is Tup:
        return base.cls is not None and name == "_replace"
    given = name == "replace" or (
        name == "apply_gradients" and type(base) is Inst and train_states.is_state(base.cls)
    )
    return given and type(base) is Inst and _has_no_method_of_its_own(base, name)


def _is_of_array(f: Frame, base: Arr, name: str) -> bool:
    """Whether a method gives a new array, and somebody may have meant it to change its own."""
    words = lexicon().arrays
    known = not base.weak and (base.dtype is not None or base.rank is not None)  # no leaf of whatever kind
    if known and name in words.host_in_place_methods:  # it changes an array of NumPy
        return True
    return bool(f.world.here & S) and name in words.pure_methods


def _is_update(dotted: str, name: str, update: str) -> bool:
    """Whether a method of an object of a library gives a new state, and leaves its own as it is."""
    library, _, method = update.rpartition(".")
    return name == method and dotted.startswith(f"{library}.")


def _only_computes(m: Machine, f: Frame, function: ir.Node | None) -> bool:
    """Whether a function is a formula, or one of a library that is: nothing but its result could be wanted of it."""
    own = paths.peek(m, f, function) if type(function) is ir.Name else None
    if type(function) is ir.Lambda:
        body = f.module.functions[function.function].body
    elif type(own) is Func:
        body = own.fn.body
    else:
        return _is_formula(m, f, function)
    value = body[0].value if len(body) == 1 and type(body[0]) is ir.Return else None
    if type(value) is not ir.BinOp and type(value) is not ir.Call:
        return False
    return all(_is_formula(m, f, part.func) for part in ir_walk.nodes(value) if type(part) is ir.Call)


def _is_formula(m: Machine, f: Frame, func: ir.Node | None) -> bool:
    """Whether a call of this does nothing but compute an array."""
    if type(func) is ir.Attr and (
        func.name in lexicon().arrays.pure_methods
        or (_updates(m, func.name) and helpers.updated_at(m, func) is not None)
    ):
        return True
    dotted = _library_name(m, f, func)
    return dotted.startswith(("jax.numpy.", "jax.nn.")) and m.catalogue.function(dotted) is not None


def _has_no_method_of_its_own(base: Inst, name: str) -> bool:
    """Whether a library gave the class its ``replace``, which changes nothing."""
    return bool(base.cls.shape == "dataclass" or base.cls.pytree) and find_method(base, name) is None


def _library_name(m: Machine, f: Frame, func: ir.Node | None) -> str:
    """What a name or a path means, if that is a function of a library."""
    root = func
    while type(root) is ir.Attr:
        root = root.obj
    if type(root) is not ir.Name or not isinstance(scopes.lookup(f, root.id), (Ext, Mod)):
        return ""
    value = evaluator.evaluate(m, f, func)
    return m.catalogue.canonical(value.dotted) if type(value) is Ext else ""


def _updates(m: Machine, method: str) -> bool:
    return method != "get" and m.catalogue.update_method(method) is not None


def _has_no_references(f: Frame) -> bool:
    """Whether what has ``.at`` here is an array: kernels have mutable references too, which are updated in place."""
    mentions = " ".join(f.module.tree.mentions)
    return "jax" in mentions and "pallas" not in mentions


def imported(m: Machine, f: Frame, at: int, module: str, name: str) -> None:
    """Record `jax.numpy` under the name by which everybody knows NumPy."""
    if module == "jax.numpy" and name in lexicon().evidence.numpy_names:
        m.emit(f, ImportIdiom, at, None, name=name, what=module)
