"""JIT604: a key made of what is another number in each process (layer: ``rules``)."""

from __future__ import annotations

from jitlint.base.diagnostic import Severity
from jitlint.base.outcome import Advisory
from jitlint.base.rule import Report, Rule
from jitlint.infer.events import UnstableSeed

RULE = Rule(
    code="JIT604",
    name="unstable-seed",
    severity=Severity.WARNING,
    summary="PRNG key made of the hash of a text, or of the place of an object in memory",
    explanation="""\
Python makes the hash of a text anew for each process, from a number that it draws when it starts, and `id` says where an object lies in
memory. A key that is made of either is another key in each run: the same seed gives other parameters, and no result can be had again.

Where a program runs in several processes, one for each host, it is worse: each has its own key, and what is to be the same on all of
them, such as the parameters in the beginning, is not.

Nothing is reported in tests, nor of hashes of numbers, which stay the same.
""",
    instead="""\
Take a digest that depends on the text alone:

```python
import zlib

key = jax.random.fold_in(key, zlib.crc32(name.encode()))
```
""",
    bad="""\
def key_for(key, name):
    return jax.random.fold_in(key, hash(name) % 2**31)  # expect: JIT604


key_for(jax.random.key(0), "encoder")
""",
    good="""\
import zlib


def key_for(key, name):
    return jax.random.fold_in(key, zlib.crc32(name.encode()))


key_for(jax.random.key(0), "encoder")
""",
    outcome=Advisory(
        "the keys of one process are as good as any, and what another one makes cannot be observed"
    ),
    since="0.1",
    reference="https://docs.python.org/3/reference/datamodel.html#object.__hash__",
)


@RULE.on(UnstableSeed)
def check(event: UnstableSeed) -> Report:
    """Report the call that makes the key."""
    what = "the hash of a text" if event.of == "hash" else "the place of an object in memory"
    return Report(
        f"`{event.api}` makes a key of {what}, which is another number in each process",
        "use a digest of the text: `zlib.crc32(name.encode())`",
    )
