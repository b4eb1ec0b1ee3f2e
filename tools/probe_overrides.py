"""What ``probe_catalogue.py`` cannot measure and takes from here instead. Only data.

``CURES``: the arguments that give a data-dependent result a fixed shape. ``RESULTS``: results that one example does
not show. ``MARKS``: parameters that one example would describe wrongly. ``REASONS``: why a function has no call.
``FILES``: the generated files.
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
    "jax.numpy.trim_zeros": (),
    "jax.numpy.union1d": SIZE,
    "jax.numpy.unique": SIZE,
    "jax.numpy.unique_all": SIZE,
    "jax.numpy.unique_counts": SIZE,
    "jax.numpy.unique_inverse": SIZE,
    "jax.numpy.unique_values": SIZE,
    "array.compress": SIZE,
    "array.nonzero": SIZE,
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
    "jax.numpy.load": "array",
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
    "jax.tree.broadcast": "tree",
    "jax.tree.flatten": "tree",
    "jax.tree.flatten_with_path": "tree",
    "jax.tree.leaves": "list(array)",
    "jax.tree.leaves_with_path": "tree",
    "jax.tree.transpose": "tree",
    "jax.tree.unflatten": "tree",
    "jax.tree_util.flatten_one_level": "tree",
    "jax.tree_util.flatten_one_level_with_keys": "tree",
    "array.astype": "array",
    "array.dot": "like(self, b)",
    "array.item": "static",
    "jax.numpy.histogramdd": "tree",
    "jax.numpy.piecewise": "like(x)",
    "jax.numpy.trim_zeros": "like(filt)",
    "array.view": "array",
    "array.nonzero": "list(int)",
    "array.choose": "array",
    "array.to_device": "like(self)",
    "jax.lax.unstack": "sequence(array)",
}
# Marks of parameters that are static as a number only (``bins``), or hold functions or flags beside arrays: a tracer
# among these is what they are for.
MARKS: dict[str, dict[str, str]] = {
    "jax.numpy.histogram": {"bins": "@"},
    "jax.numpy.histogram2d": {"bins": "@"},
    "jax.numpy.histogram_bin_edges": {"bins": "@"},
    "jax.numpy.histogramdd": {"bins": "@"},
    "jax.numpy.piecewise": {"funclist": "@"},
    "jax.numpy.trim_zeros": {"filt": "@"},
    "jax.scipy.linalg.cho_solve": {"c_and_lower": "@"},
}

# Why a function has no call that works.
REASONS: dict[str, str] = {
    "jax.numpy.fromfile": "raises NotImplementedError whatever it is given",
    "jax.numpy.fromiter": "raises NotImplementedError whatever it is given",
    "jax.lax.pbroadcast": "only for values that differ between devices",
    "jax.lax.precv": "only between several devices",
    "jax.lax.psend": "only between several devices",
    "jax.lax.ragged_all_to_all": "only between several devices",
    "jax.lax.scaled_dot": "only for the number formats of some accelerators",
}

# Functions whose result has as many axes as sizes or values say, which arrays of ones, all of one size, do not show.
NO_RANK: frozenset[str] = frozenset(
    {"jax.numpy.linalg.tensorsolve", "numpy.linalg.tensorsolve", "numpy.linalg.solve"}
)

# The generated files: what they hold, and which modules.
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "jax_numpy": ("jax.numpy", ("jax.numpy", "jax.numpy.linalg", "jax.numpy.fft")),
    "jax_lax": ("jax.lax", ("jax.lax", "jax.lax.linalg")),
    "jax_nn": ("jax.nn", ("jax.nn", "jax.nn.initializers")),
    "jax_random": ("jax.random", ("jax.random",)),
    "jax_scipy": (
        "jax.scipy",
        tuple(
            f"jax.scipy.{name}"
            for name in """
            cluster.vq fft integrate linalg ndimage optimize signal sparse.linalg special
            stats stats.bernoulli stats.beta stats.betabinom stats.binom stats.cauchy stats.chi2 stats.dirichlet
            stats.expon stats.gamma stats.gennorm stats.geom stats.gumbel_l stats.gumbel_r
            stats.laplace stats.logistic stats.multinomial stats.multivariate_normal stats.nbinom stats.norm
            stats.pareto stats.poisson stats.t stats.truncnorm stats.uniform stats.vonmises stats.wrapcauchy
            """.split()
        ),
    ),
    "jax_small": ("Small modules of JAX", ("jax.image", "jax.ops", "jax.tree", "jax.tree_util")),
    "array_methods": ("Methods of a JAX array and of x.at[i]", ("array", "at")),
}
