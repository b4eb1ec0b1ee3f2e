"""Messages from traced code: `print` and logging (layer: ``fix``)."""

from __future__ import annotations

import ast
import re
import string

from jitlint.base.diagnostic import Severity
from jitlint.fix.patch import Patch
from jitlint.fix.site import Site, names_in

_PERCENT = re.compile(r"%(?:%|(?P<spec>[-+ 0#]*\d*(?:\.\d+)?)(?P<kind>[srdifgeGE]))")
_ABOUT_TYPES = frozenset({"shape", "dtype", "sharding", "aval", "__name__", "__class__"})
_OF_TYPES = frozenset({"type", "repr", "id", "dir", "vars", "locals", "globals", "hex"})
_LOGGING = frozenset(
    "log debug info warning error critical exception vlog write add_scalar add_scalars log_metrics".split()
)
_NAMED = frozenset({"fmt", "ordered", "partitioned", "skip_format_check"})


class _Format:
    """A format string in the making, with what it shows."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.parts: list[str] = []
        self.values: list[str] = []
        self.named: dict[str, str] = {}
        self.shown: list[ast.expr] = []
        self.is_clear = True

    def text(self, text: str) -> None:
        """Text as it is; with braces it is a value, as `jax.debug.print` looks no further than to the first of them."""
        if "{" in text or "}" in text:
            self.values.append(quoted(text, '"'))
            self.parts.append("{}")
        else:
            self.parts.append(text)

    def value(self, node: ast.expr, spec: str = "", by_name: bool = False) -> None:
        """A value, in its place among the others or by its name."""
        self.shown.append(node)
        self.is_clear &= not _says_types(node)
        if by_name and isinstance(node, ast.Name) and node.id not in _NAMED:
            self.named[node.id] = node.id
            self.parts.append("{" + node.id + spec + "}")
        else:
            self.values.append(self.site.document.argument(node))
            self.parts.append("{" + spec + "}")

    def argument(self, node: ast.expr) -> None:
        """One argument of `print`."""
        if isinstance(node, ast.Constant):
            self.text(str(node.value))
        elif isinstance(node, ast.JoinedStr):
            self._joined(node)
        elif isinstance(node, ast.BinOp):
            self._operation(node)
        elif isinstance(node, ast.Call):
            self._call(node)
        else:
            self.value(node)

    def _operation(self, node: ast.BinOp) -> None:
        written = _text(node.left) if isinstance(node.op, ast.Mod) else None
        if written is not None:
            self._percent(written, node.right)
        elif isinstance(node.op, ast.Add) and _is_text(node):
            self.argument(node.left)
            self.argument(node.right)
        else:
            self.value(node)

    def _call(self, node: ast.Call) -> None:
        if _is_number(self.site, node):
            self.value(node.args[0])
        elif isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            self._formatted(node, _text(node.func.value))
        elif not isinstance(node.func, ast.Name) or node.func.id != "str":
            self.value(node)
        elif len(node.args) == 1 and not node.keywords and self.site.names.is_builtin("str", node):
            self.argument(node.args[0])
        else:
            self.is_clear = False

    def _joined(self, node: ast.JoinedStr) -> None:
        for part in node.values:
            if isinstance(part, ast.Constant):
                self.text(str(part.value))
            elif isinstance(part, ast.FormattedValue):
                spec = "" if part.conversion in (-1, ord("s")) else "!" + chr(part.conversion)
                if part.format_spec is not None:
                    written = _text(part.format_spec)
                    if written is None:  # the width itself is a value
                        self.is_clear = False
                        return
                    spec += f":{written}"
                self._from_text(part.value, spec)

    def _from_text(self, node: ast.expr, spec: str) -> None:
        """A part of an f-string: before Python 3.12 such a part has no place of its own, so it is written anew."""
        if isinstance(node, ast.Name):
            self.value(node, spec, by_name=True)
            return
        self.shown.append(node)
        self.is_clear &= not _says_types(node) and not any(
            isinstance(each, ast.Lambda) for each in ast.walk(node)
        )
        self.values.append(ast.unparse(node))
        self.parts.append("{" + spec + "}")

    def _percent(self, written: str, right: ast.expr) -> None:
        values = list(right.elts) if isinstance(right, ast.Tuple) else [right]
        at = 0
        for match in _PERCENT.finditer(written):
            self._plain(written[at : match.start()])
            at = match.end()
            if match[0] == "%%":
                self.text("%")
                continue
            spec, kind = match["spec"], match["kind"]
            if not values or set(spec) & set("-+ 0#") or (spec and kind not in "fgeGE"):
                self.is_clear = False
                return
            wanted = f":{spec}{kind}" if kind in "fgeGE" else "!r" if kind == "r" else ""
            self.value(values.pop(0), wanted)
        self._plain(written[at:])
        self.is_clear &= not values

    def _plain(self, text: str) -> None:
        self.is_clear &= "%" not in text
        self.text(text)

    def _formatted(self, call: ast.Call, written: str | None) -> None:
        """``"...".format(...)``: numbers and names of its fields must fit those of the whole."""
        fields = _fields(written or "{{")
        count = len(call.args) + len(call.keywords)
        if written is None or fields is None or self.values or len(fields) != count:
            self.is_clear = False
            return
        self.parts.append(written)
        for each in call.args:
            self.shown.append(each)
            self.values.append(self.site.document.argument(each))
        for keyword in call.keywords:
            self.is_clear &= keyword.arg is not None and keyword.arg not in _NAMED
            self.shown.append(keyword.value)
            self.named[keyword.arg or ""] = self.site.document.argument(keyword.value)
        self.is_clear &= not any(map(_says_types, self.shown))


def _fields(written: str) -> list[str] | None:
    """The fields of a format; None for one whose fields, or braces, mean more than the next value or a name."""
    try:
        fields = [field for _, field, _, _ in string.Formatter().parse(written) if field is not None]
    except ValueError:
        return None
    is_plain = all(not field or field.isidentifier() for field in fields)
    return fields if is_plain and "{{" not in written and "}}" not in written else None


def printed(site: Site) -> Patch | None:
    """``print(...)`` becomes ``jax.debug.print("...", ...)``."""
    call = site.node(ast.Call)
    return None if call is None else _through_jax(site, call)


def formatted(site: Site) -> Patch | None:
    """The same for ``print(f"{x:.2f}")``, which JAX refuses to format."""
    if site.facts.get("to") != "format":
        return None
    document, span = site.document, site.finding.span
    # Parts of texts have places of their own in newer Pythons only.
    at = document.offset(span.line, span.column)
    calls = (node for node in ast.walk(document.tree) if isinstance(node, ast.Call))
    around = [each for each in calls if getattr(each.func, "id", "") == "print" and _holds(site, each, at)]
    return _through_jax(site, around[-1]) if around else None


def _is_number(site: Site, node: ast.Call) -> bool:
    """Whether it is ``float(x)``, which shows what ``x`` shows."""
    is_cast = isinstance(node.func, ast.Name) and node.func.id == "float" and len(node.args) == 1
    return is_cast and not node.keywords and site.names.is_builtin("float", node)


def _holds(site: Site, node: ast.AST, at: int) -> bool:
    return site.document.start(node) <= at < site.document.stop(node)


def _through_jax(site: Site, call: ast.Call) -> Patch | None:
    if not isinstance(call.func, ast.Name) or call.func.id != "print":
        return None
    if site.finding.severity is Severity.INFO or not (site.facts.get("why") or _shows_itself(call)):
        return None
    format = _format_of(site, call)
    function = site.name("jax.debug.print", call)
    if format is None or function is None:
        return None
    quote = _quote(site, call)
    named = [f"{name}={value}" for name, value in format.named.items()]
    arguments = ", ".join([quoted("".join(format.parts), quote), *format.values, *named])
    is_alone = isinstance(site.document.parent(call), ast.Expr)
    # Who wrote a notebook has seen what it prints: it may be there to show a tracer.
    is_seen = site.document.path.endswith(".ipynb")
    safe = bool(site.facts.get("why")) and is_alone and not is_seen
    return site.patch(safe, f"use `{function}`", site.replace(call, f"{function}({arguments})"))


def _format_of(site: Site, call: ast.Call) -> _Format | None:
    """What a `print` shows; None if it cannot be said in one format."""
    options = {each.arg: each.value for each in call.keywords}
    starred = any(isinstance(each, ast.Starred) for each in call.args)
    if options.keys() - {"sep", "end", "flush"} or not call.args or starred:
        return None
    between, end = _option(options.get("sep"), " "), _option(options.get("end"), "\n")
    if between is None or end is None or not end.endswith("\n"):
        return None
    format = _Format(site)
    for number, each in enumerate(call.args):
        if number:
            format.text(between)
        format.argument(each)
    format.text(end[:-1])
    return format if format.is_clear else None


def _shows_itself(call: ast.Call) -> bool:
    return not any(map(_is_given, call.args))


def _is_given(node: ast.expr) -> bool:
    """Whether an argument is a value of which nothing is known: a text, perhaps, that was made while tracing."""
    return not isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call)


def logged(site: Site) -> Patch | None:
    """``log.info("...", x)`` becomes ``jax.debug.callback(lambda x: log.info("...", x), x)``."""
    call = site.node(ast.Call)
    if call is None or site.facts.get("effect") not in ("log", "warning"):
        return None
    return _called_back(site, call, bool(site.facts.get("why")) and site.is_always_traced(call))


def shown_cast(site: Site) -> Patch | None:
    """``float(x)`` that is only shown: a message needs no cast, and what is logged is cast when the program runs."""
    cast = site.node(ast.Call)
    statement = site.document.statement(cast) if cast is not None else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if cast is None or not isinstance(call, ast.Call) or call is cast:
        return None
    if isinstance(call.func, ast.Name) and call.func.id == "print":
        return _through_jax(site, call) if cast in call.args and _is_number(site, cast) else None
    is_log = isinstance(call.func, ast.Attribute) and call.func.attr in _LOGGING
    return _called_back(site, call, False) if is_log else None


def _called_back(site: Site, call: ast.Call, safe: bool) -> Patch | None:
    """The call when the compiled program runs, with what it shows of the functions around."""
    if not isinstance(site.document.parent(call), ast.Expr) or _has_scopes(call):
        return None
    document = site.document
    scope = document.scope(call)
    if isinstance(scope, ast.Module | ast.ClassDef):
        return None
    inside = {name for each in _functions(site, call) for name in site.names.bound(each)}
    inside -= {"self", "cls"}
    given = [*call.args, *(each.value for each in call.keywords)]
    names = sorted({name for each in given for name in names_in(each)} & inside)
    if names_in(call.func) & inside or not names or any(map(_says_types_inside, given)):
        return None
    function = site.name("jax.debug.callback", call)
    if function is None:
        return None
    listed = ", ".join(names)
    start, stop = document.start(call), document.stop(call)
    text = f"{function}(lambda {listed}: {document.text[start:stop]}, {listed})"
    return site.patch(safe, f"call it through `{function}`", site.replace(call, text))


def _functions(site: Site, node: ast.AST) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return [each for each in site.document.above(node) if isinstance(each, kinds)]


def _has_scopes(node: ast.AST) -> bool:
    kinds = (
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.NamedExpr,
        ast.Await,
        ast.Yield,
    )
    return any(isinstance(each, kinds) for each in ast.walk(node))


def _option(node: ast.expr | None, default: str) -> str | None:
    if node is None or (isinstance(node, ast.Constant) and node.value is None):
        return default
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _text(node: ast.expr) -> str | None:
    """The text that a literal is; None if it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and all(isinstance(each, ast.Constant) for each in node.values):
        return "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
    return None


def _is_text(node: ast.BinOp) -> bool:
    """Whether a sum is one of texts: one of its ends says so."""
    ends = (node.left, node.right)
    return any(
        isinstance(each, ast.JoinedStr)
        or _text(each) is not None
        or (isinstance(each, ast.BinOp) and isinstance(each.op, ast.Add) and _is_text(each))
        for each in ends
    )


def _says_types(node: ast.expr) -> bool:
    """Whether an expression shows what is known while tracing and is no array: a shape, a type."""
    if isinstance(node, ast.Attribute):
        return node.attr in _ABOUT_TYPES
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in _OF_TYPES
    return isinstance(
        node, ast.Dict | ast.List | ast.Tuple | ast.Lambda | ast.Starred | ast.Yield | ast.Await
    )


def _says_types_inside(node: ast.expr) -> bool:
    return any(isinstance(each, ast.expr) and _says_types(each) for each in ast.walk(node))


def _quote(site: Site, call: ast.Call) -> str:
    """The quotation mark that the call itself uses."""
    found = re.search(r"""["']""", site.document.source(call))
    return found[0] if found else '"'


def quoted(text: str, quote: str) -> str:
    """A literal for a text."""
    inner = repr(text)[1:-1]
    if repr(text)[0] == "'":
        inner = inner.replace("\\'", "'")
    return quote + inner.replace('\\"', '"').replace(quote, "\\" + quote) + quote
