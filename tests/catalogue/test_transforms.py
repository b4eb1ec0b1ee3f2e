"""Every entry of ``transforms.toml``, shown with real JAX: does ``if x > 0`` inside the function raise or not?

One program per entry, run by JAX and read by the analysis. A function whose argument is staged or batched cannot
branch on it; one that is only differentiated, called as it is or run on the host can.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import warnings
from collections import defaultdict
from pathlib import Path

import pytest

from jitlint.catalogue.load import catalogue
from jitlint.catalogue.transforms import HigherOrder, Wrap, load_transforms
from tests.catalogue.differences import AGREES, Book
from tests.checking import errors

ROOT = Path(__file__).parents[2]
PRELUDE = """\
import jax
import jax.numpy as jnp
{imports}

ONE = jnp.ones(())
MANY = jnp.ones(3)


def f(x):
    if x > 0:
        return x * 2.0
    return -x


def pair(x, y):
    if x > 0:
        return x + y
    return x - y


def use():
    {text}
"""
# What `use` does. f branches on its argument, pair on its first.
PROGRAMS: dict[str, str] = {
    "jax.jit": "jax.jit(f)(ONE)",
    "jax.experimental.pjit.pjit": "jax.experimental.pjit.pjit(f)(ONE)",
    "jax.pmap": "jax.pmap(f)(MANY[:1])",
    "jax.shard_map": (
        'jax.jit(jax.shard_map(f, mesh=jax.make_mesh((1,), ("i",)), '
        "in_specs=jax.sharding.PartitionSpec(), out_specs=jax.sharding.PartitionSpec()))(ONE)"
    ),
    "jax.vmap": "jax.vmap(f)(MANY)",
    "jax.checkpoint": "jax.checkpoint(f)(ONE)",
    "jax.grad": "jax.grad(f)(ONE)",
    "jax.value_and_grad": "jax.value_and_grad(f)(ONE)",
    "jax.jacfwd": "jax.jacfwd(f)(ONE)",
    "jax.jacrev": "jax.jacrev(f)(ONE)",
    "jax.hessian": "jax.hessian(f)(ONE)",
    "jax.make_jaxpr": "jax.make_jaxpr(f)(ONE)",
    "jax.custom_jvp": "g = jax.custom_jvp(f); g.defjvp(lambda x, t: (x[0], t[0])); g(ONE)",
    "jax.custom_vjp": "g = jax.custom_vjp(f); g.defvjp(lambda x: (x, None), lambda kept, ct: (ct,)); g(ONE)",
    "jax.custom_gradient": "jax.custom_gradient(lambda x: (f(x), lambda ct: ct))(ONE)",
    "jax.named_call": "jax.named_call(f, name='f')(ONE)",
    "jax.experimental.checkify.checkify": "jax.experimental.checkify.checkify(f)(ONE)",
    "jax.experimental.jet.jet": "jax.experimental.jet.jet(f, (ONE,), ([ONE],))",
    "jax.closure_convert": "jax.closure_convert(f, ONE)",
    "jax.numpy.vectorize": "jnp.vectorize(f)(MANY)",
    "jax.experimental.pallas.pallas_call": (
        "jax.experimental.pallas.pallas_call(lambda i, o: o.__setitem__(..., f(i[0])), "
        "out_shape=jax.ShapeDtypeStruct((3,), jnp.float32), interpret=True)(MANY)"
    ),
    "jax.experimental.pallas.loop": "jax.experimental.pallas.loop(0, 3)(lambda i: (f(i), None)[1])",
    "jax.experimental.pallas.run_state": (
        "jax.experimental.pallas.run_state(lambda r: r.__setitem__(..., f(r[...])))(ONE)"
    ),
    "equinox.filter_jit": "equinox.filter_jit(f)(ONE)",
    "equinox.nn.make_with_state": "equinox.nn.make_with_state(f)(ONE)",
    "equinox.filter_vmap": "equinox.filter_vmap(f)(MANY)",
    "optax.inject_hyperparams": (
        "g = optax.inject_hyperparams(lambda learning_rate: optax.sgd(f(learning_rate)))(learning_rate=0.1); "
        "s = g.init(ONE); jax.jit(g.update)(ONE, s)"
    ),
    "optax.value_and_grad_from_state": "optax.value_and_grad_from_state(f)(ONE, state=optax.lbfgs().init(ONE))",
    "equinox.filter_pmap": "equinox.filter_pmap(f)(MANY[:1])",
    "equinox.filter_grad": "equinox.filter_grad(f)(ONE)",
    "equinox.filter_value_and_grad": "equinox.filter_value_and_grad(f)(ONE)",
    "equinox.filter_jacfwd": "equinox.filter_jacfwd(f)(ONE)",
    "equinox.filter_checkpoint": "equinox.filter_checkpoint(f)(ONE)",
    "equinox.filter_make_jaxpr": "equinox.filter_make_jaxpr(f)(ONE)",
    "equinox.filter_custom_jvp": "g = equinox.filter_custom_jvp(f); g.def_jvp(lambda x, t: (x[0], t[0])); g(ONE)",
    "equinox.filter_custom_vjp": (
        "g = equinox.filter_custom_vjp(f); g.def_fwd(lambda p, x: (x, None)); g.def_bwd(lambda k, ct, p, x: ct); g(ONE)"
    ),
    "equinox.debug.assert_max_traces": "equinox.debug.assert_max_traces(f, max_traces=1)(ONE)",
    "chex.assert_max_traces": "chex.assert_max_traces(f, n=1)(ONE)",
    "chex.chexify": "chex.chexify(f)(ONE)",
    "flax.nnx.jit": "flax.nnx.jit(f)(ONE)",
    "flax.nnx.pmap": "flax.nnx.pmap(f)(MANY[:1])",
    "flax.nnx.vmap": "flax.nnx.vmap(f)(MANY)",
    "flax.nnx.grad": "flax.nnx.grad(f)(ONE)",
    "flax.nnx.value_and_grad": "flax.nnx.value_and_grad(f)(ONE)",
    "flax.nnx.remat": "flax.nnx.remat(f)(ONE)",
    "flax.linen.remat": (
        "class Inner(flax.linen.Module):\n"
        "        def __call__(self, x):\n"
        "            return f(x)\n\n"
        "    class Outer(flax.linen.Module):\n"
        "        @flax.linen.compact\n"
        "        def __call__(self, x):\n"
        "            return flax.linen.remat(Inner)()(x)\n\n"
        "    Outer().apply({}, ONE)"
    ),
    "flax.nnx.scan": "flax.nnx.scan(lambda c, x: (c, f(x)))(ONE, MANY)",
    "haiku.transform": "haiku.transform(f).apply({}, None, ONE)",
    "haiku.transform_with_state": "haiku.transform_with_state(f).apply({}, {}, None, ONE)",
    "haiku.without_apply_rng": "haiku.without_apply_rng(haiku.transform(f)).apply({}, ONE)",
    "haiku.vmap": "haiku.transform(lambda x: haiku.vmap(f, split_rng=False)(x)).apply({}, None, MANY)",
    "haiku.grad": "haiku.transform(lambda x: haiku.grad(f)(x)).apply({}, None, ONE)",
    "haiku.remat": "haiku.transform(lambda x: haiku.remat(f)(x)).apply({}, None, ONE)",
    "equinox.filter_closure_convert": "equinox.filter_closure_convert((lambda k: lambda x: f(x) * k)(ONE), ONE)",
    "equinox.filter_eval_shape": "equinox.filter_eval_shape(f, ONE)",
    "equinox.filter_jvp": "equinox.filter_jvp(f, (ONE,), (ONE,))",
    "equinox.filter_vjp": "equinox.filter_vjp(f, ONE)",
    "equinox.filter_pure_callback": "equinox.filter_pure_callback(f, ONE, result_shape_dtypes=ONE)",
    "jax.debug.callback": "jax.debug.callback(f, ONE)",
    "jax.eval_shape": "jax.eval_shape(f, ONE)",
    "jax.pure_callback": "jax.pure_callback(f, ONE, ONE)",
    "jax.experimental.io_callback": "jax.experimental.io_callback(f, ONE, ONE)",
    "jax.experimental.ode.odeint": "jax.experimental.ode.odeint(pair, ONE, MANY)",
    "jax.jvp": "jax.jvp(f, (ONE,), (ONE,))",
    "jax.test_util.check_grads": "jax.test_util.check_grads(f, (MANY[0],), 1, atol=0.1, rtol=0.1)",
    "jax.vjp": "jax.vjp(f, ONE)",
    "jax.linearize": "jax.linearize(f, ONE)",
    "jax.linear_transpose": "jax.linear_transpose(f, ONE)",
    "jax.lax.associative_scan": "jax.lax.associative_scan(lambda x, y: f(x[0]) + y, MANY)",
    "jax.lax.cond": "jax.lax.cond(True, f, f, ONE)",
    "jax.lax.switch": "jax.lax.switch(0, [f, f], ONE)",
    "jax.lax.custom_linear_solve": "jax.lax.custom_linear_solve(f, ONE, lambda mv, b: b, symmetric=True)",
    "jax.lax.custom_root": "jax.lax.custom_root(f, ONE, lambda g, x: x, lambda g, y: y)",
    "jax.lax.fori_loop": "jax.lax.fori_loop(0, 3, lambda i, c: f(c), ONE)",
    "jax.lax.map": "jax.lax.map(f, MANY)",
    "jax.lax.reduce": "jax.lax.reduce(MANY, 0.0, pair, (0,))",
    "jax.lax.reduce_window": 'jax.lax.reduce_window(MANY, 0.0, pair, (2,), (1,), "VALID")',
    "jax.lax.scan": "jax.lax.scan(lambda c, x: (c, f(x)), ONE, MANY)",
    "jax.lax.while_loop": "jax.lax.while_loop(lambda c: f(c) < 3, lambda c: c + 1, ONE)",
    "jax.numpy.apply_along_axis": "jnp.apply_along_axis(lambda row: f(row[0]), 0, jnp.ones((3, 3)))",
    "jax.numpy.fromfunction": "jnp.fromfunction(lambda row, column: f(row), (3, 2))",
    "jax.numpy.piecewise": "jnp.piecewise(MANY, [MANY > 0], [f])",
    "jax.scipy.optimize.minimize": 'jax.scipy.optimize.minimize(lambda x: f(x[0]), MANY, method="BFGS")',
    "jax.scipy.sparse.linalg.cg": "jax.scipy.sparse.linalg.cg(lambda x: f(x[0]) * x, MANY)",
    "optimistix.root_find": "optimistix.root_find(lambda y, args: f(y), optimistix.Newton(1e-3, 1e-3), ONE)",
    "optimistix.fixed_point": (
        "optimistix.fixed_point(lambda y, args: f(y), optimistix.FixedPointIteration(1e-3, 1e-3), ONE)"
    ),
    "optimistix.least_squares": (
        "optimistix.least_squares(lambda y, args: f(y), optimistix.GaussNewton(1e-3, 1e-3), ONE)"
    ),
    "optimistix.minimise": "optimistix.minimise(lambda y, args: f(y), optimistix.BFGS(1e-3, 1e-3), ONE)",
    "jax.tree.map": "jax.tree.map(f, [ONE])",
    "jax.tree.map_with_path": "jax.tree.map_with_path(lambda path, x: f(x), [ONE])",
}
EXCUSED = {
    "haiku.jit": "gone from Haiku; kept for programs written for older ones",
    "jax.experimental.xmap.xmap": "gone from JAX; kept for programs written for older ones",
    "jax.experimental.pallas.kernel": "runs on accelerators only",
    "jax.experimental.pallas.mosaic_gpu.kernel": "runs on GPUs only",
    "jax.experimental.pallas.tpu.emit_pipeline": "runs on TPUs only",
    "jax.experimental.pallas.run_scoped": "hands over memory that accelerators only have",
    "jax.experimental.pallas.core_map": "its function has no parameters",
    "jax.experimental.pallas.when": "its function has no parameters",
}
LIBRARIES = ("jax", "equinox", "optax", "flax", "haiku", "chex", "optimistix")


def refuses(name: str) -> bool:
    """What the catalogue says: the function's argument is staged or batched."""
    entries = load_transforms(())
    wrap = entries.wraps.get(name)
    modes = [wrap.modes] if wrap is not None else [run.modes for run in entries.calls[name].run]
    return any(mode > 0 and mode & 3 for mode in modes)


def source(name: str) -> str:
    module = name.rpartition(".")[0]
    return PRELUDE.format(
        imports=f"import {module}\n" if module not in ("jax", "jax.numpy") else "", text=PROGRAMS[name]
    )


def entries() -> list[str]:
    known = load_transforms(())
    return sorted({*known.wraps, *known.calls} - EXCUSED.keys())


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Entry → codes of the errors in its program."""
    folder = tmp_path_factory.mktemp("transforms")
    folder.joinpath("pyproject.toml").write_text("", encoding="utf-8")
    for name in PROGRAMS:
        folder.joinpath(f"use_{name.replace('.', '_')}.py").write_text(source(name), encoding="utf-8")
    found: dict[str, set[str]] = defaultdict(set)
    for item in errors(folder):
        found[Path(item["path"]).stem].add(item["code"])
    return found


def test_every_entry_has_a_program_and_a_link() -> None:
    assert set(PROGRAMS) == set(entries())
    known = load_transforms(())
    everything = [*known.wraps.values(), *known.calls.values(), *known.roles.values(), *known.handed.values()]
    assert [entry.name for entry in everything if not entry.doc.startswith("https://")] == []


@pytest.mark.parametrize("name", entries())
def test_the_analysis_agrees(name: str, reported: dict[str, set[str]]) -> None:
    assert reported[f"use_{name.replace('.', '_')}"] == ({"JIT101"} if refuses(name) else set())


@pytest.mark.parametrize("name", entries())
def test_jax_agrees(name: str, tmp_path: Path, book: Book) -> None:
    jax = pytest.importorskip("jax")
    library = name.partition(".")[0]
    assert library in LIBRARIES
    pytest.importorskip(library)
    path = tmp_path / "program.py"
    path.write_text(source(name), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    raised = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            spec.loader.exec_module(module)
            module.use()
            jax.effects_barrier()
        except Exception as error:
            raised = type(error).__name__
    expected = "TracerBoolConversionError" if refuses(name) else ""
    same = raised == expected
    book.check("transforms", {name: AGREES if same else f"raises {raised or 'nothing'}"})


def _closed() -> list[Wrap | HigherOrder]:
    found = load_transforms()
    return [spec for spec in (*found.wraps.values(), *found.calls.values()) if spec.closed]


@pytest.mark.parametrize("spec", _closed(), ids=lambda spec: spec.name)
def test_all_parameters_of_a_closed_transform_are_known(spec: Wrap | HigherOrder) -> None:
    module, _, name = spec.name.rpartition(".")
    signature = inspect.signature(getattr(importlib.import_module(module), name))
    known = {param.lstrip("*") for param in spec.params}
    view = catalogue().view
    assert [p for p in signature.parameters if p not in known and not view.mentions(spec.name, p)] == []
