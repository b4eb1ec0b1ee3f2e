"""JIT601: a PRNG key is consumed twice (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Safety, Severity
from jitlint.base.outcome import RepeatsDraw
from jitlint.base.rule import Remedy, Report, Rule
from jitlint.infer.events import KeyReuse

RULE = Rule(
    code="JIT601",
    name="key-reuse",
    severity=Severity.WARNING,
    summary="PRNG key consumed twice: the same random numbers again",
    explanation="""\
A JAX key is plain data: the same key gives the same bits, every time. A key is used up by the first draw and by
`jax.random.split`; whoever draws from it again gets numbers that are not independent of the first ones, in a loop the
very same numbers in every turn. Nothing fails: samples, noise and dropout masks merely repeat.

A key that a loop body, a `jax.lax.scan` body or a function under `jax.vmap` takes from outside is the same key in every
turn; so is one that the body of such a loop makes of a constant, itself or in what it calls. So is one that compiled code
makes of a constant, or starts a `flax.nnx.Rngs` with, where a loop of the host calls it to go on from what it left: `state =
step(state, batch)`. So is one that `jax.pmap` or `jax.shard_map` gives to all devices, unless they fold in their index, give one
result, or set up what each is to have a copy of. `jax.random.fold_in` does not use a key up, so one key may be folded
with many numbers. A function that gives back a key that it has drawn from hands its caller a used one. A key that is
the default of a field is one key for all objects that are made without their own. So is a key that a Flax module gets
for several streams: streams are told apart by their keys alone. A module that keeps a key from its making on (`self.key
= nnx.Variable(rngs.noise())`), and draws noise for its argument from it, draws the same noise at every call. An array
of copies (`jnp.broadcast_to(key, (n,))`, `jnp.stack([key] * n)`) is one key for all lanes that are mapped over it. A state that
is given back with its old key, although `key, sub = split(state.key)` has made a new one that nobody reads, draws the same
numbers when it comes again; so does one whose key is folded with a constant, `fold_in(state.key, 0)`, and stays in it.
A loader whose `__iter__` makes its order with `jax.random.key(self.seed)` gives each epoch the same one. Members of an ensemble that
a loop gathers, `[init_member(seed) for _ in range(n)]`, are copies of the first if each makes its key of the same seed.

Some repetition is meant: a function and its inverse (`rotate`, `inverse_rotate`), numbers that only stand for others
(`dummy_input`, `fake_batch`), keys of a split that are thrown away unread, cells of a notebook that each begin with
`jax.random.key(0)`, a function that is only lowered or asked for its shapes, an evaluation that has been given its key once and for
all, and one that gets the key of the step before it (`train_step`, `eval_step`).
""",
    instead="""\
Split first, and draw from each child once:

```python
key, noise_key = jax.random.split(key)
noise = jax.random.normal(noise_key, x.shape)
```

In loops rebind the key from its own split, split once into as many keys as there are turns, or use
`jax.random.fold_in(key, i)`.
""",
    bad="""\
def noisy_pair(key):
    first = jax.random.normal(key)
    second = jax.random.normal(key)  # expect: JIT601
    return first, second


noisy_pair(jax.random.key(0))
""",
    good="""\
def noisy_pair(key):
    one, two = jax.random.split(key)
    first = jax.random.normal(one)
    second = jax.random.normal(two)
    return first, second


noisy_pair(jax.random.key(0))
""",
    outcome=RepeatsDraw(),
    since="0.1",
    remedy=Remedy(
        Safety.UNSAFE,
        "Splits the key before its first use, which takes the new key: the random numbers are other ones.",
    ),
    reference="https://docs.jax.dev/en/latest/random-numbers.html",
)


_WORDS = {
    "loop": (
        "{} the same PRNG key in every turn, so the random numbers repeat",
        "rebind the key from its own split in each turn, or use `jax.random.fold_in(key, i)`",
    ),
    "epochs": (
        "{} numbers that begin again in each turn of the loop around, so the same PRNG keys come again",
        "fold the turn of that loop in as well, `fold_in(fold_in(key, epoch), i)`, or split a key for each",
    ),
    "passes": (
        "{} the same PRNG key in each pass over the data, so every epoch has the same order",
        "count the passes, and fold that in: `jax.random.fold_in(jax.random.key(self.seed), self.epoch)`",
    ),
    "members": (
        "this makes its PRNG key of the same seed in every turn, so all that the loop gathers is alike",
        "make each with a key of its own: `for key in jax.random.split(jax.random.key(seed), n)`",
    ),
    "calls": (
        "{} a PRNG key from outside the function, so every call gets the same random numbers",
        "take the key as an argument, and let each caller split one off",
    ),
    "many": (
        "{} the same PRNG key in every run of the function around it, so the random numbers repeat",
        "pass one key per run: split it beforehand, or carry it and split it inside",
    ),
    "steps": (
        "{} a PRNG key made of a constant in compiled code, so every step of the loop that calls it draws the same numbers",
        "hand the function a key, and split one off for each step",
    ),
    "shared": (
        "this call hands the same PRNG key to every run of the function, so all of them draw the same numbers",
        "split the key into one key per run, and map over the keys",
    ),
    "carried": (
        "{} a PRNG key that goes on to the next turn of the loop, which uses it again",
        "draw from the other key of the split, and hand on the one that nobody has drawn from",
    ),
    "kept": (
        "the state that goes on from here has its old PRNG key, which was split, so the same random bits come again",
        "put the new key of the split into the state",
    ),
    "constant": (
        "this folds a constant into a PRNG key that stays in the state, so every call with it gets the same random bits",
        "fold in what counts the calls, such as `state.step`, or split the key and keep the new one in the state",
    ),
    "default": (
        "every object that is made without a key shares this one, so all of them draw the same random numbers",
        "take the default away, so that whoever makes an object has to give it a key",
    ),
    "streams": (
        "several streams start from one PRNG key here, so a module that uses two of them draws the same numbers",
        "split the key into one for each stream",
    ),
    "lifted": (
        "{} one PRNG key for all the modules that it makes: each has parameters of its own, and all begin with the same",
        'split it: `split_rngs={"params": True}`',
    ),
    "masks": (
        "{} one PRNG key for the dropout of all its layers: each drops the same elements as the others",
        'split it: `split_rngs={"params": True, "dropout": True}`',
    ),
    "split": (
        "{} a PRNG key again that was split before, so its numbers depend on those of the children",
        "draw from the keys that the split returned, and keep one of them for later",
    ),
    "returned": (
        "{} a PRNG key that the function which returned it has drawn from, so the same random bits come again",
        "return a key that nobody has drawn from, such as the other one of the split",
    ),
    "seed": (
        "{} a key of the same seed as another that was used before, so the same random bits come again",
        "make one key and split it, or give each its own seed",
    ),
    "again": (
        "{} a PRNG key that was used before, so the same random bits come again",
        "split the key first and use each of the new keys once",
    ),
}


@RULE.on(KeyReuse)
def check(event: KeyReuse) -> Report | None:
    """Report every consumption of a key that was consumed before."""
    message, cure = _WORDS[event.how]
    return Report(message.format(f"`{event.api}` uses" if event.api else "this call uses"), cure)
