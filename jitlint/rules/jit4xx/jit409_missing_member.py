"""JIT409: an attribute or method that arrays of other libraries have, and those of JAX lack (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT409",
    name="missing-member",
    severity=Severity.ERROR,
    summary="attribute that a JAX array does not have",
    explanation="""\
Arrays of JAX look like those of NumPy and tensors of PyTorch, but lack some of what these have: `.numpy()`, `.detach()`,
`.to(...)`, `.cuda()`, `.unsqueeze(...)`, `.exp()`, `.backward()`, `.flat`, `.strides`, `.tofile(...)` and others, traced or not:

> AttributeError: 'jaxlib._jax.ArrayImpl' object has no attribute 'numpy'
""",
    instead="""\
```python
host = np.asarray(x)              # x.numpy(), x.detach().cpu().numpy()
y = jax.lax.stop_gradient(x)      # x.detach()
y = jnp.expand_dims(x, 1)         # x.unsqueeze(1)
y = jnp.exp(x)                    # x.exp()
grads = jax.grad(loss)(params)    # loss.backward()
```
""",
    bad="""\
def report(loss):
    return loss.detach().numpy()  # expect: JIT409


report(jnp.ones(3))
""",
    good="""\
def report(loss):
    return np.asarray(loss)


report(jnp.ones(3))
""",
    outcome=Raises(("AttributeError", "NotImplementedError"), says=r"ArrayImpl|Tracer|arr\.flat"),
    since="0.1",
    reference="https://docs.jax.dev/en/latest/jax.numpy.html#jax-array",
)

_GROWN = "collect in a list, and make an array of it in the end: `jnp.stack(parts)`"
# member: what to write
_CURES = {
    "numpy": "use `np.asarray(x)`",
    "cpu": "use `np.asarray(x)`, or `jax.device_put(x, device)`",
    "cuda": "use `jax.device_put(x, device)`",
    "to": "use `x.astype(dtype)` or `jax.device_put(x, device)`",
    "detach": "use `jax.lax.stop_gradient(x)`, or nothing where no derivative is taken",
    "backward": "write the loss as a function and use `jax.grad(loss)(params)`",
    "unsqueeze": "use `jnp.expand_dims(x, axis)`",
    "permute": "use `x.transpose(...)`",
    "expand": "use `jnp.broadcast_to(x, shape)`",
    "numel": "use `x.size`",
    "dim": "use `x.ndim`",
    "flat": "use `x.ravel()`",
    "append": _GROWN,
    "extend": _GROWN,
    "insert": _GROWN,
}


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report members that no array of JAX has."""
    if event.problem != "missing-member":
        return None
    return Report(
        f"arrays of JAX have no `.{event.parameter}`",
        _CURES.get(
            event.parameter, "use a function of `jax.numpy`, or convert the array with `np.asarray(x)` first"
        ),
    )
