"""Special methods that an operation asks for run where it stands, inside a trace."""

from __future__ import annotations

import pytest

from jitlint.base.diagnostic import Confidence
from tests.link.sources import run

ASKED = {
    "__bool__": "1 if k else 2",
    "__hash__": "{k: 1}",
    "__repr__": "repr(k)",
    "__str__": "str(k)",
    "__format__": "f'{k}'",
    "__int__": "int(k)",
    "__float__": "float(k)",
    "__index__": "range(k)",
    "__reversed__": "reversed(k)",
    "__jax_array__": "jnp.sin(k)",
    "__delitem__": "[k for _ in [0]]\n    del k[0]",
    "__enter__": "None\n    with k:\n        pass",
    "__set__": "None\n    H().d = 1",
    "__instancecheck__": "isinstance(1, M)",
    "__new__": "K(1)",
    "__getattribute__": "k.anything",
    "__eq__": "k in [1]",
    "keys": "dict(**k)",
    "__getitem__": "dict(**k)",
}

SOURCE = """
class K:
    def {name}(self, *args):
        return asked()

class D:
    def {name}(self, *args):
        return asked()

class Meta(type):
    def {name}(cls, *args):
        return asked()

class M(metaclass=Meta):
    pass

class H:
    d = D()

def asked():
    return 1

{decorator}
def f(x):
    k = K()
    y = {expression}
    return x

f(1.0)
"""


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_is_known_as_traced(name: str) -> None:
    source = SOURCE.format(name=name, expression=ASKED[name], decorator="@jax.jit")
    found = {function.qualname: function.confidence for function in run(source).traced}
    assert found["f"] is found["asked"] is Confidence.CERTAIN


@pytest.mark.parametrize("name", ASKED)
def test_on_the_host_nothing_is_traced(name: str) -> None:
    source = SOURCE.format(name=name, expression=ASKED[name], decorator="")
    assert run(source).traced == []


def test_a_method_that_nobody_asks_for_is_not_traced() -> None:
    source = SOURCE.format(name="__repr__", expression="str", decorator="@jax.jit")
    assert {function.qualname for function in run(source).traced} == {"f"}


STATIC = """
class Key:
    def {name}(self, *args):
        return asked()

def asked():
    return 1

@partial(jax.jit, static_argnums=1)
def inner(x, key):
    return x

@jax.jit
def f(x):
    return inner(x, Key())

f(1.0)
"""


@pytest.mark.parametrize("name", ["__hash__", "__eq__"])
def test_a_static_argument_is_hashed_and_compared(name: str) -> None:
    assert "asked" in {function.qualname for function in run(STATIC.format(name=name)).traced}


DESCRIBED = """
class D:
    def __get__(self, obj, owner=None):
        return asked(obj)

    def __set__(self, obj, value):
        obj._kept = value

class H:
    kept = D()

    def __init__(self, value):
        self.kept = value

def asked(obj):
    return obj._kept

@jax.jit
def f(x):
    return H(x).kept

f(1.0)
"""


def test_a_descriptor_that_answers_a_store_answers_the_load_too() -> None:
    assert "asked" in {function.qualname for function in run(DESCRIBED).traced}
