"""A table of which one record was corrected: a margin is alike, and yet the people are not the same."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.cli.main import main
from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.coin_laws import forward_law
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.protection.people import People
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.register.people.parts_of_whole import Counted
from tabprotect.engine.register.people.people_in_common import InCommonReading, of_nearly_the_same
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tests.engine.register.test_parts_of_whole import listed, released

QUARTERS = {
    "first": [[14, 4], [12, 7], [3, 8], [15, 10], [2, 11], [4, 9]],
    "second": [[9, 4], [12, 7], [3, 8], [15, 6], [2, 11], [7, 9]],
    # One record of the second row was of the other column.
    "corrected": [[9, 4], [11, 8], [3, 8], [15, 6], [2, 11], [7, 9]],
}


@pytest.fixture
def house(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, rows in QUARTERS.items():
        lines = [f"r{r},{c},{n}" for r, row in enumerate(rows) for c, n in zip("mf", row, strict=True)]
        Path(f"{name}.csv").write_text("\n".join(["town,sex,count", *lines]))
    for name, people in (("first", []), ("second", ["--people", "later:1"])):
        assert main(["protect", f"{name}.csv", "--no-page", "--out", f"{name}.zip", *people]) == 0
    capsys.readouterr()
    return tmp_path


@pytest.mark.parametrize("people", [[], ["--people", "corrected:2 later:1"], ["--people", "later:1,2"]])
@pytest.mark.usefixtures("house")
def test_a_corrected_table_by_cycles_leaves_beside_the_one_that_it_corrects(
    people: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["protect", "corrected.csv", "--no-page", "--out", "corrected.zip", "--json", *people])
    said = json.loads(capsys.readouterr().out)
    assert (code, said["verdict"]["left_out"]) == (0, [])


FIRST = np.array([[1, 5], [2, 9], [3, 5]])


def by_cycles(counts: Ints, seed: int) -> Release:
    problem = Problem(Table.dense(Domain.of_shape(counts.shape), counts))
    return methods()["cyclic_perturbation"].run(problem, {}, Randomness.seeded(seed)).release


def originals(release: Release) -> tuple[Ints, Floats]:
    """All tables with the same sums, and the chance of the release from each by its coins."""
    published, law = release.table.counts, likelihood_of(release)
    assert isinstance(law, MoveSequence)
    rows, people = published.sum(axis=1), published[:, 0].sum()
    chosen = [one for one in itertools.product(*(range(n + 1) for n in rows)) if sum(one) == people]
    tables = np.array([[(n, row - n) for n, row in zip(one, rows, strict=True)] for one in chosen])
    tables = tables.reshape(len(chosen), -1)
    key = np.ascontiguousarray(published, dtype=np.int64).tobytes()
    return tables, np.array([forward_law(law, one).get(key, 0.0) for one in tables])


@pytest.mark.parametrize(("move", "people"), [([[-1, 1], [0, 0], [0, 0]], 2), ([[0, -1], [0, 0], [0, 0]], 1)])
def test_two_draws_of_nearly_the_same_people_are_believed_as_by_listing(
    move: list[list[int]], people: int
) -> None:
    before, now = by_cycles(FIRST, 1), by_cycles(FIRST + np.array(move), 2)
    (tables, chance), (earlier, of_earlier) = originals(now), originals(before)
    both = np.zeros((len(tables), len(earlier)))
    for at, before_at in np.ndindex(both.shape):
        if np.abs(tables[at] - earlier[before_at]).sum() == people:
            both[at, before_at] = chance[at] * of_earlier[before_at]
    here, there = (Counted.of(Evidence(one), one.domain.names) for one in (now, before))
    found = of_nearly_the_same(here, there)
    for belief, people_of, weight in zip(
        found, (tables, earlier), (both.sum(axis=1), both.sum(axis=0)), strict=True
    ):
        for count in range(4):
            expected = weight @ (people_of == count) / weight.sum()
            assert belief.probability(count, np.arange(6)) == pytest.approx(expected, abs=1e-9)
    alone = chance @ (tables == 1) / chance.sum()
    assert np.abs(found[0].probability(1, np.arange(6)) - alone).max() > 0.02, (
        "the first draw tells something"
    )


def test_who_left_a_hidden_cell_whose_letter_changed_is_known() -> None:
    """Letters are drawn by chance that belongs to the cell: another letter is another count."""
    domain, cell, seed = Domain.of_shape((5, 5)), (1, 0), 64
    before = np.array([[0, 1, 0, 6, 2], [4, 9, 1, 0, 2], [7, 5, 2, 2, 1], [9, 3, 8, 3, 1], [12, 5, 4, 5, 7]])
    now = before.copy()
    now[cell] -= 1
    releases: list[Release] = []
    for one in (before, now):
        problem, method = Problem(Table.dense(domain, one)), methods()["suppression"]
        given = method.beside(domain, method.resolve_for(problem, {}), releases)
        releases.append(method.run(problem, given, Randomness(seed, given=False, coins="house")).release)
    earlier, own = (Counted.of(Evidence(one), domain.names) for one in releases)
    table = Table.dense(domain, now)
    reading = InCommonReading(table, own.evidence, People.parse("later:1"), AgencyPolicy().limits())
    places = reading._places(earlier)
    assert places is not None and places.counts[cell] == -1


def test_drawn_sums_of_nearly_the_same_people_are_believed_as_by_listing() -> None:
    counts = np.array([[4, 1], [2, 3]])
    releases = [
        released(one, "random_rounding", seed) for seed, one in ((1, counts), (2, counts - [[0, 1], [0, 0]]))
    ]
    here, there = (Counted.of(Evidence(one), one.domain.names) for one in releases)
    found = of_nearly_the_same(here, there)
    (tables, chance), (earlier, of_earlier) = map(listed, releases)
    apart = np.abs(tables[:, None] - earlier).sum(axis=2)
    both = chance[:, None] * of_earlier * (apart == apart.min())
    rows = [one for one in found if one.domain.names == here.domain.names[:1]]
    for belief, people, weight in zip(
        rows, (tables, earlier), (both.sum(axis=1), both.sum(axis=0)), strict=True
    ):
        expected = weight @ (people.reshape(-1, 2, 2).sum(axis=2) == 2) / weight.sum()
        assert belief.probability(2, np.arange(2)) == pytest.approx(expected, abs=1e-9)
