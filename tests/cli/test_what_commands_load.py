"""A command loads what it uses: small tasks are over before all of the engine is loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

RUN = """
import contextlib, io, json, sys
from tabprotect.cli.main import main
with contextlib.redirect_stdout(io.StringIO()):
    assert main(sys.argv[1:]) in (0, 7)
print(json.dumps(sorted(sys.modules)))
"""

EVERYWHERE = ("sqlalchemy", "duckdb", "highspy", "scipy", "xlsxwriter")

READING = (
    *EVERYWHERE,
    "tabprotect.engine.attack",
    "tabprotect.engine.belief.joint_noise",
    "tabprotect.engine.magnitudes",
    "tabprotect.engine.posterior.adaptive",
    "tabprotect.engine.posterior.together.infer_together",
    "tabprotect.engine.project.commands",
    "tabprotect.engine.protection.cycle_runs.choosing_cycles",
)

OPENING = (
    *EVERYWHERE,
    "tabprotect.engine.belief.believing",
    "tabprotect.engine.disclosure.gate",
    "tabprotect.engine.posterior.infer",
    "tabprotect.engine.project.verbs.publish_verbs",
)

COMMANDS = {
    "verify {bundle}": (*READING, "tabprotect.engine.formats.format"),
    "infer {bundle} --json": (
        *READING,
        "tabprotect.engine.disclosure.least_squares_check",
        "tabprotect.engine.formats.format",
        "tabprotect.engine.protection.suppressing",
    ),
    "export {bundle} --format csv --out {out}": (*READING, "tabprotect.engine.disclosure.verdict"),
    "examples": (*OPENING, "tabprotect.engine.project.commands"),
    "convert example:duncan-roehrig-4x4 --out {out}": OPENING,
}


HELP = [
    "agency",
    "atomic",
    "budgets",
    "errors",
    "options",
    "parameters",
    "paths",
    "progress",
    "registry",
    "workers",
    "workers.threads",
    "disclosure",
    "disclosure.policy",
    "formats",
    "formats.kinds",
    "formats.reading_options",
    "formats.registered",
    "project",
    "project.examples",
    "project.options",
    "protection",
    "protection.methods",
    "plain_values",
    "tables",
    "tables.category_order",
    "plain_values.decoding",
    "plain_values.encoding",
    "plain_values.metadata",
    "release",
    "release.findings",
    "release.limits",
    "release.tuned",
]
"""What ``protect --help`` takes of the engine: what may be asked, and nothing that computes."""


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = Table.dense(Domain.of_shape((4, 4)), np.arange(16).reshape(4, 4) % 5 + 1)
    done = methods()["cyclic_perturbation"].run(Problem(table), {}, Randomness.seeded(3))
    path = tmp_path_factory.mktemp("bundle") / "release.zip"
    path.write_bytes(public.to_bytes(done.release))
    return path


def modules_of(*words: str) -> list[str]:
    """The modules that a command line loads."""
    done = subprocess.run([sys.executable, "-c", RUN, *words], capture_output=True, text=True, check=True)
    loaded: list[str] = json.loads(done.stdout)
    return loaded


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_loads_what_it_uses(line: str, bundle: Path, tmp_path: Path) -> None:
    loaded = modules_of(*(word.format(bundle=bundle, out=tmp_path / "out.csv") for word in line.split()))
    spare = COMMANDS[line]
    assert [m for m in loaded if m.startswith(tuple(f"{name}." for name in spare)) or m in spare] == []


def test_the_help_of_a_command_loads_nothing_that_computes() -> None:
    loaded, engine = modules_of("protect", "--help"), "tabprotect.engine."
    assert {m.removeprefix(engine) for m in loaded if m.startswith(engine)} == set(HELP)
    assert not {"numpy", "email", "importlib.metadata"} & set(loaded)
