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
OTHERS = '''"""A measure, a criterion, a rule, a utility."""

from tabprotect.engine.assessment.utility.published_share import PublishedShare
from tabprotect.engine.query_space.criteria.smallest_margin import SmallestMargin
from tabprotect.engine.query_space.rules.myopic import Myopic
from tabprotect.engine.query_space.utilities.released_count import ReleasedCount


class Share(PublishedShare):
    name = "share"


class Smallest(SmallestMargin):
    name = "smallest"


class Quick(Myopic):
    name = "quick"


class Count(ReleasedCount):
    name = "count"
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
share = theirs.others:Share
[tabprotect.criteria]
smallest = theirs.others:Smallest
[tabprotect.rules]
quick = theirs.others:Quick
[tabprotect.formats]
dots = theirs.dots
[tabprotect.utilities]
count = theirs.others:Count
"""
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
        ("down", methods), ("share", measures), ("smallest", criteria), ("quick", rules),
        ("count", utilities), ("dots", formats),
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
    (package / "__init__.py").write_text("")
    (package / "method.py").write_text(METHOD)
    (package / "others.py").write_text(OTHERS)
    (package / "dots.py").write_text(FORMAT)
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


def test_its_method_protects_and_is_inferred_by_the_command_line(
    installed: Path, tmp_path: Path
) -> None:
    release = tmp_path / "release.zip"
    run = ["-m", "tabprotect"]
    words = ["protect", "example:langsrud-lupp", "--method", "down", "--out", str(release)]
    python(installed, *run, *words)
    assert json.loads(python(installed, *run, "verify", str(release), "--json"))
