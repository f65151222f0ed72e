"""Readers who know that hidden cells are not zero, and readers who know the algorithm, too."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.errors import InfeasibleError, InputError
from tabprotect.engine.plain_values.encoding import as_json
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.methods.suppression import PLUGIN
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table


def _protect(counts: object, seed: int = 1, **given: object) -> Protected:
    array = np.array(counts)
    problem = Problem(Table.dense(Domain.of_shape(array.shape), array))
    return PLUGIN.run(problem, {"choice": "cheapest", **given}, Randomness.seeded(seed))


def _alike(done: Protected) -> tuple[np.ndarray, np.ndarray]:
    """All tables (inner cells) that agree with the published numbers, hidden ones from 1 up.

    Cell by cell, from the release alone: no published sum is exceeded, none falls short.
    """
    publication = publication_of(done.release.domain, done.record.parameters)
    by_names = {p.table.domain.names: p for p in done.release.tables}
    shown = [by_names[d.names] for d in publication.domains]
    hidden = np.concatenate([p.hidden.reshape(-1) for p in shown])
    values = np.concatenate([p.table.counts.reshape(-1) for p in shown])
    member = publication.incidence.toarray()[~hidden] > 0
    inner = by_names[done.release.domain.names]
    start = np.where(inner.hidden, 0, inner.table.counts).reshape(-1)
    cells = np.flatnonzero(inner.hidden.reshape(-1))
    left = values[~hidden] - member @ start
    found: list[np.ndarray] = []

    def go(k: int, table: np.ndarray, left: np.ndarray) -> None:
        if k == len(cells):
            if not left.any():
                found.append(table.copy())
            return
        rest = member[:, cells[k + 1 :]].sum(axis=1)
        mine = member[:, cells[k]]
        for count in range(1, int((left - rest)[mine].min()) + 1):
            less = left - count * mine
            if not (less[rest == 0]).any():
                table[cells[k]] = count
                go(k + 1, table, less)

    go(0, start.copy(), left)
    return np.array(found), hidden


KNOWN_BEFORE = (
    [[4, 2, 3, 0, 5], [0, 3, 2, 3, 1], [1, 1, 1, 1, 0], [1, 1, 5, 0, 2]],
    [[9, 1, 0, 4], [3, 0, 1, 1], [0, 8, 2, 7]],
)


@pytest.mark.parametrize("counts", KNOWN_BEFORE)
def test_no_small_count_is_known_from_the_numbers(counts: list[list[int]]) -> None:
    """Whoever lists all tables with hidden cells from 1 up finds every interval promised."""
    done = _protect(counts)
    table = done.record.problem.table
    publication = publication_of(table.domain, done.record.parameters)
    alike, hidden = _alike(done)
    alike = alike @ publication.incidence.toarray().T
    values = publication.incidence @ table.counts.reshape(-1)
    least = publication.incidence @ (table.counts.reshape(-1) > 0)
    primary = np.flatnonzero((values >= 1) & (values <= 2))
    assert len(primary) and hidden[primary].all()
    low, high = alike.min(axis=0), alike.max(axis=0)
    assert (low <= np.maximum(least, values - 2))[primary].all()
    assert (high >= values + 2)[primary].all()


def test_the_posterior_is_that_of_the_reader_who_runs_the_choice_again() -> None:
    """Certain counts included: listed originals, each protected again, against the posterior."""
    certain = 0
    generator = np.random.default_rng(4)
    tried = 0
    while tried < 8:
        counts = generator.poisson(2.2, (3, 3))
        try:
            done = _protect(counts, insiders="none", level=1)
        except InfeasibleError:
            continue
        if done.release.tables[-1].hidden.any() or not done.release.tables[0].hidden.any():
            continue
        alike, _ = _alike(done)
        if len(alike) > 250:
            continue
        tried += 1
        same = []
        for original in alike:
            try:
                again = _protect(original.reshape(3, 3), insiders="none", level=1)
            except InfeasibleError:
                continue
            if again.release == done.release:
                same.append(original)
        listed = np.array(same)
        posterior = infer(PLUGIN.likelihood(done.release))
        assert posterior.way == "exact" and not posterior.note
        for cell in range(9):
            values, chances = posterior.distribution(divmod(cell, 3))
            shares = [(listed[:, cell] == value).mean() for value in values]
            np.testing.assert_allclose(chances, shares, atol=1e-12)
        small = (counts >= 1) & (counts <= 2)
        certain += int((small.reshape(-1) & (listed == listed[0]).all(axis=0)).sum())
    # The intervals are kept, and still the choice tells some counts: the promise says so.
    assert certain > 0
    assert "no promise" in PLUGIN.guarantees["intervals_protected"]


def test_a_random_choice_is_secret_and_keeps_the_intervals() -> None:
    counts = np.random.default_rng(4).poisson(3, (4, 4))
    given = {"choice": "random", "spread": 30.0}
    found = [_protect(counts, seed, **given) for seed in range(3)]
    assert all(done.record.findings["audit"]["unprotected"] == 0 for done in found)  # type: ignore[index]
    assert len({done.release.tables[0].hidden.tobytes() for done in found}) > 1
    assert found[0].release == _protect(counts, 0, **given).release
    rerun = PLUGIN.likelihood(found[0].release).rerun
    assert rerun is not None and not rerun.exact
    table = found[0].record.problem.table
    chances = [rerun.estimate(table, np.random.default_rng(seed)) for seed in range(12)]
    assert 0 < np.mean(chances) < 1
    assert found[0].release.mechanism.parameters["choice"] == "random"


def test_remedies_come_in_order_and_carry_their_parameters() -> None:
    counts = [[4, 2, 3, 0, 5], [0, 3, 2, 3, 1], [1, 1, 1, 1, 0], [1, 1, 5, 0, 2]]
    with pytest.raises(InfeasibleError) as refused:
        _protect(counts, totals="published")
    offered = [dict(each.parameters) for each in refused.value.suggestions]
    assert offered == [{"totals": "allowed"}, {"zeros": "allowed"}, {"level": 1}, {"insiders": "outside"}]
    assert as_json(refused.value)["remedies"]
    _protect(counts, **offered[0])


def test_the_whole_range_of_the_rule() -> None:
    """A level of 1 leaves 1 to 4 of a count of 1..4 open only if the whole range is asked for."""
    counts = np.random.default_rng(0).poisson(5, (5, 5))
    array = Table.dense(Domain.of_shape((5, 5)), counts)
    problem = Problem(array, SmallCount(1, 4))
    given = {"choice": "cheapest", "level": 1, "insiders": "none"}
    for whole, kept in ((True, True), (False, False)):
        done = PLUGIN.run(problem, given | {"whole_range": whole}, Randomness.seeded(1))
        cells = done.record.findings["audit"]["cells"]  # type: ignore[index]
        inner = [each for each in cells if 1 <= each["count"] <= 4 and each["cell"].count("=") == 2]
        wide = [each["lower"] <= 1 and (each["upper"] or 99) >= 4 for each in inner]
        assert inner and all(wide) == kept


def test_nothing_public_tells_primary_from_secondary() -> None:
    done = _protect(KNOWN_BEFORE[0])
    letters = done.record.statuses[0]
    assert {"U", "M"} <= set(letters.reshape(-1))
    hidden = done.release.tables[0]
    assert (hidden.table.counts[hidden.hidden] == 0).all()
    public = dict(done.release.mechanism.parameters)
    assert not {"statuses", "primary", "rule"} & set(public)


@pytest.mark.parametrize("name", ["choice", "spread", "search", "whole_range"])
def test_a_release_has_to_say_how_its_pattern_was_chosen(name: str) -> None:
    release = _protect(KNOWN_BEFORE[0]).release
    assert PLUGIN.likelihood(release).rerun is not None
    mechanism = release.mechanism
    stated = {n: value for n, value in mechanism.parameters.items() if n != name}
    silent = Mechanism(mechanism.method, mechanism.domain, stated)
    with pytest.raises(InputError, match=f'does not state "{name}"'):
        likelihood_of(Release(release.tables, silent, release.title))
