"""Whether the code around a key that is consumed again speaks against a mistake (layer: ``link``, room ``domains``).

What it does: weighs what files, loops and functions are there for; such a finding is only possible. What it does not:
look at what the numbers are used for; that is `meant`.
"""

from __future__ import annotations

import functools
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Key, Use, root_of
from jitlint.infer.values import Func, Map, Py, Seq, Tup, Value
from jitlint.link.domains.keys import asserted, experiments, meant, ranked, redone
from jitlint.link.domains.keys.ledger import MANY, RANDOM, Ledger
from jitlint.link.domains.keys.turns import counts, is_repeated
from jitlint.link.engine import surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import (
    bound_by,
    bound_names,
    call_at,
    docstring,
    docstrings,
    last_name,
    nodes,
)
from jitlint.link.tables.results import only_returned
from jitlint.link.values import paths
from jitlint.link.values.keys import inside
from jitlint.syntax import ir
from jitlint.syntax.children import below
from jitlint.syntax.documentation import COMMON_NUMBERS, SAME_NUMBERS
from jitlint.syntax.documents import is_document

_EVERY: Final = frozenset({"loop", "many", "steps", "shared", "calls", "epochs"})
"""How a key is consumed again that is the same each time, at one place."""

_ORDERING: Final = frozenset({"sorted", "list", "tuple", "reversed"})
_PLACES: Final = (ir.Name, ir.Attr, ir.Sub)
_CONSTRUCTORS: Final = frozenset({"__init__", "__post_init__", "setup"})


def is_on_purpose(k: Ledger, f: Frame, this: Use, found: Use, how: str) -> bool:
    """Whether what the code around is there for speaks against a mistake."""
    made_apart = is_made_apart(k, this.key)
    path = k.m.modules[this.module].path
    if naming.is_benchmark(path) or _is_said(k, f, this) or _is_of_a_test(k, f, this, found):
        return True  # what is measured does not depend on the numbers
    if _is_test(path) or _is_checked(f, this, found):
        return made_apart or not (_is_slip(this, found) or _leaves_one_over(f, this, found))
    told = is_document(path)
    whole = told or not (this.api and found.api)
    if this.function == "<module>" and ((told and _is_told(this, found, how)) or (made_apart and whole)):
        return True
    if _is_left_out(k, f, this) or _is_chosen(f, this) or (made_apart and _begins(f, this, found)):
        return True
    return _is_same_each_time(k, f, this, how) if how in _EVERY else _is_once_more(f, this, found)


def _is_of_a_test(k: Ledger, f: Frame, this: Use, found: Use) -> bool:
    """Whether a test has it so, and not the code that draws."""
    return _is_of_a_mock(k, f, this) or _is_given_by_a_test(k, f, this, found)


def _is_of_a_mock(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether a test draws, from a key that it has put into what stands in for something else: the call at hand gives none."""
    drawing = k.m.modules.get(this.drawn[0])
    call = meant.call_of(f, this)
    if drawing is None or not drawing.is_test or k.m.modules[this.module].is_test or call is None:
        return False
    given = (paths.peek(k.m, f, part) for arg in call.args for part in below(arg.value))
    return not any(value is not None and inside([value]) for value in given)


def _is_given_by_a_test(k: Ledger, f: Frame, this: Use, found: Use) -> bool:
    """Whether a test makes keys of one seed and hands each over for itself: code that gets them under several names, or one in each
    turn of a loop, has used none twice."""
    given = is_made_apart(k, this.key) and root_of(this.key).step[1:] in k.tests
    if not given or k.m.modules[this.module].is_test:
        return False
    first, second = (_names_given(meant.call_of(f, use)) for use in (found, this))
    if this.site != found.site:
        return first.isdisjoint(second)
    loop = f.loops[-1] if f.loops else None
    targets = (
        [part.target for part in loop.fors] if type(loop) is ir.Comp else [getattr(loop, "target", None)]
    )
    return not second.isdisjoint(name.id for name in bound_names([one for one in targets if one is not None]))


def _names_given(call: ir.Call | None) -> set[str]:
    """The variables that a call mentions in its arguments."""
    parts = (part for arg in call.args for part in nodes(arg.value)) if call is not None else ()
    return {part.id for part in parts if type(part) is ir.Name}


def _is_said(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether the documentation of a module around, or of the one that draws, says that the numbers are to be common ones, or that
    of a function around that they are the same."""
    modules = {name: k.m.modules.get(name) for name in (f.module.name, this.module, this.drawn[0])}.values()
    if any(COMMON_NUMBERS in docstrings(info) for info in modules if info is not None):
        return True
    around = [fn for fn in f.module.functions if f"{f.qualname}.".startswith(f"{fn.qualname}.")]
    return any(docstring(fn.body) == SAME_NUMBERS for fn in around)


def _is_once_more(f: Frame, this: Use, found: Use) -> bool:
    """Whether an evaluation is called again, or what begins with a state that is left as it was."""
    code = meant.parts(f)
    shown = ranked.are_shown(code, this, found) or redone.are_compared(code, this, found)
    return shown or meant.evaluates_again(f, this, found) or meant.starts_again(f, this, found)


def _is_same_each_time(k: Ledger, f: Frame, this: Use, how: str) -> bool:
    """Whether what runs many times is to draw the same numbers each time."""
    if how == "loop" and _is_each_alike(k, f, this):
        return True
    if how == "calls" and meant.starts_from_outside(f, this):
        return True
    if how in ("shared", "many") and ranked.are_ranked(f, meant.parts(f), this):
        return True
    if how != "shared" and ranked.are_averaged(f, this):
        return True
    return meant.evaluates(f, this) or (how == "shared" and _are_variants(k, f, this))


def _are_variants(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether the lanes of a batch differ in parameters or settings: each is to get the same numbers, to be compared."""
    many, call = MANY.of(f), k.m.texts.table(f).calls.get(this.at)
    if many is None or call is None or not many.lanes:
        return False
    given = [arg.value for arg in call.args if arg.name is None]
    callee = paths.peek(k.m, f, call.func)
    params = [param.name for param in callee.fn.node.params] if type(callee) is Func else []
    words = lexicon().keys.varied
    lanes = [i for i in many.lanes if i < len(given)]
    return bool(lanes) and all(
        naming.has_word(last_name(given[i]), words) or naming.has_word("".join(params[i : i + 1]), words)
        for i in lanes
    )


def _is_told(this: Use, found: Use, how: str) -> bool:
    """Whether a document goes on step by step: another procedure starts from the same key, to be compared."""
    return how in ("again", "returned", "calls", "split") and not (_is_drawn(this) and _is_drawn(found))


def _is_each_alike(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether the turns of a loop are for things of which each is to get the same numbers."""
    if _starts_over(k, f, this) or _begins_alike(f, this) or _is_measured(k, f):
        return True
    code = meant.parts(f)
    if redone.is_discarded(code, this) or redone.is_another_attempt(code, this):
        return True
    loop = f.loops[-1] if f.loops else (_comprehended(f, this) or _followed(k, f))
    if loop is not None and _is_drawn(this):
        return compares(k, f, loop) and experiments.keeps_all_inside(loop)
    return not this.api and _is_each_apart(k, f, this, loop)


def _is_each_apart(k: Ledger, f: Frame, this: Use, loop: ir.Node | None) -> bool:
    """Whether the turns of a loop are compared, or have nothing in common. loop: one whose turns are alike for the analysis."""
    around = loop or _around(k, f)
    if around is None or _is_chain(this, around) or (loop is None and _is_comprehended(this, around)):
        return False
    return experiments.are_apart(this, around) or (loop is not None and compares(k, f, loop))


def _is_comprehended(this: Use, loop: ir.Node) -> bool:
    """Whether the turns are those of a comprehension inside of a loop."""
    inner = [part for part in below(loop) if type(part) is ir.Comp]
    return any(call_at(below(part), this.site[1]) is not None for part in inner)


def _comprehended(f: Frame, this: Use) -> ir.Comp | None:
    """The comprehension around a call of which each turn is followed for itself, and comes to one number."""
    inner = _inner(f, this)
    result = (inner.value or inner.elt) if inner is not None else None
    number = type(result) is ir.Call and last_name(result.func) in experiments.NUMBERS
    return inner if number and this.site[0] == f.module.name else None


def _inner(f: Frame, this: Use) -> ir.Comp | None:
    """The comprehension whose result a call is, or is in."""
    statement = surroundings.statement(f)
    inner = [part for part in below(statement) if type(part) is ir.Comp] if statement is not None else []
    return next((c for c in inner if call_at(below(c.value or c.elt), this.site[1]) is not None), None)


def _around(k: Ledger, f: Frame) -> ir.For | None:
    """The innermost loop that is written around, be it one of which each turn is followed for itself."""
    around = k.m.texts.table(f).around.get(f.at, ())
    return next((node for node, _ in reversed(around) if type(node) is ir.For), None)


def _followed(k: Ledger, f: Frame) -> ir.For | None:
    """The innermost loop of which each turn is followed for itself, as it goes through few things that are known."""
    loop = _around(k, f)
    over = _written(k, f, _display(f, _listed(loop.iter))) if loop is not None else None
    params = [param.name for param in f.fn.node.params] if f.fn is not None else []
    own = f.fn.node.local_names if f.fn is not None else []
    computed = type(over) is ir.Name and over.id in own and over.id not in params
    return None if computed or not isinstance(over, (ir.Name, ir.Tuple, ir.List, ir.Dict)) else loop


def _display(f: Frame, over: ir.Expr | None) -> ir.Expr | None:
    """What is written out for a variable of the function, if that is all that it is ever set to."""
    if type(over) is not ir.Name:
        return over
    found = [n for n in meant.parts(f) if over.id in bound_by(n)]
    value = found[0].value if len(found) == 1 and isinstance(found[0], (ir.Assign, ir.AnnAssign)) else None
    return value if isinstance(value, (ir.Dict, ir.List, ir.Tuple)) else over


def _is_chain(this: Use, loop: ir.Node) -> bool:
    """Whether a turn goes on with what the turn before it made: it is no other attempt at the same."""
    parts = below(loop.body) if type(loop) is ir.For else []
    bindings = [n for n in parts if type(n) is ir.Assign]
    call = call_at(parts, this.site[1])
    return call is not None and any(_is_handed_on(name, bindings) for name in meant.given(call))


def _is_drawn(use: Use) -> bool:
    """Whether JAX itself takes the key, to draw or to split, and no procedure starts from it."""
    return use.api.startswith(RANDOM)


def _is_chosen(f: Frame, this: Use) -> bool:
    """Whether a switch decides at the call between this key and another one: ``draw(shared if paired else own)``."""
    call = meant.innermost_call(f, this) or meant.call_of(f, this)
    given = [arg.value for arg in call.args] if call is not None else []
    either = [node for node in given if type(node) is ir.IfExp and type(node.test) is ir.Name]
    return any(isinstance(node.body, _PLACES) and isinstance(node.orelse, _PLACES) for node in either)


def _begins(f: Frame, this: Use, found: Use) -> bool:
    """Whether something is set up: an object while it is made, or once more what was set up before."""
    return _fills_object(this, found) or redone.begins_anew(meant.parts(f), this, found)


def _fills_object(this: Use, found: Use) -> bool:
    """Whether an object is filled while it is made: numbers that are the same for all objects wait for others."""
    return this.function == found.function and this.function.rpartition(".")[2] in _CONSTRUCTORS


def _is_left_out(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether a call has no key at all and leaves it to the default: who minds the numbers hands one over. Who asks for
    several results of one call does mind."""
    root = root_of(this.key)
    if this.api or root not in k.defaults:
        return False
    call = k.m.texts.table(f).calls.get(this.site[1])
    own = any(root_of(key) is root for key in inside(f.scope.vars.values()))
    return not own and (call is None or not is_repeated(f, call, _inner(f, this) or _around(k, f)))


def _is_measured(k: Ledger, f: Frame) -> bool:
    """Whether a function reads clocks, and is called for it: how long something takes does not depend on the numbers."""
    clocks = (f.module.name, f.fn) in k.m.host_calls.clocks
    return clocks and f.fn is not None and naming.has_word(f.fn.name, lexicon().keys.measuring)


def _starts_over(k: Ledger, f: Frame, this: Use) -> bool:
    """Whether every turn of a loop makes the key again, for another thing: none is given what the turn before it left.

    A draw whose shape or scale comes from the turn is one of several draws, not the beginning of a procedure.
    """
    loop, root = _things(f), root_of(this.key)
    if loop is None or root.step[:2] != ("const", f.scope.key) or (this.api and this.api != f"{RANDOM}split"):
        return False
    parts = below(loop.body)
    calls = [n for n in parts if type(n) is ir.Call]
    if k.makers.get(root.step[1:], set()).isdisjoint(n.at for n in calls):
        return False
    bindings = [n for n in parts if type(n) is ir.Assign]
    return not any(_is_handed_on(n, bindings) for call in calls for n in meant.given(call))


def _begins_alike(f: Frame, this: Use) -> bool:
    """Whether every turn begins with the same parameters, whatever thing it goes on with: ``params = model.init(key)``."""
    loop = _things(f)
    call = call_at(below(loop), this.site[1])
    if loop is None or call is None:
        return False
    turn = {name.id for name in bound_names([loop.target])}
    own = turn.isdisjoint(name.id for name in meant.given(call))
    return own and naming.begins_with(last_name(call.func), lexicon().keys.setting_up)


def _things(f: Frame) -> ir.For | None:
    """The innermost loop, if it goes through things and does not only count its turns, which are alike."""
    loop = f.loops[-1] if f.loops else None
    return loop if type(loop) is ir.For and not counts(loop.iter) else None


def _is_handed_on(name: ir.Name, bindings: list[ir.Assign]) -> bool:
    """Whether a variable has what an earlier turn left there: the code binds it, but not before it reads it."""
    mine = [n for n in bindings if any(target.id == name.id for target in bound_names(n.targets))]
    return bool(mine) and not any(n.at < name.at and name not in below(n) for n in mine)


def is_made_apart(k: Ledger, key: Key) -> bool:
    """Whether a key is made at several places from one constant."""
    root = root_of(key)
    return root.step[0] == "const" and len(k.makers.get(root.step[1:], ())) > 1


@functools.cache
def _is_test(path: str) -> bool:
    """Whether a file holds tests; examples are programs."""
    parts = path.replace(chr(92), "/").split("/")
    name = parts[-1]
    named = name.startswith("test_") or name.endswith(("_test.py", "_tests.py")) or name == "conftest.py"
    return named or not {"test", "tests", "testing"}.isdisjoint(parts[:-1])


def _is_checked(f: Frame, this: Use, found: Use) -> bool:
    """Whether a program is a test, though its file is not called one: what comes of both uses is only asserted."""
    if f.world.level or found.site[0] != f.module.name or this.function != f.qualname:
        return False  # in a trace, assertions are about shapes
    checks = [n for n in meant.parts(f) if surroundings.mentions_assertion(n) and n.at > found.site[1]]
    return len(checks) >= surroundings.CHECKS


def _is_slip(this: Use, found: Use) -> bool:
    """Whether a test hardly means to use the key again: tests compare what equal keys give, but not different draws."""
    draws = all(u.api and u.api != f"{RANDOM}split" for u in (this, found))
    return draws and this.function == found.function and (this.api != found.api or _differ(this, found))


def _leaves_one_over(f: Frame, this: Use, found: Use) -> bool:
    """Whether both uses are of one part of a split, and another part that has a name is read by nobody."""
    key, code = this.key, meant.parts(f)
    split = key.parent.step if key.step[0] == "item" and key.parent is not None else ()
    if this.function != found.function or not split or split[0] != "split":
        return False
    names = [
        target.id
        for n in code
        if type(n) is ir.Assign and type(n.value) is ir.Call and n.value.at == split[-1]
        for target in bound_names(n.targets)
    ]
    return any(
        not name.startswith("_") and all(name != read for read, _ in asserted.reads(code)) for name in names
    )


def _differ(this: Use, found: Use) -> bool:
    """Whether two draws surely have different shapes, so that nobody can compare them."""
    if this.dims is None or found.dims is None:
        return False
    return len(this.dims) != len(found.dims) or any(
        a is not None and b is not None and a != b for a, b in zip(this.dims, found.dims)
    )


def compares(k: Ledger, f: Frame, loop: ir.Node) -> bool:
    """Whether a loop goes through things that the program lists one by one: each is to get the same numbers.

    Things have names, or are rates and scales; sizes and shapes are those of layers, which are to differ.
    """
    over = loop.iter if type(loop) is ir.For else loop.fors[-1].iter if type(loop) is ir.Comp else None
    over = _written(k, f, _display(f, _listed(over)))
    if isinstance(over, (ir.Tuple, ir.List)):
        return not any(_is_size(node) for node in over.elts)
    if type(over) is ir.Dict:
        return not any(_is_size(node) for node in over.values)
    value = paths.peek(k.m, f, over) if isinstance(over, (ir.Name, ir.Attr)) else None
    if type(value) is Map:
        return True
    items = value.items if isinstance(value, (Tup, Seq)) else None
    return items is not None and not any(_is_number(item) for item in items)


def _written(k: Ledger, f: Frame, over: ir.Expr | None) -> ir.Expr | None:
    """What a function writes out that is called for what a loop goes through."""
    made = paths.peek(k.m, f, over.func) if type(over) is ir.Call else None
    result = only_returned(made.fn.parts) if type(made) is Func else None
    return result if isinstance(result, (ir.Dict, ir.List, ir.Tuple)) else over


def _listed(over: ir.Expr | None) -> ir.Expr | None:
    """What a loop goes through, be it by the keys and values of a dictionary, or in another order."""
    while type(over) is ir.Call and type(over.func) is ir.Name and over.func.id in _ORDERING and over.args:
        over = over.args[0].value
    func = over.func if type(over) is ir.Call else None
    return func.obj if type(func) is ir.Attr and func.name in ("items", "keys", "values") else over


def _is_size(node: ir.Node) -> bool:
    if isinstance(node, (ir.Tuple, ir.List)):
        return any(map(_is_size, node.elts))
    return type(node) is ir.Const and node.kind == "int"


def _is_number(value: Value) -> bool:
    if isinstance(value, (Tup, Seq)):
        return any(map(_is_number, value.items or ()))
    return type(value) is Py and value.kind in ("int", "static")
