"""What it tells that other settings were refused beside earlier releases: by listing everybody and every refusal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import TableBelief
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.widened import cells_may_fail
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.widening import Widening
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people import refused_beside
from tabprotect.engine.register.people.parts_of_whole import Counted, Whole
from tabprotect.engine.register.people.refused_beside import RefusedBeside
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

LIMITS = AgencyPolicy().limits()
DOMAIN = Domain.of_shape((1, 3))


def released(counts: Ints, method: str, seed: int = 1, **chosen: object) -> Release:
    table = Table.dense(DOMAIN, np.asarray(counts).reshape(DOMAIN.shape))
    return methods()[method].run(Problem(table), chosen, Randomness.seeded(seed)).release


def counted(release: Release) -> Counted:
    return Counted.of(Evidence(release), release.domain.names)


def hides(release: Release, cells: list[int]) -> bool:
    """Return True if a release hides all of some cells."""
    return bool(release.tables[0].hidden.reshape(-1)[cells].all())


@dataclass(frozen=True)
class Refusal:
    """A verdict of a gate that refuses what hides some cells."""

    hidden: bool

    def fails(self, _: object) -> bool:
        return self.hidden


class Case:
    """A whole that left, a part of it that is to leave rounded, and blocks that were refused for the part before.

    The gate that refused them does not look at beliefs, but at which cells are hidden.
    """

    def __init__(self, part: list[int], rest: list[int], cells: list[int]) -> None:
        self.cells = cells
        self.of_all = released(np.add(part, rest), "random_rounding", 2)
        self.of_part = released(np.array(part), "random_rounding", 3)
        self.group = Whole(counted(self.of_all), (counted(self.of_part),))
        stated = {p.name for p in methods()["suppression"].parameters if p.public}
        found = released(np.array(part), "suppression", choice="blocks").mechanism
        given = {name: value for name, value in found.parameters.items() if name in stated}
        mechanism = Mechanism(found.method, DOMAIN, given)
        table = Table.dense(DOMAIN, np.array(part).reshape(DOMAIN.shape))
        own = self.group.parts[0].evidence
        self.reading = RefusedBeside(table, own, (mechanism,), LIMITS, SILENT)

    def listed(self) -> tuple[float, list[TableBelief]]:
        """The share of everybody for whom it is refused, and the beliefs of who knows that, by listing."""
        (wholes, of_wholes), (parts, of_parts) = (
            found
            for one in (self.of_all, self.of_part)
            if (found := infer(likelihood_of(one)).list_originals()) is not None
        )
        refused = cache(
            lambda part: hides(released(np.array(part), "suppression", choice="blocks"), self.cells)
        )
        size = int(wholes.max()) + 1
        laws, every, share = np.zeros((3, 3, size)), 0.0, 0.0
        for part, one in zip(parts, of_parts, strict=True):
            rests = wholes - part
            fits = (rests >= 0).all(axis=1)
            every += one * of_wholes[fits].sum()
            if not fits.any() or not refused(tuple(part.tolist())):
                continue
            for whole, rest, other in zip(wholes[fits], rests[fits], of_wholes[fits], strict=True):
                share += one * other
                for law, counts in zip(laws, (whole, part, rest), strict=True):
                    law[np.arange(3), counts] += one * other
        cells = np.arange(3), np.zeros(3, dtype=np.int64)
        known = [TableBelief(DOMAIN, True, None, (*cells, law / max(share, 1e-99)), "exact") for law in laws]
        return share / every, known


@pytest.fixture
def case(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Case:
    made = Case(*request.param)

    def judged(group: Whole, *_: object) -> list[Refusal]:
        return [Refusal(hides(group.parts[0].evidence.release, made.cells))]

    monkeypatch.setattr(refused_beside, "judged_whole", judged)
    return made


TELLING, OFTEN = ([1, 1, 4], [1, 2, 2], [0, 1, 2]), ([2, 4, 1], [3, 3, 3], [0])


@pytest.mark.parametrize("case", [TELLING, OFTEN, ([6, 2, 1], [1, 1, 7], [2])], indirect=True)
def test_the_share_that_is_refused_is_bounded_from_below(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refused_beside, "TRIED", 60)
    found = case.reading._widening(case.group)
    share, _ = case.listed()
    assert found is not None and found.least == 0.0
    # 60 draws, of which the standard error is at most .065, and a doubt of .025.
    assert share - 0.26 <= found.share <= share


@pytest.mark.parametrize(("case", "little"), [(TELLING, False), (OFTEN, True)], indirect=["case"])
def test_who_knows_of_the_refusal_believes_what_the_bound_says(case: Case, little: bool) -> None:
    assert case.reading.tells_little([case.group]) == little
    share, known = case.listed()
    both = case.group.listed()
    assert both is not None and both[0].rows is not None and both[1].rows is not None
    (_, first, chances), (_, of_whole, chances_of_whole) = both[0].rows, both[1].rows
    # Of each cell the part and the rest.
    plain = [(of_whole, chances_of_whole), *((first[number::2], chances[number::2]) for number in (0, 1))]
    moved = 0.0
    for one, (start, chances) in zip(known, plain, strict=True):
        low, high = Widening(0.0, share).ends(chances)
        for cell, column in np.ndindex(chances.shape):
            count = int(start[cell]) + column
            belief = float(one.probability([count], np.array([cell]))[0])
            assert low[cell, column] - 1e-9 <= belief <= high[cell, column] + 1e-9
            moved = max(moved, abs(belief - float(chances[cell, column])))
    assert moved > 0.05, "the refusal tells something"
    assert not (little and any(cells_may_fail(one, Widening(), LIMITS) for one in known))


@pytest.mark.parametrize("case", [OFTEN], indirect=True)
def test_a_mechanism_that_is_not_known_is_not_weighed(case: Case) -> None:
    unknown = replace(case.reading, refused=(*case.reading.refused, None))
    assert case.reading.tells_little([case.group]) and not unknown.tells_little([case.group])
