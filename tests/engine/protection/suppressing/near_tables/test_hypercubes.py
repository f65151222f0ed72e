"""Boxes against all of them, enumerated one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tabprotect.engine.formats.grouping_files import parse_groupings
from tabprotect.engine.protection.suppressing.near_tables import hypercubes
from tabprotect.engine.protection.suppressing.near_tables.hypercubes import Hypercubes
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def _all_boxes(shape: tuple[int, ...]) -> list[np.ndarray]:
    """Changes of the inner cells, flat, both signs."""
    along = []
    for size in shape:
        unit = np.eye(size, dtype=np.int64)
        pairs = [unit[i] - unit[j] for i in range(size) for j in range(size) if i != j]
        along.append([*unit, *pairs])
    boxes = []
    for parts in product(*along):
        box = np.ones(1, dtype=np.int64)
        for part in parts:
            box = np.multiply.outer(box, part).reshape(-1)
        boxes += [box, -box]
    return boxes


@pytest.mark.parametrize(
    ("formula", "groupings"),
    [
        ("A*B*C", ""),
        ("(A + B + C)^2 - 1", ""),
        ("A*B*C + A*g*C", "g:B=b1>x,b2>x,b3>y,b4>y"),
        ("A*g + g*C", "g:B=b1>x,b2>y,b3>y,b4>y"),
        ("A*B*C + A*g*C + A*B + g*C + A*g", "g:B=b1>x,b2>x,b3>y,b4>y"),
    ],
)
@pytest.mark.parametrize("looked_first", [None, 256, 1])
def test_the_cheapest_of_all_boxes(
    monkeypatch: pytest.MonkeyPatch, formula: str, groupings: str, looked_first: int | None
) -> None:
    """Listed, or looked for; the fewer are looked at first, the more rest on what boxes cost at least."""
    if looked_first is not None:
        monkeypatch.setattr(hypercubes, "_listed", lambda _: None)
        monkeypatch.setattr(hypercubes, "FEW", looked_first)
        monkeypatch.setattr(hypercubes, "FEW_ENDS", looked_first)
    generator = np.random.default_rng(3)
    domain = Domain.of_shape((2, 4, 2))
    parsed = parse_groupings(groupings, domain) if groupings else ()
    publication = Publication.of(domain, formula, parsed)
    first = publication.distinct[0]
    sums = publication.incidence[first]
    boxes = np.array(_all_boxes(domain.shape))
    moved = np.asarray((sums @ boxes.T).T)
    found_none = 0
    for dear, shut in product((0.25, 1.0, 4.0), (np.inf, 4.0, 1.0)):
        table = Table.dense(domain, generator.poisson(2.5, domain.shape))
        inner = table.counts.reshape(-1)
        values = publication.stack(publication.sums(table))[first]
        # Powers of two add up without rounding: equal prices are equal boxes, or ties.
        price = generator.choice([0.25, 1.0, 2.0, 4.0, np.inf], len(first))
        single = np.asarray(sums.sum(axis=1)).reshape(-1) == 1
        price = np.where(single, dear * price, np.minimum(price, shut))
        engine = Hypercubes(publication, values, inner)
        for number, sign, need in product(range(len(first)), (1, -1), (1, 2)):
            fits = (inner + need * boxes >= 0).all(axis=1) & (values + need * moved >= 0).all(axis=1)
            fits &= moved[:, number] == sign
            costs = np.where(moved != 0, price, 0.0).sum(axis=1)[fits]
            best = costs.min(initial=np.inf)
            found = engine.cheapest(number, sign, need, price)
            if found is None:
                found_none += 1
                assert best == np.inf
                continue
            change = np.zeros(len(inner), dtype=np.int64)
            change[found[1]] = found[2]
            assert found[0] == best
            after = np.asarray(sums @ change)
            assert after[number] == sign * need
            assert np.where(after != 0, price, 0.0).sum() == best
    assert found_none > 0


def test_ends_in_other_groups_are_no_dearer_than_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Levels of both variables: against the list of all boxes, which is against all one by one above."""
    domain = Domain.of_shape((6, 6))
    groupings = parse_groupings("g:A=a1>x,a2>x,a3>y,a4>y,a5>z,a6>z;h:B=b1>x,b2>x,b3>x,b4>y,b5>y,b6>y", domain)
    publication = Publication.of(domain, "A*B + g*B + A*h + g*h", groupings)
    first = publication.distinct[0]
    single = np.asarray(publication.incidence[first].sum(axis=1)).reshape(-1) == 1
    generator = np.random.default_rng(4)
    for _ in range(3):
        table = Table.dense(domain, generator.poisson(4, domain.shape))
        inner = table.counts.reshape(-1)
        values = publication.stack(publication.sums(table))[first]
        listed = Hypercubes(publication, values, inner)
        with monkeypatch.context() as patch:
            patch.setattr(hypercubes, "_listed", lambda _: None)
            patch.setattr(hypercubes, "FEW", 1)
            patch.setattr(hypercubes, "FEW_ENDS", 1)
            looked = Hypercubes(publication, values, inner)
            for number, sign in product(range(len(first)), (1, -1)):
                price = generator.choice([1.0, 2.0, 4.0, 64.0], len(first))
                price = np.where(single, price, price / 4)
                one, other = (e.cheapest(number, sign, 1, price) for e in (listed, looked))
                assert (one and one[0]) == (other and other[0])
