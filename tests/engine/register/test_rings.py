"""Tables of the same records that hang together in a ring: what all of them say more than two by two."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.widened import cells_may_fail
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people import rings
from tabprotect.engine.register.people.grouped_categories import Groups, crossed
from tabprotect.engine.register.people.rings import Ring, _of_table, ring_among
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable

LIMITS = AgencyPolicy().limits()


@pytest.mark.parametrize(
    ("tables", "ring"),
    [
        (["AB", "BC"], []),
        (["AB", "BC", "CD", "BE"], []),
        (["ABC", "BCD", "B", "CD"], []),
        (["AB", "BC", "AC"], [0, 1, 2]),
        (["CE", "AB", "B", "BC", "AB", "AC"], [1, 3, 5]),
        (["AB", "BC", "AC", "ABC"], []),
        (["AB", "BC", "CD", "DA"], [0, 1, 2, 3]),
        (["AB", "CD"], []),
    ],
)
def test_what_hangs_in_a_ring(tables: Sequence[str], ring: list[int]) -> None:
    assert ring_among([Domain.of_shape((2,) * len(n), tuple(n)) for n in tables]) == ring


COINS = Randomness.seeded(1)


def table_of(whole: np.ndarray, names: str) -> Table:
    """A margin of A x B x C."""
    return Table.dense(Domain.of_shape(whole.shape, ("A", "B", "C")), whole).margin(names)


def margins(whole: np.ndarray, method: str = "cyclic_perturbation") -> list[Evidence]:
    """Releases of A x B, B x C and C x A of a table A x B x C."""
    found = []
    for number, names in enumerate(("AB", "BC", "AC")):
        done = methods()[method].run(Problem(table_of(whole, names)), {}, Randomness.seeded(number))
        found.append(Evidence(done.release))
    return found


def of_one(tables: Sequence[np.ndarray]) -> bool:
    """Return True if some table 2 x 2 x 2 has these margins: one number is free, of which all are tried."""
    ab, bc, ac = tables
    for first in range(int(ab[0, 0]) + 1):
        for others in itertools.product(range(int(ab[0, 1]) + 1), range(int(ab[1, 0]) + 1)):
            whole = np.zeros((2, 2, 2), dtype=np.int64)
            whole[0, 0, 0], whole[0, 1, 0], whole[1, 0, 0] = first, *others
            whole[1, 1, 0] = bc[:, 0].sum() - whole[..., 0].sum()
            whole[..., 1] = ab - whole[..., 0]
            if (whole >= 0).all() and (whole.sum(0) == bc).all() and (whole.sum(1) == ac).all():
                return True
    return False


def small(seed: int) -> np.ndarray:
    """A table of which pairs of variables that are drawn by themselves are often no margins."""
    return np.random.default_rng(seed).poisson([0.4, 1.5, 1.0, 0.3, 2.0, 0.5, 0.2, 1.0]).reshape(2, 2, 2)


def listed(read: Sequence[Evidence]) -> tuple[float, list[TableBelief]]:
    """The share of tables by themselves that are margins of one, and the beliefs about these, by listing."""
    lists = []
    for one in read:
        found = infer(likelihood_of(one.release)).list_originals()
        assert found is not None
        lists.append([(table.reshape(2, 2), weight) for table, weight in zip(*found, strict=True)])
    laws, share = np.zeros((len(read), 4, 40)), 0.0
    for each in itertools.product(*lists):
        if of_one([table for table, _ in each]):
            weight = math.prod(weight for _, weight in each)
            share += weight
            for law, (table, _) in zip(laws, each, strict=True):
                law[np.arange(4), table.reshape(-1)] += weight
    cells = np.arange(4), np.zeros(4, dtype=np.int64)
    return share, [
        TableBelief(one.release.domain, True, None, (*cells, law / share), "exact")
        for one, law in zip(read, laws, strict=True)
    ]


@pytest.mark.parametrize("seed", [0, 3])
def test_the_share_of_tables_that_are_margins_of_one_is_that_of_a_listing(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rings, "TRIED", 150)
    read = margins(small(seed))
    ring = Ring(read, LIMITS)
    tables = ring._tables()
    assert tables == read
    found = [ring._believed(one) for one in tables]
    for one, belief in zip(read, found, strict=True):
        assert belief.chances == pytest.approx(infer(likelihood_of(one.release)).chances)
    share, _ = listed(read)
    assert 0.1 < share < 0.95
    assert abs(ring._fitting(found) / 150 - share) <= 4 * math.sqrt(share * (1 - share) / 150)


@pytest.mark.parametrize(("seed", "little", "beyond"), [(1, True, False), (3, False, True), (4, True, False)])
def test_what_tells_little_leaves_all_beliefs_within_the_limits(
    seed: int, little: bool, beyond: bool
) -> None:
    """By listing: whether what all three tables say together is beyond the limits."""
    read = margins(small(seed) + seed % 3)
    _, beliefs = listed(read)
    assert any(cells_may_fail(one, Widening(), LIMITS) for one in beliefs) == beyond
    assert Ring(read, LIMITS).tells_little() == little


def test_a_shared_margin_that_none_states_is_not_read() -> None:
    read = margins(small(1) + 1, "random_rounding")
    assert not Ring(read, LIMITS).tells_little()
    # One that states it is enough.
    stated = margins(small(1) + 1)
    assert Ring([stated[0], stated[1], read[2]], LIMITS).tells_little()
    believed = Ring([stated[0], stated[1], read[2]], LIMITS)._believed(read[2])
    originals = believed.list_originals()
    assert originals is not None
    assert (originals[0].reshape(-1, 2, 2).sum(axis=2) == (small(1) + 1).sum(axis=(1, 2))).all()


def test_coarser_categories_are_read_with_the_finer_table() -> None:
    whole = np.random.default_rng(1).poisson(9, (4, 3, 2))
    read = margins(whole)
    fine = read[0].release.domain
    wide = Variable("A", ("a0-a1", "a2-a3"))
    coarse = np.stack([whole[:2].sum(axis=(0, 2)), whole[2:].sum(axis=(0, 2))])
    table = Table.dense(Domain((wide, fine["B"])), coarse)
    release = methods()["suppression"].run(Problem(table), {}, Randomness.seeded(1)).release
    read = [Evidence(methods()["suppression"].run(Problem(table_of(whole, "AB")), {}, COINS).release), *read]
    ring = Ring([read[0], read[2], read[3], Evidence(release)], LIMITS)
    assert len(ring._tables()) == 3
    known = _of_table(Evidence(release), read[0], read).likelihood
    assert isinstance(known, CellFactors) and known.domain == fine
    sums = np.add.reduceat(whole.sum(axis=2).reshape(-1)[known.cells], known.starts[:-1])
    low, high = known.ends
    assert (low <= sums).all() and (sums <= high).all() and (low == high).any()
    assert ring.tells_little()


def test_variables_that_one_release_crosses_are_no_groups() -> None:
    whole = np.array([[[3, 4], [2, 5]], [[9, 1], [4, 4]], [[7, 2], [1, 6]]])
    release = methods()["cyclic_perturbation"].run(Problem(table_of(whole, "AC")), {}, COINS).release
    assert crossed(Evidence(release), Groups("A", "C", True))
    assert not crossed(Evidence(release), Groups("A", "D", True))
    nested = np.array([[[30], [0]], [[20], [0]], [[0], [50]]])
    release = methods()["cyclic_perturbation"].run(Problem(table_of(nested, "AB")), {}, COINS).release
    assert not crossed(Evidence(release), Groups("A", "B", True))
