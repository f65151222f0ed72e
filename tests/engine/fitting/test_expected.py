"""Expected inner cells against the published example and fitting one count after the other."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.fitting import expected as module
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.fitting.expected import expected, fit
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tests.engine.fitting.party import DOMAIN, PUBLICATION, REFERENCE, cells, rows


def one_by_one(sums: Ints, values: Floats, sweeps: int = 3000) -> Floats:
    """Scaling to every published count in turn."""
    fitted = np.ones(sums.shape[1])
    for _ in range(sweeps):
        for row, value in zip(sums.astype(bool), values, strict=True):
            now = fitted[row].sum()
            if now > 0:
                fitted[row] *= value / now
        if np.abs(sums @ fitted - values).max() < 1e-12:
            break
    return fitted


def publication(formula: str, shape: tuple[int, ...]) -> Publication:
    domain = Domain.of_shape(shape)
    half = Grouping("G", "A", tuple("pq"[k % 2] for k in range(shape[0])))
    across = Grouping("H", "A", tuple("xyz"[k // 2] for k in range(shape[0])))
    return Publication.of(domain, formula, (half, across))


def test_the_published_example() -> None:
    values = np.zeros(24)
    inner = [DOMAIN.flat(DOMAIN.index(labels)) for labels in rows("inner")]
    values[cells()] = REFERENCE["published"]["cell_key"]
    found = expected(PUBLICATION, restore(PUBLICATION, values)).reshape(-1)[inner]
    assert found == pytest.approx(REFERENCE["inner"]["cell_key_expected"], abs=1e-10)
    values[cells()] = REFERENCE["published"]["rounded"]
    found = expected(PUBLICATION, values).reshape(-1)[inner]
    assert found == pytest.approx(REFERENCE["inner"]["rounded_expected"], abs=1e-10)


@pytest.mark.parametrize(
    ("formula", "shape"),
    [
        ("1", (3, 2)),
        ("A + B", (4, 3)),
        ("A*B", (4, 3)),
        ("(A + B + C)^2", (4, 3, 3)),
        ("(A + G)*B + C", (4, 3, 2)),
        ("G:B + H:B + A:C", (5, 3, 3)),
        ("G:H + H:C + G:B:C", (6, 2, 3)),
    ],
)
@pytest.mark.parametrize("dense", [0.0, 2.0])
def test_against_scaling_one_by_one(
    formula: str, shape: tuple[int, ...], dense: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DENSE", dense)
    published = publication(formula, shape)
    incidence = published.incidence.toarray()
    for seed in range(3):
        random = np.random.default_rng(seed)
        # Zeros in blocks, that empty published cells: others would slow the direct way too much.
        counts = 1 + random.poisson(random.gamma(0.6, 4, shape))
        counts[random.integers(shape[0]), random.integers(shape[1])] = 0
        counts = counts.reshape(-1)
        values = (incidence @ counts).astype(np.float64)
        found = fit(published, values)
        assert found.reached and found.deviation < 1e-7
        reference = one_by_one(incidence, values)
        assert np.abs(found.cells.reshape(-1) - reference).max() < 1e-8
        assert np.abs(incidence @ found.cells.reshape(-1) - values).max() < 1e-7


def test_independence_has_a_closed_form() -> None:
    published = Publication.of(Domain.of_shape((50, 40)), "A + B")
    random = np.random.default_rng(3)
    table = random.poisson(3.0, (50, 40))
    found = fit(published, published.incidence @ table.reshape(-1))
    closed = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert np.abs(found.cells - closed).max() < 1e-10
    assert found.sweeps <= 2


def test_the_inner_table_itself() -> None:
    published = publication("A*B", (4, 3))
    counts = np.random.default_rng(1).poisson(1.0, 12)
    found = fit(published, published.incidence @ counts)
    assert found.cells.reshape(-1).tolist() == counts.tolist() and found.sweeps == 0


def test_cells_that_follow_at_once_are_settled_exactly() -> None:
    # The zero leaves one cell in its row, and that one settles the rest.
    published = Publication.of(Domain.of_shape((2, 2, 2)), "A:B + B:C + A:C")
    counts = np.array([0, 0, 5, 2, 1, 3, 4, 6])
    values = (published.incidence @ counts).astype(np.float64)
    found = fit(published, values)
    assert found.cells.reshape(-1).tolist() == counts.tolist() and found.sweeps == 0


def test_only_some_counts_of_a_margin_are_published() -> None:
    published = publication("A*B - A:B", (4, 3))
    random = np.random.default_rng(7)
    incidence = published.incidence.toarray()
    values = (incidence @ random.poisson(4.0, 12)).astype(np.float64)
    known = np.ones(len(values), dtype=np.bool_)
    known[[1, 4, 6]] = False
    wrong = np.where(known, values, -99.0)
    found = fit(published, wrong, known=known)
    assert found.reached
    reference = one_by_one(incidence[known], values[known])
    assert np.abs(found.cells.reshape(-1) - reference).max() < 1e-7


def test_margins_without_a_common_table_are_said_not_to_be_reached() -> None:
    # Pairwise margins that agree with each other, although no table has all three.
    published = Publication.of(Domain.of_shape((2, 2, 2)), "(A + B + C)^2")
    counts = np.array([0, 1, 1, 2, 1, 2, 2, -1], dtype=np.int64)
    values = (published.incidence @ counts).astype(np.float64)
    assert values.min() >= 0
    found = fit(published, values)
    assert not found.reached and found.deviation > 0.1


@pytest.mark.parametrize(
    ("at", "says"),
    [
        ("A=a1", "margins grand total and A contradict each other: grand total is 12 in one"),
        ("G=q", "margins A and G contradict each other: G=q is 6 in one and 7 in the other"),
    ],
)
def test_contradicting_margins_are_named(at: str, says: str) -> None:
    published = publication("A + G" if at == "A=a1" else "A + G - 1", (4, 3))
    values = published.incidence @ np.ones(12)
    values[[published.cell_text(k) for k in range(published.size)].index(at)] += 1
    with pytest.raises(InputError, match=says):
        fit(published, values)


def test_bad_values() -> None:
    published = publication("A + B", (4, 3))
    with pytest.raises(InputError, match="7 values are given for 8"):
        fit(published, np.ones(7))
    with pytest.raises(InputError, match="no finite number"):
        fit(published, np.full(8, np.nan))
    with pytest.raises(InputError, match="published count of B=b3 is negative"):
        fit(published, [0, 0, 0, 0, 0, 1, 0, -1])
