"""What becomes a function of its own: branches, turns of loops, methods. Each case returns what is to be compared."""

from functools import partial

import jax
import jax.numpy as jnp


def double(x):
    return x * 2


def triple(x):
    return x * 3


@jax.jit
def calls(x):
    if x > 0:
        return double(x)
    else:
        return triple(x)


@jax.jit
def called(x):
    y = double(x) if x > 0 else triple(x)
    return y + 1


def case_calls():
    return [f(value) for f in (calls, called) for value in (1.0, -2.0)]


@jax.jit
def steps(x, y):
    if x > 0:  # why
        # above
        s = jnp.sin(x)
        y = s * s  # deep
    else:
        c = jnp.cos(x)
        y = y * c
    return y


def case_steps():
    return [steps(1.0, 3.0), steps(-0.5, 2.0)]


@jax.jit
def early(x):
    if x > 0:
        s = jnp.sin(x)
        return s * 2

    # the rest
    c = jnp.cos(x)
    for i in range(3):
        c = c * (i + 1)
    return c


def case_early():
    return [early(1.0), early(-2.0)]


@jax.jit
def one_sided(x, y):
    z = x
    if x > 0 and y < 1:
        t = x + 1
        z = t * t
    return z


def case_one_sided():
    return [one_sided(1.0, 0.5), one_sided(1.0, 3.0), one_sided(-3.0, 1.0)]


@jax.jit
def three_ways(x, y):
    if x > 0:
        t = x + 1
        z = t * t
    elif x < -1:
        t = x - 1
        z = t * 3
    else:
        z = double(y)
        z = z + 1
    return z


@jax.jit
def three_returns(x):
    if x > 1:
        t = jnp.exp(-x)
        return t * t
    elif x > 0:
        return x * x
    t = jnp.sin(x)
    return t * 3


def case_three_ways():
    found = [three_ways(1.0, 3.0), three_ways(-0.5, 2.0), three_ways(-3.0, 1.0)]
    return [*found, three_returns(2.0), three_returns(0.5), three_returns(-1.0)]


@jax.jit
def trees(x):
    if x > 0:
        return {"a": x, "b": [x]}
    return {"a": -x, "b": [x * 2]}


def case_trees():
    return [trees(1.0), trees(-2.0)]


@jax.jit
def told(x):
    if x > 0:
        print("big", x)
    return x


def case_told():
    return [told(1.0), told(-1.0)]


@jax.jit
@partial(jax.grad, argnums=(0, 1))
def slopes(w, v, n):
    total = 0.0
    largest = 0.0
    for i in range(n):
        total = total + v[i] * w
        largest = largest + jnp.sin(total)  # why
    return largest + total


@jax.jit
@jax.grad
def slope(w, v, n):
    total = 0.0
    for i in range(n):
        total = total + v[i] * w * w
    return total


def case_loops_with_derivatives():
    return [slopes(0.5, jnp.arange(5.0), 3), slope(2.0, jnp.arange(5.0), 3)]


@jax.jit
def table(x):
    rows = []
    for i in range(60):
        row = jnp.sin(x * i)  # one
        rows.append(row)
    return jnp.stack(rows)


@jax.jit
def walk(x):
    ys = []  # all of them
    for i in range(60):
        x = jnp.sin(x) + i
        ys.append(x * 2)
    return jnp.array(ys), x


def case_lists_of_turns():
    return [table(1.0), walk(1.0)]


@jax.jit
def over_rows(x, h):
    for row in x:
        h = jnp.tanh(h + row)
    return h


@jax.jit
def over_numbered_rows(x, h):
    g = h
    for i, row in enumerate(x):
        h = h * 0.5 + row * i
        g = g + h
    return g, h


def case_rows():
    rows = jnp.arange(36.0).reshape(12, 3) / 36
    return [over_rows(rows, jnp.zeros(3)), over_numbered_rows(rows, jnp.ones(3))]


class Average:
    def __init__(self, decay):
        self.decay = decay
        self.value = jnp.zeros(2)

    # What is kept counts as much as it says.
    @jax.jit
    def blend(self, x):
        """Both together."""
        # the old one
        y = self.decay * self.value
        return y + (1 - self.decay) * x  # and the new one

    def update(self, x):
        self.value = self.blend(x)
        return self.value


def case_object_that_changes():
    average = Average(0.25)
    return [average.update(jnp.ones(2)), average.update(jnp.ones(2) * 3)]


class Sensor:
    def __init__(self, bias):
        self.bias = bias

    def correct(self, raw):
        return raw - self.bias

    def read(self, raw):
        return jax.jit(self.correct)(raw)


def case_method_compiled_anew():
    sensor = Sensor(0.5)
    return [sensor.read(float(i)) for i in range(5)]


def act(weights, observation):
    # made anew
    @jax.jit
    def logits(w, o):
        s = w @ o
        return s * 2

    return logits(weights, observation)


def case_function_compiled_anew():
    return [act(jnp.eye(2), jnp.ones(2) * i) for i in range(4)]


@jax.jit
def limits(x, i, v):
    x[i] = min(x[i], v)
    x[0] = jnp.maximum(v, x[0])
    return x


def case_limits():
    return limits(jnp.arange(3.0), 1, 0.5)


@partial(jax.jit, static_argnames="n")
def power(x, n):
    return x**n


@jax.jit
def padded(x, n):
    return jnp.zeros(n) + x


def case_static_as_elsewhere():
    return [power(2.0, n=3), padded(1.0, 3)]
