"""Roundings of an original told to be its nearest, or not, against programmes and all roundings."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.rounding.controlled_programme import ControlledProgramme, Known
from tabprotect.engine.protection.rounding.rounded_again import RoundedAgain, of_used, without_unused
from tabprotect.engine.protection.rounding.rounding_base import reaches
from tabprotect.engine.protection.rounding.rounding_network import RoundingNetwork, nested_in_two_ways
from tabprotect.engine.protection.rounding.rounding_steps import RoundingSteps
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.release.likelihood import product as product_of
from tabprotect.engine.solver import solver_work
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

METHOD = methods()["controlled_rounding"]


def all_roundings(table: Table, publication: Publication, base: int) -> dict[bytes, int]:
    """The distance of every rounding that adds up, by its published counts."""
    flat, true = table.counts.reshape(-1), publication.added_up(table)
    choices = [[c] if c % base == 0 else [c - c % base, c - c % base + base] for c in flat]
    inner = np.array(list(product(*choices)), dtype=np.int64)
    new = inner @ publication.incidence.toarray().T
    moved = np.abs(new - true)
    fits = (moved < base).all(axis=1)
    return {row.tobytes(): int(d.sum()) for row, d in zip(new[fits], moved[fits], strict=True)}


def released(original: np.ndarray, given_: dict[str, object]) -> CellFactors:
    """The likelihood of a release of the table."""
    problem = Problem(Table.dense(Domain.of_shape(original.shape), original))
    found = likelihood_of(METHOD.run(problem, {"choice": "nearest"} | given_, Randomness.seeded(1)).release)
    assert isinstance(found, CellFactors)
    return found


@st.composite
def publications(draw: st.DrawFn) -> Publication:
    """Tables of one to three variables, with groupings, all or few margins, inner cells or none."""
    shape = draw(st.sampled_from([(2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5,), (2, 2, 2), (2, 2, 3)]))
    domain, groupings = Domain.of_shape(shape), []
    for name, axis in (("G", 0), ("H", len(shape) - 1), ("K", 0)):
        codes = st.lists(st.sampled_from("pqr"), min_size=shape[axis], max_size=shape[axis])
        groupings.append(Grouping(name, domain.names[axis], tuple(draw(codes))))
    names = st.lists(st.sampled_from([*domain.names, "G", "H", "K"]), unique=True, max_size=3)
    margins = draw(st.lists(names, min_size=1, max_size=4))
    if draw(st.booleans()):
        margins = [[], *([name] for name in domain.names), *margins]
    if draw(st.integers(0, 4)):
        margins.append(list(domain.names))
    return Publication.of(domain, margins, groupings)


def originals_of(
    publication: Publication, true: np.ndarray, base: int, counts: np.ndarray
) -> list[np.ndarray]:
    """A walk over tables with counts less than the base from those that were published."""
    generator, now, found = np.random.default_rng(3), true.reshape(-1).copy(), [true]
    for step in range(240):
        after = now.copy()
        after[generator.integers(len(now))] += generator.choice([-2, -1, 1, 2])
        sums = publication.added_up(Table.dense(publication.domain, after.reshape(true.shape)))
        if after.min() >= 0 and (np.abs(sums - counts) < base).all():
            now = after
        if step % 12 == 0:
            found.append(now.reshape(true.shape))
    # One that does not fit.
    return [*found, true + 2 * base]


@settings(max_examples=150, deadline=None)
@given(
    publication=publications(),
    base=st.sampled_from([2, 3, 3, 4, 5, 5, 7]),
    nodes=st.sampled_from([1, 100, 100]),
    mean=st.sampled_from([0.7, 2.0, 6.0]),
    seed=st.integers(0, 2**32),
)
def test_what_is_told_is_what_the_programme_finds(
    publication: Publication, base: int, nodes: int, mean: float, seed: int
) -> None:
    """Ties and all, within any effort; and no programme costs more than what a call is counted."""
    generator, domain = np.random.default_rng(seed), publication.domain
    true = generator.poisson(mean, domain.shape)
    try:
        small, margins = without_unused(Table.dense(domain, true), publication)
        rounded = ControlledProgramme(small, margins, base, nodes).nearest()
    except InfeasibleError:
        return
    counts = margins.added_up(rounded.inner)
    again = RoundedAgain(counts, publication, base, nodes)
    tables = [Table.dense(domain, one) for one in originals_of(publication, true, base, counts)]
    network = RoundingNetwork.of(of_used(publication), base)
    told = again.known_weights(np.array([table.counts.reshape(-1) for table in tables]))
    for table, known in zip(tables, told, strict=True):
        before = solver_work()
        try:
            small, margins = without_unused(table, publication)
            found = ControlledProgramme(small, margins, base, nodes).nearest()
        except InfeasibleError:
            assert known != 1 and not again.estimate(table, generator)
            continue
        reached = reaches(base, publication.added_up(table))
        chosen = reached and np.array_equal(margins.added_up(found.inner), counts)
        if network is not None:
            assert found.optimal and solver_work() - before < again.rerun().cost_over(domain.size)
        assert again.estimate(table, generator) == chosen
        assert np.isnan(known) or known == chosen
        if network is None or domain.size > 9 or not reached:
            continue
        every = all_roundings(small, margins, base)
        least = min(every.values())
        nearest = [new for new, distance in every.items() if distance == least]
        if counts.tobytes() not in nearest:
            assert known == 0
        else:
            assert known == 1 if len(nearest) == 1 else np.isnan(known)


def test_most_are_told_where_sums_nest_in_three_ways() -> None:
    """Steps rule out originals in any table, and more of them once others were rounded."""
    domain, base = Domain.of_shape((3, 3, 2)), 3
    publication = Publication.of(domain, "A*B + A*C + B*C + A:B:C")
    assert RoundingNetwork.of(publication, base) is None
    true = np.random.default_rng(5).poisson(4, domain.shape)
    rounded = ControlledProgramme(Table.dense(domain, true), publication, base).nearest().inner
    counts = publication.added_up(rounded)
    again = RoundedAgain(counts, publication, base, 100)
    originals = originals_of(publication, true, base, counts)
    flat = np.array([one.reshape(-1) for one in originals])
    told, work = again.known_weights(flat), []
    for original, known in zip(originals, told, strict=True):
        table, before = Table.dense(domain, original), solver_work()
        found = ControlledProgramme(table, publication, base).nearest()
        work.append(solver_work() - before)
        chosen = np.array_equal(publication.added_up(found.inner), counts)
        assert found.optimal and again.estimate(table, np.random.default_rng()) == chosen
        assert np.isnan(known) or known == chosen
    later = again.known_weights(flat)
    assert (later[told == 0] == 0).all() and 5 < (told == 0).sum() <= (later == 0).sum()
    assert max(work) < again.rerun().cost_over(domain.size)
    # Within few nodes, or without published inner cells, each is rounded by a programme.
    hidden = Publication.of(domain, "A*B + A*C + B*C")
    few = counts[: hidden.size]
    assert np.isnan(RoundedAgain(counts, publication, base, 1).known_weights(flat)).all()
    assert np.isnan(RoundedAgain(few, hidden, base, 100).known_weights(flat)).all()


TABLE = np.array([[4, 1, 3], [2, 7, 0], [1, 5, 8]])
CUBE = np.array([[[4, 1], [0, 2]], [[3, 3], [1, 6]]])


@pytest.mark.parametrize(
    ("releases", "draws"),
    [
        ([(TABLE, {"base": 3})], 1511),
        ([(TABLE[:2], {"base": 5})], 611),
        ([(TABLE[:2, :2], {"base": 2})], None),
        ([(CUBE, {"base": 3, "margins": "A*B"})], 311),
        ([(CUBE, {"base": 3})], 1511),
        # The chances of the second are simulated: what comes first decides whether it is asked.
        ([(TABLE[:2], {"base": 3}), (TABLE[:2], {"base": 4, "choice": "unbiased", "margins": "A+B"})], 2511),
    ],
)
def test_the_posterior_is_the_same_with_a_programme_for_every_original(
    releases: list[tuple[np.ndarray, dict[str, object]]], draws: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    approach = Approach() if draws is None else Approach(way="monte_carlo", draws=draws)
    both = []
    for told in (True, False):
        likelihoods = [released(*one) for one in releases]
        if not told:
            for way in (RoundingNetwork, RoundingSteps):
                monkeypatch.setattr(way, "of", lambda *_: None)
            assert likelihoods[0].rerun is not None
            alone = replace(likelihoods[0].rerun, known_weights=None)
            likelihoods[0] = replace(likelihoods[0], rerun=alone)
        joint = product_of(likelihoods)
        assert joint.rerun is not None and (joint.rerun.known_weights is not None) == told
        both.append(infer(joint, approach=approach, randomness=Randomness.seeded(7)))
    first, second = both
    assert not first.note and first.basis == second.basis and first.draws == second.draws
    assert np.array_equal(first.chances, second.chances)
    drawn = [one.sample(50, np.random.default_rng(1)) for one in both]
    assert np.array_equal(drawn[0], drawn[1])


def work_since(before: float) -> float:
    """What is counted is a sum: the more there was before, the more its last digits are rounded."""
    return round(solver_work() - before, 3)


@pytest.mark.parametrize(
    ("shape", "formula", "base"),
    [
        ((4, 4), "A*B", 3),
        ((3, 3), "A + B", 2),
        ((2, 2, 2), "A:B + B:C + A:C", 2),
        ((3, 3, 3), "A:B + B:C + A:C + A:B:C", 3),
    ],
)
def test_programmes_that_hand_on_their_solver_find_what_each_finds_alone(
    shape: tuple[int, ...], formula: str, base: int
) -> None:
    domain, generator, known = Domain.of_shape(shape), np.random.default_rng(2), Known()
    publication = Publication.of(domain, formula)
    seen = set()
    for _ in range(60):
        table = Table.dense(domain, generator.poisson(2, shape))
        found = []
        known.solutions.clear()
        for shared in (None, known):
            before = solver_work()
            try:
                one = ControlledProgramme(table, publication, base, known=shared).nearest()
                found.append((one.inner.counts.tolist(), one.optimal, work_since(before)))
            except InfeasibleError as error:
                found.append((str(error), False, work_since(before)))
        assert found[0] == found[1]
        seen.add(found[0][1])
    assert (False in seen) == (domain.ndim == 3 and base == 2)


def test_margins_that_nest_in_more_ways_are_left_to_programmes() -> None:
    domain = Domain.of_shape((3, 3, 3))
    assert RoundingNetwork.of(Publication.of(domain, "A:B + B:C + A:C + A:B:C"), 3) is None
    assert RoundingNetwork.of(Publication.of(domain, "A + B + C + A:B:C"), 3) is None
    assert RoundingNetwork.of(Publication.of(domain, "A*B"), 3) is None
    assert RoundingNetwork.of(Publication.of(domain, "A:B + A + C + A:B:C"), 3) is not None
    sets = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]) > 0
    assert nested_in_two_ways(sets) is None
    second = nested_in_two_ways(sets[[0, 1, 3]])
    assert second is not None and second.tolist() == [False, True, False]
