"""Keys that lanes of a batch, or devices, share."""

from __future__ import annotations

import pytest

from tests.link.domains.telling import told

CASES: dict[str, tuple[str, list[str]]] = {
    "a key that all shards have": (
        """
        from jax.sharding import PartitionSpec as P
        def noised(k, x):
            return x + jax.random.normal(k)
        def f(xs, seed):
            k = jax.random.key(seed)
            run = jax.shard_map(noised, mesh=mesh, in_specs=(P(), P("d")), out_specs=P("d"))
            return run(k, xs)
        f(jnp.ones(8), 3)
        """,
        ["KeyReuse how=shared in f: likely"],
    ),
    "a key for each shard, and one for results that are one": (
        """
        from jax.sharding import PartitionSpec as P
        def noised(k, x):
            return x + jax.random.normal(k)
        def first_noised(k, x):
            return x + jax.random.normal(k[0])
        def f(xs, seed):
            k, other = jax.random.split(jax.random.key(seed))
            run = jax.shard_map(first_noised, mesh=mesh, in_specs=(P("d"), P("d")), out_specs=P("d"))
            alike = jax.shard_map(noised, mesh=mesh, in_specs=(P(), P()), out_specs=P())
            return run(jax.random.split(k, 8), xs), alike(other, xs)
        f(jnp.ones(8), 3)
        """,
        [],
    ),
    "streams that all devices start from one key": (
        """
        def step(state, k):
            return state.apply_fn(state.params, rngs={"dropout": k})
        mapped = jax.pmap(step, in_axes=(0, None))
        def f(state, seed):
            return mapped(state, jax.random.key(seed))
        f(anything(), 3)
        """,
        ["KeyReuse how=shared in f: likely"],
    ),
    "streams of each device": (
        """
        def step(state, k):
            k = jax.random.fold_in(k, jax.lax.axis_index("d"))
            return state.apply_fn(state.params, rngs={"dropout": k})
        mapped = jax.pmap(step, axis_name="d", in_axes=(0, None))
        def f(state, seed):
            return mapped(state, jax.random.key(seed))
        f(anything(), 3)
        """,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_said(name: str) -> None:
    source, expected = CASES[name]
    assert sorted(told(source)) == sorted(expected)
