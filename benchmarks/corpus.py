"""Runs jitlint over public repositories and counts which of its findings are true, by labels that people gave.

    python benchmarks/corpus.py --corpus corpus.csv --trees FOLDER [--use tune] [--only OWNER/NAME]
        [--runs FOLDER] [--against TREE_OR_RUNS] [--unlabelled] [--todo FILE] [--take FILE]
    python benchmarks/corpus.py --corpus corpus.csv --trees COPIES --runs FOLDER --execute PYTHON [--tests executed.csv]

The csv has the columns repository, commit, use; the trees are unpacked in FOLDER/OWNER+NAME. `--runs` keeps each
repository's findings as JSON and reads what is there. `--against` takes another source tree of jitlint, or a folder of
kept runs, and says what is new and what is gone since. `--todo` writes the findings that have no label, one JSON object
a line, to be filled in (verdict, useful, mechanism); `--take` adds the filled ones to the labels. It fetches nothing.

`past.csv` beside this file names earlier commits of the same repositories, each use with its own FOLDER: `newest`, `latest`, `recent`,
`later`, `between`, `middle`, `halfway`, `earlier`, `older`, `oldest`, `first` and `dawn` of those that somebody may work on (7, 15, 22, 30, 37,
45, 52, 60, 70, 80, 92 and 97 % back in the history), the same with `exam-` before them of the others, and `exam-early` of these too (75 %;
there `oldest` is 85 % and `first` 90 %). Later ones are called `at-11`, `at-26` and so on, by how far back they lie. Nobody
had looked at this code when its findings were labelled, though its authors are known.

`--execute` lets the repositories' own tests judge: it runs them with a Python (3.12 or newer, of an environment with
what they need) under `jitlint record`, and counts the findings of error level that these runs refute and support. What
is run stands in `executed.csv` beside this file: repository, seconds, arguments. It runs foreign code, and that
may write into the trees: give it copies. What was recorded is kept in the folder of runs.

A label belongs to a repository, a path, a code, a severity and a digest of the finding's line with its neighbours and
its function, so it holds while lines move. Removed names (JIT511) and unreadable files (JIT0xx) are counted apart.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from jitlint.record.store import Store

ROOT = Path(__file__).resolve().parents[1]
LABELS = Path(__file__).with_name("labels.jsonl")
TESTS = Path(__file__).with_name("executed.csv")
VERDICTS = ("true", "false", "undecided")
APART = ("JIT0", "JIT511")
"""Codes whose truth depends on the release of JAX or Python, not on the analysis."""
COMMAND = (
    *("-m", "jitlint", "check", "--isolated", "--exit-zero"),
    *("--no-cache", "--no-recorded", "--output-format", "json", "."),
)


class Entry(NamedTuple):
    """A repository of the corpus."""

    repository: str
    commit: str
    folder: Path

    @property
    def stem(self) -> str:
        """Its name as a file name."""
        return self.repository.replace("/", "+")


class Key(NamedTuple):
    """What a label is recognised by."""

    repository: str
    path: str
    code: str
    severity: str
    digest: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of one run."""

    key: Key
    confidence: str
    line: int
    column: int
    message: str

    @property
    def apart(self) -> bool:
        """Whether it is counted apart."""
        return self.key.code.startswith(APART)


@dataclass(frozen=True, slots=True)
class Label:
    """What a reader found out about a finding."""

    repository: str
    commit: str
    path: str
    code: str
    digest: str
    severity: str
    confidence: str
    verdict: str
    useful: str
    mechanism: str

    @property
    def key(self) -> Key:
        """What it is recognised by."""
        return Key(self.repository, self.path, self.code, self.severity, self.digest)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _around(lines: list[str], index: int) -> Iterator[str]:
    """The line, its nearest neighbours that say something, and the headers of what it stands in."""
    yield lines[index].strip()
    for step in (-1, 1):
        near = index + step
        while 0 <= near < len(lines) and not lines[near].strip():
            near += step
        yield lines[near].strip() if 0 <= near < len(lines) else ""
    depth = _indent(lines[index])
    for above in reversed(lines[:index]):
        if above.strip() and _indent(above) < depth:
            depth = _indent(above)
            if above.lstrip().startswith(("def ", "async def ", "class ")):
                yield above.strip()


def digest(text: str, line: int, column: int) -> str:
    """Recognises a place although lines were moved; ``line`` and ``column`` count from 1."""
    lines = text.splitlines() or [""]
    index = min(max(line, 1), len(lines)) - 1
    parts = [str(column - 1 - _indent(lines[index])), *_around(lines, index)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def read_corpus(path: Path, trees: Path, use: str, only: Iterable[str]) -> list[Entry]:
    """The repositories of the csv with this use (all of them if it is empty)."""
    wanted = set(only)
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if use in ("", row["use"])]
    return [
        Entry(row["repository"], row["commit"], trees / row["repository"].replace("/", "+"))
        for row in rows
        if not wanted or row["repository"] in wanted
    ]


def check(entry: Entry, source: Path) -> list[dict[str, Any]]:
    """What the jitlint of a source tree finds in a repository, as its JSON says it."""
    if not entry.folder.is_dir():
        raise SystemExit(f"no tree of {entry.repository}: {entry.folder} is not a folder")
    environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
    done = subprocess.run(
        [sys.executable, *COMMAND], cwd=entry.folder, env=environment, capture_output=True, text=True
    )
    if not done.stdout:  # a file that cannot be read makes the exit code 2, and is a finding
        raise SystemExit(f"jitlint failed on {entry.repository}:\n{done.stderr}")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def kept(entry: Entry, source: Path, runs: Path | None) -> list[dict[str, Any]]:
    """The same, from the folder of kept runs if it is there, else kept there for the next time."""
    if runs is None:
        return check(entry, source)
    path = runs / f"{entry.stem}.json"
    if not path.is_file():
        runs.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(check(entry, source), indent=1), encoding="utf-8")
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


def findings(entry: Entry, raw: list[dict[str, Any]]) -> list[Finding]:
    """The findings with what labels are recognised by."""
    texts: dict[str, str] = {}
    out = []
    for item in raw:
        path = item["path"]
        if path not in texts:
            file = entry.folder / path
            texts[path] = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        mark = digest(texts[path], item["line"], item["column"])
        key = Key(entry.repository, path, item["code"], item["severity"], mark)
        out.append(Finding(key, item["confidence"], item["line"], item["column"], item["message"]))
    return out


def count_lines(folder: Path) -> int:
    """Lines of Python source."""
    return sum(path.read_bytes().count(b"\n") for path in folder.rglob("*.py") if path.is_file())


def read_labels(path: Path) -> dict[Key, Label]:
    """All labels by what they are recognised by."""
    if not path.is_file():
        return {}
    rows = [Label(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return {label.key: label for label in rows}


def write_labels(path: Path, labels: dict[Key, Label]) -> None:
    """One object a line, in order, so that changes read well."""
    rows = [json.dumps(asdict(labels[key]), ensure_ascii=False) for key in sorted(labels)]
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")


def write_todo(path: Path, entries: dict[str, Entry], without: list[Finding]) -> None:
    """The findings that wait for a reader."""
    with path.open("w", encoding="utf-8") as file:
        for finding in without:
            row = {
                **finding.key._asdict(),
                "commit": entries[finding.key.repository].commit,
                "confidence": finding.confidence,
                "at": f"{finding.line}:{finding.column}",
                "message": finding.message,
                "verdict": "",
                "useful": "",
                "mechanism": "",
            }
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def take(path: Path, labels: dict[Key, Label]) -> int:
    """Add the labels that somebody filled in; how many."""
    taken = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        if not row["verdict"]:
            continue
        if row["verdict"] not in VERDICTS or row["useful"] not in ("", "yes", "no") or not row["mechanism"]:
            raise SystemExit(f"{path}:{number}: a verdict is one of {', '.join(VERDICTS)}, with a mechanism")
        label = Label(**{name: row[name] for name in Label.__dataclass_fields__})
        labels[label.key] = label
        taken += 1
    return taken


def share(counts: Counter[str]) -> str:
    """How many of the decided ones are true, in words."""
    decided = counts["true"] + counts["false"]
    percent = f"{counts['true'] / decided:6.1%}" if decided else "     –"
    rest = ", ".join(f"{counts[name]} {name}" for name in ("undecided", "unlabelled") if counts[name])
    return f"{percent} true ({counts['true']} of {decided})" + (f"; {rest}" if rest else "")


def verdict(finding: Finding, labels: dict[Key, Label]) -> str:
    """Its label's verdict."""
    label = labels.get(finding.key)
    return label.verdict if label else "unlabelled"


def _table(title: str, groups: dict[str, Counter[str]]) -> Iterator[str]:
    yield f"\n{title}"
    for name in sorted(groups):
        yield f"  {name:<32} {sum(groups[name].values()):>4}  {share(groups[name])}"


def report(found: list[Finding], labels: dict[Key, Label], lines: int) -> Iterator[str]:
    """Precision of errors and warnings, each by rule, confidence and repository."""
    for severity in ("error", "warning"):
        some = [f for f in found if f.key.severity == severity and not f.apart]
        verdicts = Counter(verdict(f, labels) for f in some)
        yield f"\n{severity}s: {len(some)} in {lines:,} lines; {share(verdicts)}"
        if severity == "error" and lines:
            per = verdicts["false"] * 100_000 / lines
            yield f"false errors per 100,000 lines: {per:.2f}"
        useful = Counter(labels[f.key].useful for f in some if f.key in labels)
        if useful["yes"] + useful["no"]:
            yield f"useful: {useful['yes']} of {useful['yes'] + useful['no']}"
        groups: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for finding in some:
            is_so = verdict(finding, labels)
            groups["by rule"][finding.key.code][is_so] += 1
            groups["by confidence"][finding.confidence][is_so] += 1
            groups["by repository"][finding.key.repository][is_so] += 1
        for title, group in groups.items():
            yield from _table(title, group)
        wrong = Counter(labels[f.key].mechanism for f in some if verdict(f, labels) == "false")
        if wrong:
            yield "\nwhat was wrong"
            yield from (f"  {count:>4}  {mechanism}" for mechanism, count in wrong.most_common())
    apart = Counter(f.key.code for f in found if f.apart)
    if apart:
        yield "\ncounted apart: " + ", ".join(f"{code} {count}" for code, count in sorted(apart.items()))


def show(finding: Finding) -> str:
    """A finding in a line."""
    key = finding.key
    where = f"{key.repository} {key.path}:{finding.line}:{finding.column}"
    return f"{where} {key.severity}[{key.code}] {finding.confidence}: {finding.message}"


def difference(old: list[Finding], new: list[Finding], labels: dict[Key, Label]) -> Iterator[str]:
    """What is new and what is gone, with the verdicts; a true one that is gone is a loss."""
    before, after = Counter(f.key for f in old), Counter(f.key for f in new)
    for title, here, there in (("gone", old, before - after), ("new", new, after - before)):
        rest = Counter(there)
        some = []
        for finding in here:
            if rest[finding.key]:
                rest[finding.key] -= 1
                some.append(finding)
        counts = Counter((f.key.severity, verdict(f, labels)) for f in some if not f.apart)
        yield f"\n{title}: {len(some)}" + "".join(
            f", {count} {word} {severity}s" for (severity, word), count in sorted(counts.items())
        )
        yield from (f"  {verdict(f, labels)}: {show(f)}" for f in some)


class Tests(NamedTuple):
    """How a part of a repository's tests is run: arguments of Python, and after how many seconds it is ended."""

    seconds: str
    arguments: list[str]


def read_tests(path: Path) -> dict[str, Tests]:
    """The test commands by repository."""
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["repository"]: Tests(row["seconds"], shlex.split(row["arguments"]))
            for row in csv.DictReader(file)
        }


def executed(entry: Entry, tests: Tests, python: str, runs: Path) -> Store:
    """What a repository's tests did, from the folder of kept runs if it is there."""
    from jitlint.record.run import record
    from jitlint.record.store import read_store, still_true, write_store

    path, root = runs / f"{entry.stem}.recorded.json", str(entry.folder.resolve())
    if not path.is_file():
        runs.mkdir(parents=True, exist_ok=True)
        places = [root, os.path.join(root, "src"), str(Path(__file__).resolve().parent)]
        os.environ.update(
            PYTHONPATH=os.pathsep.join(places), JAX_PLATFORMS="cpu", PYTHONDONTWRITEBYTECODE="1"
        )
        begun = os.times()
        store, code = record(
            ["timeout", "--signal=INT", "--kill-after=60", tests.seconds, python, *tests.arguments],
            root,
            directory=root,
        )
        spent = sum(os.times()[2:4]) - sum(begun[2:4])
        print(f"{entry.repository}: exit code {code}, {spent:.0f} s of CPU", file=sys.stderr)
        write_store(store, str(path))
    return still_true(read_store(str(path)), root)


def judged(entry: Entry, raw: list[dict[str, Any]], store: Store) -> list[tuple[dict[str, Any], str]]:
    """The findings of error level, and what the run says of each."""
    from jitlint.base.diagnostic import Confidence, Severity, Span
    from jitlint.base.diagnostic import Finding as Found
    from jitlint.driver.registry import rules
    from jitlint.record.compare import relative_to, verdicts

    root = entry.folder.resolve()
    some = [item for item in raw if item["severity"] == "error" and not item["code"].startswith(APART)]
    found = [
        Found(
            item["code"],
            item["name"],
            Severity.ERROR,
            Confidence(item["confidence"]),
            item["message"],
            str(root / item["path"]),
            Span(item["line"], item["column"], item["end_line"], item["end_column"]),
            ground=item["ground"] or "",
        )
        for item in some
    ]
    outcomes = {code: rule.outcome for code, rule in rules().items()}
    return list(zip(some, verdicts(store, found, outcomes, relative_to(str(root)))))


def judge(entries: Iterable[Entry], options: argparse.Namespace) -> Iterator[str]:
    """A line for each repository, and all that is not simply not executed."""
    from jitlint.record.compare import CONFIRMED, IN_WORDS, OPEN, PASSED, REFUTED

    tests = read_tests(options.tests)
    total: Counter[str] = Counter()
    details: list[str] = []
    columns = ("errors", "refuted", "supported", "not executed", "other args", "open", "staged", "lines")
    yield f"{'':<32}" + "".join(f"{name:>13}" for name in columns)
    for entry in entries:
        if entry.repository not in tests:
            continue
        store = executed(entry, tests[entry.repository], options.execute, options.runs)
        words = judged(entry, kept(entry, options.source, options.runs), store)
        count = Counter(word for _, word in words)
        row = [len(words), *(count[word] for word in (REFUTED, CONFIRMED, "", PASSED, OPEN))]
        row += [sum(1 for f in store.functions if f.staged), sum(len(f.returned) for f in store.functions)]
        total.update(dict(zip(columns, row)))
        yield f"{entry.repository:<32}" + "".join(f"{number:>13,}" for number in row)
        details += [
            f"  {IN_WORDS[word]}: {entry.repository} {item['path']}:{item['line']} {item['code']} {item['message']}"
            for item, word in words
            if word
        ]
    yield f"{'':<32}" + "".join(f"{total[name]:>13,}" for name in columns)
    yield from details


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpus", type=Path, required=True, help="csv: repository, commit, use")
    parser.add_argument("--trees", type=Path, required=True, help="holds OWNER+NAME of each repository")
    parser.add_argument("--use", default="tune", help="rows of the csv to take; empty for all")
    parser.add_argument("--only", action="append", default=[], metavar="OWNER/NAME")
    parser.add_argument("--runs", type=Path, help="folder of kept runs: read, or written")
    parser.add_argument("--source", type=Path, default=ROOT, help="tree of the jitlint that runs")
    parser.add_argument("--against", type=Path, help="another tree of jitlint, or a folder of kept runs")
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument(
        "--execute", metavar="PYTHON", help="let the repositories' tests judge, run by this Python"
    )
    parser.add_argument("--tests", type=Path, default=TESTS, help="csv: repository, seconds, arguments")
    parser.add_argument("--unlabelled", action="store_true", help="list the findings without a label")
    parser.add_argument("--todo", type=Path, help="write the findings without a label here")
    parser.add_argument("--take", type=Path, help="add the labels of a file that `--todo` wrote")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run, label and print."""
    options = _arguments(arguments)
    labels = read_labels(options.labels)
    if options.take:
        print(f"{take(options.take, labels)} labels taken")
        write_labels(options.labels, labels)
    entries = {e.repository: e for e in read_corpus(options.corpus, options.trees, options.use, options.only)}
    if options.execute:
        if options.runs is None:
            raise SystemExit("--execute keeps what was recorded in the folder of `--runs`")
        for line in judge(entries.values(), options):
            print(line, flush=True)
        return 0
    found = [f for e in entries.values() for f in findings(e, kept(e, options.source, options.runs))]
    without = [f for f in found if not f.apart and f.key not in labels]
    if options.todo:
        write_todo(options.todo, entries, without)
    lines = sum(count_lines(entry.folder) for entry in entries.values())
    print(f"{len(entries)} repositories")
    print("\n".join(report(found, labels, lines)))
    if options.unlabelled:
        print("\nwithout a label\n" + "\n".join(f"  {show(f)}" for f in without))
    if options.against:
        other = options.against
        is_tree = (other / "jitlint").is_dir()
        raw = {e: kept(e, other, None if is_tree else other) for e in entries.values()}
        old = [f for entry, items in raw.items() for f in findings(entry, items)]
        print("\n".join(difference(old, found, labels)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
