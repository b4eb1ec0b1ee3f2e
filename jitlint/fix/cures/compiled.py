"""How functions are compiled: static arguments, where `jax.jit` stands, names that are gone (layer: ``fix``)."""

from __future__ import annotations

import ast
import difflib
import re

from jitlint.fix.document import FUNCTIONS
from jitlint.fix.patch import Change, Patch
from jitlint.fix.site import Site, names_in

_PARAMETER = re.compile(r"parameter `(\w+)` of `([^`]+)`")
JIT = "jax.jit"


def made_static(site: Site) -> Patch | None:
    """A parameter that decides shapes or branches is listed in `static_argnames`."""
    found = _PARAMETER.fullmatch(site.facts.get("why", ""))
    if found is None:
        return None
    name, function = found.groups()
    if not _is_used_itself(site, name):
        return None
    head = f"`{function}` is jitted with `{JIT}` here"
    step = next((each for each in site.finding.related if each.message == head), None)
    if step is None or step.path != site.finding.path:
        return None
    for node in site.document.nodes(step.span):
        if isinstance(node, ast.expr):
            return _with_static(site, node, name, function)
    return None


def flag_made_static(site: Site) -> Patch | None:
    """The same, for a test that reads nothing but the parameter and looks like one of a flag."""
    test = site.node(ast.expr)
    found = _PARAMETER.fullmatch(site.facts.get("why", ""))
    if test is None or found is None or names_in(test) != {found[1]}:
        return None
    inner = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
    is_flag = isinstance(inner, ast.Name) or (
        isinstance(inner, ast.Compare)
        and isinstance(inner.left, ast.Name)
        and all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in inner.comparators)
    )
    return made_static(site) if is_flag else None


def _is_used_itself(site: Site, name: str) -> bool:
    """Whether what was found uses the parameter as a number, and not what some array function makes of it."""
    found = next(
        (each for each in site.document.nodes(site.finding.span) if isinstance(each, ast.expr)), None
    )
    if found is None:
        return False
    for node in ast.walk(found):
        if not isinstance(node, ast.Name) or node.id != name:
            continue
        around = site.document.parent(node)
        while isinstance(around, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.Slice | ast.keyword):
            around = site.document.parent(around)
        inner = (
            isinstance(around, ast.Call)
            and isinstance(around.func, ast.Name)
            and around.func.id in ("int", "range")
        )
        if around is found or inner or node is found:
            return True
    return False


def _with_static(site: Site, node: ast.expr, name: str, function: str) -> Patch | None:
    message = f"make `{name}` static: `{function.rpartition('.')[2]}` is compiled for each of its values"
    if isinstance(node, ast.Name | ast.Attribute):
        change = partial(site, node, _static_option(site, function, name))
        return None if change is None else site.patch(False, message, change)
    if not isinstance(node, ast.Call):
        return None
    given = {each.arg: each.value for each in node.keywords}
    if None in given or any(isinstance(each, ast.Call) for each in node.args[:1]):
        return None
    if "static_argnames" in given:
        change = extended(site, given["static_argnames"], f'"{name}"', str)
    elif "static_argnums" in given:
        position = _position(site, function, name)
        change = None if position is None else extended(site, given["static_argnums"], str(position), int)
    else:
        change = keyword(site, node, _static_option(site, function, name))
    return None if change is None else site.patch(False, message, change)


def partial(site: Site, node: ast.expr, keyword: str) -> Change | None:
    """``@jax.jit`` with an option: as a call where the file does so, else in the form that every JAX understands."""
    around = site.document.parent(node)
    if not isinstance(around, ast.FunctionDef | ast.AsyncFunctionDef) or node not in around.decorator_list:
        return None
    source = site.document.source(node)
    if any(_is_jit_with_options(site, each) for each in ast.walk(site.document.tree)):
        return site.replace(node, f"{source}({keyword})")
    partial = site.name("functools.partial", site.document.tree.body[0])
    return None if partial is None else site.replace(node, f"{partial}({source}, {keyword})")


def _is_jit_with_options(site: Site, node: ast.AST) -> bool:
    """Whether it is ``jax.jit(static_argnames=...)`` without a function, which newer JAX has."""
    return isinstance(node, ast.Call) and not node.args and site.names.meaning(node.func) == JIT


def _static_option(site: Site, function: str, name: str) -> str:
    """How the file says which parameters are static: by name unless it only counts, in its own brackets."""
    options = [
        each
        for call in ast.walk(site.document.tree)
        if isinstance(call, ast.Call) and JIT in map(site.names.meaning, (call.func, *call.args[:1]))
        for each in call.keywords
    ]
    named = [each.value for each in options if each.arg == "static_argnames"]
    if not named and any(each.arg == "static_argnums" for each in options):
        position = _position(site, function, name)
        if position is not None:
            return f"static_argnums=({position},)"
    if named and isinstance(named[0], ast.Constant):
        return f'static_argnames="{name}"'
    brackets = "[]" if named and isinstance(named[0], ast.List) else "()"
    return f'static_argnames={brackets[0]}"{name}"{"," * (brackets == "()")}{brackets[1]}'


def keyword(site: Site, call: ast.Call, keyword: str) -> Change:
    """One more argument at the end of a call."""
    at = site.document.stop(call) - 1
    before = site.document.text[site.document.start(call) : at].rstrip()
    comma = "" if before.endswith(("(", ",")) else ", "
    return Change(at, at, f"{comma}{' ' * before.endswith(',')}{keyword}")


def extended(site: Site, value: ast.expr, item: str, kind: type) -> Change | None:
    """A literal of one item or several, with one more."""
    if isinstance(value, ast.Constant) and isinstance(value.value, kind):
        return site.replace(value, f"({site.document.source(value)}, {item})")
    if not isinstance(value, ast.Tuple | ast.List) or not value.elts:
        return None
    stop = site.document.stop(value.elts[-1])
    return Change(stop, stop, f", {item}")


def _definition(site: Site, name: str) -> ast.FunctionDef | None:
    found = [n for n in ast.walk(site.document.tree) if isinstance(n, ast.FunctionDef) and n.name == name]
    return found[0] if len(found) == 1 else None


def _position(site: Site, function: str, name: str) -> int | None:
    definition = _definition(site, function.rpartition(".")[2])
    if definition is None:
        return None
    names = [each.arg for each in (*definition.args.posonlyargs, *definition.args.args)]
    return names.index(name) if name in names else None


def argument_made_static(site: Site) -> Patch | None:
    """What is no array is passed as a static argument; an object that only holds something that is none holds arrays, too."""
    call, name = site.node(ast.Call), site.facts.get("parameter", "")
    is_whole = call is not None and name.isidentifier() and "which holds" not in site.facts.get("detail", "")
    found = _compiling(site, call) if call is not None and is_whole else None
    return None if found is None else _with_static(site, found[0], name, found[1])


def _compiling(site: Site, call: ast.Call) -> tuple[ast.expr, str] | None:
    """Where the function that is called is compiled with `jax.jit`, and its name; None if the file does not say."""
    function = call.func
    if isinstance(function, ast.Call):
        return _site_of(site, function)
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    definition = _definition(site, name)
    if definition is not None:
        return next(
            (pair for each in definition.decorator_list if (pair := _site_of(site, each, name))), None
        )
    values = [
        each.value
        for each in ast.walk(site.document.tree)
        if isinstance(each, ast.Assign)
        and name in (getattr(t, "id", getattr(t, "attr", "")) for t in each.targets)
    ]
    return _site_of(site, values[0]) if len(values) == 1 else None


def _site_of(site: Site, node: ast.expr, name: str = "") -> tuple[ast.expr, str] | None:
    """A decorator, or a call of `jax.jit`, with the name of the function that it compiles."""
    if not isinstance(node, ast.Call):
        return (node, name) if site.names.meaning(node) == JIT and name else None
    meaning = site.names.meaning(node.func)
    if meaning == "functools.partial":
        is_jit = bool(node.args) and site.names.meaning(node.args[0]) == JIT
        return (node, name) if is_jit and name and len(node.args) == 1 else None
    if meaning != JIT:
        return None
    given = node.args[0] if node.args else None
    own = given.attr if isinstance(given, ast.Attribute) else getattr(given, "id", name)
    return (node, own) if own and not isinstance(given, ast.Call) else None


def hashable(site: Site) -> Patch | None:
    """A list for a static argument becomes a tuple; a dataclass that is one is frozen."""
    call, detail = site.node(ast.Call), site.facts.get("detail", "")
    if call is None:
        return None
    if detail != "list":
        return _frozen(site, detail)
    given = _given(site, call)
    if isinstance(given, ast.Name):
        return site.patch(False, "pass a tuple", site.replace(given, f"tuple({given.id})"))
    if not isinstance(given, ast.List | ast.Tuple):
        return None
    changes: list[Change] = []
    for node in ast.walk(given):
        if isinstance(node, ast.List):
            start, stop = site.document.start(node), site.document.stop(node)
            inner = site.document.text[start + 1 : stop - 1].rstrip()
            comma = "," if len(node.elts) == 1 and not inner.endswith(",") else ""
            changes += [Change(start, start + 1, "("), Change(stop - 1, stop, f"{comma})")]
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
            return None
    return site.patch(False, "pass a tuple", *changes) if changes else None


def _given(site: Site, call: ast.Call) -> ast.expr | None:
    """What a call passes for the parameter that was found."""
    parameter = site.facts.get("parameter", "")
    named = [each.value for each in call.keywords if each.arg == parameter]
    if named:
        return named[0]
    found = _compiling(site, call)
    position = _position(site, found[1], parameter) if found is not None else None
    if (
        position is not None
        and position < len(call.args)
        and not isinstance(call.args[position], ast.Starred)
    ):
        return call.args[position]
    lists = [each for each in call.args if isinstance(each, ast.List)]
    return lists[0] if len(lists) == 1 else None


def _frozen(site: Site, name: str) -> Patch | None:
    classes = [n for n in ast.walk(site.document.tree) if isinstance(n, ast.ClassDef) and n.name == name]
    for decorator in classes[0].decorator_list if len(classes) == 1 else []:
        message = f"freeze `{name}`: its objects cannot be changed any more"
        if site.names.meaning(decorator) == "dataclasses.dataclass":
            text = f"{site.document.source(decorator)}(frozen=True)"
            return site.patch(False, message, site.replace(decorator, text))
        if isinstance(decorator, ast.Call) and site.names.meaning(decorator.func) == "dataclasses.dataclass":
            if {each.arg for each in decorator.keywords} & {"frozen", "eq", "unsafe_hash"}:
                return None
            return site.patch(False, message, keyword(site, decorator, "frozen=True"))
    return None


def named_right(site: Site) -> Patch | None:
    """A static name that the function does not have becomes the nearest one that it has."""
    node = site.node(ast.Call)
    given = site.facts.get("parameter", "")
    if node is None or site.facts.get("problem") != "static-unknown-name":
        return None
    definition = _compiled_by(site, node)
    if definition is None:
        return None
    arguments = definition.args
    names = [each.arg for each in (*arguments.args, *arguments.kwonlyargs)]
    near = difflib.get_close_matches(given, names, n=1, cutoff=0.6)
    texts = [
        each
        for keyword in node.keywords
        if keyword.arg in ("static_argnames", "donate_argnames")
        for each in ast.walk(keyword.value)
        if isinstance(each, ast.Constant) and each.value == given
    ]
    if not near or len(texts) != 1:
        return None
    text = site.document.source(texts[0])
    return site.patch(False, f"write `{near[0]}`", site.replace(texts[0], text.replace(given, near[0])))


def _compiled_by(site: Site, node: ast.Call) -> ast.FunctionDef | None:
    around = site.document.parent(node)
    if isinstance(around, ast.FunctionDef):
        return around
    given = node.args[0] if node.args else None
    return _definition(site, given.id) if isinstance(given, ast.Name) else None


def replaced(site: Site) -> Patch | None:
    """A name that JAX has removed becomes the one that took its place."""
    cure, node = site.facts.get("cure", ""), site.node(ast.expr)
    if node is None or not isinstance(node, ast.Attribute) or not re.fullmatch(r"jax(\.\w+)+", cure):
        return None
    name = site.name(cure, node) if _is_another_name(site.facts.get("api", ""), cure) else None
    return None if name is None else site.patch(True, f"use `{name}`", *site.called(node, name))


def _is_another_name(gone: str, cure: str) -> bool:
    """Whether a function has only been renamed or moved: others want their arguments otherwise."""
    if gone.rpartition(".")[2] == cure.rpartition(".")[2]:
        return True
    homes = (("jax.tree_", "jax.tree."), ("jax.tree_util.tree_", "jax.tree."), ("jax.numpy.", "jax.numpy."))
    return any(gone.startswith(old) and cure.startswith(new) for old, new in homes) and not gone.endswith(
        "in1d"
    )


def hoisted(site: Site) -> Patch | None:
    """``jax.jit(f)`` in a loop is made before the loop, if nothing of it changes there."""
    document, call = site.document, site.node(ast.Call)
    if call is None or site.names.meaning(call.func) != JIT:
        return None
    loop = None
    for each in document.above(call):
        if isinstance(each, (*FUNCTIONS, ast.ClassDef)):
            return None
        if isinstance(each, ast.For | ast.While):
            loop = each
            break
    indent = document.indent(loop) if loop is not None else None
    if loop is None or indent is None or _is_header(loop, call, site):
        return None
    stored = bound_by(loop)
    free = free_names(call)
    if free & stored or any(isinstance(each, ast.NamedExpr) for each in ast.walk(call)):
        return None
    return _moved_whole(site, call, loop, indent) or _moved(
        site, call, document.start(loop), indent, "before the loop", 1
    )


def _moved_whole(site: Site, call: ast.Call, loop: ast.For | ast.While, indent: str) -> Patch | None:
    """``step = jax.jit(f)`` goes before the loop as it is, if the name is bound nowhere else."""
    document, statement = site.document, site.document.parent(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or statement not in loop.body:
        return None
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or len(loop.body) < 2:
        return None
    if len(site.stores(target.id, call)) != 1 or not document.is_alone(statement):
        return None
    start, end = document.line_start(document.start(statement)), document.line_stop(document.stop(statement))
    to, text = document.start(loop), document.text[document.start(statement) : end]
    return site.patch(
        True,
        "make the compiled function once, before the loop",
        Change(to, to, text + indent),
        Change(start, end, ""),
    )


def _is_header(loop: ast.For | ast.While, call: ast.Call, site: Site) -> bool:
    return site.document.start(call) < site.document.start(loop.body[0])


def free_names(node: ast.AST) -> set[str]:
    own = {each.arg for each in ast.walk(node) if isinstance(each, ast.arg)}
    return names_in(node) - own


def made_once(site: Site) -> Patch | None:
    """``jax.jit(f)`` in a function is made in the module, if it needs nothing of the function."""
    document, call = site.document, site.node(ast.Call)
    if call is None or site.names.meaning(call.func) != JIT:
        return None
    free = free_names(call)
    if not _is_free_of_functions(site, call, free):
        return None
    missing = free & site.names.bound(document.tree)
    text = ast.dump(call)
    for top in document.tree.body:
        made = "" if missing else _made_by(site, call, top)
        if made:
            return site.patch(True, f"use `{made}`", site.replace(call, made))
        if (
            not missing
            and isinstance(top, (*FUNCTIONS, ast.ClassDef))
            and text in map(ast.dump, _calls_in(top))
        ):
            return _moved(site, call, document.first(top), "", "in the module", 3, text)
        missing -= bound_by(top)
    return None


def _made_by(site: Site, call: ast.Call, top: ast.stmt) -> str:
    """The name under which a statement of the module has made the same before; "" if it has not."""
    if not isinstance(top, ast.Assign) or ast.dump(top.value) != ast.dump(call) or len(top.targets) != 1:
        return ""
    name = getattr(top.targets[0], "id", "")
    is_hidden = any(name in site.names.bound(each) for each in _functions(site, call))
    return name if name and len(site.stores(name, top)) == 1 and not is_hidden else ""


def _calls_in(node: ast.AST) -> list[ast.Call]:
    return [each for each in ast.walk(node) if isinstance(each, ast.Call)]


def _functions(site: Site, node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    return [each for each in site.document.above(node) if isinstance(each, FUNCTIONS)]


def _is_free_of_functions(site: Site, call: ast.Call, free: set[str]) -> bool:
    """Whether a call stands in functions and uses no name of theirs."""
    scopes = _functions(site, call)
    return bool(scopes) and not any(free & site.names.bound(each) for each in scopes)


def bound_by(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, inside too."""
    found: set[str] = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
    return found


def _moved(
    site: Site, call: ast.Call, to: int, indent: str, where: str, lines: int, what: str = ""
) -> Patch | None:
    """Make the compiled function elsewhere, under a name of its own. what: with whom it shares the name."""
    document = site.document
    function = call.args[0] if call.args else None
    if function is None or isinstance(function, ast.Starred):
        return None
    scope = document.scope(call)
    around = scope.name if isinstance(scope, ast.FunctionDef) and lines > 1 else ""
    own = _inner_name(function) or around
    own = f"_{own}" if own else ""
    name = site.names.reserved(f"{'_' if lines > 1 else ''}jitted{own.replace('__', '_')}", what)
    statement = document.statement(call)
    inner = document.indent(statement) if statement is not None else None
    source = document.source(call).replace(f"\n{inner}", f"\n{indent}") if inner else document.source(call)
    text = f"{name} = {source}{document.newline * lines}{indent}"
    return site.patch(
        True, f"make the compiled function once, {where}", Change(to, to, text), site.replace(call, name)
    )


def _inner_name(node: ast.expr) -> str:
    """The function that is compiled in the end: `f` in ``vmap(f)``, `fold_in` in ``jax.random.fold_in``."""
    if isinstance(node, ast.Call):
        return next((name for each in reversed(node.args) if (name := _inner_name(each))), "")
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def not_waited_for(site: Site) -> Patch | None:
    """``x.block_until_ready()`` in traced code: there is nothing to wait for."""
    for node in site.document.nodes(site.finding.span):
        call = site.document.parent(node) if isinstance(node, ast.Attribute) else node
        function = call.func if isinstance(call, ast.Call) and not call.args else None
        if isinstance(function, ast.Attribute) and function.attr == "block_until_ready" and call is not None:
            if isinstance(site.document.parent(call), ast.Expr):
                return None
            stop = site.document.stop(call)
            end = Change(site.document.text.rindex(".", 0, stop), stop, "")
            return site.patch(True, "do not wait in traced code", end)
    return None
