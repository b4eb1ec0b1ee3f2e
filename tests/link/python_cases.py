"""Small bodies of a jitted function and what Python's own functions do there: the same list serves two proofs.

A body belongs to ``def f(x, n, v, w, b)`` under a transform: x a float, n an int, b a bool, v and w arrays of four
floats and ints. `jax.jit` traces all of them, `jax.grad` and `jax.vmap` only x. ``events``: what the analysis must observe, as ``truth:max`` or ``convert:int``; none: the body
traces without error. JAX must raise exactly where an event is expected.
"""

from __future__ import annotations

from dataclasses import dataclass

PRELUDE = """\
import collections
import copy
import dataclasses
import functools
import itertools
import math
import operator
import random
import time
import typing

import jax
import jax.numpy as jnp


@dataclasses.dataclass
class Pair:
    a: object
    b: object


class Point(typing.NamedTuple):
    a: object
    b: object


history = []
latest = {}

"""
TRANSFORMS = {
    "jit": "jax.jit",
    "grad": "jax.grad",
    "vmap": "functools.partial(jax.vmap, in_axes=(0, None, None, None, None))",
}


@dataclass(frozen=True, slots=True)
class Case:
    """One body and the events it must give."""

    body: str
    events: tuple[str, ...] = ()
    transform: str = "jit"

    @property
    def source(self) -> str:
        """The module: prelude and decorated function. A body without ``return`` returns ``x``."""
        lines = self.body.splitlines()
        if not lines[-1].lstrip().startswith("return"):
            lines.append("return x")
        head = f"@{TRANSFORMS[self.transform]}\ndef f(x, n, v, w, b):\n"
        return PRELUDE + head + "".join(f"    {line}\n" for line in lines)


def _hurting(table: str) -> list[Case]:
    """Lines of ``events <- body``, where ``;`` separates statements."""
    cases = []
    for line in filter(None, map(str.strip, table.splitlines())):
        events, _, body = line.partition(" <- ")
        cases.append(Case(body.replace("; ", "\n"), tuple(events.split())))
    return cases


def _harmless(table: str) -> list[Case]:
    return [Case(line.strip().replace("; ", "\n")) for line in table.splitlines() if line.strip()]


CONVERSIONS = _hurting("""
    convert:int <- return int(x)
    convert:int <- return int(n) + 1
    convert:float <- return float(v.sum())
    convert:complex <- return complex(x)
    truth:bool <- return bool(x > 0)
    convert:range <- return [x for i in range(n)]
    convert:range <- return [x for i in range(0, n, 2)]
    convert:index <- print(hex(n))
    convert:index <- print(bin(n))
    convert:index <- print(oct(n))
    convert:index <- print(chr(n))
    convert:index <- return x + operator.index(n)
    convert:hash <- return hash(x)
    convert:hash <- return x * len({n})
    convert:hash <- return x * len(set([x, n]))
    convert:hash <- return x * len(frozenset((x,)))
    convert:hash <- return dict.fromkeys([n])
    convert:hash <- return {1: x}.get(n)
    convert:hash <- d = {}; d.setdefault(n, x); return x
    convert:hash <- s = set(); s.add(x); return x
    convert:hash <- return x * len(collections.Counter([n]))
    convert:format <- print(format(x, ".2f"))
    convert:format <- print("{:.2f}".format(x))
    convert:format <- print("{} {value:5d}".format(x, value=n))
    convert:format <- print("{1:d}{0}".format(x, n))
    convert:math <- return math.sin(x)
    convert:math <- return math.pow(2.0, x)
    convert:math <- return math.isnan(x)
    convert:math <- return math.floor(x)
    convert:math <- return math.hypot(1.0, x)
    convert:math <- return math.fsum([x, 1.0])
    convert:math <- return math.gcd(n, 2)
    convert:math <- return math.atan2(v.max(), 1.0)
""")

TRUTH = _hurting("""
    truth:max <- return max(x, 0.0)
    truth:min <- return min(x, n)
    truth:max <- return max(v)
    truth:max <- return max([x, n])
    truth:min <- return min(v[i] for i in range(4))
    truth:max <- return max([1, 2], key=lambda t: t * x)
    truth:max <- return max(0.0, *[x, n])
    truth:max <- return functools.reduce(max, v)
    truth:sorted <- return sorted(v)
    truth:sorted <- return sorted([x, n], reverse=True)
    truth:sorted <- return sorted([(x, 1), (n, 2)])
    truth:sorted <- xs = [x, n]; xs.sort(); return xs
    truth:sorted <- xs = [("a", x), ("b", n)]; xs.sort(key=lambda pair: pair[1]); return x
    truth:sorted <- return sorted([("a", x), ("b", n)], key=operator.itemgetter(1))[0][1]
    truth:any <- return any([x > 0])
    truth:any <- return any(t > 0 for t in v)
    truth:all <- return all(v > 0)
    truth:all <- return all([True, x > 0])
    truth:filter <- return list(filter(lambda t: t > 0, v))
    truth:filter <- return list(filter(None, [x * 2, n]))
    truth:filter <- return list(itertools.takewhile(lambda t: t > 0, v))
    truth:in <- return [1.0, 2.0].index(x)
    truth:in <- return (1.0, 2.0).count(x)
    truth:bool <- return operator.truth(x * 2)
    truth:not <- return operator.not_(x > 0)
""")

FINE = _harmless("""
    return len(v) + x
    return [x * i for i in range(len(v))]
    return [x * i for i in range(v.shape[0])]
    return int(v.shape[0]) + float(v.size) + x
    return max(v.shape) + min(v.shape[0], 3) + x
    return x * math.prod(v.shape)
    return math.prod([x, n])
    return math.sqrt(v.shape[0]) * x
    return abs(x) + round(x) + pow(x, 2)
    return divmod(x, 2)
    return sum(v) + sum([x, n]) + sum([], x)
    return sum(t * t for t in v)
    return list(v) + list(reversed(v))
    return tuple(t for t in (x, n))
    return [i * t for i, t in enumerate(v)]
    return [s * t for s, t in zip(v, w)]
    return dict(zip("abcd", v))
    return list(map(lambda t: t + 1, v))
    return sorted([x])
    return max([x])
    return max((1, 2, 3)) * x
    return max(v, key=lambda t: 1)
    d = {"b": x, "a": n}; return [d[k] for k in sorted(d)]
    return [t for _, t in sorted({"b": x, "a": n}.items())]
    return any([None, 0]) or x
    return next(iter([x]))
    return next(iter(v))
    print(x, f"{x}", str(x), repr(x), "{}".format(x), "{!r:>20}".format(x), "%s" % x, id(x))
    return float(x) if callable(x) else x
    return getattr(v, "T") * getattr(v, "nothing", 2.0)
    return "a" in {"a": x} and x
    return functools.reduce(operator.add, v)
    return functools.reduce(lambda s, t: s + t, [x, n], 0.0)
    return list(itertools.accumulate(v))
    return list(itertools.chain([x], v, (n,)))
    return list(itertools.chain.from_iterable([[x], [n]]))
    return [s * t for s, t in itertools.product([x, n], v)]
    return [s * t for s, t in itertools.combinations([x, n, 1.0], 2)]
    return list(itertools.islice(v, 2))
    return list(itertools.starmap(operator.mul, [(x, n), (n, x)]))
    return [t for t, i in zip(itertools.repeat(x), range(3))]
    return [t for t, i in zip(v, itertools.count())]
    return copy.copy(v) + copy.deepcopy(v)
    return operator.add(x, n) + operator.neg(x) + operator.getitem(v, n)
    return operator.attrgetter("T")(v)
    return x * random.random() + time.time()
    return typing.cast(float, x) + 1
    return x * math.floor(2.5) + math.pi
    return random.uniform(0, x)
""")

BOXES = [
    Case("xs = []\nxs.append(x)\nxs.append(1.0)\nreturn math.sin(xs[1]) * x"),
    Case("xs = []\nxs.append(x)\nxs.append(1.0)\nreturn math.sin(xs[0])", ("convert:math",)),
    Case("xs = [1.0]\nxs.extend([x, 2.0])\nreturn math.sin(xs[2]) * x"),
    Case("xs = [1.0]\nxs.extend([x, 2.0])\nreturn math.sin(xs[1])", ("convert:math",)),
    Case("xs = [1.0]\nxs.insert(0, x)\nreturn math.sin(xs[1]) * x"),
    Case("xs = [1.0]\nxs.insert(0, x)\nreturn math.sin(xs.pop(0))", ("convert:math",)),
    Case("xs = [x, 1.0]\nreturn math.sin(xs.pop()) * x"),
    Case("xs = [x, 1.0]\nxs.reverse()\nreturn math.sin(xs[0]) * x"),
    Case("xs = [x, 1.0]\nys = xs.copy()\nys.clear()\nreturn math.sin(xs[0])", ("convert:math",)),
    Case("xs = []\nfor t in v:\n    xs.append(t)\nreturn float(xs[0])", ("convert:float",)),
    Case("xs = collections.deque([1.0, x])\nreturn math.sin(xs.popleft()) * x"),
    Case("xs = collections.deque()\nxs.append(x)\nreturn math.sin(xs[0])", ("convert:math",)),
    Case("it = iter([x, 1.0])\nnext(it)\nreturn math.sin(next(it)) * x"),
    Case("d = {'a': x, 'b': 1.0}\nreturn math.sin(d.get('b')) * d['a']"),
    Case("d = {'a': x}\nreturn math.sin(d.get('c', 1.0)) * x"),
    Case("d = {'a': x}\nreturn math.sin(d.get('a'))", ("convert:math",)),
    Case("d = dict(a=x, b=1.0)\nreturn math.sin(d.pop('b')) * d['a']"),
    Case("d = dict(a=x, b=1.0)\nreturn math.sin(dict(d)['a'])", ("convert:math",)),
    Case("d = {}\nd.update(a=1.0)\nd.update({'b': x})\nreturn math.sin(d['a']) * d['b']"),
    Case("d = {}\nd.update([('a', 1.0), ('b', x)])\nreturn math.sin(d['b'])", ("convert:math",)),
    Case("d = {'a': 1.0}\nfor k, t in d.items():\n    x = x * math.sin(t)\nreturn x"),
    Case("d = {'a': x}\nfor k, t in d.items():\n    math.sin(t)", ("convert:math",)),
    Case("d = {'a': x}\nreturn [math.sin(t) for t in d.values()]", ("convert:math",)),
    Case("d = {'a': 2, 'b': x}\nreturn [x for k in d.keys() for i in range(len(k))]"),
    Case(
        "d = collections.defaultdict(list)\nd['a'].append(x)\nreturn math.sin(d['a'][0])", ("convert:math",)
    ),
    Case("d = collections.defaultdict(int)\nd['a'] += 1\nreturn [x for _ in range(d['a'])]"),
    Case("d = {'b': 1.0}\nreturn math.sin(d.setdefault('a', x))", ("convert:math",)),
    Case("pairs = list(enumerate([x, n]))\nreturn range(pairs[1][0]) and x"),
    Case("pairs = list(zip([1, 2], [x, n]))\nreturn [x for _ in range(pairs[0][0])]"),
    Case("pairs = list(zip([1, 2], [x, n]))\nreturn [x for _ in range(pairs[0][1])]", ("convert:range",)),
    Case("for k, t in dict(zip('ab', [1.0, 2.0])).items():\n    x = x * math.sin(t)\nreturn x"),
    Case("p = Point(x, 1.0)\nreturn math.sin(p._replace(a=2.0).a) * x"),
    Case("p = Point(x, 1.0)\nreturn math.sin(p._asdict()['a'])", ("convert:math",)),
    Case("p = Pair(x, 1.0)\nreturn math.sin(dataclasses.replace(p, a=2.0).a) * x"),
    Case("p = Pair(x, 1.0)\nreturn math.sin(dataclasses.replace(p, b=2.0).a)", ("convert:math",)),
    Case("p = Pair(x, 1.0)\nreturn math.sin(dataclasses.asdict(p)['b']) * x"),
    Case("p = Pair(x, 1.0)\nreturn math.sin(copy.copy(p).b) * x"),
    Case("p = Pair(1.0, 2.0)\nsetattr(p, 'a', x)\nreturn math.sin(p.a)", ("convert:math",)),
    Case("p = Pair(1.0, x)\nreturn math.sin(getattr(p, 'a')) * x"),
    Case("p = Pair(1.0, x)\nreturn math.sin(vars(p)['b'])", ("convert:math",)),
    Case("xs = [1.0, [2.0]]\nys = copy.deepcopy(xs)\nys[1].append(x)\nreturn math.sin(xs[1][-1]) * x"),
    Case("mode = 'train_fast'\nif mode.startswith('eval'):\n    float(x)"),
    Case("mode = 'train_fast'\nif mode.split('_')[0] == 'train':\n    float(x)", ("convert:float",)),
    Case("sizes = [int(s) for s in '1,2'.split(',')]\nreturn [x for _ in range(sizes[0])]"),
    Case("if isinstance(x, (int, float)):\n    float(x)"),
    Case("s = {1.0, 2.0}\ns.add(3.0)\nreturn x * len(s | {4.0})"),
]

OTHER_TRANSFORMS = [
    Case("return x * float(x)", ("convert:float",), "grad"),
    Case("return x * math.sin(x)", ("convert:math",), "grad"),
    Case("print(format(x, '.2f'))", ("convert:format",), "grad"),
    Case("print(hash(x))", ("convert:hash",), "grad"),
    Case("return x * int(x)", (), "grad"),
    Case("return x * len(range(int(x)))", (), "grad"),
    Case("return max(x, 0.0)", (), "grad"),
    Case("return sorted([x, 1.0])[0]", (), "grad"),
    Case("return x if any([x > 0]) else -x", (), "grad"),
    Case("return x * float(x)", ("convert:float",), "vmap"),
    Case("return x * int(x)", ("convert:int",), "vmap"),
    Case("return max(x, 0.0)", ("truth:max",), "vmap"),
    Case("return max(n, 0) + x * int(v[0]) + math.sin(v[1])", (), "vmap"),
]

LEAKS = [
    Case("history.append(x)", ("leak:append",)),
    Case("history.extend([1.0, x])", ("leak:append",)),
    Case("history.insert(0, v * 2)", ("leak:append",)),
    Case("latest.update(x=x)", ("leak:element",)),
    Case("latest.setdefault('x', x)", ("leak:element",)),
    Case("history.append(v.shape)"),
    Case("local = list(history)\nlocal.append(x)\nreturn local[-1]"),
    Case("local = dict(latest)\nlocal.update(x=x)\nreturn local['x']"),
]

CASES = [*CONVERSIONS, *TRUTH, *FINE, *BOXES, *OTHER_TRANSFORMS]
