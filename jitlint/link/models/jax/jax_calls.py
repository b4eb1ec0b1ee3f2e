"""Models of JAX functions that a signature line cannot describe: pytrees, devices, registration (layer: ``link``, room ``models``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from jitlint.infer.followed import FOLLOWED
from jitlint.infer.lattice import join, traced_modes, why_of
from jitlint.infer.values import (
    BOOL,
    INT,
    NONE,
    SMOOTH,
    TRUE,
    UNKNOWN,
    Arr,
    Bound,
    Class,
    Ext,
    ExtInst,
    Func,
    Py,
    Seq,
    Tree,
    Tup,
    Union,
    Unknown,
    Value,
    alternatives,
    py,
)
from jitlint.link.engine import evaluator
from jitlint.link.engine.events import emit_truth, tracer_inside
from jitlint.link.engine.frame import Args, Frame, result_level
from jitlint.link.engine.machine import Machine
from jitlint.link.models.arrays import arrays
from jitlint.link.models.frameworks import graphs, modules
from jitlint.link.models.jax import checks, exporting, higher
from jitlint.link.models.maps import shardings
from jitlint.link.values import array_references, classes, fields, iteration, pytrees, subscripts
from jitlint.link.values.library_objects import PARTITION_SPEC
from jitlint.link.values.questions import key_paths
from jitlint.link.values.questions.kinds import is_concrete, isinstance_of

_MOST_LEAVES: Final = 16
"""So many leaves are told apart."""

Handler = Callable[[Machine, Frame, int, Args], Value]


def _first(args: Args, name: str) -> Value:
    value = args.get(0, name)
    return value if value is not None else UNKNOWN


def _leaves(m: Machine, f: Frame, at: int, args: Args) -> Value:
    tree = _first(args, "tree")
    each = _each_leaf(tree) if args.get(1, "is_leaf") is None else None
    if each is not None and len(each) <= _MOST_LEAVES:
        return Seq("list", each, None, f.world.level, f.token)
    return Seq("list", None, pytrees.leaf(tree), f.world.level, f.token)


def _each_leaf(tree: Value) -> list[Value] | None:
    """The leaves of tuples and lists of arrays and numbers, one by one and in order; None of other trees."""
    if type(tree) is Arr or (type(tree) is Py and tree.kind in pytrees.NUMBERS):
        return [tree]
    if tree is NONE:
        return []
    plain = (type(tree) is Tup and tree.cls is None) or (type(tree) is Seq and tree.kind == "list")
    inner = iteration.known_items(tree) if plain else None
    found = [_each_leaf(part) for part in inner] if inner is not None else [None]
    return None if None in found else [leaf for leaves in found for leaf in leaves or ()]


def _flatten(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return Tup((_leaves(m, f, at, args), ExtInst("jax.tree_util.PyTreeDef", {"$tree": _first(args, "tree")})))


def _leaves_with_path(m: Machine, f: Frame, at: int, args: Args) -> Value:
    pair = Tup((key_paths.KEY_PATH, pytrees.leaf(_first(args, "tree"))))
    return Seq("list", None, pair, f.world.level, f.token)


def _flatten_with_path(m: Machine, f: Frame, at: int, args: Args) -> Value:
    leaves = _leaves_with_path(m, f, at, args)
    return Tup((leaves, ExtInst("jax.tree_util.PyTreeDef", {"$tree": _first(args, "tree")})))


def _unflatten(m: Machine, f: Frame, at: int, args: Args) -> Value:
    treedef = _first(args, "treedef")
    leaves = args.get(1, "leaves")
    element = subscripts.any_item(leaves) if leaves is not None else UNKNOWN
    if type(leaves) is Seq and leaves.kind == "iter":
        element = iteration.element(m, f, at, leaves, quiet=True)
    if type(treedef) is ExtInst and "$tree" in treedef.attrs:
        return pytrees.rebuild(treedef.attrs["$tree"], element)
    if traced_modes(element):
        return Tree(traced_modes(element), why_of(element), f.world.level)
    return UNKNOWN


def _structure(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return ExtInst("jax.tree_util.PyTreeDef", {"$tree": _first(args, "tree")})


def _tree_all(m: Machine, f: Frame, at: int, args: Args) -> Value:
    emit_truth(m, f, at, pytrees.leaf(_first(args, "tree")), "all")
    return UNKNOWN


def _same(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return _first(args, "x")


def _abstract_array(m: Machine, f: Frame, at: int, args: Args) -> Value:
    shape = args.get(0, "shape") or UNKNOWN
    items = iteration.known_items(shape)
    rank = INT if items is None else py(len(items))
    attrs: dict[str, Value] = {"shape": shape, "dtype": Py("dtype"), "ndim": rank, "size": INT}
    if "is_ref" in args.kw:
        attrs["is_ref"] = args.kw["is_ref"]
    return ExtInst(pytrees.ABSTRACT_ARRAY, attrs)


def _stop_gradient(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = _first(args, "x")
    return pytrees.remode(value, lambda modes: modes & ~(SMOOTH | FOLLOWED))


def _device_put(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = _first(args, "x")
    shardings.check_placed(m, f, at, "jax.device_put", value, args.get(1, "device"))
    lowered = pytrees.lower(value, 0, f.world.here, f.world.level, traced_modes(value))
    return lowered


def _across(dotted: str) -> Handler:
    """The handler of a function that gives arrays like its first argument, of what other devices hold."""

    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        described = m.catalogue.function(dotted)
        if described is None or arrays.call_api(m, f, at, described, args) is UNKNOWN:
            return UNKNOWN
        value = _first(args, "x")
        return pytrees.lower(value, 0, f.world.here, f.world.level, traced_modes(value))

    return handler


def _constrained(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """Where an array is to lie while JAX traces."""
    value = _same(m, f, at, args)
    shardings.check_placed(m, f, at, "jax.lax.with_sharding_constraint", value, args.get(1, "shardings"))
    return value


def _replicate(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """One copy for each device, along an axis of its own."""
    return pytrees.with_rank(_device_put(m, f, at, args), 1)


def _unreplicate(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """The first of the copies."""
    return pytrees.with_rank(_first(args, "tree"), -1)


def _device_get(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = _first(args, "x")
    if tracer_inside(pytrees.leaf(value)) is not None:
        return value  # a tracer has nothing to copy and passes through
    return higher.on_host(value)


def _register(kind: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        cls = _first(args, "nodetype")
        info = cls.info if type(cls) is Class else None
        m.flatteners.extend((v, info) for v in (*args.pos[1:], *args.kw.values()))
        if type(cls) is Class:
            options = dict(args.kw)
            options.update(zip(("data_fields", "meta_fields"), args.pos[1:3]))
            if kind == "keys":
                fields.registered(m, f, at, cls.info, args.get(1, "flatten_with_keys"))
            elif kind == "node":
                flatten, unflatten = args.get(1, "flatten_func"), args.get(2, "unflatten_func")
                fields.registered(m, f, at, cls.info, flatten)
                if flatten is not None and unflatten is not None:
                    cls.info.rebuilt = (flatten, unflatten)
            else:
                classes.decorate(m, f, at, kind, cls, options)
        return cls if cls is not UNKNOWN else NONE

    return handler


def _pytree_keys(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """``register_pytree_with_keys_class`` and friends, used as decorators."""
    cls = _first(args, "cls")
    if type(cls) is Class:
        fields.registered(m, f, at, cls.info, classes.flatten_method(cls.info))
    return cls


def _static_field(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """The older name of a field that is static."""
    return ExtInst("equinox.field", {**args.kw, "static": TRUE})


def _is_array(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = _first(args, "element")
    host = type(value) is Arr and value.host  # which version of Equinox takes these for arrays is not known
    answer = None if host else isinstance_of(m, value, Ext("jax.Array"))
    return BOOL if answer is None else py(answer)


def _is_concrete(m: Machine, f: Frame, at: int, args: Args) -> Value:
    answers = {is_concrete(alt) for alt in alternatives(_first(args, "x"))}
    answer = answers.pop() if len(answers) == 1 else None
    return BOOL if answer is None else py(answer)


def _opaque(dotted: str) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        return ExtInst(dotted)

    return handler


def _new_reference(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A reference to an array; a JAX that has no such function makes none."""
    return UNKNOWN if m.catalogue.view.there("jax.new_ref") is False else array_references.made(f)


def _deserialised(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """A pytree is read from a file: it is like the one that is given for its structure."""
    return args.get(1, "like") or UNKNOWN


def _set_option(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """An option of JAX is set: without compilation, what comes after it runs on values."""
    name, wanted = args.get(0, "name"), args.get(1, "val")
    if type(name) is Py and name.const == "jax_disable_jit":
        f.world = f.world.but(eager_jit=type(wanted) is not Py or wanted.const is not False)
    return NONE


def _debug(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return NONE


def _apply_updates(m: Machine, f: Frame, at: int, args: Args) -> Value:
    return _first(args, "params")


def _inspected(kind: type) -> Handler:
    def handler(m: Machine, f: Frame, at: int, args: Args) -> Value:
        value = _first(args, "object")
        return BOOL if type(value) in (Unknown, Union, ExtInst, Ext) else py(type(value) is kind)

    return handler


UNRAVEL: Final = "jax.flatten_util.unravel"
"""What the second result of `ravel_pytree` is called here; the library gives it no name."""


def _ravel_pytree(m: Machine, f: Frame, at: int, args: Args) -> Value:
    value = _first(args, "pytree")
    modes = traced_modes(value) | f.world.here
    flat = Arr(modes, None, 1, why_of(value), result_level(f, [value]))
    return Tup((flat, ExtInst(UNRAVEL, {"$tree": value})))


def unravelled(m: Machine, f: Frame, at: int, obj: ExtInst, args: Args) -> Value:
    """What ``unravel(flat)`` gives: the pytree that was flattened, its leaves parts of ``flat`` with their old shapes."""
    flat = args.pos[0] if args.pos else UNKNOWN
    if type(flat) is not Arr:
        return UNKNOWN
    form = pytrees.remode(obj.attrs["$tree"], lambda modes: 0)
    return pytrees.lift(form, flat.modes, flat.level, flat.why, sized=True)


def _tree_reduce(m: Machine, f: Frame, at: int, args: Args) -> Value:
    """As `functools.reduce` over the leaves: what is carried along is what the function gives, no array of its own."""
    function, tree = args.get(0, "function"), args.get(1, "tree")
    if function is None or tree is None:
        return UNKNOWN
    element = pytrees.leaf(tree)
    start = args.get(2, "initializer") or element
    once = evaluator.call(m, f, at, function, Args([start, element]))
    return join(once, evaluator.call(m, f, at, function, Args([once, element])))


JAX_CALLS: dict[str, Handler] = {
    "jax.tree.leaves": _leaves,
    "jax.tree.flatten": _flatten,
    "jax.tree.flatten_with_path": _flatten_with_path,
    "jax.tree.leaves_with_path": _leaves_with_path,
    "jax.tree.unflatten": _unflatten,
    "jax.tree.structure": _structure,
    "jax.tree.all": _tree_all,
    "jax.tree.reduce": _tree_reduce,
    "jax.block_until_ready": _same,
    **{
        name: _across(name)
        for name in ("jax.lax.pmax", "jax.lax.pmin", "jax.lax.ppermute", "jax.lax.pshuffle")
    },
    "jax.device_put": _device_put,
    "jax.device_put_replicated": _replicate,
    "flax.jax_utils.replicate": _replicate,
    "flax.jax_utils.unreplicate": _unreplicate,
    "jax.device_get": _device_get,
    pytrees.ABSTRACT_ARRAY: _abstract_array,
    "jax.lax.stop_gradient": _stop_gradient,
    "jax.lax.optimization_barrier": _same,
    "jax.tree_util.register_pytree_node": _register("node"),
    "jax.tree_util.register_pytree_with_keys": _register("keys"),
    "jax.tree_util.GetAttrKey": _opaque(fields.CHILD_NAME),
    "jax.tree_util.DictKey": _opaque(fields.CHILD_NAME),
    "jax.tree_util.SequenceKey": _opaque(fields.CHILD_NAME),
    "jax.tree_util.FlattenedIndexKey": _opaque(fields.CHILD_NAME),
    "jax.tree_util.register_dataclass": _register("register_dataclass"),
    "jax.tree_util.register_pytree_with_keys_class": _pytree_keys,
    "inspect.ismethod": _inspected(Bound),
    "inspect.isfunction": _inspected(Func),
    "inspect.isclass": _inspected(Class),
    "jax.ensure_compile_time_eval": _opaque("jax.ensure_compile_time_eval"),
    "jax.disable_jit": _opaque("jax.disable_jit"),
    "jax.lax.with_sharding_constraint": _constrained,
    PARTITION_SPEC: shardings.partition_spec,
    "jax.sharding.Mesh": shardings.mesh,
    "jax.make_mesh": shardings.made_mesh,
    "jax.sharding.AbstractMesh": shardings.abstract_mesh,
    "jax.experimental.mesh_utils.create_device_mesh": shardings.rows_of_devices,
    shardings.SHARDING: shardings.sharding,
    "jax.config.update": _set_option,
    "jax.debug.print": _debug,
    checks.CHECK: checks.check,
    checks.CHECK_ERROR: checks.check_error,
    "jax.experimental.checkify.debug_check": checks.debug_check,
    "jax.new_ref": _new_reference,
    "jax.core.is_concrete": _is_concrete,
    "jax.export.symbolic_shape": exporting.symbolic_shape,
    "jax.export.export": exporting.export,
    "jax.flatten_util.ravel_pytree": _ravel_pytree,
    "equinox.partition": modules.partition,
    "equinox.combine": modules.combine,
    modules.TREE_AT: modules.at_places,
    "equinox.nn.inference_mode": modules.in_mode,
    "equinox.is_array": _is_array,
    "equinox.static_field": _static_field,
    "equinox.apply_updates": _apply_updates,
    "equinox.tree_deserialise_leaves": _deserialised,
    "flax.nnx.split": graphs.split,
    "flax.nnx.graphdef": graphs.graph_of,
    "flax.nnx.merge": graphs.merge,
    "flax.nnx.clone": graphs.clone,
    "optax.apply_updates": _apply_updates,
}
