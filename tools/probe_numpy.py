"""Measure what NumPy's and SciPy's functions do with a tracer; prints the lines of ``numpy.toml`` and ``scipy.toml``.

    JAX_PLATFORMS=cpu python tools/probe_numpy.py [numpy|scipy]     # lines for the data
    JAX_PLATFORMS=cpu python tools/probe_numpy.py --diff            # only where data and the libraries disagree

Each function is called once with host arrays (the example calls of ``probe_examples.py``, else guessed), then with a
tracer as its first array argument, with that tracer in a list, and with a tracer in each later array
argument. Functions that touch files or global state are left out; their lines are in ``FIXED``.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import sys
import warnings
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from probe_calls import namespace, parse_call
from probe_catalogue import letter
from probe_examples import EXAMPLES

from jitlint.catalogue.load import catalogue
from jitlint.catalogue.schema import parse_numpy

BVEC, CUBE, IVEC, SPD, UNIT, VEC = (namespace()[n] for n in ("BVEC", "CUBE", "IVEC", "SPD", "UNIT", "VEC"))


class Call:
    """A concrete call: the values of its arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


MODULES = (
    "numpy",
    "numpy.linalg",
    "numpy.fft",
    "numpy.random",
    "numpy.testing",
    "numpy.lib.stride_tricks",
    "numpy.random.Generator",
    "scipy.fft",
    "scipy.interpolate",
    "scipy.linalg",
    "scipy.ndimage",
    "scipy.signal",
    "scipy.spatial.distance",
    "scipy.special",
    *(f"scipy.stats.{name}" for name in "norm beta expon gamma laplace logistic poisson t uniform".split()),
)
FIXED = {
    "numpy.argsort": "raises T -> array",  # fails when the program is lowered, not while it is traced
    "numpy.str_": "works -> static",
    "numpy.save": "raises A -> none",
    "numpy.savez": "raises A -> none",
    "numpy.savez_compressed": "raises A -> none",
    "numpy.savetxt": "raises A -> none",
    "numpy.load": "raises T -> array",
    "numpy.loadtxt": "raises V -> array",
    "numpy.genfromtxt": "raises T -> array",
    "numpy.fromfile": "raises E -> array",
    "numpy.errstate": "works -> opaque",
    "numpy.printoptions": "works -> opaque",
    "numpy.random.seed": "raises A -> none",
    "numpy.random.default_rng": "raises T -> opaque",
    "numpy.random.RandomState": "raises A -> opaque",
    "numpy.random.Generator": "works -> opaque",
    "numpy.random.SeedSequence": "raises T -> opaque",
    "numpy.random.PCG64": "raises T -> opaque",
    "numpy.set_printoptions": "works -> none",
    "numpy.seterr": "works -> static",
    "numpy.vectorize": "works -> opaque",
    "numpy.frompyfunc": "works -> opaque",
    "numpy.dtype": "works -> static",
    "numpy.finfo": "works -> static",
    "numpy.iinfo": "works -> static",
    "numpy.ndenumerate": "raises A -> opaque",
    "numpy.nditer": "raises T -> opaque",
    "numpy.ndindex": "raises B -> opaque",
    "numpy.ndarray": "raises T -> array",
    "numpy.poly1d": "raises A -> opaque",
    "numpy.matrix": "raises A -> array",
    "numpy.testing.assert_": "raises B -> none",
    "numpy.testing.assert_raises": "works -> opaque",
    "numpy.can_cast": "works -> static",
    "numpy.promote_types": "works -> static",
    "numpy.issubdtype": "works -> static",
    "numpy.frombuffer": "raises T -> array",
    "numpy.fromiter": "raises V -> array",
    "numpy.fromstring": "raises T -> array",
    "numpy.astype": "raises T -> array",
}
LEFT_OUT_NAMES = """
info show_config show_runtime test getbufsize setbufsize seterrcall geterr geterrcall get_include
get_printoptions break_cycles check_support_sve deprecate jiffies measure memusage print_assert_equal
run_threaded rundocs runstring tempdir temppath build_err_msg decorate_methods assert_array_compare
assert_no_gc_cycles lookfor source who safe_eval recfromcsv recfromtxt from_dlpack frombuffer fromregex
get_state set_state set_bit_generator get_bit_generator default_rng asmatrix bmat set_typeDict typename
DataSource memmap nested_iters open_memmap fromstring fromiter format_float_positional
format_float_scientific datetime_as_string datetime_data busday_count busday_offset is_busday isnat
min_scalar_type issubdtype isdtype mintypecode promote_types can_cast sctype2char astype bytes
set_workers get_workers generate_knots kaiser_atten newton_cotes find_best_blas_type register_backend set_backend
set_global_backend skip_backend get_blas_funcs get_lapack_funcs errstate test
expect freeze fit fit_loc_scale nnlf support vecentropy
"""
LEFT_OUT = frozenset(LEFT_OUT_NAMES.split())
SPECIAL = frozenset(
    """
    bdtr beta betainc betaln binom cosdg digamma ellipe ellipk entr erf erfc erfcinv erfcx erfi erfinv exp1 exp10 exp2
    expi expit expm1 expn exprel gamma gammainc gammaincc gammaln gammasgn hyp1f1 hyp2f1 i0 i0e i1 i1e iv j0 j1 jv k0 k1
    kl_div kv lambertw log1p log_expit log_ndtr log_softmax logit loggamma logsumexp multigammaln ndtr ndtri poch psi
    rel_entr sici sinc sindg softmax wofz xlog1py xlogy y0 y1 yv zeta
    """.split()
)
"""What is measured of ``scipy.special``: some functions take minutes for large numbers."""
TRIES: tuple[tuple[Any, ...], ...] = (
    (VEC,),
    (SPD,),
    (IVEC,),
    (UNIT,),
    (BVEC,),
    (VEC, VEC),
    (SPD, SPD),
    (IVEC, IVEC),
    (SPD, VEC),
    (VEC, 2),
    (VEC, 1),
    (SPD, 0),
    (3,),
    (3, 2),
    ([VEC, VEC],),
    (CUBE,),
    (2.0, 3.0, 4.0),
    (VEC, VEC, VEC),
    (10, 0.5),
    (10, 5, 3),
    (0.5, 3),
    (IVEC.astype(np.uint8),),
    (VEC.astype("complex64"),),
)
EXTRA = {
    "scipy.linalg.cho_solve": Call((SPD, True), VEC),
    "scipy.linalg.eigh_tridiagonal": Call(VEC, VEC[1:]),
    "scipy.linalg.eigvalsh_tridiagonal": Call(VEC, VEC[1:]),
    "scipy.linalg.lu_solve": Call((SPD, np.arange(4)), VEC),
    "scipy.linalg.solve_sylvester": Call(SPD, SPD, SPD),
    "scipy.linalg.solve_continuous_are": Call(SPD, SPD, SPD, SPD),
    "scipy.linalg.solve_discrete_are": Call(SPD, SPD, SPD, SPD),
    "scipy.ndimage.affine_transform": Call(SPD, np.eye(2)),
    "scipy.ndimage.map_coordinates": Call(SPD, np.ones((2, 3))),
    "scipy.ndimage.rank_filter": Call(VEC, 0, 2),
    "scipy.signal.decimate": Call(np.ones(64), 2),
    "scipy.signal.filtfilt": Call(VEC[:2], VEC[:2], np.ones(64)),
    "scipy.signal.resample_poly": Call(np.ones(64), 1, 2),
    "scipy.signal.savgol_filter": Call(np.ones(64), 5, 2),
    "scipy.signal.sosfilt": Call(np.array([[1.0, 0, 0, 1, 0, 0]]), np.ones(64)),
    "scipy.signal.sosfiltfilt": Call(np.array([[1.0, 0, 0, 1, 0, 0]]), np.ones(64)),
    "scipy.spatial.distance.mahalanobis": Call(VEC, VEC, SPD),
    "scipy.stats.poisson.pmf": Call(IVEC, 1.0),
    "scipy.stats.poisson.logpmf": Call(IVEC, 1.0),
    "scipy.stats.beta.pdf": Call(UNIT, 1.0, 1.0),
    "numpy.random.multivariate_normal": Call(VEC, SPD),
    "numpy.random.Generator.multivariate_normal": Call(VEC, SPD),
    "numpy.random.choice": Call(VEC),
    "numpy.random.randint": Call(3),
    "numpy.random.dirichlet": Call(VEC),
    "numpy.random.noncentral_f": Call(3.0, 20.0, 1.0),
    "numpy.random.triangular": Call(0.0, 0.5, 1.0),
    "numpy.random.Generator.triangular": Call(0.0, 0.5, 1.0),
    "numpy.random.Generator.choice": Call(VEC),
    "numpy.random.Generator.multivariate_hypergeometric": Call(IVEC, 2),
    "numpy.testing.assert_allclose": Call(VEC, VEC),
    "numpy.testing.assert_array_less": Call(VEC, VEC + 1),
    "numpy.copyto": Call(VEC.copy(), VEC),
    "numpy.put": Call(VEC.copy(), IVEC, VEC),
    "numpy.place": Call(VEC.copy(), BVEC, VEC),
    "numpy.putmask": Call(VEC.copy(), BVEC, VEC),
    "numpy.fill_diagonal": Call(SPD.copy(), 1.0),
    "numpy.put_along_axis": Call(SPD.copy(), np.zeros((1, 4), int), 1.0, 0),
    "numpy.choose": Call(IVEC, [VEC, VEC, VEC, VEC]),
    "numpy.full": Call(3, 1.0),
    "numpy.linspace": Call(0.0, 1.0, 5),
    "numpy.array": Call(VEC),
    "numpy.asarray": Call(VEC),
    "numpy.einsum": Call("i,i->", VEC, VEC),
    "numpy.bincount": Call(IVEC),
    "numpy.base_repr": Call(3),
    "numpy.binary_repr": Call(3),
    "numpy.broadcast_shapes": Call((3,), (3,)),
    "numpy.where": Call(BVEC, VEC, VEC),
    "numpy.concatenate": Call([VEC, VEC]),
    "numpy.digitize": Call(VEC, np.sort(VEC)),
    "numpy.empty": Call(3),
    "numpy.eye": Call(3),
    "numpy.fft.fftfreq": Call(3),
    "numpy.fft.rfftfreq": Call(3),
    "numpy.hanning": Call(3),
    "numpy.hamming": Call(3),
    "numpy.blackman": Call(3),
    "numpy.bartlett": Call(3),
    "numpy.identity": Call(3),
    "numpy.indices": Call((2, 2)),
    "numpy.mask_indices": Call(3, np.triu),
    "numpy.ones": Call(3),
    "numpy.random.Generator.random": Call(3),
    "numpy.random.random": Call(3),
    "numpy.random.rand": Call(3),
    "numpy.random.randn": Call(3),
    "numpy.random.multinomial": Call(10, UNIT / UNIT.sum() * 0.99),
    "numpy.random.Generator.multinomial": Call(10, UNIT / UNIT.sum() * 0.99),
    "numpy.testing.assert_approx_equal": Call(1.0, 1.0),
    "numpy.tri": Call(3),
    "numpy.tril_indices": Call(3),
    "numpy.triu_indices": Call(3),
    "numpy.zeros": Call(3),
}


def quiet(function: Callable[[], Any]) -> tuple[bool, Any]:
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return True, function()
    except Exception as error:  # whatever the library raises is the measurement
        return False, error


def fresh(call: Call) -> list[Any]:
    """The example's arguments, copied: some functions write into them."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in call.args]


def example(name: str) -> Call | None:
    """The example call of the function of the same name in jax.numpy."""
    texts = EXAMPLES.get(f"jax.{name}")
    if not texts or name.startswith("scipy."):
        return None
    call = parse_call(texts if isinstance(texts, str) else texts[0])
    names = {**namespace(), "jnp": np}
    return Call(*(eval(t, names) for t in call.args), **{k: eval(t, names) for k, t in call.kwargs.items()})


def find_call(name: str, function: Any) -> Call | None:
    known = EXTRA.get(name) or example(name)
    if known is not None and quiet(lambda: function(*fresh(known), **known.kwargs))[0]:
        return known
    plain = [(VEC,) * function.nin] if isinstance(function, np.ufunc) else []
    for call in (Call(*arguments) for arguments in (*plain, *TRIES)):
        if quiet(lambda: function(*fresh(call)))[0]:  # noqa: B023 - runs at once
            return call
    return None


def traced(function: Any, call: Call, position: int, in_list: bool) -> tuple[bool, Any]:
    """Call with a tracer at ``position`` (inside a list if asked): what came back, or the exception."""
    outcome: list[tuple[bool, Any]] = []
    value = call.args[position]

    def body(tracer: Any) -> None:
        arguments = fresh(call)
        item = tracer[0] if isinstance(value, (list, tuple)) else tracer
        arguments[position] = [item, item] if in_list else tracer
        outcome.append(quiet(lambda: function(*arguments, **call.kwargs)))

    jax.eval_shape(body, value)
    return outcome[0]


def is_numeric(value: Any) -> bool:
    leaves = jax.tree.leaves(value)
    return bool(leaves) and all(isinstance(v, (int, float, complex, np.ndarray, np.generic)) for v in leaves)


def line(name: str, function: Any) -> str | None:
    call = find_call(name, function)
    if call is None:
        return None
    positions = [i for i, value in enumerate(call.args) if is_numeric(value)]
    if not positions:
        return None
    result = function(*fresh(call), **call.kwargs)
    if isinstance(result, (np.ndarray, np.generic)):
        kind = "array"
    elif isinstance(result, (list, tuple)) and any(isinstance(r, np.ndarray) for r in result):
        kind = "list"
    elif result is None:
        kind = "none"
    elif isinstance(result, (int, float, complex)) and "random" in name:
        kind = "array"  # a number drawn on the host
    else:
        kind = "static"
    good, found = traced(function, call, positions[0], in_list=False)
    later = [traced(function, call, i, in_list=False) for i in positions[1:]]
    if not good:
        return f"raises {letter(found)} -> {kind}"
    words = ["works"]
    if isinstance(result, bool) and isinstance(found, bool) and result != found:
        words = ["false"]
    if isinstance(found, jax.core.Tracer):
        kind = "array"
    elif any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(found)):
        kind = "list"
    if not isinstance(call.args[positions[0]], (list, tuple)):
        works, error = traced(function, call, positions[0], in_list=True)
        if not works and letter(error) in "AICB":
            words.append(f"list:{letter(error)}")
    errors = [letter(error) for works, error in later if not works]
    if errors:
        words.append(f"other:{errors[0]}")
    return f"{' '.join(words)} -> {kind}"


def owner_of(name: str) -> Any:
    """The module, or the object whose methods are meant."""
    if name == "numpy.random.Generator":
        return np.random.default_rng(0)
    if name.startswith("scipy.stats."):
        return getattr(importlib.import_module("scipy.stats"), name.rpartition(".")[2])
    return importlib.import_module(name)


def measured(module_name: str) -> dict[str, str]:
    """The line of every function of a module, by name."""
    owner = owner_of(module_name)
    lines = {n.rpartition(".")[2]: text for n, text in FIXED.items() if n.rpartition(".")[0] == module_name}
    for name in dir(owner):
        value = getattr(owner, name)
        is_class = inspect.isclass(value) and not issubclass(value, np.generic)
        if name.startswith("_") or name in LEFT_OUT or name in lines or is_class:
            continue
        if inspect.ismodule(value) or not callable(value):
            continue
        if module_name == "scipy.special" and name not in SPECIAL:
            continue
        text = line(f"{module_name}.{name}", value)
        if text is None:
            print(f"no working call: {module_name}.{name}", file=sys.stderr)
        else:
            lines[name] = text
    return lines


def main(arguments: list[str]) -> int:
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    different = 0
    libraries = [word for word in arguments if not word.startswith("-")] or ["numpy", "scipy"]
    for module_name in (name for name in MODULES if name.partition(".")[0] in libraries):
        lines = measured(module_name)
        if "--diff" not in arguments:
            print(f'\n[numpy."{module_name}"]')
        for name, text in sorted(lines.items()):
            dotted = f"{module_name}.{name}"
            if "--diff" not in arguments:
                print(f'{name} = "{text}"')
            elif catalogue().numpy(dotted) != parse_numpy(dotted, text):
                print(f"{dotted}: NumPy and JAX say {text}; the data says {catalogue().numpy(dotted)}")
                different += 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
