"""Small magnitude tables for tests: from rows, and drawn."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tabprotect.engine.disclosure.magnitude_verdict import protect_magnitudes
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.magnitudes.readers.beliefs import ContributorView
from tabprotect.engine.magnitudes.tables.contributions import Contributions
from tabprotect.engine.magnitudes.tables.magnitude_table import WHOLE, MagnitudeTable
from tabprotect.engine.protection.problem import MagnitudeProblem, Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.magnitude_rules import MagnitudeRule
from tabprotect.engine.tables.variable import Variable

Rows = Mapping[tuple[int, int, str], int]


def table_of(rows: Rows, shape: tuple[int, int]) -> MagnitudeTable:
    """A two-way table of contributions (row, column, holding)."""
    names = sorted({holding for _, _, holding in rows})
    own = np.array(list(rows.values()), dtype=np.int64)
    ones, no = np.ones(len(own), dtype=np.int64), np.zeros(len(own), dtype=bool)
    codes = np.array([[row for row, _, _ in rows], [column for _, column, _ in rows]])
    holding = np.array([names.index(name) for _, _, name in rows])
    variables = tuple(
        Variable(name, tuple(map(str, range(size)))) for name, size in zip("rc", shape, strict=True)
    )
    kept = Contributions(codes, holding, own, ones * WHOLE, own, ones, no, no, own, own)
    return MagnitudeTable(variables, "turnover", 0, kept, names)


def suppressed(table: MagnitudeTable, rules: tuple[MagnitudeRule, ...], **given: object) -> Protected:
    """A table protected by suppression and judged by the program's own limits."""
    method = methods("magnitudes")["suppression"]
    problem = Problem.of_magnitudes(MagnitudeProblem(table=table, rules=rules))
    return protect_magnitudes(method, problem, method.resolve(table.units.domain, given), AgencyPolicy())


def outsider(table: PublishedMagnitudes, within: float) -> dict[int, float]:
    """What an outsider believes of each cell that is not published as it is."""
    release = Release.of_magnitudes(table, "suppression")
    found = methods("magnitudes")["suppression"].beliefs(release, ContributorView(), within)
    return {one.cell: one.belief for one in found}


def drawn(seed: int, shape: tuple[int, int] = (4, 4)) -> Rows:
    """Contributions, a quarter of them of groups in several cells."""
    generator = np.random.default_rng(seed)
    rows: dict[tuple[int, int, str], int] = {}
    for i in range(shape[0]):
        for j in range(shape[1]):
            for k in range(int(generator.integers(1, 7))):
                group = generator.random() < 0.25
                name = f"g{int(generator.integers(0, 10))}" if group else f"u{i}{j}{k}"
                size = max(1, int(generator.lognormal(4, 1.2)))
                rows[i, j, name] = rows.get((i, j, name), 0) + size
    return rows


def hidden_square() -> PublishedMagnitudes:
    """A 2 x 2 square of hidden sums with one degree of freedom: the first lies in [3, 6]."""
    variables = Variable("a", ("1", "2", "3")), Variable("b", ("1", "2", "3"))
    inner = np.array([[4, 3, 20], [2, 1, 15], [5, 25, 30]])
    whole = np.pad(inner, ((0, 1), (0, 1)))
    whole[3, :3], whole[:3, 3], whole[3, 3] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    hidden = np.zeros((4, 4), dtype=bool)
    hidden[:2, :2] = True
    value = np.where(hidden, 0, whole).reshape(-1)
    return PublishedMagnitudes(variables, "x", 0, np.arange(16), value, hidden.reshape(-1))
