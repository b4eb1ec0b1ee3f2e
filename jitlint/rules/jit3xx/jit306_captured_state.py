"""JIT306: traced code reads state that changes afterwards (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, BakesConstant
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import Capture, TransformMisuse

RULE = Rule(
    code="JIT306",
    name="captured-state",
    severity=Severity.WARNING,
    summary="traced code reads a value that is changed after the trace",
    explanation="""\
Only the arguments of a traced function are its inputs. Whatever else it reads (a global, an attribute of `self`, an
entry of a configuration dictionary, a variable of the enclosing function) is looked up while JAX traces and becomes a
constant of the compiled program. So does what the function that makes the program was given: `step = build_step(teacher)`
goes on with this teacher, whatever the caller assigns to `teacher` afterwards. And what is compiled when it is first
needed, `if self._step is None: self._step = jax.jit(lambda p: p - rate * p)`, goes on with the `rate` of the first call.

Changing it afterwards has no effect until something makes JAX trace again, for example an argument of a new shape; then
it takes effect all of a sudden.

A static argument is an input by its hash and by `==`. A field that a dataclass leaves out of these (`compare=False`) is
none: objects that differ in nothing else share one compiled program, with the value of whichever came first.
""",
    instead="""\
Pass what changes as an argument:

```python
@jax.jit
def scaled(x, scale):
    return x * scale
```

A value that Python code inside needs (a flag, a name) becomes a static argument (`static_argnames`); JAX then traces
once per value.
""",
    bad="""\
config = {"scale": 1.0}


@jax.jit
def scaled(x):
    return x * config["scale"]  # expect: JIT306


scaled(1.0)
config["scale"] = 2.0
scaled(1.0)
""",
    good="""\
config = {"scale": 1.0}


@jax.jit
def scaled(x, scale):
    return x * scale


scaled(1.0, config["scale"])
config["scale"] = 2.0
scaled(1.0, config["scale"])
""",
    outcome=BakesConstant(),
    cases={
        "renewed": Advisory(
            "the program does what it was made for; that its user goes on with other values may be meant"
        ),
        "kept": Advisory(
            "the program does what it was made for, and would without jit: that one stands for all calls may be meant"
        ),
        "uncompared": Advisory("nothing is refused: the objects are to count as one, and that may be meant"),
    },
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#pure-functions",
)


@RULE.on(Capture)
def check(event: Capture) -> Report | None:
    """Report reads of changing state other than arrays."""
    if event.problem == "renewed":
        where = f"`{event.writer}`" if event.writer else "the code that calls it"
        return Report(
            f"`{{expr}}` stays what it was when the program was made, but {where} renews the variable that it came from, and the "
            "compiled code never sees the new value",
            "pass it to the compiled function as an argument, each time",
            case="renewed",
        )
    if event.problem == "kept":
        return Report(
            f"`{{expr}}` stays what it was in the first call of `{event.writer}`, which keeps the program that it compiles then: later "
            "calls bring another value, and the compiled code never sees it",
            "pass it to the compiled function as an argument, or make it a part of what the program is kept by",
            case="kept",
        )
    if event.kind == "array" or event.problem != "written":
        return None
    who = f"`{event.writer}` changes it" if event.writer else "it is changed"
    if event.kind == "function":
        return Report(
            f"`{{expr}}` is looked up once, while JAX traces, but {who} later: compiled code goes on calling the old function",
            "pass the function as a static argument, or jit again what was changed",
        )
    if event.kind == "model":
        who = f"`{event.writer}` trains it" if event.writer else "it is trained"
        return Report(
            f"the arrays of `{{expr}}` are read once, while JAX traces, but {who} later: compiled code goes on with the old ones",
            "pass the module to the compiled function as an argument, with `nnx.jit`",
        )
    return Report(
        f"`{{expr}}` is read once, while JAX traces, but {who} later: compiled code goes on with the old value",
        "pass it to the traced function as an argument (a static one if Python code needs its value)",
    )


@RULE.on(TransformMisuse)
def check_static(event: TransformMisuse) -> Report | None:
    """Report fields of static arguments that are read and not compared."""
    if event.problem != "uncompared-field":
        return None
    return Report(
        f"compiled code reads `{event.parameter}`, but `==` leaves it out: for a `{event.detail}` that differs in nothing else,"
        f" `{event.transform}` takes the program that it has compiled for another value",
        "let it be compared (without `compare=False`), or pass the number as an argument of its own",
        case="uncompared",
    )
