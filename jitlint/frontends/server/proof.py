"""Confirm with JAX, from an editor: `jitlint confirm` in a process of its own, when somebody has clicked (layer: ``frontends``).

RUNS THE CODE, with the limits of that command, and only as it is saved. Ends with the server, or when somebody cancels.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass

import jitlint
from jitlint.base.diagnostic import Finding

_SECONDS = 120
_WORDS = {
    "confirmed": "confirmed by running it",
    "refuted": "refuted by running it",
    "not-reached": "not shown by running it",
    "no-inputs": "could not be run",
    "could-not-import": "could not be run",
}

Key = tuple[str, int, int, int]
"""Code, cell, line and column of a finding in a file."""


class ProofError(Exception):
    """Nothing was proved, and why, in words."""


@dataclass(slots=True)
class Prover:
    """One process at a time."""

    _process: asyncio.subprocess.Process | None = None

    async def proved(self, path: str, codes: Iterable[str]) -> dict[Key, str]:
        """What real JAX says of the findings in a file, in words. Raises ProofError."""
        if self._process is not None:
            raise ProofError("another proof is running")
        limits = ["--total-timeout", str(_SECONDS), "--jobs", "1", "--output-format", "json"]
        package = os.path.dirname(os.path.dirname(os.path.abspath(jitlint.__file__)))
        paths = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        command = [sys.executable, "-m", "jitlint", "confirm", path, *limits, "--select", ",".join(codes)]
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=os.path.dirname(path),
            env={**os.environ, "PYTHONPATH": paths},
        )
        self._process = process
        try:
            out, complaint = await process.communicate()
        finally:
            self.stop()
            self._process = None
        if process.returncode not in (0, 1):
            lines = complaint.decode("utf-8", "replace").strip().splitlines()
            raise ProofError(lines[-1] if lines and process.returncode == 2 else "it was ended")
        return {
            (item["code"], item["cell"] or 0, item["line"], item["column"]): _said(item)
            for item in json.loads(out or b"[]")
            if os.path.abspath(os.path.join(os.path.dirname(path), item["path"])) == path and "code" in item
        }

    def stop(self) -> None:
        """End it; its workers end with it."""
        process = self._process
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.terminate()


def key_of(finding: Finding) -> Key:
    """What a finding is recognised by."""
    return finding.code, finding.span.cell, finding.span.line, finding.span.column


def _said(item: dict[str, str]) -> str:
    word = _WORDS.get(item["verdict"], item["verdict"])
    inputs = f" (with {item['inputs']})" if item.get("inputs") else ""
    version = f" under JAX {item['jax']}" if item.get("jax") else ""
    return f"{word}{version}: {item['evidence']}{inputs}"
