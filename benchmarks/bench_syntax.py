"""What the syntax layer costs, as ratios to parsing the same text with libcst (garbage collector off).

Usage: python benchmarks/bench_syntax.py FOLDER [STEP]

Reads every STEP-th Python file below FOLDER (default: every file).
"""

from __future__ import annotations

import ast
import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import libcst as cst

from jitlint.syntax import Source, SyntaxProblem, compute_spans, ir, read_source
from jitlint.syntax.concrete.lowering import lower_tree
from jitlint.syntax.guard import guard
from jitlint.syntax.lowering import lower, lower_abstract

T = TypeVar("T")


class Clock:
    """Adds up the time spent in named steps."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def run(self, step: str, work: Callable[..., T], *args: object) -> T:
        start = time.perf_counter()
        result = work(*args)
        self.spent[step] = self.spent.get(step, 0.0) + time.perf_counter() - start
        return result


def _decode_all(data: bytes) -> int:
    module = ir.decode_module(data)
    return sum(len(ir.decode_body(function.body)) for function in module.functions)


def _sources(paths: Iterable[Path]) -> list[Source]:
    read = (read_source(path) for path in paths)
    return [source for source in read if isinstance(source, Source)]


def main(folder: str, step: int = 1) -> None:
    warnings.simplefilter("ignore")
    gc.disable()
    clock = Clock()
    lines = origins = size = skipped = 0
    for source in _sources(sorted(Path(folder).rglob("*.py"))[::step]):
        text = source.text
        if isinstance(lower(text), SyntaxProblem):  # also warms the caches up, equally for every step
            skipped += 1
            continue
        clock.run("ast.parse", ast.parse, text)
        clock.run("guard", guard, text)
        clock.run("all of it by way of ast", lower_abstract, text)
        tree = clock.run("parse", cst.parse_module, text)
        module = clock.run("lower (encodes function bodies)", lower_tree, tree, text)[0]
        del tree
        data = clock.run("encode module", ir.encode_module, module)
        clock.run("decode module and bodies", _decode_all, data)
        few = range(0, module.origins, max(module.origins // 20, 1))
        clock.run("spans of 20 nodes (parses and lowers again)", compute_spans, text, few)
        lines += text.count("\n") + 1
        origins += module.origins
        size += len(data)
    parse = clock.spent["parse"]
    print(
        f"{lines:,} lines, {origins:,} origins, {size / 1024 / max(lines, 1) * 1000:.0f} kB per 1,000 lines"
    )
    print(f"parse: {parse:.2f} s, {parse / max(lines, 1) * 1e6:.0f} us per line; {skipped} files skipped")
    for name, spent in clock.spent.items():
        print(f"{name:45} {spent / parse:7.4f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
