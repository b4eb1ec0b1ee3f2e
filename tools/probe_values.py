"""Values that the probes try, as source text. Only data.

``PRELUDE`` defines the named values; generated programs begin with the same lines, so what is measured and what is
analysed are one text. ``BY_NAME`` says which values to try for a parameter of a given name (the first is the first
guess), ``FLAVOURS`` which to try for any other required parameter.
"""

from __future__ import annotations

PRELUDE = """\
import io

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jax import lax

VEC = np.array([1.5, 0.5, 2.0, 3.0], np.float32)
UNIT = np.array([0.2, 0.4, 0.6, 0.8], np.float32)
IVEC = np.array([1, 2, 0, 3], np.int32)
BVEC = np.array([True, False, True, True])
SPD = np.array([[4, 1, 0, 0], [1, 3, 1, 0], [0, 1, 5, 1], [0, 0, 1, 6]], np.float32)
CVEC = VEC.astype(np.complex64)
CUBE = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
IMG = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
KER = np.ones((1, 1, 2, 2), np.float32)
HEADS = np.ones((1, 4, 1, 4), np.float32)
KEY = jax.random.key(0)
MATRIX = jnp.asarray(SPD)
DN = lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
SDN = lax.ScatterDimensionNumbers(
    update_window_dims=(), inserted_window_dims=(0,), scatter_dims_to_operand_dims=(0,)
)
# JAX 0.4.30 has no such class: a text is no array either.
RAGGED = getattr(lax, "RaggedDotDimensionNumbers", "{dot_dimension_numbers} {lhs_ragged_dimensions}".format)(
    dot_dimension_numbers=(((1,), (1,)), ((), ())), lhs_ragged_dimensions=(0,), rhs_group_dimensions=(0,)
)
CONV = ("NCHW", "OIHW", "NCHW")
PAIR = jax.tree.structure([0, 0])
MESH = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("i",))
SHARDING = jax.sharding.NamedSharding(MESH, jax.sharding.PartitionSpec())


def stored():
    file = io.BytesIO()
    np.save(file, VEC)
    file.seek(0)
    return file


def same(t):
    return t


def add(a, b):
    return a + b


def never(t):
    return False


def cut(x, k):
    return jnp.triu(x, k)

"""

BY_NAME: dict[str, list[str]] = {
    "shape": ["(4,)", "(2, 2)"],
    "new_sizes": ["(2, 2)"],
    "axis": ["0"],
    "axes": ["(0,)", "0", "((0,), (0,))", "(0, 1)", "(1, 0)"],
    "dimension": ["0"],
    "dimensions": ["(0,)"],
    "axis1": ["0"],
    "axis2": ["1"],
    "source": ["0"],
    "destination": ["1"],
    "start": ["0"],
    "stop": ["4"],
    "dtype": [
        "np.float32",
        "np.int32",
        "np.uint32",
        "np.complex64",
        '"threefry2x32"',
        "jax.random.key_dtype()",
        "None",
    ],
    "new_dtype": ["np.int32"],
    "key": ["KEY"],
    "seed": ["0"],
    "n": ["3"],
    "N": ["3"],
    "M": ["4"],
    "m": ["3"],
    "k": ["1"],
    "K": ["4"],
    "num": ["3"],
    "length": ["6"],
    "size": ["4"],
    "total_repeat_length": ["8"],
    "num_segments": ["5"],
    "num_classes": ["4"],
    "indices": ["IVEC"],
    "ind": ["IVEC"],
    "condition": ["BVEC"],
    "mask": ["BVEC"],
    "pred": ["BVEC"],
    "func": ["same"],
    "fun": ["same"],
    "f": ["same"],
    "body_fun": ["same"],
    "keepdims": ["True"],
    "endpoint": ["False"],
    "ddof": ["1"],
    "correction": ["1"],
    "decimals": ["1"],
    "fill_value": ["0.0"],
    "initial": ["0.0"],
    "where": ["BVEC", "BVEC[:, None]"],
    "weights": ["VEC"],
    "bins": ["4"],
    "range": ["(0.0, 4.0)", "[(0.0, 4.0)] * 2", "[(0.0, 4.0)] * 4"],
    "density": ["True"],
    "minlength": ["5"],
    "offset": ["1"],
    "deg": ["1"],
    "repeats": ["2"],
    "reps": ["2"],
    "num_results": ["3"],
    "precision": ['"highest"', "None", "3"],
    "preferred_element_type": ["np.float32"],
    "unique_indices": ["True"],
    "indices_are_sorted": ["True"],
    "mode": ['"clip"', '"wrap"', '"full"', '"constant"', '"high"', "None"],
    "method": ['"linear"', '"sort"', '"scan"', '"lu"', '"qr"', "None"],
    "side": ["'right'"],
    "norm": ["'ortho'"],
    "order": ['"C"', '"K"', "1", "None"],
    "ord": ["2", "1"],
    "p": ["UNIT", "2"],
    "replace": ["False"],
    "independent": ["True"],
    "assume_unique": ["True"],
    "return_indices": ["True"],
    "return_index": ["True"],
    "return_inverse": ["True"],
    "return_counts": ["True"],
    "equal_nan": ["True"],
    "rtol": ["1e-05"],
    "atol": ["1e-08"],
    "tol": ["1e-05"],
    "rcond": ["1e-05"],
    "full_matrices": ["False"],
    "compute_uv": ["False"],
    "UPLO": ["'U'"],
    "hermitian": ["True"],
    "lower": ["True"],
    "unroll": ["2"],
    "reverse": ["True"],
    "batch_size": ["2"],
    "impl": ["'threefry2x32'"],
    "indexing": ["'ij'"],
    "sparse": ["True"],
    "descending": ["True"],
    "stable": ["True"],
    "is_stable": ["True"],
    "a_min": ["0.0"],
    "a_max": ["2.0"],
    "min": ["0.0"],
    "max": ["2.0"],
    "increasing": ["True"],
    "x_min": ["0.0"],
    "x_max": ["2.0"],
    "dx": ["0.5"],
    "prepend": ["0.0"],
    "append": ["0.0"],
    "to_end": ["1.0"],
    "to_begin": ["1.0"],
    "left": ["0.0", "True"],
    "right": ["0.0"],
    "period": ["3.0"],
    "nan": ["0.0"],
    "posinf": ["0.0"],
    "neginf": ["0.0"],
    "copy": ["True", "None"],
    "s": ["(4,)", "(2, 2)"],
    "d": ["0.5"],
    "alpha": ["0.5"],
    "negative_slope": ["0.1"],
    "approximate": ["False"],
    "b": ["VEC"],
    "bucket_size": ["2"],
    "exclusive": ["True"],
    "num_keys": ["1"],
    "recall_target": ["0.9"],
    "index_dtype": ["np.int32"],
    "check_finite": ["False"],
    "overwrite_a": ["False"],
    "bitorder": ["'little'"],
    "count": ["4"],
    "shift": ["1"],
    "ndmin": ["2"],
    "optimize": ["'greedy'"],
    "op": ["np.float32"],
    "is_leaf": ["lambda t: False"],
    "tree": ["[VEC]"],
    "dim": ["0"],
    "antialias": ["False"],
    "strip_zeros": ["False"],
    "trim": ['"f"'],
    "element": ["VEC"],
    "unit": ["True"],
    "out": ["VEC", "None"],
    "device": ["jax.devices()[0]"],
    "out_sharding": ["None"],
    "overwrite_input": ["False"],
    "mean": ["1.0", "VEC[:1]"],
    "wrap": ["True"],
    "fweights": ["IVEC"],
    "aweights": ["UNIT"],
    "max_line_width": ["40"],
    "suppress_small": ["True"],
    "trim_leading_zeros": ["False"],
    "w": ["VEC"],
    "sorter": ["IVEC"],
    "wrap_negative_indices": ["False"],
    "discont": ["3.0"],
    "lhs_dilation": ["(1, 1)"],
    "rhs_dilation": ["(1, 1)"],
    "base_dilation": ["(1,)"],
    "window_dilation": ["(1,)"],
    "rounding_method": ["lax.RoundingMethod.TO_NEAREST_EVEN"],
    "strides": ["(1,)"],
    "impl_spec": ['"threefry2x32"'],
    "sigma": ["0.5"],
    "bias": ["np.zeros((1, 1, 4, 4), np.float32)"],
    "scale": ["0.5", '"sqrtn"'],
    "query_seq_lengths": ["np.array([2])"],
    "key_value_seq_lengths": ["np.array([2])"],
    "local_window_size": ["(1, 1)"],
    "global_scale": ["jnp.ones(())"],
    "variance": ["1.0"],
    "batch_axis": ["()"],
    "overwrite_b": ["False"],
    "debug": ["False"],
    "lwork": ["4", "None"],
    "eps": ["1e-5", "None"],
    "max_iterations": ["3"],
    "turbo": ["True"],
    "eigvals": ["(0, 1)", "None"],
    "select": ['"a"'],
    "select_range": ["(0.0, 9.0)"],
    "lapack_driver": ['"gesdd"'],
    "assume_a": ['"pos"', '"gen"'],
    "use_magma": ["False"],
    "subset_by_index": ["(0, 4)", "None"],
    "permutation_size": ["4"],
    "transpose": ["True"],
    "dynamic_shape": ["None"],
    "perturb_singular": ["True"],
    "select_callable": ["same"],
    "cval": ["0.0"],
    "zi": ["1.0"],
    "accuracy": ["lax.AccuracyMode.DEFAULT"],
    "sep": ['" "'],
    "options": ["dict(maxiter=1)"],
    "restart": ["2"],
    "maxiter": ["2"],
    "x0": ["np.zeros(4, np.float32)"],
    "solve_method": ['"batched"'],
    "like": ["None"],
    "kind": ["None", '"upper"'],
    "_dot_general": ["lax.dot_general"],
    "edge_order": ["1"],
    "numpy_resid": ["False"],
    "allow_singular": ["None"],
    "implementation": ["None"],
    "algorithm": ["None", "lax.RandomAlgorithm.RNG_DEFAULT"],
    "nperseg": ["4"],
    "noverlap": ["1", "2"],
    "nfft": ["4", "8"],
    "detrend": ["False", '"constant"'],
    "overwrite_data": ["False"],
    "diff_n": ["None"],
    "stream": ["None"],
    "type": ["None"],
    "sharding": ["None"],
    "out_dtype": ["None", "np.float32"],
    "group_offset": ["None"],
    "_": ["None"],
    "axis_index_groups": ["None"],
}
FLAVOURS = [
    "VEC",
    "SPD",
    "IVEC",
    "UNIT",
    "BVEC",
    "0.5",
    "CVEC",
    "CUBE",
    "[VEC, VEC]",
    "[SPD, SPD]",
    "3",
    "KEY",
    '"float32"',
    "same",
    "(VEC, VEC)",
]
