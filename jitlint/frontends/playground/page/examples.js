// Small programs to begin with; each has at least one finding.

export const EXAMPLES = [
  {
    name: 'A helper under jit',
    kind: 'python',
    cells: [
      {
        text: `import jax
import jax.numpy as jnp


def clip(x, limit):
    if jnp.max(x) > limit:
        return x / 2
    return x


def loss(params, batch):
    error = batch["x"] @ params - batch["y"]
    print("error", error)
    return jnp.mean(clip(error, 10.0) ** 2)


@jax.jit
def step(params, batch, rate=0.1):
    return params - rate * jax.grad(loss)(params, batch)


params = jnp.zeros(3)
batch = {"x": jnp.ones((8, 3)), "y": jnp.ones(8)}
params = step(params, batch)
`,
      },
    ],
  },
  {
    name: 'Static arguments',
    kind: 'python',
    cells: [
      {
        text: `from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, static_argnames="steps")
def simulate(state, steps, stride):
    path = []
    for i in range(steps):        # fine: steps is static
        state = state + jnp.sin(state)
        if i % stride == 0:       # stride is traced
            path.append(state)
    return jnp.stack(path)


simulate(jnp.ones(3), 10, 2)
`,
      },
    ],
  },
  {
    name: 'A loop, keys and an update',
    kind: 'python',
    cells: [
      {
        text: `import jax
import jax.numpy as jnp

history = []


@jax.jit
def walk(key, start):
    def turn(carry, _):
        noise = jax.random.normal(key, carry.shape)
        drift = jax.random.normal(key, carry.shape)
        carry = carry + noise + drift
        history.append(carry)
        return carry, carry[0]

    end, firsts = jax.lax.scan(turn, start, None, length=5)
    end[0] = 0.0
    return end, firsts


walk(jax.random.key(0), jnp.zeros(4))
`,
      },
    ],
  },
  {
    name: 'A notebook',
    kind: 'notebook',
    cells: [
      { text: '# Cells share their names\nA cell that runs later decides what an earlier function meets.', code: false },
      { text: 'import jax\nimport jax.numpy as jnp\n\nscale = 2.0' },
      { text: 'def normalise(x, total):\n    if total == 0:\n        return x\n    return scale * x / total' },
      { text: '@jax.jit\ndef weights(x):\n    return normalise(x, x.sum())\n\nweights(jnp.arange(4.0))' },
      { text: '%timeit weights(jnp.arange(4.0))' },
    ],
  },
];
