"""Writes random small programs: every statement and expression form, every modelled function, no sense at all."""

from __future__ import annotations

import random
import re

from jitlint.catalogue.lexicon import lexicon
from jitlint.link.models.jax.jax_calls import JAX_CALLS
from jitlint.link.models.python.itertools_calls import ITERTOOLS_CALLS
from jitlint.link.models.python.stdlib_calls import STDLIB_CALLS
from jitlint.link.tables.builtin_names import BUILTINS, EXCEPTIONS

_PYTHON = lexicon().python
_TABLES = (
    BUILTINS,
    ITERTOOLS_CALLS,
    JAX_CALLS,
    STDLIB_CALLS,
    _PYTHON.numbers,
    _PYTHON.results,
    _PYTHON.identities,
)
FUNCTIONS = sorted({name for table in _TABLES for name in table} - EXCEPTIONS)
_MODULES = {name.rpartition(".")[0] for name in FUNCTIONS if "." in name}

PRELUDE = (
    f"import {', '.join(sorted(_MODULES))}"
    + """
import contextlib, enum, logging, time, typing
import equinox as eqx
import flax.linen as nn
import jax
import optax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jax import lax, random


class Point(typing.NamedTuple):
    a: object = 1
    b: object = 2


@dataclasses.dataclass
class Pair:
    a: object = 1
    b: object = 2


class Plain:
    shared = []

    def __init__(self, *args):
        self.a = args

    def m(self, *args):
        return self.a if args else args


xs = [1, 2]
d = {"a": 1}
obj = Plain()
table = np.zeros((4096, 4096))
count = 0
k = random.key(0)
stream = iter(xs)
step = jax.jit(lambda x, y, *xs: (x, y), donate_argnums=(0,))

"""
)

NAMES = "x y n xs d a b obj".split()
LOADED = [
    *NAMES,
    *"x y x y f g k step table count Point Pair(x,y) Point(x,y) Plain(x) self undefined".split(),
]
CONSTANTS = """0 1 -1 2 64 10**40 1e400 1.5 2j True None ... "a" "%s{}" b"b" """.split()
OPERATORS = "+ - * / // % ** @ << >> & | ^".split()
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "is", "is not", "in", "not in")

EXPRESSIONS = (
    *("<l>",) * 14,
    *("(<c>)",) * 6,
    *("<call>",) * 8,
    *("<e>.<method>(<args>)",) * 4,
    "(<e> <op> <e>)",
    "(<e> <op> <e>)",
    "(<e> <cmp> <e>)",
    "(<e> <cmp> <e> <cmp> <e>)",
    "(-<e>)",
    "(~<e>)",
    "(not <e>)",
    "(<e> and <e>)",
    "(<e> or <e>)",
    "(<e> if <e> else <e>)",
    "[<e>, <e>]",
    "[*<e>, <e>]",
    "(<e>, <e>)",
    "(<e>,)",
    "()",
    "{}",
    "{<e>, <e>}",
    "{<c>: <e>, **<l>}",
    "{<e>: <e>}",
    "<e>[<e>]",
    "<e>[<e>:<e>]",
    "<e>[::<e>]",
    "<e>[..., <e>, None]",
    "<e>.at[<e>].set(<e>)",
    "<e>.<attribute>",
    'f"{<l>} {<l>!r:>{<l>}}"',
    "(lambda p=<e>, *a, **k: <e>)",
    "(lambda *a, **k: (a, k))(<args>)",
    "[<e> for <v> in <e> if <e>]",
    "[<e> for <v> in <e> for <v> in <e>]",
    "{<e> for <v> in <e>}",
    "{<e>: <e> for <v> in <e>}",
    "list(<e> for <v> in <e>)",
    "(<v> := <e>)",
)

LEAVES = ("<l>", "<l>", "<l>", "(<c>)")

RARE = (
    "return <e>",
    "return",
    "yield <e>",
    "<v> = yield",
    "yield from <e>",
    "raise <e> from <e>",
    "raise",
    "del <v>",
    "global <v>",
    "nonlocal <v>",
    "import <v>",
    "from . import <v>",
    "break",
    "continue",
    "<v>: <e>",
    "del <l>[<e>]",
    "del <l>.<attribute>",
    "async def <name>(x):<A>",
)

STATEMENTS = (
    *("<v> = <e>",) * 12,
    "<e>",
    "<v>, <v> = <e>",
    "<v>, *<v> = <e>",
    "[<v>, (<v>, <v>)] = <e>",
    "<v> = <v> = <e>",
    "<v>: int = <e>",
    "<v> <op>= <e>",
    "<l>[<e>] = <e>",
    "<l>[<e>] <op>= <e>",
    "<l>.<attribute> = <e>",
    "<l>.<attribute> <op>= <e>",
    "assert <e>, <e>",
    "pass",
    "if <e>:<B>",
    "if <e>:<B>elif <e>:<B>else:<B>",
    "for <v> in <e>:<B>",
    "for <v>, <v> in <e>:<B>else:<B>",
    "while <e>:<B>",
    "while <e>:<B>else:<B>",
    "try:<B>except ValueError as <v>:<B>else:<B>finally:<B>",
    "try:<B>except (<e>, <e>):<B>except:<B>",
    "try:<B>except* TypeError:<B>",
    "with <e> as <v>, <e>:<B>",
    "with <e> as (<v>, <v>):<B>",
    "match <e>:\n    case [<v>, *_]:<C>    case {'a': <v>}:<C>    case <name>(<v>, a=1) | 2:<C>    case _ if <e>:<C>",
    "def <name>(<v>, /, p=<e>, *a, q=<e>, **k):<B><name>(<args>)",
    "@<decorator>\ndef <name>(x, n=<c>):<B><name>(<args>)",
    "class <name>(<base>):\n    p: int = <e>\n    def <special>(self, *a):<C><v> = <name>(<args>)",
    "@<decorator>\nclass <name>(<base>):\n    p: jax.Array\n    q: int = <e>\n    def m(self, x):<C><v> = <name>(<args>).<attribute>",
)

# What more than one statement makes right or wrong: keys, donated buffers, effects, captures, clocks, compilation.
DOMAINS = (
    "k, <v> = random.split(k)",
    "<v> = random.split(<k>, <n>)",
    "k, *<v> = random.split(<k>)",
    "<v> = random.<draw>(<k>, <e>)",
    "<v> = [random.<draw>(k, <e>) for k in random.split(<k>, <n>)]",
    "<v> = random.fold_in(<k>, <l>)",
    "<v> = jax.vmap(random.<draw>)(random.split(<k>, <n>))",
    "for k in random.split(<k>, <n>):<B>",
    "for i in range(<n>):\n    k, <v> = random.split(k)\n    <v> = random.<draw>(<k>)",
    "rngs = nnx.Rngs(<n>, dropout=<k>)\n<v> = random.<draw>(rngs.<attribute>())",
    "k = jax.random.<maker>(<e>)",
    "step = jax.jit(<f>, donate_argnums=<n>)",
    "step = jax.jit(<f>, donate_argnames=<e>, static_argnums=<e>)",
    "<v> = step(<l>, <e>)",
    "<v>, <v> = step(<l>, <l>)",
    "<l>.<attribute> = step(<l>.<attribute>, <l>)",
    "for <v> in <e>:\n    <v> = step(<l>, <l>)\n    <e>",
    "while <e>:\n    <v>, <v> = step(<l>, <l>)\n    if <e>:\n        break",
    "try:\n    step(<l>)\nfinally:\n    <e>",
    "<v> = lax.scan(step, <l>, <e>)",
    "count += <e>",
    "print(<l>, <e>)",
    "logging.info('%s', <l>)",
    "open(<e>).write(<e>)",
    "xs.append(<l>)",
    "obj.a = <l>",
    "<l>.shared.append(<l>)",
    "<v> = next(stream)",
    "<v> = np.random.<draw>(<e>)",
    "with open(<e>) as <v>:<B>",
    "table[<n>] = <e>",
    "<v> = table @ <l>",
    "<v> = jnp.asarray(table)",
    "def inner(x):\n    return x + table[<n>] + <l>\n<v> = jax.jit(inner)(<l>)",
    "class C(<module>):\n    w: object = None\n    def __call__(self, x):<C><v> = C(<args>)(<l>)",
    "start = time.<clock>()\n<v> = step(<l>, <l>)\n<v> = time.<clock>() - start",
    "start = time.<clock>()\nfor <v> in range(<n>):\n    <v> = step(<l>)\n<l>.block_until_ready()\nprint(time.<clock>() - start)",
    "<v> = jax.block_until_ready(<e>)",
    "for <v> in <e>:\n    <v> = jax.jit(<f>)(<e>)",
    "for <v> in range(<n>):\n    <v> = jax.jit(lambda x: x + <l>, static_argnums=<e>)(<l>, <v>)",
    "for <v> in range(<n>):\n    @jax.jit\n    def inner(x, n=<v>):<C>    <v> = inner(<l>[:<v>])",
    "<v> = [jax.jit(<f>) for <v> in <e>]",
    "<v> = jax.grad(jax.jit(<f>), argnums=<n>)(<l>, <l>)",
    "<v> = <f>",
    "f = jax.jit(f)",
    "<v>, opt = optax.adam(<n>).update(<l>, <l>)",
)

SIMPLE = tuple(form for form in STATEMENTS if "\n" not in form and not form.endswith("<B>"))

ASYNC = (
    "async for <v> in <e>:\n    pass",
    "async with <e> as <v>:\n    pass",
    "<v> = await <e>",
    "return <e>",
)
ARGUMENTS = (
    "",
    "<e>",
    "<e>, <e>",
    "[<e>, <e>]",
    "<f>, <e>, <e>",
    "<e>, <f>, <e>",
    "<f>, <f>, (<e>, <e>)",
    "<e>",
    "<e>, <e>",
    "<e>, <e>, <e>",
    "*<e>",
    "<e>, **<e>",
    "<e>, axis=<e>",
    "<e>, key=<e>",
    "<f>, <e>",
)
BASES = (
    "",
    "object",
    "list",
    "dict",
    "C",
    "typing.NamedTuple",
    "enum.Enum",
    "Exception",
    "<e>",
    "metaclass=<e>",
)
DECORATORS = (
    "jax.jit",
    "jax.jit",
    "functools.partial(jax.jit, static_argnums=<e>)",
    "functools.partial(jax.jit, static_argnames=<e>, donate_argnums=<e>)",
    "jax.vmap",
    "jax.grad",
    "jax.checkpoint",
    "jax.custom_vjp",
    "jax.tree_util.register_pytree_node_class",
    "jax.tree_util.register_dataclass",
    "dataclasses.dataclass",
    "dataclasses.dataclass(frozen=<e>)",
    "functools.lru_cache",
    "functools.wraps(<e>)",
    "contextlib.contextmanager",
    "property",
    "staticmethod",
    "classmethod",
    "<e>",
)
SPECIAL = sorted(
    {name for kind in (int, dict, list, object) for name in dir(kind) if name.startswith("__")}
    | set(
        "__bool__ __call__ __enter__ __exit__ __getattr__ __next__ __get__ tree_flatten tree_unflatten m".split()
    )
)
METHODS = sorted(
    {name for kind in (str, list, dict, set, tuple, float) for name in dir(kind) if name[0] != "_"}
    | set("all any argmax astype at flatten item max mean min nonzero ravel reshape sort sum tolist".split())
    | set("T dtype lower m popleft send set update add get apply".split())
)
ATTRIBUTES = "shape dtype ndim T at a b m shared __class__ __dict__ __name__ real size".split()
TRANSFORMS = """
jax.jit jax.vmap jax.grad jax.value_and_grad jax.jacfwd jax.hessian jax.linearize jax.jvp jax.vjp jax.checkpoint jax.eval_shape
jax.pure_callback jax.debug.print jax.lax.scan jax.lax.cond jax.lax.switch jax.lax.while_loop jax.lax.fori_loop jax.lax.map
jax.lax.associative_scan jax.tree.map jax.tree.reduce jax.make_jaxpr jax.named_call jax.custom_jvp jax.closure_convert
jnp.sum jnp.where jnp.zeros jnp.arange jnp.reshape jnp.concatenate jnp.einsum jnp.nonzero jnp.unique jnp.vectorize
np.sum np.where np.zeros np.asarray np.concatenate
""".split()
_HOLE = re.compile(r"<(\w+)>")


class Writer:
    """Draws a program from a source of randomness. The deeper, the shorter."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def module(self, functions: int = 2) -> str:
        """A module of some functions under transforms, and code that calls them."""
        parts = [PRELUDE]
        for name in ("f", "g", "h")[:functions]:
            decorator = self._fill(self._rng.choice(DECORATORS[:6]), 0)
            body = "".join(self._block(3, "    ") for _ in range(self._rng.randint(1, 3)))
            parts.append(f"@{decorator}\ndef {name}(x, y, n=1, *xs, **d):\n{body}\n")
        parts.append(self._block(1, ""))
        return "".join(parts)

    def _block(self, depth: int, indent: str) -> str:
        lines = [self._statement(depth) for _ in range(self._rng.randint(1, 3))]
        return "".join(f"{indent}{line}\n" for text in lines for line in text.splitlines())

    def _statement(self, depth: int) -> str:
        chance = self._rng.random()
        forms = RARE if chance < 0.07 else STATEMENTS if depth > 0 else SIMPLE
        if chance > 0.7 and depth > 0:
            forms = DOMAINS
        return self._fill(self._rng.choice(forms), depth)

    def _fill(self, template: str, depth: int) -> str:
        name = self._rng.choice(("f", "g", "C", "inner", "case"))
        return _HOLE.sub(lambda hole: name if hole[1] == "name" else self._hole(hole[1], depth - 1), template)

    def _hole(self, kind: str, depth: int) -> str:
        pick = self._rng.choice
        if kind == "e":
            return self._fill(pick(EXPRESSIONS if depth > 0 else LEAVES), depth)
        if kind == "call":
            return self._fill(f"{pick((*FUNCTIONS, *TRANSFORMS, *TRANSFORMS))}(<args>)", depth)
        if kind == "args":
            return self._fill(pick(ARGUMENTS), depth)
        if kind == "B":
            return "\n" + self._block(depth, "    ")
        if kind == "C":
            return "\n" + self._block(depth, "        ")
        if kind == "A":
            lines = self._fill(pick(ASYNC), depth).splitlines()
            return "\n" + "".join(f"    {line}\n" for line in lines)
        if kind in ("decorator", "base"):
            return self._fill(pick(DECORATORS if kind == "decorator" else BASES), 1)
        return pick(_WORDS[kind])


_WORDS = {
    "v": NAMES,
    "l": LOADED,
    "f": ("f", "g", "jnp.sum", "lambda *a: a", "lambda c, x: (c, x)"),
    "c": CONSTANTS,
    "n": ("0", "1", "2", "-1", "(0, 1)", "n", "len(xs)"),
    "k": ("k", "k", "k", "x", "random.key(0)", "random.fold_in(k, n)"),
    "draw": ("normal", "uniform", "permutation", "categorical", "bernoulli", "choice", "bits", "split"),
    "maker": ("key", "PRNGKey", "wrap_key_data", "clone", "key_data"),
    "clock": ("time", "perf_counter", "monotonic"),
    "module": ("eqx.Module", "nn.Module", "nnx.Module", "Plain"),
    "op": OPERATORS,
    "cmp": COMPARISONS,
    "method": METHODS,
    "attribute": ATTRIBUTES,
    "special": SPECIAL,
}
