"""Functions of arrays that refuse the dtypes, axes and sizes of what they get (layer: ``link``, room ``models``).

What it does: compares what is known of arguments with what the catalogue says of the function, as measured. What it does not:
know the operators, which are in `values`.
"""

from __future__ import annotations

from math import prod
from typing import Final

from jitlint.catalogue.dtypes import differ, exact_of, is_weak, shown
from jitlint.catalogue.lexicon import lexicon
from jitlint.catalogue.ranks import Form
from jitlint.catalogue.schema import ApiFunction
from jitlint.infer.dims import Dims, shape_text
from jitlint.infer.values import NONE, Arr, Py, Seq, Tup, Value
from jitlint.link.engine.frame import Frame
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import results, shapes
from jitlint.link.values import fitting, iteration

_DEPTH: Final = 2
"""Sizes are numbers in a tuple, widths pairs of them."""
_BATCHED: Final = "jax.numpy.matmul"
"""The product that pairs the matrices of two arrays with many; others take each with each."""


def check(
    m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, receiver: Arr | None, whole: bool
) -> bool:
    """Whether a call is refused for what its operands are."""
    if receiver is not None and not fitting.is_sure(receiver):
        return False
    if _numbers(m, f, at, fn, bound):
        return True
    if whole and _convolved(m, f, at, fn, bound):
        return True
    if receiver is None and _operands(m, f, at, fn, bound, whole):
        return True
    if receiver is not None and whole and _together(m, f, at, fn, bound, receiver):
        return True
    return whole and (
        _axis(m, f, at, fn, bound, receiver)
        or _reshaped(m, f, at, fn, bound, receiver)
        or shapes.check(m, f, at, fn, bound, receiver)
    )


def _numbers(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Numbers of the wrong kind, or of several kinds or sizes."""
    if _floats(m, f, at, fn, bound) or _no_whole_number(m, f, at, fn, bound):
        return True
    return _several_dtypes(m, f, at, fn, bound) or _several_shapes(m, f, at, fn, bound)


def _operands(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, whole: bool) -> bool:
    """The arguments of a function, as operands."""
    given = [value for param, value in bound if value is not NONE and not param.must_be_static]
    if (
        _reference(m, f, at, fn.name, given)
        or _key(m, f, at, fn.name, given)
        or _kinds(m, f, at, fn.name, given)
    ):
        return True
    if _not_square(m, f, at, fn.name, bound):
        return True
    return whole and (_alike(m, f, at, fn.name, given) or _together(m, f, at, fn, bound, None))


def _floats(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Floats where only integers will do: as indices, or to count."""
    name = lexicon().arrays.integers.get(fn.name)
    if not name:
        return False
    found = next((value for param, value in bound if param.name == name), None)
    if found is None:
        return False
    items = iteration.known_items(found) if isinstance(found, (Tup, Seq)) else [found]
    for value in items or ():
        sure = fitting.is_array(value) or fitting.is_number(value)
        if sure and fitting.kind_of(value) == "float":
            return fitting.report(m, f, at, fn.name, "integers", name or "", value)
    return False


def _no_whole_number(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """A float where a function wants the sizes of an array, or how often it does something."""
    name = lexicon().arrays.whole.get(fn.name)
    if not name:
        return False
    given = [value for param, value in bound if param.name == name]
    found = next((part for value in given for part in _nested(value) if _is_float(part)), None)
    shown = "shape" if name == "args" else name
    return found is not None and fitting.report(m, f, at, fn.name, "whole", shown, found)


def _nested(value: Value, depth: int = _DEPTH) -> list[Value]:
    """The numbers that say sizes: one, several or pairs of them."""
    if not isinstance(value, (Tup, Seq)):
        return [value]
    items = iteration.known_items(value) if depth else None
    return [part for item in items or () for part in _nested(item, depth - 1)]


def _is_float(value: Value) -> bool:
    """Whether something is certainly a number that is no whole one for Python: a float of its own, or one of NumPy."""
    if type(value) is Py:
        return value.kind == "float"
    return type(value) is Arr and value.host and fitting.is_array(value) and value.dtype == "float"


def _convolved(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """A filter for another number of features than an image has."""
    if fn.name not in lexicon().arrays.convolving:
        return False
    given = {param.name: value for param, value in bound if value is not NONE}
    image, kernel = given.get("lhs"), given.get("rhs")
    if image is None or kernel is None or any(name.endswith("group_count") for name in given):
        return False
    before, after = (fitting.dims_of(v) or () if fitting.is_array(v) else () for v in (image, kernel))
    places = _features(given.get("dimension_numbers"))
    if places is None or len(before) != len(after) or max(places) >= len(before):
        return False
    features, wanted = before[places[0]], after[places[1]]
    if None in (features, wanted) or features == wanted:
        return False
    detail = f"{wanted} for {features} of {shape_text(after)}"
    return fitting.report(m, f, at, fn.name, "filter", detail, image)


def _features(numbers: Value | None) -> tuple[int, int] | None:
    """Which axes of an image and of a filter are those of the features: the second ones, if nothing is said."""
    if numbers is None:
        return 1, 1
    said = iteration.known_items(numbers) if type(numbers) is Tup else None
    letters = [value.const if type(value) is Py else None for value in said or ()]
    image, kernel = letters[:2] if len(letters) == 3 else (None, None)
    if not isinstance(image, str) or not isinstance(kernel, str):
        return None
    places = image.find("C"), kernel.find("I")
    return places if min(places) >= 0 else None


def _several_dtypes(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Arguments of unlike dtypes, for a function that converts none of them."""
    names = lexicon().arrays.one_dtype.get(fn.name, "").split()
    if not names:
        return False
    given = [value for param, value in bound if param.name in names]
    sure = all(fitting.is_array(v) or fitting.is_number(v) for v in given)
    return len(given) > 1 and sure and _unlike_dtypes(m, f, at, fn.name, given)


def _several_shapes(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound) -> bool:
    """Arguments of unlike sizes, for a function that repeats none of them."""
    names = lexicon().arrays.one_shape.get(fn.name, "").split()
    if not names:
        return False
    given = [value for param, value in bound if param.name in names]
    ranks = [fitting.rank_of(v) if fitting.is_array(v) or fitting.is_number(v) else None for v in given]
    if len(given) != 2 or None in ranks or ranks[0] == ranks[1]:
        return False
    return fitting.report(m, f, at, fn.name, "axes", f"{ranks[0]} and {ranks[1]}", given[0])


def _unlike_dtypes(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    kinds = [fitting.kind_of(value) for value in given]
    if None in kinds or "key" in kinds:
        return False
    other = next((kind for kind in kinds if kind != kinds[0]), None)
    unlike = (str(kinds[0]), other) if other is not None else _of_one_kind(given)
    return bool(unlike) and fitting.report(m, f, at, name, "dtypes", " and ".join(unlike), given[0])


def _of_one_kind(given: list[Value]) -> tuple[str, ...]:
    """The names of the first two dtypes that certainly differ, with and without 64 bits."""
    exact = [exact_of(value.dtype) for value in given if type(value) is Arr]
    known = [one for one in exact if one is not None and not is_weak(one)]
    other = next((one for one in known if differ(known[0], one)), None)
    return () if other is None or len(known) < len(given) else (shown(known[0]), shown(other))


def _reference(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    found = next((v for v in given if fitting.is_reference(f, v) or fitting.is_place(v)), None)
    if found is None or not _computes(m, name):
        return False
    return fitting.report(m, f, at, name, "place" if fitting.is_place(found) else "reference", "", found)


def _not_square(m: Machine, f: Frame, at: int, name: str, bound: results.Bound) -> bool:
    """A matrix with other numbers of rows and columns, for a function of square ones."""
    first = bound[0][1] if bound and name in lexicon().arrays.square else None
    sizes = fitting.dims_of(first) if type(first) is Arr and fitting.is_array(first) else None
    if type(first) is not Arr or sizes is None or len(sizes) < 2 or None in sizes or sizes[-1] == sizes[-2]:
        return False
    return fitting.report(m, f, at, name, "square", shape_text(sizes), first)


def _together(
    m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, receiver: Arr | None
) -> bool:
    """Arrays that are combined element by element, or multiplied as matrices."""
    is_product = fn.name in lexicon().arrays.products
    given = _all(bound, receiver) if is_product else _combined(m, fn, bound, receiver)
    sure = [fitting.is_array(value) for value in given or ()]
    plain = all(one or fitting.is_number(value) for one, value in zip(sure, given or ()))
    if given is None or not plain or sum(sure) < 2:
        return False
    op = ("@" if fn.name == _BATCHED else "dot") if is_product else fn.name
    return fitting.check_sizes(m, f, at, op, given)


def _combined(m: Machine, fn: ApiFunction, bound: results.Bound, receiver: Arr | None) -> list[Value] | None:
    """The arguments whose sizes the result has together."""
    followed = m.catalogue.followed(fn.name)
    if followed is None:
        return None
    given = [(param.name, value) for param, value in bound if value is not NONE]
    if receiver is not None:
        given.insert(0, ("self", receiver))
    if not all(name in followed.arrays or name in followed.options for name, _ in given):
        return None
    return [value for name, value in given if name in followed.arrays]


def _all(bound: results.Bound, receiver: Arr | None) -> list[Value]:
    given = [value for param, value in bound if value is not NONE]
    return given if receiver is None else [receiver, *given]


def sizes(m: Machine, fn: ApiFunction, bound: results.Bound, receiver: Arr | None) -> Dims | None:
    """The sizes of what a function gives that follows its arguments, or takes them in another form."""
    if fn.name in lexicon().arrays.products:
        values = _all(bound, receiver)
        dims = [fitting.dims_of(value) for value in values]
        is_batched = fn.name == _BATCHED
        return fitting.known(fitting.product(dims[0], dims[1], is_batched)) if len(dims) == 2 else None
    combined = _combined(m, fn, bound, receiver)
    if combined is not None:
        return fitting.known(fitting.together([fitting.dims_of(value) for value in combined]))
    found = _target(fn, bound, receiver)
    return _unfilled(fn, bound) if found is None else found[1]


def _unfilled(fn: ApiFunction, bound: results.Bound) -> Dims | None:
    """The sizes that `reshape` is asked for, of an array whose sizes are not known."""
    wanted = _wanted(bound) if fn.name.endswith(".reshape") else []
    if len(wanted) == 1 and type(wanted[0]) is not Py:
        return None
    numbers = [value.const if type(value) is Py else None for value in wanted]
    return tuple([number if type(number) is int and number >= 0 else None for number in numbers])


def _key(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    """A key with a data type of its own, where a function of `jax.numpy` computes with numbers."""
    key = next((value for value in given if fitting.is_typed_key(m, value)), None)
    if key is None or not name.startswith("jax.numpy.") or name in lexicon().arrays.takes_keys:
        return False
    return _computes(m, name) and fitting.report(m, f, at, name, "key-operand", "", key)


def _computes(m: Machine, name: str) -> bool:
    """Whether a function reads the numbers of its arguments, and not only what kind of arrays they are."""
    rank = m.catalogue.rank(name)
    reduces = rank is not None and any(form.kind == "reduce" for form in rank.forms)
    tables = lexicon().arrays
    follows = name in tables.products or m.catalogue.followed(name) is not None
    return (
        reduces or (follows and name not in tables.unread) or name in tables.refuses or name in tables.joins
    )


def _kinds(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    refused = lexicon().arrays.refuses.get(name, "").split("-")
    for value in given:
        sure = fitting.is_array(value) or fitting.is_number(value)
        kind = fitting.kind_of(value)
        if sure and kind in refused:
            return fitting.report(m, f, at, name, "kind", kind, value)
    return False


def _alike(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    what = lexicon().arrays.alike.get(name, "")
    if what == "ranks":
        return (
            len(given) > 1
            and all(map(fitting.is_array, given[:2]))
            and _unlike_ranks(m, f, at, name, given[:2])
        )
    if not what or len(given) != 2 or not all(fitting.is_array(v) or fitting.is_number(v) for v in given):
        return False
    if what == "labels":
        return _other_labels(m, f, at, name, given)
    if what == "sizes":
        return fitting.check_sizes(m, f, at, name, given)
    if what.startswith("dtypes") and _unlike_dtypes(m, f, at, name, given):
        return True
    return _unlike_ranks(m, f, at, name, given) or fitting.check_sizes(m, f, at, name, given)


def _other_labels(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    """Whether labels have another number of axes than rows of scores that they choose from."""
    scores, labels = map(fitting.rank_of, given)
    if not scores or labels is None or labels == scores - 1:
        return False
    return fitting.report(m, f, at, name, "label-axes", f"{labels} for {scores}", given[1])


def _unlike_ranks(m: Machine, f: Frame, at: int, name: str, given: list[Value]) -> bool:
    ranks = [fitting.rank_of(value) for value in given]
    if None in ranks or 0 in ranks or ranks[0] == ranks[1]:
        return False
    return fitting.report(m, f, at, name, "axes", f"{ranks[0]} and {ranks[1]}", given[0])


def _axis(m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, receiver: Arr | None) -> bool:
    """An axis that the array does not have, asked of a function that goes along it."""
    rank = m.catalogue.rank(fn.name)
    by_name = {param.name: value for param, value in bound}
    for form in rank.forms if rank is not None else ():
        array = (
            receiver if form.names[:1] == ("self",) else by_name.get(form.names[0]) if form.names else None
        )
        if form.kind in ("reduce", "along") and type(array) is Arr and fitting.is_array(array):
            axis = _beyond(form, by_name, fitting.rank_of(array))
            if axis is not None and shapes.is_written(m, f, at, axis):
                return fitting.report(m, f, at, fn.name, "axis", f"{axis} of {array.rank}", array)
    return False


def _beyond(form: Form, by_name: dict[str, Value], rank: int | None) -> int | None:
    value = by_name.get(form.names[1])
    items = iteration.known_items(value) if isinstance(value, (Tup, Seq)) else [value]
    for item in items or ():
        number = item.const if type(item) is Py else None
        if rank and type(number) is int and not -rank <= number < rank:
            return number
    return None


def _reshaped(
    m: Machine, f: Frame, at: int, fn: ApiFunction, bound: results.Bound, receiver: Arr | None
) -> bool:
    found = _target(fn, bound, receiver)
    if found is None or found[1] is not None:
        return False
    array, wanted = found[0], found[2]
    detail = f"{shape_text(array.dims or ())} as {shape_text(wanted)}"
    return fitting.is_array(array) and fitting.report(m, f, at, fn.name, "sizes", detail, array)


def _target(
    fn: ApiFunction, bound: results.Bound, receiver: Arr | None
) -> tuple[Arr, Dims | None, Dims] | None:
    """What `reshape` is asked for, of an array whose sizes are known: the array, the sizes that it gets if they fit, and
    those that are wanted."""
    if not fn.name.endswith(".reshape") or any(param.name == "order" for param, _ in bound):
        return None
    array = receiver if receiver is not None else bound[0][1] if bound else None
    asked = _asked(bound)
    if type(array) is not Arr or not array.dims or None in array.dims or asked is None:
        return None
    filled = _filled(array.dims, asked)
    if array.dtype == "key" and (filled is None or -1 in asked):
        return None  # raw keys have one axis more
    return array, filled, asked


def _filled(dims: Dims, asked: tuple[int, ...]) -> Dims | None:
    """The sizes that are asked for, with that for `-1`; None if they have another product."""
    whole = prod(size for size in dims if size is not None)
    rest = prod(number for number in asked if number >= 0)
    if -1 not in asked:
        return asked if rest == whole else None
    fits = asked.count(-1) == 1 and rest and whole % rest == 0
    return tuple([whole // rest if number < 0 else number for number in asked]) if fits else None


def _asked(bound: results.Bound) -> tuple[int, ...] | None:
    """The sizes that `reshape` is asked for, if all of them are known."""
    numbers = [value.const if type(value) is Py else None for value in _wanted(bound)]
    known = tuple([number for number in numbers if type(number) is int])
    return known if known and len(known) == len(numbers) else None


def _wanted(bound: results.Bound) -> list[Value]:
    """What stands for the sizes in a call of `reshape`; what may be several of them is one."""
    wanted = [value for param, value in bound if param.name in ("args", "shape", "newshape")]
    if len(wanted) == 1 and isinstance(wanted[0], (Tup, Seq)):
        return iteration.known_items(wanted[0]) or wanted
    return wanted
