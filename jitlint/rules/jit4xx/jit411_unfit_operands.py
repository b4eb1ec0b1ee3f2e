"""JIT411: an operation gets arrays whose dtypes, axes or sizes it refuses (layer: ``rules``)."""

from __future__ import annotations

import re

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory, Raises
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import ApiMisuse

RULE = Rule(
    code="JIT411",
    name="unfit-operands",
    severity=Severity.ERROR,
    summary="operation on arrays of dtypes, axes or sizes that do not fit",
    explanation="""\
Arrays are combined element by element if their sizes are the same, or 1, counted from the last axis; a product of matrices
needs the same size inside, and `reshape` as many elements as before:

> ValueError: Incompatible shapes for broadcasting: shapes=[(2, 3), (2,)]

> TypeError: dot_general requires contracting dimensions to have the same shape, got (3,) and (2,).

`einsum` wants one letter for each axis, and one size for each letter; what `x.at[i].set(y)` puts somewhere has the shape of
that place, or can be repeated to it:

> ValueError: Size of label 'i' for operand 1 (4) does not match previous terms (3).

> ValueError: Incompatible types for broadcasting: input type=float32[5] and requested type=float32[4]

Functions of `jax.lax` do not convert what they get, neither dtypes nor numbers of axes, as those of `jax.numpy` do:

> TypeError: lax.add requires arguments to have the same dtypes, got int32, float32.

> TypeError: sin does not accept dtype int32. Accepted dtypes are subtypes of floating, complexfloating.

`&`, `|` and `~` work on whole numbers and truth values, not on floats; `-` does not work on truth values. Often
parentheses are missing: `x > 0 & x < 1` means `x > (0 & x) < 1`. What goes along an axis needs one of that number:

> ValueError: axis 1 is out of bounds for array of dimension 1

`if`, `not`, `and` and the like ask for one truth value, and an array of several elements has several, traced or not:

> ValueError: The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()

A reference, such as a kernel of Pallas gets, is no array until it is read:

> TypeError: sin requires ndarray or scalar arguments, got <class 'jax._src.core.Ref'> at position 0.

Nor is `x.at[i]` the element: it is the place to which `set`, `add` and the like belong. `x.at[i] == y` does not even raise:
it is False, whatever the array holds.

`jax.tree.map` goes through several pytrees together only if they have one structure, and the static fields of an object belong to it:
two models with other names do not fit.

Layers are made for certain sizes: those of Flax for the last axis, whatever is before it, those of Equinox for one example
without a batch:

> TypeError: dot_general requires contracting dimensions to have the same shape, got (256,) and (64,).

> ValueError: Input to `Conv` needs to have rank 3, but input has shape (2, 3, 8, 8).

So many names as results take these apart:

> ValueError: not enough values to unpack (expected 3, got 2)

One number has no parts at all, as the loss of a function that returns nothing beside it:

> TypeError: iteration over a 0-d array

What was exported is called with arrays of the axes that it was exported for, and sizes without a number are computed with
others of their own scope only, as those of one `jax.export.symbolic_shape`:

> ValueError: Invalid mixing of symbolic scopes for linear combination.
""",
    instead="""\
```python
z = jnp.add(1, 1.0)                 # lax.add(1, 1.0)
inside = (x > 0) & (x < 1)          # x > 0 & x < 1
if jnp.all(x > 0): ...              # if x > 0
other = ~mask                       # -mask, 1 - mask
table = table + row[:, None]        # (2, 3) and (2,)
rows = jax.vmap(layer)(x)           # layer(x), where a layer of Equinox takes one row
```
""",
    bad="""\
jnp.ones((4, 8)) @ jnp.ones((4, 8))  # expect: JIT411
""",
    good="""\
jnp.ones((4, 8)) @ jnp.ones((4, 8)).T
""",
    outcome=Raises(
        ("TypeError", "ValueError", "IndexError", "AttributeError", "AssertionError"),
        says=r"requires ndarray or scalar|AbstractRef|'Ref'|unpack|0-d array|same dtypes|does not accept dtype|number of dimensions|inconsistent size for core|inhomogeneous|differ in dimensions|must be an integer|Shape mismatch|same number of dimensions|ndim to be equal|[Ii]ncompatible shapes|contracting dimensions"
        r"|cannot reshape|out of bounds|must have ndim|index out of range|Rank mismatch|must be same dtype|: 'float' and 'dict'|symbolic scopes|Size of label|[Tt]ruth value of an|same shape|inconsistent size for core|inhomogeneous|differ in dimensions|must be an integer|Shape mismatch|same number of dimensions|ndim to be equal|differ in dimensions|\[\.\.\., n, n\]|square|must have shape|structure error|[Mm]ismatch|Expected (dict|list|tuple)|_IndexUpdateRef|[Ii]ncompatible types|[Cc]annot broadcast|equal division|squeeze out|Einstein sum|einsum|axes don.t match|same rank|same number of dim|permutation|[Tt]ranspose"
        r"|needs to have rank|must satisfy the invariant|with a scalar index|scalar shape|feature dimension size|feature_group_count|spatial dimensions|must have ndim|broadcast together|broadcast-compatible|PRNGKey dtype|slice_sizes must be less|limit_indices must be|update shape must be smaller|number of operand dimensions|safe_map|tuple index out of range|nonnegative and less than|len\(|must have (an )?integer|of integer type|subdtype of <class 'numpy.integer'>|for \+: '\w+' and 'tuple'|must be integers|integer typed|interpreted as an integer|integral type|an integer type|key<",
    ),
    cases={"equal": Advisory("the comparison has the same answer for all arrays")},
    since="0.2",
    reference="https://docs.jax.dev/en/latest/jax.lax.html",
)

_WHOLE = {
    "square": (
        "needs a square matrix, but gets an array of shape",
        "for other matrices there are `jnp.linalg.lstsq`, `jnp.linalg.pinv`, `jnp.linalg.svd` and `jnp.linalg.qr`",
    ),
    "state": (
        "gets gradients of another structure than the tree that its state was made for:",
        "make the state for what the gradients are taken by: `tx.init(...)` of that part of the parameters",
    ),
    "trees": (
        "goes through pytrees together whose structures differ:",
        "give all of them the structure of the first: the same keys, lengths and kinds of containers",
    ),
}
_ARRAYS = {
    "order": (
        "puts {axes[0]} in order, but the array has {1}",
        "name each axis of the array once",
    ),
    "filter": (
        "gets a filter of shape {2} for {0} features, but an array with {1}",
        "the features of images are the axis that `dimension_numbers` calls `C`, those of filters the one called `I`; "
        "if nothing is said, both are the second axis",
    ),
    "window": (
        "moves a window of shape {0} over an array of shape {1}, which is smaller",
        "make the array larger with `jnp.pad`, or the window smaller",
    ),
    "window-axes": (
        "gets `{2}` for {axes[0]}, but an array with {axes[1]}",
        "give one number for each axis: `jax.lax.dynamic_slice(x, (i, 0), (1, x.shape[1]))`, or name the one axis: "
        "`jax.lax.dynamic_slice_in_dim(x, i, 1, axis=0)`",
    ),
    "size-of": (
        "has no entry {0}, as the array has {axes[1]}",
        "axes are counted from 0, negative ones from the last; without any, the shape is `()`",
    ),
    "squeeze": (
        "takes away axis {0} of an array of shape {1}, which has several elements",
        "only axes of size 1 can be taken away; `x[:, 0]` or a sum chooses among several",
    ),
    "parts": (
        "cannot divide an axis of {0} elements into {1} equal parts",
        "choose a number that divides the size, or `jnp.array_split` for parts of unlike sizes",
    ),
    "spread": (
        "cannot repeat an array of shape {0} until it has the shape {1}",
        "an axis is repeated if its size is 1: add one with `x[:, None]`, counted from the last axis",
    ),
    "place-sizes": (
        "puts an array of shape {0} where the place has the shape {1}",
        "give the numbers the shape of `x[i]`, or one that is repeated to it",
    ),
    "right-hand": (
        "solves for a matrix of shape {0}, but the right-hand side has the shape {1}",
        "the right-hand side has as many rows as the matrix; for others, transpose it or swap the factors it is made of",
    ),
    "element": (
        "puts an array of shape {0} in the place of one element",
        "choose one of its numbers, or a place of that shape: `x.at[i, :2]`",
    ),
    "rows": (
        "unpacks an array of {0} rows into {1} names",
        "unpacking goes along the first axis; `x.T` has the columns first",
    ),
    "apart": (
        "unpacks one number, which has no parts",
        "give it one name; with `has_aux=True`, a function returns `loss, aux`, and a derivative rule gets what `nondiff_argnums` counts first",
    ),
    "label-axes": (
        "gets labels with {axes[0]} for scores with {axes[1]}",
        "give one integer for each row of scores; for one number per class there is `optax.softmax_cross_entropy`",
    ),
    "results": (
        "gives {0} results, but is unpacked as {1}",
        "write one name for each, `_` for those that are not needed; results that belong together are one of them: "
        "`(loss, aux), grads`",
    ),
    "terms": (
        "gets the letters of {0} arrays, but {1} arrays",
        "write one group of letters for each array, with commas between them",
    ),
    "letters": (
        "gets the letters `{0}` for an array with {axes[1]}",
        "write one letter for each axis, or `...` for those that are left alone",
    ),
    "letter": (
        "has one letter, `{0}`, for axes of the sizes {1} and {2}",
        "give each size a letter of its own; perhaps one of the arrays has to be transposed",
    ),
}
_LAYERS = {
    "features": (
        "is made for {0} features in the last axis, but gets an array of shape {1}",
        "make it for the size that comes before it; what is flattened has the product of all sizes but the first",
    ),
    "channels": (
        "is made for {0} channels in the first axis, but gets an array of shape {1}",
        "channels come first and there is no batch: `jnp.moveaxis(x, -1, 0)`, `jax.vmap(layer)(x)`",
    ),
    "axis-size": (
        "is made for another axis of {0} elements, but gets an array of shape {1}",
        "make it for the size that comes before it, or name another axis",
    ),
    "layer-axes": (
        "takes an array with {axes[0]}, but gets one of shape {1}",
        "there is no axis for a batch: `jax.vmap(layer)(x)` goes along the first axis",
    ),
    "layer-few": (
        "takes an array with {axes[0]} or more, but gets one of shape {1}",
        "give it the missing axes: `x[..., None]` adds one channel",
    ),
    "vector": (
        "takes one vector of {0} elements, but gets an array of shape {1}",
        "`jax.vmap(layer)(x)` goes through the rows of a matrix; other sizes need another layer",
    ),
    "one-vector": (
        "takes one vector, but gets an array of shape {1}",
        "`jax.vmap(layer)(x)` goes through the rows of a matrix",
    ),
    "layer-shape": (
        "takes an array of shape {0}, but gets one of shape {1}",
        "`jax.vmap(layer)(x)` goes through the rows; other sizes need another layer",
    ),
}
_KINDS = {"int": "integers", "float": "floats", "bool": "truth values", "complex": "complex numbers"}


def _kind(name: str) -> str:
    """A kind of numbers, or an exact dtype, in words."""
    return _KINDS.get(name, f"`{name}`")


@RULE.on(ApiMisuse)
def check(event: ApiMisuse) -> Report | None:
    """Report operands that do not fit; ``parameter`` says in which way, ``detail`` what they are."""
    if event.problem != "unfit":
        return None
    api = f"`{event.api.replace('array.', 'x.', 1)}`"
    first, _, second = event.detail.partition(" and ")
    if event.parameter == "kind":
        return Report(f"{api} does not work on {_KINDS[first]}", _instead_of(event.api, first))
    if event.parameter == "key":
        return Report(
            f"{api} needs numbers, but a PRNG key has none that NumPy knows",
            "`jax.random.key_data(key)` gives them, and `jax.random.wrap_key_data` makes a key of them",
        )
    if event.parameter == "key-operand":
        return Report(
            f"{api} computes with numbers, but gets a PRNG key",
            "choose between two keys with `jnp.where(which, a, b)`, and take keys out of what is averaged or blended",
        )
    if event.parameter == "integers":
        return Report(
            f"{api} wants integers as `{event.detail}`, but gets floats",
            "convert them: `x.astype(jnp.int32)`; what comes of `/`, `jnp.floor` or `jax.nn.one_hot` is of floats",
        )
    if event.parameter == "whole":
        return Report(
            f"{api} wants whole numbers as `{event.detail}`, but gets a float",
            "divide with `//`, which gives whole numbers, or convert what is computed: `int(n)`",
        )
    if event.parameter == "reference":
        return Report(f"{api} works on arrays, but gets a reference", "read it first: `x_ref[...]`")
    if event.parameter == "place" and event.api in ("==", "!="):
        return Report(
            f"`x.at[i] {event.api} y` compares a place and not what is there, so it is always {event.api != '=='}",
            "read the element with `x[i]`; `x.at[i]` is there for `x.at[i].set(y)` and the like",
            severity=Severity.WARNING,
            case="equal",
        )
    if event.parameter == "place":
        return Report(
            f"{api} gets `x.at[i]`, which is the place of an element and not the element",
            "read the element with `x[i]`; `x.at[i]` is there for `x.at[i].set(y)` and the like",
        )
    if event.parameter == "scopes":
        return Report(
            f"{api} combines sizes of two symbolic scopes",
            'name them together: `a, b = jax.export.symbolic_shape("a, b")`, or hand the same `scope` to both calls',
        )
    if event.parameter == "exported":
        return Report(
            f"the exported function is for an array with {_axes(first)}, but gets one with {_axes(second)}",
            "export it for such arrays as well, or give the array the axes that it had then",
        )
    if event.parameter == "dtypes":
        return Report(
            f"{api} needs two arrays of one dtype, but gets {_kind(first)} and {_kind(second)}",
            "functions of `jax.numpy` convert their arguments; or convert one: `x.astype(y.dtype)`",
        )
    if event.parameter == "axes":
        return Report(
            f"{api} needs arrays with as many axes, but gets {_axes(first)} and {_axes(second)}",
            "functions of `jax.numpy` add the missing axes; or give the smaller one its axis: `x[None]`",
        )
    if event.parameter == "truth":
        return Report(
            f"{_asking(event.api)} one True or False of an array of shape {event.detail}, which has one for each element",
            "say which one is meant: `jnp.any(x)`, `jnp.all(x)`, or `x.size` for whether there are any",
        )
    if event.parameter == "number":
        return Report(f"{api} multiplies matrices and vectors, but gets a number", "multiply by it with `*`")
    if event.parameter == "axis":
        axis, _, rank = event.detail.partition(" of ")
        return Report(
            f"{api} goes along axis {axis} of an array with {_axes(rank)}",
            "axes are counted from 0; negative ones from the last",
        )
    form, help_ = {**_ARRAYS, **_LAYERS}.get(event.parameter, ("", ""))
    if form:
        details = re.split(r" (?:and|as|for|of) ", event.detail)
        return Report(f"{api} {form.format(*details, axes=list(map(_axes, details)))}", help_)
    message, help_ = _WHOLE.get(event.parameter, ("", ""))
    if message:
        return Report(f"{api} {message} {event.detail}", help_)
    return Report(f"{api} gets {_sizes(event)}, which do not fit", _fitting(event))


def _asking(form: str) -> str:
    names = {"ternary": "`... if ... else ...`", "comparison-chain": "a chain of comparisons"}
    return f"{names.get(form, f'`{form}`')} wants"


def _axes(count: str) -> str:
    return {"0": "no axis", "1": "1 axis"}.get(count, f"{count} axes")


def _instead_of(api: str, kind: str) -> str:
    if api.startswith("jax.lax."):
        return "use the function of `jax.numpy`, or convert the array: `x.astype(float)`"
    if kind == "bool":
        return "negate with `~mask`, compare with `a ^ b`, or convert: `mask.astype(int)`"
    return "combine what comparisons give, each in parentheses: `(x > 0) & (x < 1)`"


def _sizes(event: ApiMisuse) -> str:
    first, word, second = event.detail.partition(" as ")
    return f"an array of shape {first} for the shape {second}" if word else f"arrays of shapes {event.detail}"


def _fitting(event: ApiMisuse) -> str:
    if " as " in event.detail:
        return "choose sizes with the same product, one of them `-1`"
    if event.api.endswith((".stack", ".concatenate", ".concat")):
        return "what is stacked has one shape; what is concatenated differs along that axis only"
    if event.api in ("@", "dot"):
        return "the last axis of the first and the first axis of the second have one size: perhaps `x.T`"
    return "sizes are compared from the last axis: give the smaller array its axis with `x[:, None]`"
