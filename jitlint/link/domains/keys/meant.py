"""Whether a key that is consumed again is meant to be, or nobody sees the difference (layer: ``link``, room ``domains``).

What it does: looks at the code around both uses. What it does not: find them; that is `uses`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from jitlint.catalogue.lexicon import lexicon
from jitlint.infer.keys import Key, Use, descends
from jitlint.infer.program import ClassInfo
from jitlint.infer.values import Arr, Func, Inst, L, Partial, S, Tup, Value, Xform
from jitlint.link.domains.keys import asserted, opposites
from jitlint.link.domains.keys.asserted import binding, bound, reads
from jitlint.link.domains.keys.unmet import never_meet
from jitlint.link.engine import scopes, surroundings
from jitlint.link.engine.frame import Frame
from jitlint.link.tables import naming
from jitlint.link.tables.ir_walk import bound_names, call_at, code_of, last_name, same_text
from jitlint.link.tables.results import only_result
from jitlint.link.values import flattening
from jitlint.link.values.keys import inside
from jitlint.syntax import ir
from jitlint.syntax.children import below

_RESAMPLING: Final = frozenset({"boot", "bootstrap"})
"""Words in the names of keys for samples that the members of an ensemble keep."""
_TRAINING: Final = frozenset({"train", "training"})
DRAW: Final = "draw"
"""The stream of the key's own bits; libraries that fold a name into the key have streams of their own."""

SHUFFLE: Final = "shuffle"
"""As `DRAW`, but rows of several arrays are often taken with one key, to keep them aligned."""


def is_meant(f: Frame, this: Use, found: Use) -> bool:
    """Arrays permuted alike; a copy to begin with; one evaluated here and derived there; something and its inverse;
    numbers that only stand for others, or never meet; keys that nobody has drawn from."""
    paired = this.stream == found.stream == SHUFFLE and this.api == found.api
    if paired or _is_copy(f, this, found):
        return True
    code = parts(f)
    if never_meet(f, code, this, found) or _is_nothing(f, this, found) or _belong_together(f, this, found):
        return True
    if (
        _is_reference(f, this, found)
        or opposites.are_a_pair(code, this, found)
        or _are_compared(f, this, found)
        or _are_labelled(f, this, found)
        or _are_set_up_alike(f, this, found)
        or _are_variants(f, this, found)
        or asserted.is_only_asserted(code, this)
        or asserted.meet(f, code, this, found)
    ):
        return True
    captured = (this.module, this.at) != this.site and (found.module, found.at) != found.site
    return captured and this.site != found.site and bool(f.world.modes & L)


def _is_nothing(f: Frame, this: Use, found: Use) -> bool:
    """Whether nobody minds the numbers: they stand for others, or were thrown away."""
    return _stands_for_others(f) or _is_named_unused(f, this) or _is_dropped(f, this, found)


def is_unseen(f: Frame, this: Use) -> bool:
    """Whether a compiled function is run for its time only: what it draws goes nowhere."""
    return bool(f.world.here & S) and surroundings.is_thrown_away(f, this.site[1])


def _is_copy(f: Frame, this: Use, found: Use) -> bool:
    """Whether a module is initialised again for what its name calls a copy, such as the parameters of a target network."""
    if this.stream != found.stream or lexicon().keys.initialising.isdisjoint(this.stream.split()):
        return False
    node = surroundings.statement(f) if this.site != found.site else None
    target = node.targets[0] if type(node) is ir.Assign else None
    return naming.has_word(last_name(target), lexicon().keys.copies)


def _stands_for_others(f: Frame) -> bool:
    """Whether the numbers are called a dummy, made by a function that makes fakes, or made way for others."""
    words = lexicon().keys.placeholders
    if f.fn is not None and (naming.has_word(f.fn.name, words) or naming.begins_with(f.fn.name, {"example"})):
        return True
    names = bound(surroundings.statement(f))
    return any(naming.has_word(name, words) for name in names) or _is_form(f, names)


def _is_named_unused(f: Frame, this: Use) -> bool:
    """Whether the key has a name which says that nobody minds what is drawn from it."""
    call = call_at(parts(f), this.site[1])
    names = given(call) if call is not None else []
    keys = [name.id for name in names if _is_key(f, name.id)]
    return any(naming.has_word(key, lexicon().keys.placeholders) for key in keys)


def _is_form(f: Frame, names: Sequence[str]) -> bool:
    """Whether a variable is there for its structure: what was stored takes its place."""
    if len(names) != 1 or f.fn is None:
        return False
    calls = [node for node in parts(f) if type(node) is ir.Call]
    return any(
        naming.has_word(last_name(call.func), lexicon().keys.restoring)
        and any(type(arg.value) is ir.Name and arg.value.id == names[0] for arg in call.args)
        for call in calls
    )


def evaluates(f: Frame, this: Use) -> bool:
    """Whether what draws the same each time is an evaluation, or goes through settings to compare them, or its key is named for
    that."""
    words = lexicon().keys
    around = [*f.qualname.split("."), *this.function.split(".")]
    calls = [call for call in (call_of(f, this), call_at(parts(f), this.at)) if call is not None]
    names = [last_name(part) for call in calls for part in below(call)]
    if any(naming.has_word(name, words.evaluating | words.exploring) for name in (*around, *names)):
        return True
    handed = [part.id for call in calls if not this.api for part in given(call)]
    if any(naming.has_word(name, _RESAMPLING) for name in handed):
        return True
    return any(naming.has_word(name, words.kept) and naming.has_word(name, words.called) for name in names)


def evaluates_again(f: Frame, this: Use, found: Use) -> bool:
    """Whether the same evaluation is called again, with the key that it had before, or another of the same thing with a key that is
    named for that, or something is evaluated with a key that trained it."""
    one, other = call_at(parts(f), this.site[1]), call_at(parts(f), found.site[1])
    if one is None or other is None or this.site[0] != found.site[0] or this.site == found.site:
        return False
    words = lexicon().keys.evaluating
    same = last_name(one.func) == last_name(other.func)
    alike = same and any(
        naming.has_word(name, words) for name in (last_name(one.func), _stands_for(f, one.func))
    )
    if alike or this.api or found.api:
        return alike
    if _are_steps(last_name(one.func), last_name(other.func)):
        return True
    applied = _applied(f, one.func)
    same = applied == _applied(f, other.func) and naming.has_word(applied, words)
    return same or _evaluate_one(f, one, other)


def _are_steps(one: str, other: str) -> bool:
    """Whether two names differ in which step they are: ``train_step`` and ``eval_step``."""
    first, second = ({*name.lower().split("_")} for name in (one, other))
    evaluating = lexicon().keys.evaluating
    for here, there in ((first, second), (second, first)):
        if here & evaluating and here - evaluating == there - _TRAINING != there:
            return True
    return False


def _stands_for(f: Frame, func: ir.Expr) -> str:
    """The function that a variable hands its arguments on to, together with others."""
    value = f.scope.vars.get(func.id) if type(func) is ir.Name else None
    while type(value) in (Partial, Xform):
        value = value.func if type(value) is Partial else value.target if type(value) is Xform else None
    return value.fn.name if type(value) is Func else ""


def _evaluate_one(f: Frame, one: ir.Call, other: ir.Call) -> bool:
    """Whether two calls get the same thing, and a key that is named for evaluations."""
    words = lexicon().keys.evaluating
    named = [
        a.value for a in one.args if any(a.name == b.name and same_text(a.value, b.value) for b in other.args)
    ]
    keys = [node for node in named if type(node) is ir.Name and _is_key(f, node.id)]
    return len(named) > len(keys) and any(naming.has_word(key.id, words) for key in keys)


def _is_key(f: Frame, name: str) -> bool:
    value = f.scope.vars.get(name)
    return type(value) is Arr and value.key is not None


def _is_dropped(f: Frame, this: Use, found: Use) -> bool:
    """Whether the keys of an earlier split were thrown away: the statement at hand binds their names again, and nothing
    in between has read them."""
    statement = surroundings.statement(f)
    if not found.idle or found.site[0] != f.module.name or this.site == found.site or statement is None:
        return False
    code = parts(f)
    first = next((n for n in code if type(n) is ir.Assign and _holds(n.value, found.site[1])), None)
    names = set(bound(first))
    again = names & set(bound(statement))
    kept = [f.scope.vars[name] for name in names - again if name in f.scope.vars]
    if first is None or not again or _shows(kept, this.key):
        return False
    return not any(name in again and first.at < at < statement.at for name, at in reads(code))


def _shows(values: Sequence[Value], key: Key) -> bool:
    """Whether some values hold keys that come of another, or numbers that were drawn from them, perhaps."""
    return any(type(value) is Arr for value in values) or any(descends(one, key) for one in inside(values))


def _belong_together(f: Frame, this: Use, found: Use) -> bool:
    """Whether two calls must draw the same: a function and its inverse, or a function and its derivative."""
    calls = {n.at: n for n in parts(f) if type(n) is ir.Call and n.at in (this.site[1], found.site[1])}
    if len(calls) != 2 or this.site[0] != found.site[0]:
        return False
    functions = [call.func for call in calls.values()]
    derived = {_derivative(func) for func in functions}
    if len(derived) > 1:
        return len({_applied(f, func) for func in functions}) == 1
    one, other = map(last_name, functions)
    rest = set(one.split("_")) ^ set(other.split("_"))
    return bool(rest) and rest <= lexicon().keys.inverses


def _is_reference(f: Frame, this: Use, found: Use) -> bool:
    """Whether one function is called twice with the same data, once with what is called a reference, or with another version of
    one record: to be compared."""
    calls = {n.at: n for n in parts(f) if type(n) is ir.Call and n.at in (this.site[1], found.site[1])}
    if len(calls) != 2 or this.site[0] != found.site[0]:
        return False
    one, other = calls.values()
    alike = {n.id for n in given(one)} & {n.id for n in given(other)}
    words = lexicon().keys.references
    marked = [any(naming.has_word(n.id, words) for n in given(call)) for call in (one, other)]
    same = last_name(one.func) == last_name(other.func) != ""
    told_apart = len(alike) > 1 and marked[0] is not marked[1]
    if _applied(f, one.func) == _applied(f, other.func) and _are_versions(parts(f), one, other):
        return True
    return same and (told_apart or _are_halves(one, other))


def _are_compared(f: Frame, this: Use, found: Use) -> bool:
    """Whether what one function gives for two things is taken from each other: the numbers are to cancel out. In a loop, each turn
    may do so for another pair."""
    if this.site[0] != found.site[0] or this.api:
        return False
    code = parts(f)
    one = call_at(code, this.site[1])
    if one is None:
        return False
    if this.site == found.site:
        others = [
            n.value for n in code if type(n) is ir.Assign and type(n.value) is ir.Call and n.value is not one
        ]
    else:
        others = [call for call in (call_at(code, found.site[1]),) if call is not None]
    return any(
        _applied(f, one.func) == _applied(f, other.func)
        and (_all_given(f, one) != _all_given(f, other) or not same_text(one.args, other.args))
        and _is_difference(code, one, other)
        for other in others
    )


def _is_difference(code: Sequence[ir.Node], one: ir.Call, other: ir.Call) -> bool:
    """Whether something is taken from each other that two calls gave, or a part of it."""
    names = {*bound(binding(code, one)), *bound(binding(code, other))}
    for node in code:
        if type(node) is ir.BinOp and node.op == "-":
            sides = [
                {part.id for part in below(side) if type(part) is ir.Name} for side in (node.left, node.right)
            ]
            if sides[0] | sides[1] == names and len(sides[0]) == len(sides[1]) == 1:
                return True
    return False


def _all_given(f: Frame, call: ir.Call) -> list[str]:
    """The variables in the arguments of a call, and in those that a lambda under a transform adds to them."""
    inner = call.func.args[0].value if type(call.func) is ir.Call and call.func.args else None
    result = only_result(f.module.functions[inner.function].body) if type(inner) is ir.Lambda else None
    more = given(result) if type(result) is ir.Call else []
    return [name.id for name in (*more, *given(call))]


def _are_labelled(f: Frame, this: Use, found: Use) -> bool:
    """Whether two procedures begin with one key, and what they give stands side by side under labels, to be compared."""
    if this.site[0] != found.site[0] or not _are_two_procedures(f, this, found):
        return False
    places = {this.site[1], found.site[1]}
    shown = [node for node in parts(f) if type(node) is ir.Dict]
    return any(
        places <= {value.at for value in node.values if type(value) is ir.Call}
        and all(type(key) is ir.Const for key in node.keys)
        for node in shown
    )


def _are_set_up_alike(f: Frame, this: Use, found: Use) -> bool:
    """Whether one procedure runs twice, each time with what is made for it of the same constants: ``train(init(0), a)`` and
    ``train(init(0), b)``."""
    one, other = (call_at(parts(f), use.site[1]) for use in (this, found))
    if one is None or other is None or this.api or found.api or this.site == found.site:
        return False
    alike = any(
        _is_made_of_constants(arg.value) and same_text(arg.value, twin.value)
        for arg, twin in zip(one.args, other.args)
    )
    return alike and _applied(f, one.func) == _applied(f, other.func) and not same_text(one.args, other.args)


def _are_variants(f: Frame, this: Use, found: Use) -> bool:
    """Whether one function begins with the same seed, written out each time, for two objects of one class: ``init(key(0), small)`` and
    ``init(key(0), large)``."""
    one, other = (call_at(parts(f), use.site[1]) for use in (this, found))
    if one is None or other is None or this.api or found.api or not same_text(one.func, other.func):
        return False
    pairs = [(a.value, b.value) for a, b in zip(one.args, other.args) if not same_text(a.value, b.value)]
    told = len(one.args) == len(other.args) > len(pairs) == 1
    return (
        told
        and type(one.func) is ir.Name
        and _class_of(f, pairs[0][0]) is _class_of(f, pairs[0][1]) is not None
    )


def _class_of(f: Frame, node: ir.Expr) -> ClassInfo | None:
    """The class of the project whose object a variable is."""
    value = f.scope.vars.get(node.id) if type(node) is ir.Name else None
    return value.cls if isinstance(value, (Inst, Tup)) else None


def _is_made_of_constants(node: ir.Expr) -> bool:
    """Whether a function of the program makes something of constants, which is no key."""
    given = [arg.value for arg in node.args] if type(node) is ir.Call else []
    makes = type(node) is ir.Call and last_name(node.func) not in lexicon().keys.makers
    return makes and bool(given) and all(type(one) is ir.Const for one in given)


def _are_two_procedures(f: Frame, this: Use, found: Use) -> bool:
    """Whether two functions of the program get a key, not one of them twice, as for two parameters of a model."""
    one, other = (call_at(parts(f), use.site[1]) for use in (this, found))
    if one is None or other is None or this.api or found.api:
        return False
    return _applied(f, one.func) != _applied(f, other.func)


def starts_again(f: Frame, this: Use, found: Use) -> bool:
    """Whether two calls outside of any trace go on from one state, a record of which the key is but a part: what happens
    from there is to be seen once more, with something else changed."""
    if (f.fn is not None and f.fn.traced_contexts) or this.api or found.api:
        return False
    if this.site[0] != found.site[0] or this.site == found.site:
        return False
    code = parts(f)
    one, other = (_states(f, call_at(code, use.site[1]), this.key) for use in (this, found))
    return not one.isdisjoint(other)


def starts_from_outside(f: Frame, this: Use) -> bool:
    """Whether a function inside goes on, in each of its calls, from a state that it finds around itself."""
    if this.api or this.module != f.module.name or this.site[1] == this.at:
        return False
    inner = (call_at(function.parts, this.at) for function in f.module.functions)
    return any(_states(f, call, this.key) for call in inner)


def _states(f: Frame, call: ir.Call | None, key: Key) -> set[str]:
    """The variables with records of which a key is a part that a call is given as they are."""
    names = {arg.value.id for arg in call.args if type(arg.value) is ir.Name} if call is not None else set()
    return {name for name in names if _is_state(scopes.lookup(f, name), key)}


def _is_state(value: Value | None, key: Key) -> bool:
    """Whether a record holds a key, and more than keys."""
    if type(value) is Tup and value.cls is not None:
        fields = list(value.items)
    elif type(value) is Inst and flattening.is_pytree(value.cls):
        fields = list(value.attrs.values())
    else:
        return False
    own = [field for field in fields if any(descends(key, one) for one in inside([field]))]
    return bool(own) and any(not inside([field]) for field in fields)


def _are_halves(one: ir.Call, other: ir.Call) -> bool:
    """Whether two calls differ in nothing but which part of a data set they get: one random map is made for both."""
    words = lexicon().keys.halves
    told = [[set(n.id.lower().split("_")) for n in given(call)] for call in (one, other)]
    rest = [[name - words for name in names] for names in told]
    return rest[0] == rest[1] and told[0] != told[1]


def _are_versions(code: Sequence[ir.Node], one: ir.Call, other: ir.Call) -> bool:
    """Whether one of two calls gets a record, and the other the same one with fields replaced: what that changes is to be seen."""
    first, second = ({n.id for n in given(call)} for call in (one, other))
    for node in code:
        if (
            type(node) is ir.Assign
            and last_name(getattr(node.value, "func", None)) in lexicon().contracts.renewing
        ):
            made = {name.id for name in bound_names(node.targets)}
            of = {n.id for n in below(node.value) if type(n) is ir.Name}
            for here, there in ((first, second), (second, first)):
                if made & (here - there) and of & (there - here):
                    return True
    return False


def given(call: ir.Call) -> list[ir.Name]:
    """The variables in the arguments of a call."""
    return [n for arg in call.args for n in below(arg.value) if type(n) is ir.Name]


def _derivative(func: ir.Node | None) -> str:
    """Which derivative is called, "" if none is."""
    name = last_name(func.func) if type(func) is ir.Call else ""
    return name if name in lexicon().keys.derivatives else ""


def _applied(f: Frame, func: ir.Node | None) -> str:
    """The name of what is called; of what a transform was made of, that of the function in it, or called by it."""
    if type(func) is ir.Call:
        inner: ir.Node | None = func.args[0].value if func.args else None
        if type(inner) is ir.Lambda:
            result = only_result(f.module.functions[inner.function].body)
            inner = result.func if type(result) is ir.Call else None
        return last_name(inner) or "?"
    return last_name(func)


def parts(f: Frame) -> Sequence[ir.Node]:
    """The code of a function, or of a module."""
    return code_of(f.module, f.fn)


def call_of(f: Frame, this: Use) -> ir.Call | None:
    """The call that a key is given to, in the code at hand or in a function in it."""
    return call_at(parts(f), this.site[1]) or innermost_call(f, this)


def innermost_call(f: Frame, this: Use) -> ir.Call | None:
    """The call that a key is given to, in a function of the module at hand."""
    inner = [
        fn for fn in f.module.functions if fn.qualname == this.function and fn.module.name == this.module
    ]
    return next((found for fn in inner if (found := call_at(fn.parts, this.at)) is not None), None)


def _holds(node: ir.Node, at: int) -> bool:
    return any(type(part) is ir.Call and part.at == at for part in below(node))
