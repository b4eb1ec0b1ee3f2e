"""Real files with random damage: each is refused with a diagnostic or analysed to the end, never anything else."""

from __future__ import annotations

import io
import keyword
import random
import tokenize
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jitlint.driver.judge import verdicts
from jitlint.driver.registry import rules
from jitlint.link.program import ModuleInput, Options, analyse
from jitlint.syntax import ir
from jitlint.syntax.lowering import lower
from jitlint.syntax.source import SyntaxProblem, decode
from jitlint.syntax.spans import compute_spans

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "fixtures").rglob("*.py") if 200 < path.stat().st_size < 12_000)
EVERYTHING = Options(include_possible=True)
_LAYOUT = (tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER)


def tokens_of(text: str) -> dict[str, list[tuple[int, int]]]:
    """Where the tokens of a file stand, as offsets, by kind."""
    lines = [0]
    for line in text.splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    places: dict[str, list[tuple[int, int]]] = {}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT and token.string.strip():
            (first, start), (last, end) = token.start, token.end
            kind = "keyword" if keyword.iskeyword(token.string) else tokenize.tok_name[token.type]
            places.setdefault(kind, []).append((lines[first - 1] + start, lines[last - 1] + end))
    return places


def with_other_tokens(text: str, rng: random.Random, times: int) -> str:
    """Some tokens deleted, doubled, or exchanged with others of their kind."""
    kinds = tokens_of(text)
    changes: dict[tuple[int, int], str] = {}
    for _ in range(times):
        places = kinds[rng.choice([*kinds, "NAME", "NAME", "NAME", "NAME"])]
        one, two = rng.choice(places), rng.choice(places)
        first, second = text[one[0] : one[1]], text[two[0] : two[1]]
        way = rng.randrange(8)
        if way == 0:
            changes[one] = ""
        elif way == 1:
            changes[one] = f"{first} {first}"
        elif way < 5:
            changes[one], changes[two] = second, first
        else:
            changes[one] = second
    for (start, end), new in sorted(changes.items(), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def with_other_lines(text: str, rng: random.Random, times: int) -> str:
    """Some lines deleted, doubled, moved or indented otherwise."""
    lines = text.splitlines(keepends=True)
    for _ in range(times):
        at = rng.randrange(len(lines))
        way = rng.randrange(4)
        if way == 0 and len(lines) > 1:
            del lines[at]
        elif way == 1:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif way == 2:
            lines[at] = "    " + lines[at]
        else:
            lines[at] = lines[at].removeprefix("    ")
    return "".join(lines)


def with_other_bytes(data: bytes, rng: random.Random, times: int) -> bytes:
    """Some bytes changed, and sometimes the end cut off."""
    damaged = bytearray(data)
    for _ in range(times):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged[: rng.randrange(len(damaged))] if rng.random() < 0.3 else damaged)


def check(data: bytes) -> bool:
    """Everything that a run does with one file; whether it could be analysed."""
    text = decode(data)
    lowered = text if isinstance(text, SyntaxProblem) else lower(text)
    if isinstance(lowered, SyntaxProblem):
        assert lowered.code in ("JIT001", "JIT002", "JIT003")
        assert lowered.message
        assert 1 <= lowered.line <= data.count(b"\n") + data.count(b"\r") + data.count(b"\f") + 2
        assert lowered.column >= 1
        return False
    assert isinstance(text, str)
    analysis = analyse([ModuleInput("m", "m.py", False, ir.encode_module(lowered), False)], EVERYTHING)
    assert analysis.failures == {}
    wanted = {verdict.event.place.at for verdict in verdicts(analysis.events, rules(), {"m": "m.py"})}
    assert compute_spans(text, wanted).keys() == wanted
    return True


def damaged(rng: random.Random) -> bytes:
    """One of the files, damaged in one way."""
    data = rng.choice(FILES).read_bytes()
    text, times = data.decode(), rng.randint(1, 3)
    way = rng.randrange(5)
    if way == 0:
        return with_other_bytes(data, rng, times)
    if way == 1:
        return with_other_lines(text, rng, times).encode()
    return with_other_tokens(text, rng, times).encode()


@settings(max_examples=80, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_damaged_files_do_not_break_the_analysis(rng: random.Random) -> None:
    check(damaged(rng))


def test_enough_damaged_files_are_still_python() -> None:
    analysed = [check(damaged(random.Random(seed))) for seed in range(60)]
    assert 15 < sum(analysed) < 55
