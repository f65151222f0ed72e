"""A mutation run: do the window's tests notice a changed operator or a dropped argument?

``python tests/mutants.py --sample 200 --seed 1`` draws mutants from ``gui/pages`` and from the
project's verbs, plants one at a time in a copy of the tree, runs the tests that mirror its folder,
then those that name its module, and prints the mutants that none of them finds. The checkout is
never touched. What was tried is kept in ``build/mutants.jsonl``: a run that was stopped goes on
where it was. Not part of the test command: 200 mutants take hours.

``--reached .coverage`` runs for each mutant only the tests that come to its line, and takes a mutant
that none comes to for one that survives: seconds for each. The file is what ``coverage`` and
``pytest-cov``, which the test packages do not hold, write of ``pytest --cov --cov-context=test``.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import copy
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SCOPE = ("tabprotect/gui/pages", "tabprotect/engine/project/verbs")

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
"""Each operator and the one that stands in its place."""

NEEDED = ("tabprotect", "tests", "resources", "packaging", "pyproject.toml", "README.md")
"""What a copy of the tree holds."""

CLOSED = ("killed", "survived", "timeout")


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes
    ----------
    path
        Of the file, from the root of the tree.
    line
        Where it starts, from one.
    before, after
        The changed piece as it stood, and as it stands in the mutant.
    start, end
        Of the piece in the file, in bytes.
    """

    path: str
    line: int
    before: str
    after: str
    start: int
    end: int

    def applied(self, text: str) -> str:
        """The text of the file with this change."""
        data = text.encode()
        return (data[: self.start] + self.after.encode() + data[self.end :]).decode()

    def __str__(self) -> str:
        before, after = (" ".join(t.split()) for t in (self.before, self.after))
        return f"{self.path}:{self.line}: {before}  ->  {after}"


# -- what is changed ------------------------------------------------------------------------------


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """Copies of a node, each with one operator changed or one argument, keyword or entry dropped."""
    match node:
        case ast.Compare():
            for i, operator in enumerate(node.ops):
                other = copy.deepcopy(node)
                other.ops[i] = _swapped(operator)
                yield other
        case ast.BoolOp() | ast.BinOp() if type(node.op) in SWAPPED and not _of_texts(node):
            other = copy.deepcopy(node)
            other.op = _swapped(node.op)
            yield other
        case ast.UnaryOp(op=ast.Not()):
            yield copy.deepcopy(node.operand)
        case ast.Call():
            for i in range(len(node.args)):
                other = copy.deepcopy(node)
                del other.args[i]
                yield other
            for i in range(len(node.keywords)):
                other = copy.deepcopy(node)
                del other.keywords[i]
                yield other
        case ast.Dict():
            for i in range(len(node.keys)):
                other = copy.deepcopy(node)
                del other.keys[i], other.values[i]
                yield other


def _swapped(operator: ast.AST) -> ast.AST:
    return SWAPPED[type(operator)]()


def _of_texts(node: ast.AST) -> bool:
    """Texts are added only: another operator fails whatever the tests look at."""
    sides = (node.left, node.right) if isinstance(node, ast.BinOp) else ()
    return any(
        isinstance(side, ast.JoinedStr)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in sides
    )


def expressions(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions below a node that are computed: no annotation, decorator or f-string's part.

    The parts of an f-string have no places of their own in older versions of Python.
    """
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.JoinedStr):
                continue
            if isinstance(child, ast.expr):
                yield child
            yield from expressions(child)


def mutants_of(path: str, text: str) -> list[Mutant]:
    """Every mutant of a file, in the order of the text."""
    lines = [0]
    for line in text.encode().splitlines(keepends=True):
        lines.append(lines[-1] + len(line))
    found = []
    tree = ast.parse(text)
    for node in expressions(tree):
        assert node.end_lineno is not None and node.end_col_offset is not None
        start = lines[node.lineno - 1] + node.col_offset
        end = lines[node.end_lineno - 1] + node.end_col_offset
        before = text.encode()[start:end].decode()
        for other in changed(node):
            after = ast.unparse(other)
            # A call stands alone; anything else may stand beside an operator that binds closer.
            after = after if isinstance(other, ast.Call | ast.Dict) else f"({after})"
            found.append(Mutant(path, node.lineno, before, after, start, end))
    return sorted(set(found), key=lambda m: (m.start, m.end, m.after))


def sampled(root: Path, scope: Sequence[str], size: int, seed: int) -> list[Mutant]:
    """A seeded sample of the mutants of all files below some folders."""
    files = sorted(file for folder in scope for file in (root / folder).rglob("*.py"))
    every = [m for f in files for m in mutants_of(f.relative_to(root).as_posix(), f.read_text())]
    return random.Random(seed).sample(every, min(size, len(every)))


# -- what looks for it ----------------------------------------------------------------------------


def suites(root: Path, path: str) -> list[tuple[str, ...]]:
    """The tests that may find a mutant of a file, the nearest first.

    The mirrored folder (or the nearest one above that has tests), then every other file of tests
    of the window, the project or the command line that names the module.
    """
    within = Path(path).relative_to("tabprotect").parent
    mirror = root / "tests" / within
    while not any(mirror.glob("test_*.py")) and mirror != root / "tests":
        mirror = mirror.parent
    near = sorted(f.relative_to(root).as_posix() for f in mirror.glob("test_*.py"))
    module = path.removesuffix(".py").replace("/", ".")
    package = module.rpartition(".")[0]
    # A part of a page is reached through the page.
    names = [f"{module} import", *([f"{package}.page import"] if "gui.pages." in package else [])]
    far = [
        f.relative_to(root).as_posix()
        for folder in ("gui", "engine/project", "cli")
        for f in sorted((root / "tests" / folder).rglob("test_*.py"))
        if any(name in f.read_text() for name in names)
    ]
    found = (tuple(near), tuple(f for f in far if f not in near))
    return [suite for suite in found if suite]


@dataclass
class Copy:
    """A copy of the tree in which mutants are planted and tested."""

    root: Path
    limit: float
    """Seconds after which the tests of a mutant are stopped; they found it then."""

    def __post_init__(self) -> None:
        self._usual: dict[tuple[str, ...], float | None] = {}

    @classmethod
    def made(cls, source: Path, folder: Path, limit: float) -> Copy:
        """What the tests of ``source`` need, as it stands there now."""
        for name in NEEDED:
            place = source / name
            if place.is_dir():
                shutil.copytree(place, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif place.is_file():
                shutil.copy2(place, folder / name)
        # No run writes bytecode, which might be a mutant's; what is compiled here serves them all.
        compileall.compile_dir(folder / "tabprotect", quiet=1)
        return cls(folder, limit)

    def tested(self, suite: Sequence[str], limit: float) -> tuple[str, str]:
        """``passed``, ``failed`` or ``timeout``, and the first test that failed."""
        environment = os.environ | {
            "PYTHONPATH": str(self.root),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *suite],
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "timeout", ""
        failed = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR"))]
        first = failed[0].split(" - ")[0] if failed else ""
        return ("passed" if process.returncode == 0 else "failed"), first

    def usual(self, suite: tuple[str, ...]) -> float | None:
        """Seconds that the tests take without a mutant; ``None`` where they fail even so."""
        if suite not in self._usual:
            began = time.monotonic()
            state, _ = self.tested(suite, 10 * self.limit)
            self._usual[suite] = time.monotonic() - began if state == "passed" else None
        return self._usual[suite]

    def judged(self, mutant: Mutant) -> tuple[str, str]:
        """``killed``, ``survived``, ``timeout``, or ``untested`` where the tests fail anyway."""
        file = self.root / mutant.path
        text = file.read_text()
        verdict = ("untested", "")
        for suite in suites(self.root, mutant.path):
            usual = self.usual(suite)
            if usual is None:
                continue
            file.write_text(mutant.applied(text))
            try:
                state, first = self.tested(suite, max(self.limit, 3 * usual))
            finally:
                file.write_text(text)
            if state != "passed":
                return ("killed" if state == "failed" else state), first
            verdict = ("survived", "")
        return verdict


class Reached:
    """Which tests come to which line, as coverage noted it.

    Parameters
    ----------
    file
        Data of coverage with a context for each test.
    root
        Of the tree in which it was noted, whose lines are those of the mutants.
    """

    TESTS = 30
    """At most so many tests look for one mutant, the nearest first."""

    def __init__(self, file: Path, root: Path) -> None:
        import coverage

        self._data = coverage.CoverageData(str(file))
        self._data.read()
        self._root = root

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that come to a mutant's lines, those of its mirrored folder first."""
        noted = self._data.contexts_by_lineno(str(self._root / mutant.path))
        lines = range(mutant.line, mutant.line + mutant.before.count("\n") + 1)
        if not any(context for line in lines for context in noted.get(line, [])):
            # What runs while the module is imported belongs to no test, and to all that use it.
            lines = noted if mutant.line in noted else ()
        names = {c.rpartition("|")[0] for line in lines for c in noted.get(line, []) if c}
        within = Path(mutant.path).relative_to("tabprotect").parent.parts

        def far(name: str) -> tuple[int, str]:
            parts = Path(name.partition("::")[0]).parts[1:]
            shared = sum(1 for _ in itertools.takewhile(_same, zip(parts, within, strict=False)))
            return -shared, name

        return sorted(names, key=far)[: self.TESTS]

    def judged(self, mutant: Mutant, copied: Copy) -> tuple[str, str]:
        """As :meth:`Copy.judged`, by the tests that come to the line."""
        tests = self.tests(mutant)
        if not tests:
            return "survived", "no test comes to it"
        file = copied.root / mutant.path
        text = file.read_text()
        file.write_text(mutant.applied(text))
        try:
            state, first = copied.tested(tests, copied.limit)
        finally:
            file.write_text(text)
        if state == "passed":
            return "survived", ""
        failed = first.removeprefix("FAILED ").removeprefix("ERROR ").strip()
        if state == "failed" and failed and copied.usual((failed,)) is None:
            return "untested", failed
        return ("killed" if state == "failed" else state), first


def _same(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


# -- a run ----------------------------------------------------------------------------------------


def remembered(results: Path) -> dict[Mutant, str]:
    """The verdicts of earlier runs."""
    if not results.exists():
        return {}
    kept = (json.loads(line) for line in results.read_text().splitlines())
    return {Mutant(**line["mutant"]): line["verdict"] for line in kept}


def run(
    chosen: Sequence[Mutant], copied: Copy, results: Path, reached: Reached | None = None
) -> dict[Mutant, str]:
    """The verdict of every mutant; those known from ``results`` are not tried again."""
    verdicts = {m: v for m, v in remembered(results).items() if v in CLOSED}
    results.parent.mkdir(parents=True, exist_ok=True)
    for number, mutant in enumerate(chosen, 1):
        if mutant not in verdicts:
            verdict, first = reached.judged(mutant, copied) if reached else copied.judged(mutant)
            verdicts[mutant] = verdict
            entry = {"mutant": asdict(mutant), "verdict": verdict, "by": first}
            with results.open("a") as kept:
                kept.write(json.dumps(entry) + "\n")
        print(f"{number:4} {verdicts[mutant]:8} {mutant}", flush=True)
    return {mutant: verdicts[mutant] for mutant in chosen}


def main() -> int:
    """Parse the command line, try the sample, print the survivors."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300, help="seconds for each mutant's tests")
    parser.add_argument("--scope", nargs="+", default=SCOPE, help="folders that are mutated")
    parser.add_argument("--results", type=Path, default=ROOT / "build" / "mutants.jsonl")
    parser.add_argument("--reached", type=Path, help="what coverage noted: see above")
    arguments = parser.parse_args()
    chosen = sampled(ROOT, arguments.scope, arguments.sample, arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        copied = Copy.made(ROOT, Path(folder), arguments.limit)
        reached = Reached(arguments.reached, ROOT) if arguments.reached else None
        verdicts = run(chosen, copied, arguments.results, reached)
    survivors = [mutant for mutant, verdict in verdicts.items() if verdict == "survived"]
    tried = sum(verdict in CLOSED for verdict in verdicts.values())
    print(f"\n{len(survivors)} of {tried} survive; {len(chosen) - tried} could not be tested")
    for mutant in sorted(survivors, key=lambda m: (m.path, m.line)):
        print(mutant)
    return 0


if __name__ == "__main__":
    sys.exit(main())
