"""JIT211: `jax.vmap` over what has no such axis, or over axes of unequal sizes (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse, TransformMisuse

RULE = Rule(
    code="JIT211",
    name="bad-mapping",
    severity=Severity.ERROR,
    summary="`jax.vmap` or a loop over a number, or over axes that do not fit",
    explanation="""\
`jax.vmap` maps every argument along its first axis, also those that are passed by name, unless `in_axes` says
otherwise. A number has no axis, so it must be left out with `None`; and all axes that are mapped must be of one size:

> ValueError: vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0 (its shape is ())

`in_axes` is a number, or a tuple that has one entry for each positional argument, no more and no less (an entry may be a dict, or
another tree, `in_axes` itself may not); and a tuple `out_axes` one for each
result; `None` there says that a result is one for the whole batch, which nothing is that is made of a mapped argument. The same
holds for `in_specs` and `out_specs` of `jax.shard_map`. `jax.lax.scan` and `jax.lax.map` go through the
first axes of all arrays that they get together, so these must be there and of one size:

> ValueError: scan got values with different leading axis sizes: 2, 3.

A `PartitionSpec` speaks of the axes of an array and of a mesh: it has at most one entry for each axis of the array, and names
only axes that the mesh of its `NamedSharding`, or of `jax.shard_map`, has:

> ValueError: Resource axis: dp of P('dp',) is not found in mesh: ('data', 'model').

The axes of `jax.make_mesh` are explicit as of JAX 0.9, which makes them part of an array's type: constraints cannot speak of them.

> ValueError: The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh.

Every device along a mesh axis gets an equal share, so an axis of an array must be a multiple of the devices that it is split over.

A tree of specifications has the keys of the tree that it is for. What is split over an axis of the mesh differs from device
to device, and so does all that is computed of it, until a collective such as `jax.lax.pmean` brings it together; `out_specs`
that do not name the axis say that a result is the same on all devices:

> ValueError: shard_map applied to the function 'loss' was given out_specs which require replication which can't be statically inferred given the mesh

Collectives such as `jax.lax.pmean` know a mapped axis by the name that `axis_name` of the map, or a mesh, gives it:

> NameError: Found an unbound axis name: batch. To fix this, please call psum under `jax.shard_map`.
""",
    instead="""\
Say which arguments are the same for all elements of the batch:

```python
jax.vmap(scale, in_axes=(0, None))(batch, 2.0)
```

An argument that is passed by name cannot be left out: pass it by position, or bind it with `functools.partial`.
""",
    bad="""\
def scale(x, by):
    return x * by


jax.vmap(scale)(jnp.ones(3), 2.0)  # expect: JIT211
""",
    good="""\
def scale(x, by):
    return x * by


jax.vmap(scale, in_axes=(0, None))(jnp.ones(3), 2.0)
""",
    outcome=Raises(
        (
            "ValueError",
            "TypeError",
            "NameError",
            "IndexError",
            "jax._src.sharding.IndivisibleError",
            "jax._src.named_sharding.DuplicateSpecError",
        ),
        spread=True,
    ),
    since="0.2",
    reference="https://docs.jax.dev/en/latest/_autosummary/jax.vmap.html",
)


_UNMAPPED = {
    "in_axes": ", `None` for those that are not mapped",
    "in_specs": ", `jax.P()` for those that every device gets whole",
}


@RULE.on(ApiMisuse)
def check_name(event: ApiMisuse) -> Report | None:
    """Report axes that nothing binds or no mesh has, which ``parameter`` names, and specifications of more axes than there are."""
    if event.problem == "no-mesh-axis":
        return Report(
            f"`{event.api}` splits over the axis `{event.parameter}`, but the axes of the mesh are {event.detail}",
            "name an axis of the mesh, or `None` for an axis of the array that is not split",
        )
    if event.problem == "repeated-axis":
        return Report(
            f"`{event.api}` gets a specification that splits two axes over the axis `{event.parameter}` of the mesh",
            'split over each axis of a mesh once; several axes of the mesh for one of the array are a tuple: `P(("a", "b"))`',
        )
    if event.problem == "long-spec":
        axes, _, rank = event.detail.partition(" for ")
        return Report(
            f"`{event.api}` gets a specification for {axes} {_plural('axis', 'axes', axes)}, but the array has {rank}",
            "give the specification at most one entry for each axis of the array",
        )
    if event.problem == "uneven-split":
        axis, size, count, *last = event.detail.split()
        many = f"{size} {_plural('element', 'elements', size)}"
        which = f"the {many} of the last turn" if last else f"its {many}"
        return Report(
            f"`{event.api}` splits axis {axis} over {count} devices (`{event.parameter}`), but {which} are no multiple of that",
            "pad the axis, or leave out what is over, so that every device gets as much; or split another axis",
        )
    if event.problem == "explicit-axes":
        return Report(
            f"`{event.api}` may only name axes that are left to the compiler, but those of a mesh of `jax.make_mesh` are explicit",
            "make the mesh with `axis_types=(jax.sharding.AxisType.Auto,) * len(axis_names)`, or use `jax.sharding.reshard`",
        )
    if event.problem == "other-keys":
        return Report(
            f"`{event.api}` gets a tree of specifications with other keys than the tree that they are for: {event.detail}",
            "give it an entry for each key, or one specification for the whole dict",
        )
    if event.problem == "varies":
        return Report(
            f"`out_specs` of `{event.api}` says that a result is the same all along the mesh axis `{event.parameter}`, but it differs",
            f'bring together what the devices have, as with `jax.lax.pmean(x, "{event.parameter}")`, or name the axis in `out_specs`',
        )
    if event.problem != "unbound-axis":
        return None
    return Report(
        f"`{event.api}` works across the axis `{event.parameter}`, but nothing here binds an axis of that name",
        f'bind it around the function: `axis_name="{event.parameter}"` of `jax.vmap`, or a mesh of `jax.shard_map`',
    )


@RULE.on(TransformMisuse)
def check(event: TransformMisuse) -> Report | None:
    """Report arguments that cannot be mapped; ``parameter`` is their position or their name."""
    api = f"`{event.transform}`"
    if event.problem == "axes-count":
        axes, _, given = event.detail.partition(" for ")
        return Report(
            f"`{event.parameter}` of {api} has {axes} {_plural('entry', 'entries', axes)}, but the call has {given}"
            f" positional {_plural('argument', 'arguments', given)}",
            f"give `{event.parameter}` one entry for each positional argument{_UNMAPPED[event.parameter]}",
        )
    if event.problem in ("nothing-mapped", "results-count"):
        return _counted(event, api)
    if event.problem == "no-result-axis":
        axis, _, count = event.detail.partition(" for ")
        return Report(
            f"`{event.parameter}` of {api} puts the new axis at {axis}, but with it a result has {count} {_plural('axis', 'axes', count)}",
            "count from 0, or from -1 for the last one; results with fewer axes need an entry of their own",
        )
    if event.problem == "mapped-result":
        return Report(
            f"`{event.parameter}` of {api} says with `None` that a result is one for the whole batch, but it is made of an"
            " argument that is mapped",
            f"put the axis that it is to get into `{event.parameter}`, such as 0, or return what does not depend on what is mapped",
        )
    if event.problem in ("axes-form", "axes-keys"):
        return _form(event, api)
    if event.problem == "no-rows":
        return Report(
            f"{api} goes through the first axis of `{event.parameter}`, but gets {event.detail}",
            "pass what it should go through, as `jnp.arange(n)`; for `jax.lax.scan`, `length=n` alone will do",
        )
    if event.problem == "unequal-rows":
        return Report(
            f"{api} goes through all of `{event.parameter}` together, but there are {event.detail} turns",
            "give all arrays first axes of one size, which `length` must be, too",
        )
    if event.problem == "no-axis":
        name, bracket, path = event.parameter.partition("[")
        named = not name.isdigit()
        who = f"`{name}`" if named else f"argument {int(name) + 1}"
        who = f"`{bracket}{path}` of {who}" if path else who
        if event.detail == "one PRNG key":
            return Report(
                f"{api} maps {who}, but that is one PRNG key and not one for each element of the batch",
                "split it first, `jax.random.split(key, x.shape[0])`; `None` in `in_axes` gives all of them the same numbers",
            )
        if event.detail == "one `nnx.Rngs`":
            return Report(
                f"{api} maps {who}, but that is one `nnx.Rngs` whose streams nobody has split for the elements of the batch",
                "split them around the function: `@nnx.split_rngs(splits=n)` above `@nnx.vmap`",
            )
        bind = "pass it by position with `None` in `in_axes`, or bind it with `functools.partial`"
        return Report(
            f"{api} maps {who} along an axis that it does not have: it has {_axes(event.detail)}",
            bind
            if named
            else "put `None` for it in `in_axes` if it is the same for all elements of the batch",
        )
    if event.problem == "unequal-sizes":
        return Report(
            f"{api} maps its arguments together, but their axes have {event.detail} elements",
            "map arrays of one size, and put `None` in `in_axes` for what is the same for all elements of the batch",
        )
    return None


def _form(event: TransformMisuse, api: str) -> Report:
    if event.problem == "axes-form":
        return Report(
            f"`in_axes` of {api} is {event.detail}, but a number or a tuple with an entry for each argument is asked for",
            "wrap it into a tuple, `in_axes=(axes,)`, with one entry for each argument",
        )
    return Report(
        f"`in_axes` of {api} has other keys than argument {int(event.parameter) + 1}: {event.detail}",
        "give it one entry for each key, or one number for the whole dict",
    )


def _axes(detail: str) -> str:
    return "none, being a number" if detail == "a number" else f"only {detail}"


def _plural(one: str, many: str, count: str) -> str:
    return one if count == "1" else many


def _counted(event: TransformMisuse, api: str) -> Report:
    """Maps of nothing, and other numbers of results than are spoken of."""
    if event.problem == "nothing-mapped":
        return Report(
            f"`{event.parameter}` of {api} maps no argument, so nothing says how large the batch is",
            "name an axis of at least one argument, such as `in_axes=(None, 0)`, or say the size with `axis_size`",
        )
    count, _, given = event.detail.partition(" for ")
    return Report(
        f"`{event.parameter}` of {api} has {count} {_plural('entry', 'entries', count)}, but the function returns {given}",
        f"give `{event.parameter}` the form of what the function returns, or one entry for all of it",
    )
