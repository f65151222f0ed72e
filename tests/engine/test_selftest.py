"""``selftest``: faults of an installation are found, and what is said of it is filed."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.cli.main import main
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.bounds.counting import TableCount, count_tables
from tabprotect.engine.bundle.public import to_bytes
from tabprotect.engine.formats.kinds.csv import Csv
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.protection.method import Draft
from tabprotect.engine.protection.methods.random_rounding import RandomRounding
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.testing import method_checks
from tabprotect.testing import selftest as testing
from tabprotect.testing.failure import CheckFailed
from tabprotect.version import __version__

QUICK = (
    "compiled parts",
    "tables with given",
    "originals",
    "a posterior",
    "a bundle of",
    "format csv",
    "method random_r",
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [(name, check) for name, check in testing._checks() if name.startswith(QUICK)]
    assert len(checks) == 9
    monkeypatch.setattr(testing, "_checks", lambda: iter(checks))


def test_a_whole_installation_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "q.json"
    assert main(["selftest", "--json", "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    filed = json.loads(out.read_text())
    assert filed["passed"] and filed["version"] == __version__ and len(filed["files"]) == 64
    assert {"numpy", "scipy"} <= filed["libraries"].keys() and len(filed["checks"]) == 9
    assert filed["seconds"] == pytest.approx(sum(one["seconds"] for one in filed["checks"]), abs=0.1)
    assert said["files"] == filed["files"]
    assert main(["selftest", "--only", "no such check"]) == 4
    assert main(["selftest", "--out", str(tmp_path / "q.html")]) == 0
    page = (tmp_path / "q.html").read_text()
    assert filed["files"] in page and page.count("passed") == 9


def wrong_likelihood(self: RandomRounding, release: Release) -> CellFactors:
    found = LIKELIHOOD(self, release)
    return replace(found, logs=found.logs * 4)


LIKELIHOOD = RandomRounding.likelihood


def miscounted(*given: object, **more: object) -> TableCount:
    found = count_tables(*given, **more)  # type: ignore[arg-type]
    return replace(found, count=found.count + 1)


def one_more(self: Csv, cube: Cube) -> bytes:
    return PUBLISH(self, replace(cube, table=Table.dense(cube.table.domain, cube.table.counts + 1)))


PUBLISH = Csv.publish


def off_by_a_millionth(*given: Any, **more: Any) -> Any:
    found = believe(*given, **more)
    chances = found.posterior.chances.copy()
    chances[:, 0] += 1e-6
    return replace(found, posterior=replace(found.posterior, chances=chances))


def biased(
    self: RandomRounding, problem: Problem, values: Values, generator: np.random.Generator, *more: Any
) -> Draft:
    class Biased:
        def integers(self, low: int, high: int, size: int) -> Any:
            drawn = generator.integers(low, high, size), generator.integers(low, high, size)
            return np.where(generator.random(size) < 0.5, drawn[0], np.minimum(*drawn))

    return DRAW(self, problem, values, Biased(), *more)  # type: ignore[arg-type]


DRAW = RandomRounding.draw


class Repeating:
    """A posterior one in twenty of whose draws are the same original."""

    def __init__(self, of: Posterior) -> None:
        self.of = of

    def draw_originals(self, number: int, *more: Any) -> Any:
        drawn = self.of.draw_originals(number, *more)
        drawn[: number // 20] = drawn[0]
        return drawn


POSTERIOR = testing._posterior


def one_byte_off(release: Release, **more: Any) -> bytes:
    content = bytearray(to_bytes(release, **more))
    content[len(content) // 2] ^= 1
    return bytes(content)


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        # A posterior off by one millionth: against printed fractions, and against enumeration.
        (lambda patch: patch.setattr(testing, "believe", off_by_a_millionth), "a posterior"),
        (lambda patch: patch.setattr(method_checks, "believe", off_by_a_millionth), "method random_r"),
        # Biased samplers: of a method, and of a posterior.
        (lambda patch: patch.setattr(RandomRounding, "draw", biased), "method random_r"),
        (
            lambda patch: patch.setattr(testing, "_posterior", lambda: Repeating(POSTERIOR())),
            "originals drawn",
        ),
        # A byte of a bundle.
        (lambda patch: patch.setattr(testing, "to_bytes", one_byte_off), "a bundle of"),
        (lambda patch: patch.setattr(testing, "missing_kernels", lambda: ["cycle_steps"]), "compiled parts"),
        (lambda patch: patch.setattr(testing, "count_tables", miscounted), "tables with given"),
        (lambda patch: patch.setattr(testing, "SLIDES", np.maximum(testing.SLIDES, 2)), "a bundle"),
        (lambda patch: patch.setattr(RandomRounding, "likelihood", wrong_likelihood), "method random_r"),
        (lambda patch: patch.setattr(Csv, "publish", one_more), "format csv"),
    ],
)
def test_planted_faults_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    assert main(["selftest", "--only", found]) == 1


def test_a_changed_file_of_the_program_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tabprotect" / "version.py"
    program.parent.mkdir()
    program.write_text("__version__ = '1'\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(program.read_bytes()).digest()).rstrip(b"=").decode()
    record = tmp_path / f"tabprotect-{__version__}.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: tabprotect\nVersion: {__version__}\n")
    (record / "RECORD").write_text(f"tabprotect/version.py,sha256={digest},18\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(testing, "RESOURCES", tmp_path / "resources")
    testing._installed()
    program.write_text("__version__ = '2'\n")
    with pytest.raises(CheckFailed, match=r"changed since it was installed: tabprotect/version\.py"):
        testing._installed()


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_a_changed_file_of_a_checkout_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "tabprotect" / "version.py"
    program.parent.mkdir()
    program.write_text("__version__ = '1'\n")
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "first")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    assert testing._changed(tmp_path) == []
    program.write_text("__version__ = '2'\n")
    assert testing._changed(tmp_path) == ["tabprotect/version.py"]
