"""Check what a change in a folder can break: ``python -m tests.check tabprotect/engine/tables``.

Format, lint, imports between folders, the catalogue of texts, types of the folder and of who imports it,
and tests: first those that lie where the folder does, then those that import it, then those that import
who imports it, quick ones first as far as an earlier run knows. Of a plug-in, which nothing imports, those that name it. Those that
lie with the folder are always run; no other is begun when the time is over. What was left out is said. ``tests/all.sh`` runs everything.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PLAN = "TABPROTECT_CHECK"
"""Names the file of the plan, in the environment of the runs of pytest."""

SECONDS, PAGE_SECONDS = 60, 120
"""How long a check takes, of a folder and of a page of the window."""

KNOWN = "check/seconds"
CACHE = ROOT / ".pytest_cache" / "v" / KNOWN
"""Where pytest keeps how long tests took."""

READ, UNKNOWN = 0.1, 2.0
"""Seconds to read a file of tests, and those that one takes that was never run here."""

SLOW = 3.0
"""Seconds from which a test is named as slow."""

LEFT_OUT = "left out: the time of this check is over"


# -- what belongs to a folder -----------------------------------------------------------------------


def module_of(path: Path) -> str:
    """Return the dotted name of a file or folder of the program or its tests."""
    parts = path.resolve().relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def file_of(module: str) -> Path:
    """Return the file of a module of the program."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def distances(folder: str, depth: int) -> dict[str, int]:
    """Return the modules within a folder (0), those who import them (1), and so on up to a depth."""
    import grimp

    graph = grimp.build_graph("tabprotect")
    found = dict.fromkeys((m for m in graph.modules if f"{m}.".startswith(f"{folder}.")), 0)
    ring = list(found)
    for distance in range(1, depth + 1):
        importers = {one for module in ring for one in graph.find_modules_that_directly_import(module)}
        ring = sorted(importers - found.keys())
        found |= dict.fromkeys(ring, distance)
    return found


def imported(path: Path) -> Iterator[str]:
    """Yield the modules of the program that a file of tests imports, and those named as texts to patch."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_files(folder: str, near: Mapping[str, int]) -> dict[str, int]:
    """Return the files of tests by how far they are: where the folder lies 0, what imports it from 1 on."""
    own = folder if folder.startswith("tests") else folder.replace("tabprotect", "tests", 1)
    parent, _, last = own.rpartition(".")
    found: dict[str, int] = {}
    for path in sorted(ROOT.glob("tests/**/test_*.py")):
        name = module_of(path)
        if f"{name}.".startswith(f"{own}.") or name == f"{parent}.test_{last}":
            found[str(path.relative_to(ROOT))] = 0
        elif reached := [near[module] for module in imported(path) if module in near]:
            found[str(path.relative_to(ROOT))] = 1 + min(reached)
    return found


def by_name(path: Path) -> list[str]:
    """Return the files of tests that run over all plug-ins of a kind, where a path is one of them."""
    if not path.is_file() or "\nPLUGIN" not in path.read_text(encoding="utf-8"):
        return []
    above = path.resolve().relative_to(ROOT / "tabprotect").parents
    folders = [ROOT / "tests" / one for one in above if len(one.parts) > 1]
    return [str(one.relative_to(ROOT)) for folder in folders for one in sorted(folder.glob("test_*.py"))]


def within(files: Mapping[str, int], seconds: float) -> dict[str, int]:
    """Return the nearest files of tests, as many as there is time for: to read all would take most of it."""
    known: dict[str, float] = {}
    if CACHE.exists():
        for test, took in json.loads(CACHE.read_text(encoding="utf-8")).items():
            name = test.partition("::")[0]
            known[name] = known.get(name, READ) + took
    chosen: dict[str, int] = {}
    # Types are checked meanwhile, and pytest reads the files before it runs the first.
    seconds *= 0.6
    for name, distance in sorted(files.items(), key=lambda one: (one[1], known.get(one[0], UNKNOWN))):
        if seconds > 0 or distance == 0:
            chosen[name] = distance
        seconds -= known.get(name, UNKNOWN)
    return chosen


# -- within the runs of pytest ----------------------------------------------------------------------


def _plan() -> dict[str, object]:
    plan: dict[str, object] = json.loads(Path(os.environ[PLAN]).read_text(encoding="utf-8"))
    return plan


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put near tests first, and of these the quick ones; of tests over plug-ins take those that name it."""
    plan, known = _plan(), config.cache.get(KNOWN, {}) if config.cache else {}
    files, named = plan["files"], plan["named"]
    assert isinstance(files, dict) and isinstance(named, dict)
    for item in list(items):
        name = named.get(item.nodeid.partition("::")[0], "")
        if name not in item.nodeid.replace("-", "_"):
            items.remove(item)
    items.sort(key=lambda item: (files[item.nodeid.partition("::")[0]], known.get(item.nodeid, SLOW)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begin no test of others when the time is over."""
    plan = _plan()
    files, until = plan["files"], plan["until"]
    assert isinstance(files, dict) and isinstance(until, float)
    if files[item.nodeid.partition("::")[0]] and time.time() > until:
        pytest.skip(LEFT_OUT)


class Told:
    """What the runs came to: seconds of tests, and how many were left out by folder."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.left_out: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember a test's time, or that it was left out."""
        if report.skipped and LEFT_OUT in str(report.longrepr):
            self.left_out[report.nodeid.partition("::")[0].rpartition("/")[0]] += 1
            self.seconds.pop(report.nodeid, None)
        elif report.when == "setup" or report.nodeid in self.seconds:
            before = self.seconds.get(report.nodeid, 0.0)
            self.seconds[report.nodeid] = before + report.duration

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, config: pytest.Config
    ) -> None:
        """Say what was left out, and what is slow."""
        if config.cache is not None:
            config.cache.set(KNOWN, {**config.cache.get(KNOWN, {}), **self.seconds})
        say = terminalreporter.write_line
        for name, seconds in sorted(self.seconds.items(), key=lambda one: -one[1]):
            if seconds > SLOW:
                say(f"slow: {seconds:5.1f} s  {name}")
        if self.left_out:
            say("LEFT OUT, tests of: " + ", ".join(f"{at} {n}" for at, n in self.left_out.most_common()))


def pytest_configure(config: pytest.Config) -> None:
    """Listen where reports arrive: not in the workers."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Told())


# -- the command ------------------------------------------------------------------------------------


def run(name: str, command: Iterable[str]) -> tuple[str, int, str]:
    """Run a command beside the others; return its exit code and what it printed."""
    done = subprocess.run(list(command), cwd=ROOT, capture_output=True, text=True, check=False)
    return name, done.returncode, done.stdout + done.stderr


def main() -> int:
    """Parse the command line and check."""
    parser = argparse.ArgumentParser(prog="python -m tests.check", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="a folder or file of tabprotect or tests")
    parser.add_argument("--depth", type=int, default=1, help="how far importers are followed (default: 1)")
    parser.add_argument(
        "--seconds", type=float, help=f"{SECONDS}, or {PAGE_SECONDS} for a page of the window"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes of tests (default: 2)")
    arguments = parser.parse_args()
    began = time.time()
    if not arguments.folder.exists():
        parser.error(f"there is no {arguments.folder}")
    folder = module_of(arguments.folder)
    seconds = arguments.seconds or (PAGE_SECONDS if "gui.pages" in folder else SECONDS)
    near = distances(folder, arguments.depth)
    files = test_files(folder, near)
    named = {name: arguments.folder.stem for name in by_name(arguments.folder) if files.get(name) != 0}
    files |= dict.fromkeys(named, 0)
    every, files = files, within(files, seconds)
    print(
        f"{len(near)} modules, importers to depth {arguments.depth}; {len(files)} of {len(every)} files of tests"
    )
    left = Counter("/".join(Path(name).parts[:3]) for name in every.keys() - files.keys())
    if left:
        print("LEFT OUT, files of:", ", ".join(f"{place} {number}" for place, number in left.most_common()))
    program, python = str(Path(sys.executable).parent) + os.sep, sys.executable
    typed = [str(file_of(module)) for module in near]
    beside = {
        "format": [f"{program}ruff", "format", "--check", "-q", "."],
        "lint": [f"{program}ruff", "check", "-q", "."],
        "imports": [f"{program}lint-imports"],
        "texts": [python, "packaging/catalogue.py", "--check"],
        **({"types": [f"{program}mypy", *typed]} if typed else {}),
    }
    failed = []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as plan, ThreadPoolExecutor(1) as threads:
        # A test that was begun ends, and reports take their time too.
        json.dump({"files": files, "named": named, "until": began + 0.8 * seconds}, plan)
        plan.flush()
        others = [threads.submit(run, name, command) for name, command in beside.items()]
        if files:
            workers = ["-n", str(arguments.workers), "--dist", "load", "--maxschedchunk", "4"]
            command = [python, "-m", "pytest", "-q", "-p", "tests.check"]
            command += [*(workers if arguments.workers > 1 else []), *files]
            environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, PLAN: plan.name}
            code = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
            # No test of those over plug-ins may name this one.
            if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
                failed.append("tests")
        for name, code, text in (other.result() for other in others):
            if code:
                failed.append(name)
                print(f"\n== {name}\n{text.strip()}")
                if name == "texts":
                    print(
                        "Run packaging/catalogue.py; the end of resources/docs/site/howto/first_method.md says more."
                    )
    print(f"{'FAILED: ' + ', '.join(failed) if failed else 'good'} ({time.time() - began:.0f} s)")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
