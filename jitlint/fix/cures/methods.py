"""Methods that are compiled: the object static, the work in a function of the module, one compiled method for each
object (layer: ``fix``).
"""

from __future__ import annotations

import ast

from jitlint.fix.cures.compiled import JIT, bound_by, extended, free_names, keyword, partial
from jitlint.fix.document import FUNCTIONS
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site

_AT_MOST = 5
"""Attributes that become arguments."""


def made_static(site: Site) -> Patch | None:
    """``@jax.jit`` on a method: the object is static."""
    node = site.node(ast.expr)
    if node is None or site.facts.get("problem") != "method-self":
        return None
    if site.facts.get("parameter") not in ("self", "cls"):
        return None
    if isinstance(node, ast.Name | ast.Attribute):
        change = partial(site, node, "static_argnums=0") if site.names.meaning(node) == JIT else None
    elif isinstance(node, ast.Call):
        given = {each.arg: each.value for each in node.keywords}
        if "static_argnums" in given:
            change = extended(site, given["static_argnums"], "0", int)
        else:
            change = keyword(site, node, "static_argnums=0")
    else:
        change = None
    if change is None:
        return None
    return site.patch(
        False, "make `self` static: compiled for each object, whose changes are not seen", change
    )


def taken_out(site: Site) -> Patch | None:
    """The same for an object that changes, or has no hash: a function of the module gets what the method reads of it."""
    node = site.node(ast.expr)
    method = site.document.parent(node) if node is not None else None
    if node is None or not isinstance(method, ast.FunctionDef) or node not in method.decorator_list:
        return None
    around = site.document.parent(method)
    if not isinstance(around, ast.ClassDef) or site.document.parent(around) is not site.document.tree:
        return None
    if len(method.decorator_list) != 1 or site.names.meaning(node) != JIT:
        return None
    read = _read_of_self(site, method)
    if not read or len(read) > _AT_MOST or not (_has_no_hash(site, around) or _changes(around, method, read)):
        return None
    return _taken_out(site, around, method, read)


def _read_of_self(site: Site, method: ast.FunctionDef) -> list[str]:
    """The attributes of ``self`` that a method reads; empty if it does more with the object."""
    names = [each for each in ast.walk(method) if isinstance(each, ast.Name)]
    found = [_attribute(site, each) for each in names if each.id == "self"]
    taken = {each.arg for each in ast.walk(method) if isinstance(each, ast.arg)} | {each.id for each in names}
    unique = list(dict.fromkeys(found))
    is_clear = not any(not name or name in taken or name.startswith("__") for name in unique)
    return unique if is_clear and _is_simple(method.args) and not {"super", "__class__"} & taken else []


def _is_simple(arguments: ast.arguments) -> bool:
    """Whether a method has ``self`` and others that are passed one by one, without types."""
    rest = (
        arguments.vararg,
        arguments.kwarg,
        arguments.kwonlyargs,
        arguments.defaults,
        arguments.posonlyargs,
    )
    names = [each.arg for each in arguments.args]
    return names[:1] == ["self"] and not any(rest) and not any(each.annotation for each in arguments.args)


def _attribute(site: Site, node: ast.Name) -> str:
    """The attribute that is read of an object; "" for anything else that is done with it."""
    around = site.document.parent(node)
    if not isinstance(around, ast.Attribute) or not isinstance(around.ctx, ast.Load):
        return ""
    call = site.document.parent(around)
    return "" if isinstance(call, ast.Call) and call.func is around else around.attr


def _has_no_hash(site: Site, owner: ast.ClassDef) -> bool:
    """Whether the class compares its objects and says no hash of them."""
    methods = {each.name for each in owner.body if isinstance(each, ast.FunctionDef)}
    if "__eq__" in methods:
        return "__hash__" not in methods
    for each in owner.decorator_list:
        function = each.func if isinstance(each, ast.Call) else each
        if site.names.meaning(function) == "dataclasses.dataclass":
            options = {o.arg for o in each.keywords} if isinstance(each, ast.Call) else set()
            return not options & {"frozen", "eq", "unsafe_hash"} and "__hash__" not in methods
    return False


def _changes(owner: ast.ClassDef, method: ast.FunctionDef, read: list[str]) -> bool:
    """Whether another method than ``__init__`` gives one of the attributes a new value."""
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and node.attr in read
        and _is_self(node.value)
        for each in owner.body
        if isinstance(each, ast.FunctionDef) and each is not method and each.name != "__init__"
        for node in ast.walk(each)
    )


def _taken_out(site: Site, owner: ast.ClassDef, method: ast.FunctionDef, read: list[str]) -> Patch | None:
    document, newline = site.document, site.document.newline
    first = _first_of(method)
    inner = document.indent(first)
    parameters = [each.arg for each in method.args.args[1:]]
    if inner is None or method.returns is not None:
        return None
    name = f"_{method.name.strip('_')}"
    start = document.comments_above(document.line_start(document.first(first)))
    stop = document.line_stop(document.stop(method.body[-1]))
    reads = [each for each in ast.walk(method) if isinstance(each, ast.Attribute) and _is_self(each.value)]
    if any(isinstance(up, ast.JoinedStr) for each in reads for up in document.above(each)):
        return None  # parts of texts have no places of their own before Python 3.12
    changes = [site.replace(each, each.attr) for each in reads]
    body = document.moved(method.body[method.body.index(first) :], document.step(), changes)
    if body is None or not site.names.is_free(name):
        return None
    above, below = document.line_start(document.first(method)), document.line_start(document.start(method))
    head = [line.strip() for line in document.text[above:below].splitlines()]
    head.append(f"def {name}({', '.join([*read, *parameters])}):")
    text = newline.join([*head, *body, "", "", ""])
    given = ", ".join([*(f"self.{each}" for each in read), *parameters])
    at, call = document.first(owner), f"{inner}return {name}({given}){newline}"
    return site.patch(
        False,
        f"compile a function that gets what `{method.name}` reads of the object",
        Change(at, at, text),
        Change(above, below, ""),
        Change(start, stop, call),
    )


def _first_of(function: ast.FunctionDef) -> ast.stmt:
    """The first statement that does something."""
    has_text = ast.get_docstring(function, clean=False) is not None and len(function.body) > 1
    return function.body[int(has_text)]


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def kept_by_object(site: Site) -> Patch | None:
    """``jax.jit(self.step)(x)`` in a method: each object has the compiled method, from ``__init__`` on."""
    document, call = site.document, site.node(ast.Call)
    if call is None or site.names.meaning(call.func) != JIT or len(call.args) != 1:
        return None
    given, method = call.args[0], document.scope(call)
    owner = document.parent(method)
    if not isinstance(given, ast.Attribute) or not _is_self(given.value):
        return None
    if not isinstance(owner, ast.ClassDef):
        return None
    name, made = f"_jitted_{given.attr.strip('_')}", _maker(owner)
    if made is None or made is method or not _is_method(owner, given.attr) or name in _attributes(owner):
        return None
    indent = document.indent(made.body[-1])
    if indent is None or (free_names(call) - {"self"}) & site.names.bound(method):
        return None
    at = document.line_stop(document.stop(made.body[-1]))
    text = f"{indent}self.{name} = {document.source(call)}{document.newline}"
    return site.patch(
        False,
        f"compile `{given.attr}` once for each object: later changes of its attributes are not seen",
        Change(at, at, text),
        site.replace(call, f"self.{name}"),
    )


def _maker(owner: ast.ClassDef) -> ast.FunctionDef | None:
    """The method that makes the objects of a class on its own, up to its last statement."""
    if owner.bases or owner.keywords or owner.decorator_list:
        return None
    for each in owner.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return each if _runs_through(each) and [a.arg for a in each.args.args][:1] == ["self"] else None
    return None


def _is_method(owner: ast.ClassDef, name: str) -> bool:
    """Whether a name of the objects is a method, and nothing else is ever put there."""
    is_defined = any(isinstance(each, ast.FunctionDef) and each.name == name for each in owner.body)
    return is_defined and not any(
        isinstance(each, ast.Attribute) and each.attr == name and not isinstance(each.ctx, ast.Load)
        for each in ast.walk(owner)
    )


def _attributes(owner: ast.ClassDef) -> set[str]:
    names = {each.id for each in ast.walk(owner) if isinstance(each, ast.Name)}
    return names | {each.attr for each in ast.walk(owner) if isinstance(each, ast.Attribute)}


def _runs_through(function: ast.FunctionDef) -> bool:
    """Whether a function ends at its last statement."""
    kinds = (ast.Return, ast.Yield, ast.YieldFrom)
    is_slotted = any(isinstance(each, kinds) for each in ast.walk(function))
    return not is_slotted and not isinstance(function.body[-1], ast.Raise | ast.Pass)


def of_module(site: Site) -> Patch | None:
    """A decorated function inside of another that uses nothing of it: it moves to the module."""
    document, node = site.document, site.node(ast.expr)
    function = document.parent(node) if node is not None else None
    if node is None or not isinstance(function, ast.FunctionDef) or node not in function.decorator_list:
        return None
    if function.args.defaults or function.args.kw_defaults or len(document.block(function)) < 2:
        return None
    top = next(
        each for each in (function, *document.above(function)) if document.parent(each) is document.tree
    )
    if not isinstance(top, ast.FunctionDef | ast.ClassDef) or not _may_move(site, function, top):
        return None
    lines = document.moved([function], "")
    if lines is None:
        return None
    start = document.comments_above(document.line_start(document.first(function)))
    stop = document.line_stop(document.stop(function))
    stop += len(document.text[stop:]) - len(document.text[stop:].lstrip())
    at, newline = document.first(top), document.newline
    return site.patch(
        True,
        "make the compiled function once, in the module",
        Change(at, at, newline.join([*lines, "", "", ""])),
        Change(start, document.line_start(stop), ""),
    )


def _may_move(site: Site, function: ast.FunctionDef, top: ast.stmt) -> bool:
    """Whether a function inside of others uses nothing of theirs, and its name is used only there."""
    document = site.document
    scopes = [each for each in document.above(function) if isinstance(each, FUNCTIONS)]
    free = free_names(function) - site.names.bound(function)
    known = {name for each in document.tree.body[: document.tree.body.index(top)] for name in bound_by(each)}
    if not scopes or any(free & site.names.bound(each) for each in scopes):
        return False
    return _is_known(site, free, known) and _is_only_here(site, function, scopes[0])


def _is_known(site: Site, free: set[str], known: set[str]) -> bool:
    """Whether what a function reads is there when the module runs up to a place, or is none of the module's."""
    return all(name in known or name not in site.names.bound(site.document.tree) for name in free)


def _is_only_here(site: Site, function: ast.FunctionDef, scope: ast.AST) -> bool:
    """Whether nothing outside of a function has the name of one inside."""
    inside = set(ast.walk(scope))
    return (
        not any(
            node not in inside and function.name in (getattr(node, "id", ""), getattr(node, "name", ""))
            for node in ast.walk(site.document.tree)
        )
        and sum(getattr(node, "name", "") == function.name for node in inside) == 1
    )
