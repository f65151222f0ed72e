"""What the page says of counts taken as true is what was measured."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.reader_page.page import HIDDEN, MEASURED
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

FIGURES = Path(__file__).parents[4] / "resources" / "docs" / "site" / "coverage.md"

NAMES = {
    "random_rounding": "rounding",
    "cell_key": "cell keys",
    "discrete_laplace": "Laplace noise",
    "cyclic_perturbation": "cycles",
    "suppression": "suppression",
}


def published(heading: str, method: str, columns: slice) -> list[float]:
    """What a table of the documentation has in brackets, in 100."""
    table = FIGURES.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n:::\n")[0]
    rows = [line.split("|")[3:6] for line in table.splitlines() if f"| {NAMES[method]} |" in line]
    found = [float(x) for row in rows for x in re.findall(r"\((\S+)\)", " ".join(row[columns]))]
    return [100 * share for share in found]


def test_the_figures_are_those_of_the_documentation() -> None:
    for method, said in (MEASURED | {"suppression": HIDDEN}).items():
        columns = slice(2, 3) if method == "suppression" else slice(0, 3)
        for heading, stated in (("Test", said.rejected), ("Log odds ratio", said.covered)):
            found = published(heading, method, columns)
            assert np.allclose(stated, (min(found), max(found)), atol=2.5), (method, heading)


def test_every_method_says_it_in_two_languages() -> None:
    table = Table.dense(Domain.of_shape((3, 4)), np.arange(12).reshape(3, 4) % 5 + 1)
    said = set()
    for name, given in (
        ("random_rounding", {}),
        ("bootstrap", {}),
        ("publish_margins", {"margins": "A + B"}),
    ):
        release = methods()[name].run(Problem(table), given, Randomness.seeded(3)).release
        text = public.page_of(release).decode()
        english, german = re.findall(r'"naive":"([^"]*)"', text)
        assert german != english and "{" not in english + german
        said.add(english)
    assert len(said) == 3
