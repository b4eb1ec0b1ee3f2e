"""What the uses of a parameter say about it."""

from __future__ import annotations

import pytest

from jitlint.infer.evidence import parameter_evidence
from jitlint.infer.program import FuncInfo, ModuleInfo
from jitlint.infer.values import Scope
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower


def function(body: str, parameters: str = "x, y") -> FuncInfo:
    """A function with this body."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    tree = lower(f"def f({parameters}):\n{lines}")
    assert isinstance(tree, ir.Module), tree
    module = ModuleInfo("case", "case.py", False, False, tree, Scope({}, None, None, 0, 0, None))
    return FuncInfo(0, module, tree.functions[-1])


def evidence(body: str) -> dict[str, str]:
    """The evidence for the parameters x and y."""
    return parameter_evidence(function(body))


@pytest.mark.parametrize(
    "body",
    [
        "return x + 1",
        "return 1 - x",
        "return -x",
        "return ~x",
        "x *= 2",
        "y = 0\ny += x",
        "return x < 1",
        "return 1 >= x",
        "return x == 0",
        "return x != 0.5",
        "return x.shape",
        "return x.at[0].set(1)",
        "return x.T",
        "return x.reshape(-1)",
        "return x[0, 1]",
        "return x[..., None]",
        "return jnp.sum(x)",
        "return np.dot(1, x)",
        "return jax.nn.relu(x)",
        "return jax.numpy.linalg.norm(x)",
        "return jax.random.normal(x)",
        "return math.sin(x)",
        "for i in range(x):\n    pass",
        "if True:\n    while y:\n        z = [x + 1 for _ in y]",
        "return x @ x",
    ],
)
def test_array(body: str) -> None:
    assert evidence(body)["x"] == "array"


@pytest.mark.parametrize(
    "body",
    ["return x.items()", "return x['a']", "for k in x.keys():\n    pass", "x.setdefault('a', 1)", "'a' in x"],
)
def test_map(body: str) -> None:
    assert evidence(body)["x"] == "map"


@pytest.mark.parametrize("body", ["x.append(1)", "x.extend(y)", "x.insert(0, 1)"])
def test_seq(body: str) -> None:
    assert evidence(body)["x"] == "seq"


@pytest.mark.parametrize(
    "body",
    [
        "if x:\n    return 1",
        "while x:\n    pass",
        "return 1 if x else 2",
        "return not x",
        "return x and y",
        "return y if x or y else 1",
        "return 1 if y and not x else 2",
        "if x:\n    return 1\nif not x:\n    return 2",
    ],
)
def test_flag(body: str) -> None:
    assert evidence(body)["x"] == "flag"


@pytest.mark.parametrize("body", ["return x or 1", "return y or x", "return f(x or {})"])
def test_what_stands_for_a_default_is_no_flag(body: str) -> None:
    """``x or default`` gives the object itself: that it is asked whether it is there says nothing about it."""
    assert "x" not in evidence(body)


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "return x",
        "return x[0]",
        "return x.a",
        "return x + []",
        "return x + (1,)",
        "return 'a' + x",
        "return x % f'{y}'",
        "return {} * x",
        "return x == 'a'",
        "return x is None",
        "return 1 in x",
        "return g(x)",
        "return g.sum(x)",
        "return jax.jit(x)",
        "return jnp.asarray(x)",
        "return jax.tree.map(g, x)",
        "return jax.lax.scan(g, x)",
        "return jnp.sum(*x)",
        "return jnp.sum(1, axis=x)",
        "return jnp.where(1, 2, x)",
        "if x:\n    return x",
        "return x.items() + x",
        "x.append(x[0, 1])",
        "g = lambda: x * 2",  # the bodies of inner functions are not looked into
    ],
)
def test_no_clear_evidence(body: str) -> None:
    assert "x" not in evidence(body)


def test_parameters_are_judged_one_by_one() -> None:
    assert evidence("if y:\n    return x + 1") == {"x": "array", "y": "flag"}


def test_other_names_say_nothing() -> None:
    assert evidence("return z + 1") == {}


def test_every_kind_of_parameter_counts() -> None:
    found = parameter_evidence(
        function("a + 1\nb + 1\nc.items()\nd['a']\ne.append(1)", "a, /, b, *e, c, **d")
    )
    assert found == {"a": "array", "b": "array", "c": "map", "d": "map", "e": "seq"}


def test_the_answer_is_kept() -> None:
    fn = function("return x + 1")
    assert parameter_evidence(fn) is parameter_evidence(fn)
