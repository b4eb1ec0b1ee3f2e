"""JIT210: a derivative of what is not one real number, by what is not real, or by a rule of another form (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import TransformMisuse

RULE = Rule(
    code="JIT210",
    name="bad-derivative",
    severity=Severity.ERROR,
    summary="derivative of more than one number, of an integer, or by a rule of another form",
    explanation="""\
`jax.grad` and `jax.value_and_grad` differentiate a function that returns one real number, by arguments that are real
numbers. JAX refuses everything else when the derivative is called:

> TypeError: Gradient only defined for scalar-output functions. Output had shape: (3,).

> TypeError: grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got int32.

A Python `3` is an integer, and so is one number among the parameters that counts steps. A function that returns its
loss together with something else needs `has_aux=True`, which asks for a pair; a function that forgot its `return` gives `None`.
A function that `jax.custom_jvp` or `jax.custom_vjp` made has no derivative of its own, and before it gets a rule it cannot
even be called:

> AttributeError: No JVP defined for custom_jvp function log1pexp using defjvp.

The arguments that `argnums` counts are passed by position, and `jax.jvp` takes tuples of inputs and tangents.

A tangent has the form, the kind and the shape of its input, and the cotangent that goes into the function that `jax.vjp` gives
those of the result:

> ValueError: unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got float32[5], but expected float32[4]

Rules of `jax.custom_vjp` and `jax.custom_jvp` have a fixed form: the forward rule gives the result and what the backward rule
needs, the backward rule a tuple with one cotangent for each argument, a JVP rule the result and its tangent:

> TypeError: Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args tuple of the primal function

A tangent is a float where its result is one: a mask or a count has to be multiplied by the tangent that the rule gets.

What `nondiff_argnums` counts comes first in the backward and the JVP rule, one argument after another; the forward rule gets its
arguments as the function does. A rule whose parameters have the names of the function's and stand elsewhere is reported as a warning,
and so is a backward rule that never looks at its cotangent: its gradients are right for `sum`, and wrong for everything else.
""",
    instead="""\
Return one number (the sum or mean of the losses), pass floats, and keep whole numbers out of what is differentiated:

```python
gradient = jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
(loss, prediction), gradient = jax.value_and_grad(loss_and_prediction, has_aux=True)(w)
```

For the derivative of every output there are `jax.jacrev` and `jax.jacfwd`; for a batch, `jax.vmap(jax.grad(f))`.
""",
    bad="""\
def errors(w):
    return (w - 1.0) ** 2


jax.grad(errors)(jnp.ones(3))  # expect: JIT210
""",
    good="""\
def error(w):
    return jnp.sum((w - 1.0) ** 2)


jax.grad(error)(jnp.ones(3))
""",
    outcome=Raises(
        ("TypeError", "ValueError", "AttributeError"),
        spread=True,
        says=r"[Gg]rad|[Dd]ifferentia|[Rr]eal|aux|argnums|[Pp]rimal|[Tt]angent|Custom (JVP|VJP)|custom_(jvp|vjp)|VJP function|positional argument",
    ),
    cases={
        "order": Raises(("TypeError", "ValueError"), later=True, spread=True),
        "shape": Raises(("ValueError", "TypeError"), later=True, spread=True, says="Custom VJP"),
        "ignored": Advisory(
            "nothing is refused, and the gradients are right as long as the result is used as it is"
        ),
    },
    since="0.2",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.grad.html",
)


_SHAPES = {
    "bwd": (
        "backward rule of {api} gives a cotangent of shape {after} for an argument of shape {before}",
        "a cotangent has the shape of its argument: sum over what was repeated, and repeat what was summed",
        "shape",
    ),
    "jvp": (
        "JVP rule of {api} gives a tangent of shape {after} for a result of shape {before}",
        "a tangent has the shape of its result: sum what the derivatives of all elements give",
        "",
    ),
}
_KINDS = {"bool": "a boolean", "int": "an integer", "key": "a PRNG key", "complex": "a complex number"}


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report what has no derivative; ``parameter`` says where in the argument it is, ``detail`` what it is."""
    api = f"`{event.transform}`"
    if event.problem == "no-scalar":
        return Report(
            f"{api} needs a function that returns one number, but it returns {event.detail}",
            _help(event.detail),
        )
    if event.problem == "no-real-result":
        kind = _KINDS.get(event.detail, "an integer")
        return Report(
            f"{api} needs a function that returns a float, but it returns {kind}",
            "take the part that is meant: `jnp.real(y)`, `jnp.abs(y)`"
            if event.detail == "complex"
            else "comparing, counting and rounding have no derivative: return the loss itself",
        )
    if event.problem == "no-real-input":
        where = f"the value at `{event.parameter}` of its argument" if event.parameter else "its argument"
        kind = _KINDS.get(event.detail, "an integer")
        return Report(
            f"{api} differentiates by floats, but {where} is {kind}",
            "pass a float (`3.0`), or keep it out of the argument that is differentiated",
        )
    return _of_another_form(event, api)


def _of_another_form(event: TransformMisuse, api: str) -> Report | None:
    if event.problem == "no-aux":
        return Report(
            f"{api} with `has_aux=True` needs a function that returns a pair, but it returns {event.detail}",
            "return `loss, other`, or drop `has_aux`",
        )
    if event.problem == "no-argument":
        number, _, given = event.detail.partition(" of ")
        return Report(
            f"{api} differentiates by positional argument {number}, but the call has {given}",
            f"pass `{event.parameter}` by position" if event.parameter else "count from 0 in `argnums`",
        )
    if event.problem == "no-tuple":
        return Report(
            f"{api} takes its inputs and their tangents as tuples, but `{event.parameter}` is {event.detail}",
            "write `jax.jvp(f, (x,), (v,))`",
        )
    if event.problem in ("unlike-tangent", "unlike-cotangent"):
        of = "its input" if event.problem == "unlike-tangent" else "the result"
        return Report(
            f"{api} gets a {event.problem.partition('-')[2]} that does not fit {of}: {event.detail}",
            _ALIKE[event.problem],
        )
    if event.problem == "no-derivative-rule":
        method, form = _GIVEN[event.detail]
        return Report(
            f"{api} has no derivative rule, and `{event.detail}` makes a function that cannot be called without one",
            f"give it one with {method}: {form}",
        )
    return _of_rule(event, api) if event.problem.startswith("rule-") else None


def _of_rule(event: TransformMisuse, api: str) -> Report | None:
    """Of a rule that gives, or takes, something else than it has to."""
    if event.problem == "rule-result":
        what, _, count = event.detail.partition(" for ")
        name, form = _RULES[event.parameter]
        return Report(
            f"the {name} rule of {api} gives {what}, which is refused when the derivative is taken",
            form.format(count),
        )
    if event.problem == "rule-form":
        after, _, before = event.detail.partition(" for ")
        return Report(
            f"the backward rule of {api} gives {after} as the cotangent of {before}",
            "a cotangent is put together as its argument: give the same containers, or `None` where there is no derivative",
        )
    if event.problem == "rule-shape":
        after, _, before = event.detail.partition(" for ")
        what, instead, case = _SHAPES[event.parameter]
        return Report(f"the {what.format(api=api, after=after, before=before)}", instead, case=case)
    if event.problem == "rule-kind":
        return Report(
            f"the JVP rule of {api} gives {_KINDS[event.detail]} as the tangent of a float",
            "a tangent has the dtype of its result: multiply by the tangent that the rule gets, or choose with `jnp.where`",
        )
    if event.problem == "rule-ignores":
        return _ignoring(event, api)
    if event.problem == "rule-order":
        names, _, wanted = event.detail.partition("; ")
        return Report(
            f"the {_RULES[event.parameter][0]} rule of {api} names its parameters `{names}`, but gets them in another order",
            f"write them as `{wanted}`: {_TAKEN[event.parameter]}",
            severity=Severity.WARNING,
            case="order",
        )
    if event.problem == "rule-arity":
        given, takes = event.detail.split()
        name, form = _RULES[event.parameter][0], _TAKEN[event.parameter]
        count = "1 argument" if given == "1" else f"{given} arguments"
        return Report(
            f"the {name} rule of {api} gets {count}, but takes {takes}",
            f"its parameters are {form}",
        )
    return None


def _ignoring(event: TransformMisuse, api: str) -> Report:
    """Of a rule that does not look at something that it gets."""
    if event.detail == "jvp":
        what = f"the forward rule of {api} never looks at the tangent of `{event.parameter}`, which is differentiated here: its gradient"
        cure = "add its part, the slope of the result times that tangent, to the tangent that is returned"
        return Report(f"{what} is zero", cure, severity=Severity.WARNING, case="ignored")
    looks = "never looks" if not event.detail else "computes this gradient without looking"
    what = f"the backward rule of {api} {looks} at the cotangent `{event.parameter}`: what comes after the function is left out"
    cure = f"multiply by it, as the chain rule does: `return (slope * {event.parameter},)`"
    return Report(f"{what} of the gradients", cure, severity=Severity.WARNING, case="ignored")


# What a rule gets.
_TAKEN = {
    "jvp": "the arguments that `nondiff_argnums` counts, one after another, the primals and the tangents",
    "fwd": "those of the function itself",
    "bwd": "the arguments that `nondiff_argnums` counts, one after another, what the forward rule kept, and the cotangent",
}


# What a rule is called, and what it is to give.
_RULES = {
    "jvp": ("JVP", "return a pair: the result and its tangent"),
    "fwd": ("forward", "return a pair: the result, and what the backward rule needs"),
    "bwd": (
        "backward",
        "return a tuple of {}: one cotangent for each argument, `None` for those that have none",
    ),
}


_ALIKE = {
    "unlike-tangent": "give each input a tangent of its shape, of floats: `jnp.ones_like(x)`, `direction.astype(x.dtype)`",
    "unlike-cotangent": "make it from the result: `y, vjp = jax.vjp(f, x)`, then `vjp(jnp.ones_like(y))`",
}


# How a function gets its rule.
_GIVEN = {
    "jax.custom_jvp": (
        "`defjvp`",
        "a function of the inputs and their tangents, or one for each input with `defjvps`",
    ),
    "jax.custom_vjp": ("`defvjp`", "the forward and the backward rule"),
}


def _help(what: str) -> str:
    if what == "`None`":
        return "add the missing `return`"
    if what.startswith("an array"):
        return "return the sum or the mean; for the derivative of each element use `jax.jacrev` or `jax.vmap(jax.grad(f))`"
    return "return the loss alone, or `loss, other` with `has_aux=True`"
