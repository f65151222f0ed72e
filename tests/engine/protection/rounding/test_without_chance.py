"""Cox's procedure without chance: by its words, on the slide's table, and what a reader learns."""

from __future__ import annotations

import itertools

import cox_steps_in_numpy
import numpy as np
import pytest

from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding.cox_rounding import bordered, round_without_chance
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

METHOD = methods()["controlled_rounding"]
ORIGINAL = np.array([[15, 1, 3, 1], [20, 10, 10, 15], [3, 10, 10, 2], [12, 14, 7, 2]])
PRINTED = np.array([[15, 0, 3, 0], [21, 9, 12, 15], [3, 9, 9, 3], [12, 15, 6, 3]])

PREIMAGE = 15_991_835
"""Originals that the procedure sends to the slide's rounded table: see the errata."""

AT_ONCE = 12
"""Cells of the slide's table whose rests are listed at once."""


def kept(first: list[int], rests: np.ndarray) -> np.ndarray:
    """Tell of originals, by the rests of their cells, which are rounded to the printed table.

    A count with a rest is its multiple below or above: each rest belongs to one possible original, which
    is negative where a printed zero would have come from above.
    """
    tables = np.empty((len(rests), 16), dtype=np.int64)
    tables[:, : len(first)], tables[:, len(first) :] = first, rests
    up = round_without_chance(tables.reshape(-1, 4, 4), 3) > 0
    return np.asarray(~up[:, PRINTED == 0].any(axis=1))


@pytest.mark.parametrize(("shape", "base"), [((4, 4), 3), ((3, 5), 5), ((1, 6), 4), ((6, 2), 2), ((2, 2), 7)])
def test_the_kernel_does_what_the_page_says(shape: tuple[int, int], base: int) -> None:
    tables = np.random.default_rng(3).integers(0, 4 * base, (60, *shape))
    found = round_without_chance(tables, base)
    for table, rounded in zip(tables, found, strict=True):
        assert np.array_equal(rounded, cox_steps_in_numpy.rounded(table, base))
        for axis in (0, 1, None):
            assert (np.abs(rounded.sum(axis=axis) - table.sum(axis=axis)) < base).all()
        assert (np.abs(rounded - table) < base).all() and (rounded % base == 0).all()
        assert not bordered(rounded, base).any()


def test_the_slides_table_is_rounded_as_it_is_printed() -> None:
    assert np.array_equal(round_without_chance(ORIGINAL[None], 3)[0], PRINTED)
    rests = np.random.default_rng(1).integers(0, 3, (400_000, 16))
    share = kept([], rests).mean()
    assert share == pytest.approx(PREIMAGE / 3**16, abs=5 * (0.25 / len(rests)) ** 0.5)


def test_every_original_of_the_slides_rounded_table_is_counted() -> None:
    # Some 43 million roundings, a microsecond each.
    rests = np.indices((3,) * AT_ONCE).reshape(AT_ONCE, -1).T
    found = sum(int(kept(list(first), rests).sum()) for first in itertools.product(range(3), repeat=4))
    assert found == PREIMAGE


def test_a_reader_runs_it_on_every_table_that_fits() -> None:
    domain = Domain.of_shape((2, 3))
    table = np.array([[4, 1, 3], [2, 5, 1]])
    given = {"choice": "cox", "base": 3}
    release = METHOD.run(Problem(Table.dense(domain, table)), given, Randomness.seeded(1)).release
    published = release.table.counts
    fit = [
        cells
        for cells in itertools.product(*(range(max(p - 2, 0), p + 3) for p in published.reshape(-1).tolist()))
        if np.array_equal(round_without_chance(np.array(cells).reshape(1, 2, 3), 3)[0], published)
    ]
    assert tuple(table.reshape(-1).tolist()) in fit
    found = infer(likelihood_of(release))
    assert (found.way, found.originals, found.complete) == ("exact", len(fit), True)
    for cell in range(6):
        values, chances = found.distribution((cell // 3, cell % 3))
        expected = [sum(one[cell] == v for one in fit) / len(fit) for v in values.tolist()]
        assert chances == pytest.approx(expected)


def test_it_is_without_chance_and_for_two_way_tables() -> None:
    values = METHOD.resolve(Domain.of_shape((2, 3)), {"choice": "cox"})
    assert not METHOD.is_random(values)
    assert "within_base" in METHOD.promised(values) and "unbiased" not in METHOD.promised(values)
    with pytest.raises(ParameterError, match="two-way tables"):
        METHOD.resolve(Domain.of_shape((2, 3, 2)), {"choice": "cox"})
