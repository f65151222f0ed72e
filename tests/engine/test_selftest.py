"""``selftest``: faults of an installation are found, and what is said of it is filed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.cli.main import main
from tabprotect.engine.bounds.counting import TableCount, count_tables
from tabprotect.engine.formats.kinds.csv import Csv
from tabprotect.engine.protection.methods.random_rounding import RandomRounding
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.cube import Cube
from tabprotect.engine.tables.table import Table
from tabprotect.testing import selftest as testing
from tabprotect.version import __version__

QUICK = (
    "compiled parts",
    "tables with given",
    "originals of",
    "a bundle of",
    "format csv",
    "method random_r",
)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    checks = [(name, check) for name, check in testing._checks() if name.startswith(QUICK)]
    assert len(checks) == 7
    monkeypatch.setattr(testing, "_checks", lambda: iter(checks))


def failed() -> list[str]:
    return [check.name for check in testing.selftest().checks if not check.passed]


def test_a_whole_installation_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "q.json"
    assert main(["selftest", "--json", "--out", str(out)]) == 0
    said = json.loads(capsys.readouterr().out)
    filed = json.loads(out.read_text())
    assert filed["passed"] and filed["version"] == __version__ and len(filed["files"]) == 64
    assert {"numpy", "scipy"} <= filed["libraries"].keys() and len(filed["checks"]) == 7
    assert said["files"] == filed["files"]
    assert main(["selftest", "--only", "no such check"]) == 4
    assert main(["selftest", "--out", str(tmp_path / "q.html")]) == 0
    page = (tmp_path / "q.html").read_text()
    assert filed["files"] in page and page.count("passed") == 7


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


@pytest.mark.parametrize(
    ("plant", "found"),
    [
        (
            lambda patch: patch.setattr(testing, "missing_kernels", lambda: ["cycle_steps"]),
            ["compiled parts"],
        ),
        (lambda patch: patch.setattr(testing, "count_tables", miscounted), ["tables with given"]),
        (
            lambda patch: patch.setattr(testing, "SLIDES", np.maximum(testing.SLIDES, 2)),
            ["tables", "a bundle"],
        ),
        (
            lambda patch: patch.setattr(RandomRounding, "likelihood", wrong_likelihood),
            ["method random_rounding"],
        ),
        (lambda patch: patch.setattr(Csv, "publish", one_more), ["format csv"]),
    ],
)
def test_planted_faults_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], found: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    names = failed()
    assert all(any(name.startswith(one) for name in names) for one in found), names
    assert main(["selftest"]) == 1
