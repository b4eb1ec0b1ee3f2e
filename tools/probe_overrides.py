"""What ``probe_catalogue.py`` cannot measure and takes from here instead. Only data.

``CURES``: the arguments that give a data-dependent result a fixed shape. ``RESULTS``: results that one example does
not show. ``LINES``: whole lines for functions that no small example reaches.
"""

from __future__ import annotations

# The arguments that fix the size of a result whose shape depends on data.
SIZE = ("size",)
CURES: dict[str, tuple[str, ...]] = {
    "jax.numpy.argwhere": SIZE,
    "jax.numpy.bincount": ("length",),
    "jax.numpy.compress": SIZE,
    "jax.numpy.extract": SIZE,
    "jax.numpy.flatnonzero": SIZE,
    "jax.numpy.intersect1d": SIZE,
    "jax.numpy.mask_indices": SIZE,
    "jax.numpy.nonzero": SIZE,
    "jax.numpy.roots": ("strip_zeros",),
    "jax.numpy.setdiff1d": SIZE,
    "jax.numpy.setxor1d": SIZE,
    "jax.numpy.union1d": SIZE,
    "jax.numpy.unique": SIZE,
    "jax.numpy.unique_all": SIZE,
    "jax.numpy.unique_counts": SIZE,
    "jax.numpy.unique_inverse": SIZE,
    "jax.numpy.unique_values": SIZE,
    "jax.ops.segment_max": ("num_segments",),
    "jax.ops.segment_min": ("num_segments",),
    "jax.ops.segment_prod": ("num_segments",),
    "jax.ops.segment_sum": ("num_segments",),
}

# Results that one example cannot show (lists of any length, results that depend on an option).
RESULTS: dict[str, str] = {
    "jax.lax.bitcast_convert_type": "array",
    "jax.lax.convert_element_type": "array",
    "jax.lax.broadcasted_iota": "array",
    "jax.lax.iota": "array",
    "jax.numpy.astype": "array",
    "jax.numpy.atleast_1d": "like(arys)",
    "jax.numpy.bitwise_and": "like(x1, x2)",
    "jax.numpy.bitwise_or": "like(x1, x2)",
    "jax.numpy.bitwise_xor": "like(x1, x2)",
    "jax.numpy.bitwise_invert": "like(x)",
    "jax.numpy.bitwise_not": "like(x)",
    "jax.numpy.bitwise_left_shift": "like(x)",
    "jax.numpy.bitwise_right_shift": "like(x1)",
    "jax.numpy.invert": "like(x)",
    "jax.lax.bitwise_and": "like(x, y)",
    "jax.lax.bitwise_or": "like(x, y)",
    "jax.lax.bitwise_xor": "like(x, y)",
    "jax.lax.bitwise_not": "like(x)",
    "jax.random.PRNGKey": "key",
    "jax.random.fold_in": "key",
    "jax.random.split": "keys",
    "jax.random.clone": "same(key)",
    "jax.random.choice": "like(a)",
    "jax.random.permutation": "like(x)",
    "jax.numpy.arange": "like(start, stop, step)",
    "jax.numpy.array_split": "list(array)",
    "jax.numpy.diag_indices": "sequence(int)",
    "jax.numpy.diag_indices_from": "sequence(int)",
    "jax.numpy.ix_": "sequence(int)",
    "jax.numpy.nonzero": "sequence(int)",
    "jax.numpy.unravel_index": "sequence(int)",
    "jax.numpy.unstack": "sequence(array)",
    "jax.numpy.meshgrid": "list(array)",
    "jax.numpy.where": "like(x, y)",
    "jax.lax.split": "list(array)",
    "jax.lax.unstack": "sequence(array)",
}
# Functions that no small example reaches: inside a mapped axis, on files, on several devices. Arguments that are
# static as a number only (``bins``) or hold functions beside arrays (``funclist``).
LINES: dict[str, str] = {
    # Its first parameter is a pair of an array and a flag: a tracer inside the pair is what it is for.
    "jax.scipy.linalg.cho_solve": "c_and_lower@, b@, overwrite_b?@, check_finite?@ -> float",
    "jax.lax.all_gather": "x@, axis_name!, *, axis_index_groups?!, axis?!I, tiled?!B, to?! -> like(x)",
    "jax.lax.all_to_all": "x@, axis_name!, split_axis!I, concat_axis!B, *, axis_index_groups?!, tiled?!B -> like(x)",
    "jax.lax.axis_index": "axis_name! -> int",
    "jax.lax.axis_size": "axis_name! -> static",
    "jax.lax.conv_general_permutations": "dimension_numbers! -> static",
    "jax.lax.conv_general_shape_tuple": (
        "lhs_shape!, rhs_shape!, window_strides!, padding!, dimension_numbers! -> static"
    ),
    "jax.lax.conv_shape_tuple": "lhs_shape!, rhs_shape!, strides!, pads!, batch_group_count?! -> static",
    "jax.lax.conv_transpose_shape_tuple": (
        "lhs_shape!, rhs_shape!, window_strides!, padding!, dimension_numbers! -> static"
    ),
    "jax.lax.pbroadcast": "x@, axis_name!, source! -> like(x)",
    "jax.lax.pcast": "x@, axis_name!, *, to! -> like(x)",
    "jax.lax.pmax": "x@, axis_name!, *, axis_index_groups?! -> like(x)",
    "jax.lax.pmean": "x@, axis_name!, *, axis_index_groups?! -> float",
    "jax.lax.pmin": "x@, axis_name!, *, axis_index_groups?! -> like(x)",
    "jax.lax.ppermute": "x@, axis_name!, perm!A -> like(x)",
    "jax.lax.pshuffle": "x@, axis_name!, perm!T -> like(x)",
    "jax.lax.psum": "x@, axis_name!, *, axis_index_groups?! -> like(x)",
    "jax.lax.psum_scatter": (
        "x@, axis_name!, *, scatter_dimension?!, axis_index_groups?!, tiled?! -> like(x)"
    ),
    "jax.lax.pswapaxes": "x@, axis_name!, axis!I, *, axis_index_groups?! -> like(x)",
    "jax.lax.reduce_window_shape_tuple": (
        "operand_shape!, window_dimensions!, window_strides!, padding!, base_dilation?!, window_dilation?! -> static"
    ),
    "jax.lax.with_sharding_constraint": "x@, shardings! -> like(x)",
    "jax.numpy.fromfile": "*args!, **kwargs! -> array",
    "jax.numpy.fromiter": "*args!, **kwargs! -> array",
    "jax.numpy.histogram": "a, bins?@, range?@, weights?, density?!B -> tuple(float, float)",
    "jax.numpy.histogram2d": "x, y, bins?@, range?@, weights?, density?!B -> tuple(int, float, float)",
    "jax.numpy.histogram_bin_edges": "a, bins?@, range?@, weights?@ -> float",
    "jax.numpy.histogramdd": "sample, bins?@, range?@, weights?, density?!B -> tree",
    "jax.numpy.piecewise": "x, condlist@, funclist@, *args, **kw -> like(x)",
    "jax.numpy.load": "file!, *args!, **kwargs! -> array",
    "jax.numpy.save": "file!, arr!A, allow_pickle?! -> none",
    "jax.numpy.savez": "file!, *args!A, allow_pickle?!, **kwds!A -> none",
    "jax.numpy.trim_zeros": "filt@, trim?!, axis?! -> like(filt) data()",
}
