"""What is proved without a posterior: never more than holds for every original."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.engine.disclosure import cell_beliefs
from tabprotect.engine.disclosure.cell_beliefs import proved_ends
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.release.likelihood import UNBOUNDED, CellFactors
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def sums_of(rows: list[tuple[list[int], int, int]], cells: int) -> CellFactors:
    starts = np.cumsum([0, *(len(row) for row, _, _ in rows)])
    domain = Domain.of_shape((cells,))
    return CellFactors.of(
        domain,
        (PublishedTable(Table.dense(domain, np.zeros(cells, dtype=np.int64))),),
        (starts, np.concatenate([row for row, _, _ in rows]).astype(np.int64)),
        np.arange(len(rows)),
        [(low, high, None) for _, low, high in rows],
    )


def test_ends_contain_every_original() -> None:
    generator, met = np.random.default_rng(2), 0
    for _ in range(30):
        truth = generator.integers(0, 3, 4)
        rows = [(list(range(4)), 0, 8)]
        for _ in range(4):
            row = np.flatnonzero(generator.random(4) < 0.6).tolist()
            if row:
                here = int(truth[row].sum())
                rows.append((row, max(here - int(generator.integers(2)), 0), here))
        fits = [
            t
            for t in itertools.product(range(9), repeat=4)
            if all(low <= sum(t[c] for c in row) <= high for row, low, high in rows)
        ]
        lower, upper = proved_ends(sums_of(rows, 4))
        every = np.array(fits)
        assert (lower <= every.min(axis=0)).all() and (upper >= every.max(axis=0)).all()
        met += int((lower == upper).sum())
    assert met > 10


def test_no_original_is_an_error() -> None:
    with pytest.raises(InputError, match="no original"):
        proved_ends(sums_of([([0, 1], 0, 3), ([0], 5, 5), ([1], 0, 9)], 2))


def unlimited() -> Release:
    """Suppression by hand: one hidden cell that nothing limits, one that a total gives away."""
    domain = Domain.of_shape((2, 3))
    counts = np.array([[2, 7, 9], [8, 5, 6]])
    method = methods()["suppression"]
    values = method.resolve(domain, {"margins": "A:B + A - 1", "choice": "cheapest"})
    public = {p.name: values[p.name] for p in method.parameters if p.public}
    inner = PublishedTable.hiding(
        Table.dense(domain, counts), np.array([[True, False, False], [True, False, False]])
    )
    rows = PublishedTable.hiding(
        Table.dense(domain.project(["A"]), counts.sum(axis=1)), np.array([False, True])
    )
    return Release((inner, rows), Mechanism("suppression", domain, public | {"at_risk": "1..2"}))


def test_a_cell_without_an_upper_end_is_judged_by_what_is_proved() -> None:
    release = unlimited()
    found = verdict(release)
    assert found.way == "bounds" and not found.complete
    assert (found.known, found.certain, found.at_risk) == (1, 1, 1.0)
    assert not found.accepted and found.passed is False
    likelihood = methods()["suppression"].likelihood(release)
    assert isinstance(likelihood, CellFactors)
    lower, upper = proved_ends(likelihood)
    assert lower.tolist() == [2, 7, 9, 1, 5, 6] and upper[3] == UNBOUNDED


def test_bounds_never_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do they refuse where nothing is proved: it takes a reason."""

    def none(*_: object, **__: object) -> None:
        raise InfeasibleError("nothing to judge by")

    domain = Domain.of_shape((2, 2))
    method = methods()["random_rounding"]
    values = method.resolve(domain, {"base": 3})
    release, _ = method.perform(
        Problem(Table.dense(domain, [[4, 1], [2, 7]])), values, np.random.default_rng(1)
    )
    assert verdict(release).judged
    cell_beliefs._last.clear()
    monkeypatch.setattr(cell_beliefs, "believe", none)
    found = verdict(release, replace(AgencyPolicy(), share=1.0))
    assert found.way == "bounds" and not found.accepted and found.passed is None
