"""Two vintages: what changed, what their releases tell, against trying all pairs of originals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tabprotect.engine.assessment.revision import EACH_PERSON, Revision, aligned, revision
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

OLD = np.array([[5, 2, 1], [3, 1, 7]])
NEW = np.array([[5, 2, 1], [3, 2, 3]])


def table(counts: np.ndarray) -> Table:
    return Table.dense(Domain.of_shape(counts.shape), counts)


def released(counts: np.ndarray, seed: int, method: str = "cyclic_perturbation") -> Release:
    done = methods()[method].run(Problem(table(counts)), {}, Randomness.seeded(seed))
    return done.release


def compared(*releases: Release, new: np.ndarray = NEW) -> Revision:
    both = (releases[0], releases[1]) if releases else None
    return revision(table(OLD), table(new), both, rule=SmallCount())


def test_two_tables_as_they_are() -> None:
    found = compared()
    assert [(c.index, c.old, c.new, c.change, c.singles_out) for c in found.cells] == [
        ((1, 1), 1, 2, 1, True),
        ((1, 2), 7, 3, -4, False),
    ]
    assert (found.came, found.went, found.sums) == (1, 4, ())


def test_beliefs_against_all_pairs_of_originals() -> None:
    before, after = released(OLD, 1), released(NEW, 2)
    found = compared(before, after)
    assert found.way == "exact"
    old, new = (believe([before]).posterior.list_originals(), believe([after]).posterior.list_originals())
    assert old is not None and new is not None
    for cell in found.cells:
        flat = table(OLD).domain.flat(cell.index)
        plain = cautious = total = 0.0
        for (x, p), (y, q) in itertools.product(zip(*old, strict=True), zip(*new, strict=True)):
            weight = p * q * EACH_PERSON ** int(np.abs(y - x).sum())
            total += weight
            if y[flat] - x[flat] == cell.change:
                plain += p * q
                cautious += weight
        assert cell.belief == pytest.approx(plain)
        assert cell.belief_few_changes == pytest.approx(cautious / total)


def test_exact_margins_tell_who_came() -> None:
    found = compared(released(OLD, 1), released(NEW, 2))
    told = {(one.names, one.labels): (one.change, one.singles_out) for one in found.sums}
    assert told == {
        ((), ()): (-3, False),
        (("A",), ("a2",)): (-3, False),
        (("B",), ("b2",)): (1, True),
        (("B",), ("b3",)): (-4, False),
    }
    # Where nobody else came or went,
    new = OLD + np.array([[0, 0, 0], [0, 1, 0]])
    (one,) = compared(released(OLD, 1), released(new, 2), new=new).cells
    # neither release alone knows the count, both margins together know who came.
    assert one.singles_out and one.belief is not None and one.belief < 0.6
    assert one.belief_few_changes is not None and one.belief_few_changes > 0.95


def test_noise_hides_it() -> None:
    found = compared(released(OLD, 1, "random_rounding"), released(NEW, 2, "random_rounding"))
    assert not any(cell.singles_out for cell in found.cells) and found.sums == ()


def test_the_order_of_categories_makes_no_difference() -> None:
    old = Table.dense(Domain.of({"a": ["x", "y"], "b": ["1", "2", "3"]}), OLD)
    new = Table.dense(Domain.of({"b": ["3", "1", "2"], "a": ["y", "x"]}), NEW[::-1, [2, 0, 1]].T)
    assert (aligned(new, old.domain).counts == NEW).all()
    assert len(revision(old, new, rule=SmallCount()).cells) == 2
    with pytest.raises(InputError, match="other variables"):
        revision(old, Table.dense(Domain.of({"a": ["x", "y"]}), [1, 2]), rule=SmallCount())
