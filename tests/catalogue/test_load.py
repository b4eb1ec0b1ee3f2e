"""The shipped catalogue: complete, in step with its sources, and answering as documented."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from jitlint.catalogue.load import COMPILED, catalogue
from jitlint.catalogue.schema import CatalogueError, Removed, Result

ROOT = Path(__file__).parents[2]
DATA = COMPILED.parent / "data"
HISTORY = 'releases = ["0.4.30", "0.5.3"]\n' + "\n".join(
    f"[{table}]" for table in ("names", "arguments", "moved", "options", "said")
)
LEXICON = (DATA / "lexicon.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compiler() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "compile_catalogue", ROOT / "tools" / "compile_catalogue.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_compiled_file_is_in_step(compiler: ModuleType) -> None:
    assert compiler.main(["--check"]) == 0


def test_every_entry_parses(compiler: ModuleType) -> None:
    compiler.validate(compiler.read(DATA))


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("jax_numpy", "functions = ", "jax_numpy.toml: "),
        ("jax_numpy", '[function."jax.numpy"]\nsum = "a -> array"', "unknown table [function]"),
        ("jax_numpy", '[functions."jax.numpy"]\nsum = 1', "Expected `str`, got `int`"),
        ("jax_numpy", '[functions."jax.numpy"]\nsum = "a -> sum"', "jax.numpy.sum: unknown result"),
        ("jax_lax", '[functions."jax.numpy"]\nsum = "a -> array"', "`jax.numpy.sum` is listed twice"),
        ("jax_lax", '[functions."jax.lax"]\nscan = "f -> tree"', "jax.lax.scan: is a transform"),
        ("jax_misc", '[functions."jax"]\nremat = "f -> tree"', "jax.remat: is an alias of jax.checkpoint"),
        ("results", '[ranks."jax.numpy"]\nnope = "2"', "jax.numpy.nope: a result of an unknown function"),
        ("results", '[ranks."jax.numpy"]\nsum = "reduce(x, axis)"', "jax.numpy.sum: no parameter `axis`"),
        ("results", '[ranks."jax.numpy"]\nsum = "all(a)"', "jax.numpy.sum: cannot read the rank"),
        ("results", '[dtypes."jax.numpy"]\nsum = "bool"', "jax.numpy.sum: cannot read the dtypes"),
        ("history", '[names."jax"]\nf = "-0.5.3"', "history.toml: "),
        ("history", HISTORY.replace("[names]", '[names."jax"]\nf = "-0.6.2"'), "jax.f: cannot read '-0.6.2'"),
        ("history", HISTORY.replace("[names]", '[names."jax"]\nf = "gone"'), "jax.f: cannot read 'gone'"),
        ("lexicon", "[arrays]", "`buffers` is missing"),
        ("lexicon", LEXICON + "[nope]", "`nope` is unknown"),
        (
            "lexicon",
            LEXICON.replace('apart = "', 'apart = 1 # "'),
            "`python.apart` holds something else than text",
        ),
        ("lexicon", LEXICON.replace('apart = "', 'apart = "numpy '), "a name is twice in `python.apart`"),
        ("array", '[attributes]\nitem = "raises C"', "array attribute item: cannot read"),
        (
            "conditions",
            '[conditions]\n"jax.nope" = {missing = ["x"], result = "int"}',
            "jax.nope: a condition",
        ),
        (
            "aliases",
            '[transforms]\njax = "jit"\n[aliases]\n"a.b" = "c"\n"c" = "d"',
            "a.b: its target c is an alias",
        ),
    ],
)
def test_bad_data_is_refused_by_name(
    compiler: ModuleType, tmp_path: Path, file: str, text: str, complaint: str
) -> None:
    small = {
        "aliases": '[transforms]\n"jax.lax" = "scan"\n[aliases]\n"jax.remat" = "jax.checkpoint"',
        "jax_numpy": '[functions."jax.numpy"]\nsum = "a -> array"',
    }
    tmp_path.joinpath("lexicon.toml").write_text(text if file == "lexicon" else LEXICON, encoding="utf-8")
    tmp_path.joinpath("history.toml").write_text(text if file == "history" else HISTORY, encoding="utf-8")
    tmp_path.joinpath("names.toml").write_text("[names]", encoding="utf-8")
    for name in (*compiler.FILES, *compiler.ENTRIES):
        tmp_path.joinpath(f"{name}.toml").write_text(text if name == file else small.get(name, ""))
    with pytest.raises(CatalogueError) as caught:
        compiler.validate(compiler.read(tmp_path))
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("jax.tree_map", "jax.tree.map"),
        ("jax.tree_util.tree_map", "jax.tree.map"),
        ("jax.experimental.shard_map.shard_map", "jax.shard_map"),
        ("jax.experimental.pjit.pjit", "jax.jit"),
        ("jax.remat", "jax.checkpoint"),
        ("jax.api.jit", "jax.jit"),
        ("flax.linen.relu", "jax.nn.relu"),
        ("flax.linen.activation.swish", "jax.nn.silu"),
        ("flax.nnx.initializers.lecun_normal", "jax.nn.initializers.lecun_normal"),
        ("jax.numpy.ndarray", "jax.Array"),
        ("chex.Array", "jax.Array"),
        ("jax.interpreters.partial_eval.DynamicJaxprTracer", "jax.core.Tracer"),
        ("jax.numpy.sum", "jax.numpy.sum"),
        ("jax.remat_like", "jax.remat_like"),
        ("os.path.join", "os.path.join"),
    ],
)
def test_canonical_names(written: str, meant: str) -> None:
    assert catalogue().canonical(written) == meant


def test_transforms_are_no_functions() -> None:
    for name in ("jax.jit", "jax.lax.scan", "jax.remat", "jax.tree_map", "jax.numpy.vectorize"):
        assert catalogue().canonical(name) in catalogue().transforms
        assert catalogue().function(name) is None
    assert catalogue().function("jax.numpy.no_such_function") is None


def test_functions_are_found_by_every_name() -> None:
    relu = catalogue().function("flax.linen.relu")
    assert relu is not None
    assert relu is catalogue().function("jax.nn.relu")
    reduce = catalogue().function("jax.numpy.add.reduce")
    assert reduce is not None
    assert reduce.name == "jax.numpy.add.reduce"
    assert catalogue().function("jax.numpy.sum.reduce") is None


def test_where_with_one_argument() -> None:
    where = catalogue().function("jax.numpy.where")
    assert where is not None
    assert where.result_given({"condition"}) == Result("sequence", ("int",), ("size",))
    assert where.result_given({"condition", "x", "y"}).cures is None


def test_array_members() -> None:
    data = catalogue()
    assert data.array_attribute("shape") == "static"
    assert data.array_attribute("T") == "array"
    assert data.array_attribute("at") == "updater"
    assert data.array_attribute("sharding") == "concrete-only:AttributeError"
    assert data.array_attribute("item") == "concrete-only:jax.errors.ConcretizationTypeError"
    assert data.array_attribute("fill") == "missing:AttributeError"
    assert data.array_attribute("sum") is None
    total = data.array_method("sum")
    assert total is not None
    assert [p.exception for p in total.bind(1, []) if p] == ["jax.errors.ConcretizationTypeError"]
    repeat = data.array_method("repeat")
    assert repeat is not None
    assert repeat.traced_needs("repeats", {"repeats"}) is not None
    assert data.array_method("fill") is None


def test_numpy_functions() -> None:
    data = catalogue()
    sin, total, equal = data.numpy("numpy.sin"), data.numpy("numpy.sum"), data.numpy("numpy.array_equal")
    assert sin is not None and total is not None and equal is not None
    assert (sin.behaviour, total.behaviour, equal.behaviour) == ("raises", "works", "false")
    reduce = data.numpy("numpy.add.reduce")
    assert reduce is not None
    assert reduce.exception == "jax.errors.TracerArrayConversionError"
    assert data.numpy("numpy.no_such_function") is None


def test_removed_names_are_looked_up_as_written() -> None:
    view = catalogue().view
    assert view.removed("jax.tree_map") == Removed("jax.tree.map", "0.6.0")
    assert view.removed("jax.experimental.host_callback.id_print") == view.removed(
        "jax.experimental.host_callback"
    )
    assert view.removed("jax.tree.map") is None
    assert view.removed("jax.config.update") is None


def test_constants_and_libraries() -> None:
    data = catalogue()
    assert data.constant("jax.numpy.pi") == "static"
    assert data.constant("jax.numpy.float32") == "dtype"
    assert data.constant("jax.numpy.r_") == "indexer"
    assert data.constant("jax.numpy.sum") is None
    assert {"jax", "flax", "equinox", "optax"} <= data.libraries
    assert "numpy" not in data.libraries
