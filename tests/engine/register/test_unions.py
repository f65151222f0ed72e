"""Releases whose people overlap, none of them a part of another: by listing everybody, and as who subtracts them."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.people import People
from tabprotect.engine.register.people.people_in_common import InCommonReading
from tabprotect.engine.register.people.possible_wholes import PossibleWholes
from tabprotect.engine.register.people.unions import CLOSED, CROSSED, DOUBLED, RING, Unions, Way
from tabprotect.engine.tables.table import Table
from tests.engine.register.test_parts_of_whole import counted, listed, released

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from attacked_shelf import Shelf

MOST = 24


def by_listing(way: Way, tables: list[tuple[Ints, np.ndarray]], *, crossed: bool) -> np.ndarray:
    """The laws of the cells of each release: (releases, cells, counts).

    Parameters
    ----------
    crossed
        Whether all ways to share out the people of a cell are believed alike, not all tables of the releases.
    """
    out = np.zeros((len(tables), 4, MOST))
    for rows in itertools.product(*(range(len(weights)) for _, weights in tables)):
        each = [one[row] for (one, _), row in zip(tables, rows, strict=True)]
        weight = np.prod([weights[row] for (_, weights), row in zip(tables, rows, strict=True)])
        ways = np.ones(4, dtype=np.int64)
        for cell in range(4):
            counts = [one[cell] for one in each]
            if way in (RING, DOUBLED):
                a, b, c = counts[:3]
                groups = a + c - b, a + b - c, b + c - a
                right = min(groups) >= 0 and sum(groups) % 2 == 0
                right &= way is RING or sum(groups) == 2 * counts[3]
                ways[cell] = right
                continue
            rest = counts[0] + counts[1] - counts[2]
            if way is CLOSED and rest != counts[3]:
                rest = -1
            ways[cell] = min(*counts[:3], rest) + 1 if rest >= 0 else 0
        weight *= np.prod(ways if crossed else ways > 0)
        for number, one in enumerate(each):
            out[number, np.arange(4), one] += weight
    return out / out[0, 0].sum()


GROUPS = np.array([[2, 1, 0, 4], [1, 2, 3, 0], [0, 3, 1, 1], [1, 0, 2, 2]])


@pytest.mark.parametrize(
    "way", [RING, CROSSED, CLOSED, DOUBLED], ids=["ring", "crossed", "closed", "doubled"]
)
@pytest.mark.parametrize("method", ["small_count_rounding", "cyclic_perturbation"])
def test_unions_are_believed_as_by_listing(way: Way, method: str) -> None:
    chosen = {"choice": "nearest"} if method == "small_count_rounding" else {"blocking": "negative"}
    left = [
        released(GROUPS[list(groups)].sum(axis=0).reshape(2, 2), method, seed, **chosen)
        for seed, groups in enumerate(way.counted)
    ]
    found = Unions(tuple(map(counted, left)), way).beliefs()[0]
    right = by_listing(way, list(map(listed, left)), crossed=method != "cyclic_perturbation")
    number = found.domain.size // 4
    for count in range(MOST):
        each = found.probability(np.full(found.domain.size, count), np.arange(found.domain.size))
        mine = each.reshape(4, number).T[: len(left)]
        np.testing.assert_allclose(mine, right[:, :, count], atol=1e-9 + 6 * found.error)


KINDS = {
    "ring": [(0, 1), (1, 2), (0, 2)],
    "and all": [(0, 1), (1, 2), (0, 2), (0, 1, 2)],
    "four": [(0, 1), (1, 2), (2, 3), (0, 3)],
}


@pytest.mark.parametrize(
    ("kind", "method", "seed"),
    [
        ("ring", "small_count_rounding", 4),
        ("ring", "small_count_rounding", 8),
        ("and all", "small_count_rounding", 8),
        ("four", "small_count_rounding", 5),
        ("four", "suppression", 5),
    ],
)
def test_no_small_count_follows_from_unions(kind: str, method: str, seed: int, tmp_path: Path) -> None:
    """Each of these left a small count certain, where only wholes and their parts were read."""
    generator, sets = np.random.default_rng(seed), KINDS[kind]
    strata = 1 + max(map(max, sets))
    mean = generator.gamma(1.0, 3.0, (1, 3, 3)) * generator.uniform(0.4, 1.2, (strata, 1, 1))
    people = generator.poisson(mean, (strata, 3, 3))
    shelf, every = Shelf(people, tmp_path), list[Evidence]()
    for number in generator.permutation(len(sets)).tolist():
        counts = people[list(sets[number])].sum(axis=0)
        release = released(counts, method, 100 * seed + len(every))
        own = Evidence(release)
        reading = InCommonReading(Table.dense(release.domain, counts), own, People(), AgencyPolicy().limits())
        found = reading.of(enumerate(every, 1))
        if not (found.asked or found.unread):
            every.append(own)
            shelf.left.append((sets[number], release))
    assert 2 <= len(every) < len(sets)
    assert [one for one in shelf.known() if not one[2]] == []


@pytest.mark.parametrize("method", ["random_rounding", "cell_key", "suppression", "cyclic_perturbation"])
def test_few_tables_of_other_people_are_judged_as_unions(method: str) -> None:
    generator = np.random.default_rng(3)
    counts = [generator.poisson(generator.gamma(2.0, 4.0, (5, 4))) for _ in range(13)]
    every = [(number, counted(released(one, method, number))) for number, one in enumerate(counts)]
    others = list(PossibleWholes(every[0][1], [], [], 2, every[1:]).groups())
    assert sum(isinstance(one, Unions) and one.can_be for _, _, one in others) <= 24


def test_other_people_may_be_parts_of_the_same_whole(tmp_path: Path) -> None:
    """Men beside all and women, where the house says of each who is in it: the three settle small counts."""
    generator = np.random.default_rng(9)
    mean = generator.gamma(1.0, 5.0, (4, 4))
    people = generator.poisson(mean, (2, 4, 4))
    every, shelf, limits = list[Evidence](), Shelf(people, tmp_path), AgencyPolicy().limits()
    for number, strata in enumerate([(0, 1), (1,), (0,)]):
        counts = people[list(strata)].sum(axis=0)
        release = released(counts, "small_count_rounding", 900 + number)
        shelf.left.append((strata, release))
        own, said = Evidence(release), People.parse("part:1 other:2" if number == 2 else "")
        found = InCommonReading(Table.dense(release.domain, counts), own, said, limits).of(
            enumerate(every, 1)
        )
        assert not found.asked
        every.append(own)
    assert any(not alone for _, _, alone in shelf.known())
    assert any(one.fails(limits) for one in found.tables)
