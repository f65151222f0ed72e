"""A package of somebody else brings plug-ins of all kinds: installed, it is there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

METHOD = '''"""Rounding, for a test.

It rounds.
"""

from tabprotect.engine.protection.methods.random_rounding import RandomRounding


class Down(RandomRounding):
    name = "down"
    label = "Down"


class Twin(RandomRounding):
    name = "cell_key"


PLUGIN = Down()
'''
MEASURE = '''"""Share of the compared cells that are published higher than they are.

Made up for a test.
"""

import numpy as np

from tabprotect.engine.assessment.figure import Figure
from tabprotect.engine.assessment.measure import Measure


class Raised(Measure):
    name = "raised"
    label = "Cells raised"
    unit = "share"
    direction = "lower is better"
    noun = "utility"

    def compute(self, case):
        true, published = case.pair
        return Figure(float(np.mean(published > true)))


PLUGIN = Raised()
'''
CRITERION = '''"""Half the smallest margin count of an at-risk cell.

Made up for a test.
"""

from dataclasses import replace

from tabprotect.engine.query_space.criteria.smallest_margin import SmallestMargin


class Halved(SmallestMargin):
    name = "halved"
    label = "Half the smallest margin"

    def judge(self, evidence, released, threshold, **more):
        found = super().judge(evidence, released, 2 * threshold, **more)
        return replace(found, width=found.width // 2)

    def screen(self, evidence, released, queries, threshold):
        return super().screen(evidence, released, queries, 2 * threshold)


PLUGIN = Halved()
'''
RULE = '''"""Release what is asked for a second time.

Made up for a test.
"""

from tabprotect.engine.query_space.rule import ReleaseRule, Ruling


class Twice(ReleaseRule):
    name = "twice"
    label = "Release at the second demand"

    def decide(self, situation, values, progress=None):
        if situation.demand[situation.query] < 2:
            return Ruling("defer", "ask again")
        return Ruling("release", "released")


PLUGIN = Twice()
'''
UTILITY = '''"""Released pairs of variables.

Made up for a test.
"""

from tabprotect.engine.query_space.utility import ReleaseUtility


class Pairs(ReleaseUtility):
    name = "pairs"
    label = "Pairs of variables"

    def value(self, table, released, progress=None):
        return float(released.by_dimension[2])

    def weights(self, variables):
        return tuple(float(dimension == 2) for dimension in range(variables + 1))


PLUGIN = Pairs()
'''
FORMAT = '''"""Counts as text, for a test.

It is CSV under another name.
"""

from tabprotect.engine.formats.kinds.csv import PLUGIN as CSV


class Dots(type(CSV)):
    suffixes = (".dots",)


PLUGIN = Dots()
'''
POINTS = """[tabprotect.methods]
down = theirs.method
twin = theirs.method:Twin
gone = theirs.nothing:Here
[tabprotect.measures]
raised = theirs.measure
[tabprotect.criteria]
halved = theirs.criterion
[tabprotect.rules]
twice = theirs.rule
[tabprotect.utilities]
pairs = theirs.utility
[tabprotect.formats]
dots = theirs.dots
"""
FILES = {
    "__init__": "",
    "method": METHOD,
    "measure": MEASURE,
    "criterion": CRITERION,
    "rule": RULE,
    "utility": UTILITY,
    "dots": FORMAT,
}
SCRIPT = """
import json
from tabprotect.engine.assessment.registered import measures
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.formats.registered import formats
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.query_space.registered import criteria, rules, utilities

try:
    methods()["gone"]
    said = ""
except ParameterError as error:
    said = str(error)
print(json.dumps({
    "found": [name in registry() for name, registry in (
        ("down", methods), ("raised", measures), ("halved", criteria), ("twice", rules),
        ("pairs", utilities), ("dots", formats),
    )],
    "broken": methods().broken,
    "own": type(methods()["cell_key"]).__name__,
    "said": said,
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As an installer leaves a wheel: the modules, and what their package declares."""
    site = tmp_path_factory.mktemp("site")
    package, info = site / "theirs", site / "theirs-1.0.dist-info"
    package.mkdir()
    info.mkdir()
    for name, text in FILES.items():
        (package / f"{name}.py").write_text(text)
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: theirs\\nVersion: 1.0\\n")
    (info / "entry_points.txt").write_text(POINTS)
    return site


def python(site: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.getcwd()])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_all_kinds_are_found_and_a_broken_one_stops_nothing(installed: Path) -> None:
    found: dict[str, Any] = json.loads(python(installed, "-c", SCRIPT))
    assert found["found"] == [True] * 6
    assert set(found["broken"]) == {"twin", "gone"}
    assert "already" in found["broken"]["twin"] and found["own"] == "CellKey"
    assert "cannot be loaded" in found["said"] and "theirs.nothing" in found["said"]


COMMANDS = """
import contextlib, io, json, sys
from tabprotect.cli.main import main

out = []
for words in json.loads(sys.argv[1]):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = main([*words, "--json"])
    assert code == 0, (words, text.getvalue())
    out.append(json.loads(text.getvalue()))
print(json.dumps(out))
"""


def test_the_command_line_uses_and_explains_every_one(installed: Path, tmp_path: Path) -> None:
    table, czech, release = "example:langsrud-lupp", "example:czech-autoworkers", "release.zip"
    compared = ["--run", "down", "--runs-per-method", "1", "--measures", "raised"]
    once = ["--query", "A,B", "A,B", "--rule", "twice", "--beta", "2", "--criterion", "halved"]
    few = ["--method", "exhaustive", "--beta", "1"]
    words = [
        ["protect", table, "--method", "down", "--accept", "a test", "--out", str(tmp_path / release)],
        ["verify", str(tmp_path / release)],
        ["compare", table, *compared, "--workers", "1"],
        ["optimal", table, "--utility", "pairs", "--criterion", "halved", *few],
        ["serve-session", str(tmp_path / "log.db"), "--table", czech, *once],
        ["convert", table, "--out", str(tmp_path / "counts.dots")],
        ["describe"],
    ]
    found = json.loads(python(installed, "-c", COMMANDS, json.dumps(words)))
    _, verified, compared_, best, served, _, described = found
    assert verified["method"] == "down"
    assert 0 < compared_["runs"][0]["measures"]["raised"] < 1
    assert best["released_frontier"]
    assert [answer["answer"] for answer in served["answers"]] == ["deferral", "table"]
    assert (tmp_path / "counts.dots").read_text().startswith("party,")
    for kind, name, said in (
        ("methods", "down", "It rounds."),
        ("measures", "raised", "published higher"),
        ("criteria", "halved", "Half the smallest"),
        ("rules", "twice", "a second time"),
        ("utilities", "pairs", "Released pairs"),
    ):
        (page,) = (one for one in described[kind] if one["name"] == name)
        assert said in page["help"]
    assert [".dots"] in [one["suffixes"] for one in described["formats"]]
