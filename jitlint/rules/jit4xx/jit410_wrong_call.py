"""JIT410: a function of JAX is called in a form that it does not have (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT410",
    name="wrong-call",
    severity=Severity.ERROR,
    summary="argument that a function of JAX does not take",
    explanation="""\
Functions of JAX are called as those of NumPy: a shape is one tuple, arrays that are joined are one list, and arguments
have NumPy's names. What other libraries write is refused, traced or not:

> TypeError: Cannot interpret '3' as a data type.  Did you accidentally write `jax.numpy.zeros(2, 3)` when you meant `jax.numpy.zeros((2, 3))`, i.e. with a single tuple argument for the shape?

> TypeError: sum() got an unexpected keyword argument 'dim'

Functions of `jax.random` take a key first, and a `shape` instead of a `size`. Transforms and loops take functions, not
what these give:

> TypeError: lax.cond: true_fun and false_fun arguments should be callable.

Callbacks are told of what kind and shape the results are, and hand on what comes after that. An array in this place is
taken for a description, and its function then gets one argument less; numbers have neither:

> AttributeError: 'int' object has no attribute 'dtype'

What the function gives is compared with its description when it comes back:

> RuntimeError: Incorrect output shape for return value #0: Expected: (1,), Actual: ()

A layer of Flax calls its initialisers, and is given what makes values, neither a value nor what makes initialisers:

> TypeError: zeros_init() takes 0 positional arguments but 3 were given

A loop has to be told how often it turns, and functions that go along one axis take no tuple of them:

> ValueError: scan got no values to scan over and `length` not provided.

> TypeError: 'tuple' object cannot be interpreted as an integer

Keys of a dict are sorted when JAX takes it apart, so numbers and strings cannot be keys of the same one:

> ValueError: Comparator raised exception while sorting pytree dictionary keys.

What says how many processes or devices there are comes first:

> RuntimeError: jax.distributed.initialize() must be called before any JAX calls that might initialise the XLA backend.

A text that `jax.debug.print` fills in needs a place for each value:

> ValueError: Unused positional arguments to `jax.debug.print`: [JitTracer(float32[3])]

A program that is compiled ahead, `jitted.lower(x, n).compile()`, has its static arguments inside, and takes the others alone:

> TypeError: Function compiled with input pytree does not match the input pytree it was called with.

Some modules hold a function of their own name, as `jax.experimental.checkify` does; it is called as
`checkify.checkify(f)`.
""",
    instead="""\
```python
x = jnp.zeros((2, 3))                        # jnp.zeros(2, 3)
x = jax.random.normal(key, (2, 3))           # jax.random.normal(key, 2, 3), ...(key, size=(2, 3))
y = jnp.stack([a, b])                        # jnp.stack(a, b)
n = x.shape[0]                               # x.size(0)
y = jnp.sum(x, axis=0, keepdims=True)        # jnp.sum(x, dim=0, keepdim=True)
```
""",
    bad="""\
x = jnp.zeros(2, 3)  # expect: JIT410
""",
    good="""\
x = jnp.zeros((2, 3))
""",
    outcome=Raises(
        (
            "TypeError",
            "ValueError",
            "IndexError",
            "AttributeError",
            "NotImplementedError",
            "RuntimeError",
            "jax.errors.JaxRuntimeError",
        ),
        says=r"as a data type|captures (non-scalar )?constants|argument of array\.view|unexpected keyword|positional argument|keyword-only argument|scalar index|cannot be concatenated|as a dtype|no values to scan|interpreted as an integer|not 'tuple'|must be a sequence|object is not callable|callable value|has no len|len\(\) of unsized|[Nn]eed at least one array|not a valid JAX array type|as an abstract array|list index out|Formatting arguments|should be (a )?callable|sequence of callables|sorting pytree dictionary keys|incompatible function arguments|has no attribute '(dtype|shape)'|Incorrect output shape|Mesh requires|data type '.*' not understood|no corresponding transformation|[Nn]on-exhaustive|Unused (positional|keyword) arguments|must be called before any JAX|before backends are initialized|tuple index out of range|Function compiled with input pytree|not initiali[sz]ed|scalar arguments, got <class 'NoneType'>",
    ),
    cases={
        "shape": Raises(("ValueError",), later=True, says=r"[Aa]t least (a )?2D"),
        "late": Raises(
            ("TypeError",),
            later=True,
            says=r"not callable|positional argument|not a valid JAX array type|not subscriptable|unsupported operand",
        ),
    },
    since="0.1",
    reference="https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html",
)


_FORMS = {
    "dtype": (
        "the data type that `{api}` gets here by position is none",
        "write a shape as one tuple, `(2, 3)`, and arrays that belong together as one list, `[a, b]`; `x.reshape(...)` gives an array another shape",
    ),
    "axis": ("`{api}` gets an array as its `{parameter}`", "write the arrays as one list: `[a, b]`"),
    "iterator": (
        "`{api}` gets an iterator as its `{parameter}`, which has no length",
        "write a list: `[f(x) for x in xs]`, `list(map(f, xs))`",
    ),
    "function": (
        "`{api}` gets a value as its `{parameter}`, not a function",
        "pass the function itself, uncalled: `jax.grad(loss)(x)`, `jax.lax.cond(pred, f, g, x)`",
    ),
    "keys": (
        "`{api}` sorts the keys of a dict, but {parameter} have no order",
        "use keys of one type, or a `collections.OrderedDict`, which keeps its own order",
    ),
    "number": (
        "`{api}` takes a tuple as its `{parameter}`, but gets one number",
        "give each axis its own: `(i, 0)`; for an array with one axis `(i,)`",
    ),
    "axes": (
        "`{api}` goes along one axis, but gets a tuple as its `{parameter}`",
        "make one axis of several before: `x.reshape(n, -1)`, or leave `axis` out, which takes all of them",
    ),
    "shape": (
        "`{api}` gets numbers as its `{parameter}`, which have no shape and no dtype",
        "describe the result: `jax.ShapeDtypeStruct(x.shape, x.dtype)`, or a pytree of such",
    ),
    "no-dtype": (
        "`{api}` gets `{parameter}` as its data type, which is none",
        "write a type, which is looked up where it is written: `jnp.float32`",
    ),
    "label": (
        "`{api}` has no optimiser for the label `{parameter}`",
        "give each label in the tree of labels an optimiser under that name; `optax.set_to_zero()` changes nothing",
    ),
    "remainder": (
        "the filters of `{api}` leave variables over that the model has: those of `{parameter}`",
        "take what is left as well: `graphdef, params, rest = nnx.split(model, nnx.Param, ...)`",
    ),
    "late": (
        "`{api}` is refused once the devices are there, and `{parameter}` has started them before",
        "make this the first call of JAX in the program: no array and no question about devices before it, in modules that it imports neither",
    ),
    "unprinted": (
        "the text of `{api}` has no place for {parameter}",
        'give each value a place: `jax.debug.print("x = {{}}", x)`, `jax.debug.print("x = {{x}}", x=x)`; without the `f` before the text',
    ),
    "unfilled": (
        "`{api}` gets no argument for the place `{parameter}` of its text",
        "pass it: the places are counted from 0; two braces, `{{{{}}}}`, are printed as one",
    ),
    "by-name": (
        "`{api}` takes `{parameter}` by name only, but gets it by position",
        "write `{parameter}={parameter}`",
    ),
    "unset": (
        "`{api}` leaves its constructor without the field `{parameter}`, which Equinox refuses",
        "set each annotated field on all paths, to `None` where it has no value, or give it a default",
    ),
    "few-axes": (
        "`{api}` looks at the sizes of two axes, but gets {parameter}",
        "begin with zeros or small numbers: `nn.initializers.zeros`, `nn.initializers.normal(0.02)`",
    ),
    "compiled": (
        "the program has been compiled for one `{parameter}`, which its call takes no more",
        "leave the static arguments out: `compiled = jitted.lower(x, n).compile()`, then `compiled(x)`",
    ),
    "attribute": (
        "`{api}` is no method, but it is called",
        "read it without parentheses; `x.shape[0]` is one size",
    ),
}
_CASES = {"few-axes": "shape"}
_FILL_IN = 'write it into the text at once, `f"..."`, or make an array of it with `jnp.asarray`'


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report calls whose form no version of the function has."""
    if event.problem != "wrong-call":
        return None
    api, parameter = event.api.replace("array.", "x.", 1), event.parameter  # functions are called `jax...`
    if event.detail in _FORMS:
        message, help_ = _FORMS[event.detail]
        return Report(message.format(api=api, parameter=parameter), help_, case=_CASES.get(event.detail, ""))
    if event.detail == "name":
        here = f"here it is called `{event.cure}`" if event.cure else ""
        return Report(
            f"`{api}` takes no argument `{parameter}`",
            here or "look up what it takes: no version has this one",
        )
    if event.detail == "missing":
        made = "a key is made by `jax.random.key(seed)` and `jax.random.split`" if parameter == "key" else ""
        return Report(
            f"`{api}` needs `{parameter}`, but the call leaves it out", made or "pass it: there is no default"
        )
    if event.detail == "module":
        inside = f"call `{event.cure}`" if event.cure else "call one of its functions"
        return Report(
            f"`{api}` is a module, but it is called", f"{inside}: modules hold functions, and are none"
        )
    if event.detail == "filled":
        what = f"`{parameter}`" if not parameter.isdigit() else f"number {parameter}"
        return Report(f"`{api}` fills arrays into its text, but gets a plain value as {what}", _FILL_IN)
    if event.detail.startswith(("arity ", "odd ", "mesh ", "described ", "kernel ", "initialiser ")):
        return _called(event, api)
    _, most, given = event.detail.split()
    many = "1 argument" if most == "1" else f"{most} arguments"
    return Report(
        f"`{api}` takes {many} by position, but gets {given}",
        "write a shape or several axes as one tuple, and pass the rest by name",
    )


def _initialiser(event: ApiMisuse) -> Report:
    """What stands where a function is wanted that makes the first value of a parameter."""
    if event.cure:
        return Report(
            f"`{event.api}` gets `{event.cure}` itself as its `{event.parameter}`, which makes an initialiser once it is called",
            f"call it: `nn.initializers.{event.cure}()`",
            case="late",
        )
    return Report(
        f"`{event.api}` gets a value as its `{event.parameter}`, where a function is wanted that makes one",
        "pass an initialiser, `nn.initializers.zeros_init()`, or a function of a key and a shape",
        case="late",
    )


def _said_otherwise(event: ApiMisuse, api: str) -> Report:
    """Axes that are described as others than they are: those of devices, or of what a callback gives."""
    if event.detail.startswith("mesh "):
        _, rank, names = event.detail.split()
        axes, count = (
            "1 axis" if rank == "1" else f"{rank} axes",
            "1 name" if names == "1" else f"{names} names",
        )
        return Report(
            f"`{api}` gets {'devices' if api.endswith('.Mesh') else 'a shape'} with {axes}, but {count}",
            "each axis has one name: `np.array(jax.devices()).reshape(2, -1)` has two; `jax.make_mesh` puts devices in order",
        )
    told, _, found = event.detail.removeprefix("described ").partition(" as ")
    name = event.parameter.rpartition(".<locals>.")[2]
    return Report(
        f"`{api}` is told that `{name}` gives an array of shape {told}, but it gives one of shape {found}",
        "describe what the function gives: `jax.ShapeDtypeStruct((), x.dtype)` is one number",
    )


def _called(event: ApiMisuse, api: str) -> Report:
    """A function that the library calls with another number of arguments than it takes, or whose result is described otherwise."""
    if event.detail.startswith("initialiser "):
        return _initialiser(event)
    if event.detail.startswith("kernel "):
        return Report(
            f"the kernel `{event.detail.removeprefix('kernel ')}` of `{api}` reads the array `{event.parameter}` from outside, which it does"
            " not get",
            f"hand it over as an input with its own `BlockSpec`, or make `{event.parameter}` inside of the kernel; numbers of Python's, and single"
            " ones of NumPy's, may come from outside",
        )
    if event.detail.startswith("odd "):
        name = event.detail.removeprefix("odd ")
        return Report(
            f"`{event.api}` calls `{event.parameter}` with an argument `{name}`, which it does not have",
            "look up what it takes: the name is bound where the function is handed over",
        )
    if not event.detail.startswith("arity "):
        return _said_otherwise(event, api)
    _, given, takes = event.detail.split(maxsplit=2)
    count = "1 argument" if given == "1" else f"{given} arguments"
    name = event.parameter.rpartition(".<locals>.")[2]
    if event.api.endswith("_callback"):
        return Report(
            f"`{event.api}` calls `{name}` with {count}, but it takes {takes}",
            f"describe the result first, then pass what `{name}` gets: `(f, jax.ShapeDtypeStruct(x.shape, x.dtype), x)`",
        )
    return Report(
        f"`{event.api}` calls `{name}` with {count}, but it takes {takes}",
        f"give it the parameters that `{event.api}` hands over, or bind the others with `functools.partial`",
    )
