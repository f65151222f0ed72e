"""Restored counts against the published example and a dense, direct version of the device."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InputError, Interrupted
from tabprotect.engine.fitting.additivity import restore
from tabprotect.engine.progress import Cancellable
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tests.engine.fitting.party import PUBLICATION, REFERENCE, cells


def direct(sums: Floats, values: Floats) -> Floats:
    """The device with dense least squares by singular values."""

    def fitted(rows: Floats, wanted: Floats) -> Floats:
        return rows @ np.linalg.lstsq(rows, wanted, rcond=1e-10)[0]

    values = values.copy()
    fit = fitted(sums, values)
    low, before = fit < 1e-10, 0
    while low.sum() > before:
        before = low.sum()
        values[low] = 0
        zero = values == 0
        kept = sums[zero].sum(axis=0) == 0
        fit = np.zeros(len(values))
        fit[~zero] = fitted(sums[~zero][:, kept], values[~zero])
        low = fit < 1e-10
    return fit


def publication(formula: str, shape: tuple[int, ...]) -> Publication:
    domain = Domain.of_shape(shape)
    half = Grouping("G", "A", tuple("pq"[k % 2] for k in range(shape[0])))
    edge = Grouping("H", "B", tuple("xy"[k == 0] for k in range(shape[1])))
    return Publication.of(domain, formula, (half, edge))


def noisy(published: Publication, seed: int) -> Ints:
    """Published counts of a sparse table, each moved on its own, none below 0."""
    random = np.random.default_rng(seed)
    table = random.poisson(random.gamma(0.2, 4, published.domain.size))
    sums = published.incidence @ table
    return np.maximum(sums + (sums > 0) * random.integers(-3, 4, len(sums)), 0)


def test_the_published_example() -> None:
    values = np.zeros(24)
    values[cells()] = REFERENCE["published"]["cell_key"]
    restored = restore(PUBLICATION, values)[cells()]
    assert restored == pytest.approx(REFERENCE["published"]["cell_key_restored"], abs=1e-10)
    plain = restore(PUBLICATION, values, non_negative=False)[cells()]
    assert plain == pytest.approx(REFERENCE["published"]["cell_key_least_squares"], abs=1e-10)
    # Without identical sums it is the same whether copies count or not.
    assert restore(PUBLICATION, values, copies=True)[cells()] == pytest.approx(restored, abs=1e-10)


@pytest.mark.parametrize(
    ("formula", "shape"),
    [
        ("A*B", (6, 5)),
        ("A*B - 1", (6, 5)),
        ("A:B - 1", (6, 5)),
        ("A*B*C", (4, 3, 3)),
        ("(A + B + C)^2", (5, 4, 3)),
        ("(A + G)*B*C", (5, 3, 3)),
        ("(A + G)*(B + H) + C", (6, 4, 2)),
        ("G*H + A:C + B:C - 1", (7, 6, 5)),
    ],
)
@pytest.mark.parametrize("copies", [False, True])
def test_against_dense_least_squares(formula: str, shape: tuple[int, ...], copies: bool) -> None:
    published = publication(formula, shape)
    representatives, inverse = published.distinct
    dense = published.incidence.toarray().astype(np.float64)
    emptied = 0
    for seed in range(5):
        values = noisy(published, seed).astype(np.float64)
        if copies:
            expected = direct(dense, values)
        else:
            expected = direct(dense[representatives], values[representatives])[inverse]
        found = restore(published, values, copies=copies)
        assert np.abs(found - expected).max() < 1e-9
        assert np.abs(restore(published.incidence, values, copies=copies) - expected).max() < 1e-9
        emptied += int(((values > 0) & (found == 0)).sum())
        # The fit adds up: it is its own fit.
        again = restore(published, found, non_negative=False, copies=copies)
        assert np.abs(again - found).max() < 1e-9
    if formula != "A:B - 1":
        assert emptied, "the device was never needed"


def test_additive_counts_stay() -> None:
    published = publication("(A + G)*B*C", (5, 4, 3))
    counts = np.random.default_rng(5).integers(0, 3, published.domain.size)
    sums = published.incidence @ counts
    assert np.abs(restore(published, sums) - sums).max() < 1e-10


def test_large_counts_keep_their_small_cells() -> None:
    published = publication("A*B", (30, 40))
    random = np.random.default_rng(2)
    counts = np.where(random.random(1200) < 0.5, 0, random.integers(1, 10**6, 1200))
    sums = published.incidence @ counts
    found = restore(published, sums)
    assert (found[sums == 0] == 0).all()
    assert np.abs(found - sums).max() < 1e-5


def test_counts_that_are_not_published_do_not_matter() -> None:
    published = publication("A*B", (3, 3))
    values = noisy(published, 1).astype(np.float64)
    known = np.ones(len(values), dtype=np.bool_)
    known[[0, 5, 9]] = False
    values[~known] = np.nan
    found = restore(published, values, known=known)
    assert np.isnan(found[~known]).all()
    dense = published.incidence.toarray().astype(np.float64)[known]
    assert np.abs(found[known] - direct(dense, values[known])).max() < 1e-9


def test_a_copy_stands_for_a_count_that_is_not_known() -> None:
    domain = Domain.of({"A": ["only"], "B": ["b1", "b2"]})
    published = Publication.of(domain, "A*B")
    known = np.array([True, False, True, True, False, False])
    found = restore(published, [4, -7, 1, 1, -7, -7], known=known)
    assert found == pytest.approx([10 / 3, 10 / 3, 5 / 3, 5 / 3, 5 / 3, 5 / 3])


def test_bad_values() -> None:
    published = publication("A*B", (3, 3))
    with pytest.raises(InputError, match="15 values are given for 16"):
        restore(published, np.zeros(15))
    with pytest.raises(InputError, match="no finite number"):
        restore(published, np.full(16, np.inf))
    with pytest.raises(InputError, match="too many to be fitted"):
        restore(Publication.of(Domain.of_shape((5000, 5000)), "A"), np.zeros(5001))


def test_it_can_be_cancelled() -> None:
    published = publication("A*B", (3, 3))
    progress = Cancellable()
    progress.cancel()
    with pytest.raises(Interrupted):
        restore(published, np.zeros(16), progress=progress)
