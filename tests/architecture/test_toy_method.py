"""An eleventh method touches one file: a copy of the program gets that file and knows the rest."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

TOY = '''"""Rounding down: every count goes to the multiple of a number just below it.

There is no chance in it, so a reader knows each count up to the rest.

Worked example: in steps of 5 a count of 7 is published as 5. Source: a test.
"""

import numpy as np

from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.method import Method
from tabprotect.engine.protection.problem import Draft
from tabprotect.engine.release.likelihood import independent
from tabprotect.engine.release.release import PublishedTable
from tabprotect.engine.tables.table import Table


class Toy(Method):
    name = "toy"
    label = "Rounding down"
    parameters = (Parameter("step", "Step", "Counts are multiples of it.", "integer", 3, 1, 50),)
    guarantees = {"non_negative": "No published count is negative.", "zeros_kept": "A zero stays."}

    def is_random(self, values):
        return False

    def draw(self, problem, values, generator, progress=SILENT):
        counts = problem.table.counts
        table = Table.dense(problem.table.domain, counts - counts % values["step"])
        return Draft((PublishedTable(table),))

    def likelihood(self, release):
        step = self.resolve(release.domain, release.mechanism.parameters)["step"]
        return independent(release.tables[0], lambda k: (k, k + step - 1, None))


PLUGIN = Toy()
'''

SCRIPT = """
import contextlib, io, json, sys
from tabprotect.cli.main import main

out = {}
for words in json.loads(sys.argv[1]):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = main(words)
    assert code == 0, (words, text.getvalue())
    out[words[0]] = json.loads(text.getvalue())
print(json.dumps(out))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with one more file."""
    folder = tmp_path_factory.mktemp("program")
    # With what is compiled, but for what is being written at this moment.
    ignore = shutil.ignore_patterns("*.pyc.*", "images", "site")
    shutil.copytree(ROOT / "tabprotect", folder / "tabprotect", ignore=ignore)
    shutil.copytree(ROOT / "resources", folder / "tabprotect" / "resources", ignore=ignore)
    (folder / "tabprotect" / "engine" / "protection" / "methods" / "toy.py").write_text(TOY)
    for part in ("oracles", "engine/protection"):
        shutil.copytree(ROOT / "tests" / part, folder / "tests" / part, ignore=ignore)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def python(folder: Path, *words: str) -> str:
    """Run the copy's own program."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_described_protects_infers_and_is_compared(copy: Path) -> None:
    table, release = "example:langsrud-lupp", "release.zip"
    compared = ["--runs-per-method", "2", "--seed", "1", "--workers", "1", "--json"]
    words = [
        ["describe", "--json"],
        ["protect", table, "--method", "toy", "--set", "step=3", "--out", release, "--json"],
        ["infer", release, "--json"],
        ["compare", table, "--run", "toy step=3,5", "--run", "cell_key", *compared],
    ]
    found: dict[str, Any] = json.loads(python(copy, "-c", SCRIPT, json.dumps(words)))
    (described,) = (m for m in found["describe"]["methods"] if m["name"] == "toy")
    assert described["summary"].startswith("Rounding down")
    assert [p["name"] for p in described["parameters"]] == ["step"]
    assert found["protect"]["method"] == "toy"
    runs = [r for r in found["compare"]["runs"] if r["method"] == "toy"]
    assert [r["parameters"]["step"] for r in runs] == [3, 3, 5, 5]
    for run in runs:
        assert run["error"] is None
        # Every count from k to k + step - 1 is as likely as the others.
        assert run["measures"]["posterior_true"] == pytest.approx(1 / run["parameters"]["step"])
        assert run["measures"]["feasibility_width"] == run["parameters"]["step"] - 1
    assert "toy" in found["compare"]["summary"][0]["run"]


def test_it_runs_through_the_common_checks(copy: Path) -> None:
    checks = "tests/engine/protection/methods/test_every_method.py"
    said = python(copy, "-m", "pytest", checks, "-q", "-k", "toy", "-p", "no:cacheprovider")
    assert " passed" in said and "failed" not in said
