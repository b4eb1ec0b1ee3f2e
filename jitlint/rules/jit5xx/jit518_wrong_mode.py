"""JIT518: a model learns in the mode for evaluation, or is evaluated in that for training (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, RunsInMode
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import WrongMode

RULE = Rule(
    code="JIT518",
    name="wrong-mode",
    severity=Severity.WARNING,
    summary="model trained in the mode for evaluation, or evaluated in that for training",
    explanation="""\
Dropout and batch normalisation do one thing in training and another in evaluation. A model of `flax.nnx` remembers which:
`model.eval()` holds until `model.train()`, in later turns of a loop as well. A loop that evaluates after each epoch and
switches only once trains without dropout from the second epoch on, with statistics that stand still; one that never switches
drops numbers while it evaluates, and lets the test data change the statistics. Nothing raises, the curves only look odd.

Modules of Equinox are never changed: `equinox.nn.inference_mode(model)` gives one for evaluation. A model with dropout that an
evaluation gives keys to, in a program that never asks for that, is evaluated with what is left of it.

Modules of `flax.linen` are told at each call. A call that gives a key for dropout, or collects statistics, and asks for the
mode of evaluation while a derivative is taken, trains without either; so does one whose module has that mode for its default. Where no
call keeps the statistics that it collects, the model is evaluated with those of its initialisation.
""",
    instead="""\
```python
for epoch in range(epochs):
    model.train()
    for batch in train:
        train_step(model, optimizer, batch)
    model.eval()
    for batch in test:
        eval_step(model, metrics, batch)
```
""",
    bad="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(3, 1, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.dense(x)).mean()


def fit(model, x):
    for epoch in range(2):
        grads = nnx.grad(lambda model: model(x))(model)
        model.eval()  # expect: JIT518
        print(model(x))


fit(Net(nnx.Rngs(0)), jnp.ones((4, 3)))
""",
    good="""\
from flax import nnx


class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(3, 1, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return self.drop(self.dense(x)).mean()


def fit(model, x):
    for epoch in range(2):
        model.train()
        grads = nnx.grad(lambda model: model(x))(model)
        model.eval()
        print(model(x))


fit(Net(nnx.Rngs(0)), jnp.ones((4, 3)))
""",
    outcome=RunsInMode("trained"),
    cases={
        "evaluated": RunsInMode("evaluated"),
        "lost": Advisory("nothing is refused, and what is done with statistics elsewhere cannot be observed"),
    },
    since="0.1",
    reference="https://flax.readthedocs.io/en/stable/api_reference/flax.nnx/module.html",
)


@RULE.on(WrongMode)
def check(event: WrongMode) -> Report:
    """Report where the mode is left, missed or asked for."""
    model = f"`{event.model}`" if event.model else "the model"
    if event.how == "trained":
        return Report(
            f"{model} is set for evaluation here and never set back, so the next turns of the loop train it without dropout and"
            " without new statistics",
            f"call `{event.model or 'model'}.train()` before the loop trains again",
        )
    if event.how == "evaluated":
        return Report(
            f"{model} is evaluated in the mode for training: numbers are dropped, and the data change the statistics",
            f"call `{event.model or 'model'}.eval()` before, and `{event.model or 'model'}.train()` before the loop trains again",
            case="evaluated",
        )
    if event.how == "unset":
        return Report(
            "the model is evaluated as it is trained: its dropout layers get keys, and drop numbers",
            "evaluate `equinox.nn.inference_mode(model)`, which needs no keys",
            case="evaluated",
        )
    if event.how == "kept":
        return Report(
            f"`{event.argument}` asks for the mode of training in code that evaluates, and throws away what that collects",
            f"ask for the mode of evaluation, without `{event.given}`",
            case="evaluated",
        )
    if event.how == "drops":
        return Report(
            f"`{event.argument}` asks for the mode of training in code that evaluates, and `{event.given}` gives a key, so numbers are"
            " dropped",
            f"ask for the mode of evaluation, without `{event.given}`",
            case="evaluated",
        )
    if event.how == "lost":
        return Report(
            "statistics of batches are collected while a derivative is taken, and nobody keeps them: the model is evaluated with those"
            " that it began with",
            'return them beside the loss, `has_aux=True`, and put them into the state: `state.replace(batch_stats=updates["batch_stats"])`',
            case="lost",
        )
    if event.how == "idle":
        drops = event.given == "rngs"
        what, layers = (
            ("a key for dropout is given", "drop numbers")
            if drops
            else ("statistics are collected", "measure batches")
        )
        return Report(
            f"{what} where a derivative is taken, but all layers that would {layers} are switched off",
            f"ask the module for the mode of training, and hand that on to the layers; or leave out `{event.given}`",
        )
    return Report(
        f"`{event.argument}` asks for the mode of evaluation where a derivative is taken, so what `{event.given}` is for never happens",
        f"ask for the mode of training, or leave out `{event.given}`",
    )
