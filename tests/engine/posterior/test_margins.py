"""Posteriors of sums, against the definition of the mechanism over whole tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from brute_force import Cells, move_cells, posterior
from move_cases import random_prior, sequence

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.moves.elimination import Elimination
from tabprotect.engine.posterior.moves.signature_model import group_model
from tabprotect.engine.posterior.moves.sum_sweep import SumLaws
from tabprotect.engine.posterior.moves.thinning import Thinned
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.posterior.prior import Uniform
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import BlockingRule
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def added(found: dict[Cells, float], publication: Publication) -> list[list[dict[int, float]]]:
    """The law of every published cell from weighed originals."""
    total = sum(found.values())
    out = []
    for m in range(len(publication.margins)):
        laws: list[dict[int, float]] = [{} for _ in range(publication.domains[m].size)]
        keys = publication.keys(m)
        for table, mass in found.items():
            own = np.bincount(keys, weights=table, minlength=len(laws)).astype(int).tolist()
            for law, value in zip(laws, own, strict=True):
                law[value] = law.get(value, 0.0) + mass / total
        out.append(laws)
    return out


def agree(found: Posterior, laws: list[dict[int, float]], tolerance: float = 1e-12) -> None:
    for cell, law in enumerate(laws):
        values, chances = found.distribution(found.domain.unflat(cell))
        told = dict(zip(values.tolist(), chances.tolist(), strict=True))
        for value in set(told) | set(law):
            assert told.get(value, 0.0) == pytest.approx(law.get(value, 0.0), abs=tolerance)


def crossing(domain: Domain) -> Publication:
    """Margins, and two groupings of the first variable that do not nest."""
    first = domain.variables[0]
    size = len(first.categories)
    halves = Grouping("half", first.name, tuple("ab"[c >= size // 2] for c in range(size)))
    parity = Grouping("parity", first.name, tuple("xy"[c % 2] for c in range(size)))
    other = domain.names[-1]
    formula = f"half:{other} + parity:{other} + half + {first.name}"
    return Publication.of(domain, formula, (halves, parity))


@pytest.mark.parametrize("rule", ["any_zero", "negative", "none"])
@pytest.mark.parametrize(
    ("shape", "kind", "passes"),
    [
        ((4, 3), "triangular", 1),
        ((4, 2), "elementary", 2),
        ((3, 2, 2), "bands", 1),
        ((4, 3), "strips-3", 1),
        ((3, 3), "strips-3", 2),
    ],
)
def test_the_laws_of_sums_are_those_of_the_originals(
    shape: tuple[int, ...], kind: str, passes: int, rule: BlockingRule
) -> None:
    rng = np.random.default_rng(5)
    moves = design(Domain.of_shape(shape), kind)
    published = rng.poisson(1.5, shape)
    prior, weight = random_prior(rng, published.size)
    if rule == "any_zero":
        prior, weight = Uniform(), lambda cell, count: 1.0
    likelihood = sequence(published, moves, rule, passes=passes)
    inner = infer(likelihood, prior, Approach(way="exact"))
    publication = crossing(moves.domain)
    oracle = posterior(
        tuple(published.reshape(-1).tolist()),
        move_cells([moves.array(i) for i in range(len(moves))]),
        alpha=0.25,
        beta=0.25,
        passes=passes,
        rule=rule,
        weight=weight,
    )
    found = sums(inner, publication)
    for one, laws in zip(found, added(oracle, publication), strict=True):
        assert one.way == "exact" and one.reason.startswith("what its border")
        agree(one, laws)
    # The kept margin is known: its cycles cancel.
    kept = found[list(publication.margins).index((moves.domain.names[0],))]
    assert (kept.chances.max(axis=1) == 1.0).all()


@pytest.mark.parametrize("seed", range(3))
def test_cutting_out_large_cells_changes_no_sum(seed: int) -> None:
    domain = Domain.of_shape((4, 4))
    counts = np.random.default_rng(seed).poisson(4, (4, 4)).astype(np.int64)
    likelihood = sequence(counts, design(domain, "bands"), "any_zero", alpha=0.25, beta=0.3)
    publication = crossing(domain)
    model = group_model(likelihood, Uniform())
    thinned = Thinned.of(model)
    assert thinned is not None and thinned.dropped > 0
    cut = Elimination.of(thinned.model)
    full = Elimination.of(model)
    assert cut is not None and full is not None and full.thinned is None
    cut = Elimination(thinned.model, cut.plans, thinned)
    published = counts.reshape(-1)
    group = model.signatures.group_of_cell
    for m in range(len(publication.margins)):
        keys = publication.keys(m)
        for cell in range(publication.domains[m].size):
            members = np.flatnonzero(keys == cell)
            first, chances = SumLaws(full, group, published).law(members)
            low, others = SumLaws(cut, group, published).law(members)
            assert (first, len(chances)) == (low, len(others))
            assert np.abs(chances - others).max() < 1e-12


def test_where_it_is_too_wide_draws_are_added_up() -> None:
    domain = Domain.of_shape((4, 3))
    counts = np.random.default_rng(8).poisson(2.0, (4, 3)).astype(np.int64)
    likelihood = sequence(counts, design(domain, "triangular"), "negative")
    publication = crossing(domain)
    exact = sums(infer(likelihood, approach=Approach(way="exact")), publication)
    drawn = sums(
        infer(likelihood, approach=Approach(way="monte_carlo"), randomness=Randomness.seeded(1)),
        publication,
        randomness=Randomness.seeded(2),
    )
    for one, other in zip(exact, drawn, strict=True):
        for cell in range(one.domain.size):
            index = one.domain.unflat(cell)
            values = np.union1d(one.distribution(index)[0], other.distribution(index)[0])
            for value in values.tolist():
                gap = one.probability(value)[index] - other.probability(value)[index]
                assert abs(gap) < 0.02
    # A kept margin is exact, drawn or not; the others say how far they may be off.
    ways = {one.domain.names: one.way for one in drawn}
    assert ways[(domain.names[0],)] == "exact"
    assert set(ways.values()) == {"exact", "monte_carlo"}
    assert all(0 < (one.error or 0) < 0.01 for one in drawn if one.way == "monte_carlo")


def test_other_methods_are_read_from_listed_or_drawn_originals() -> None:
    domain = Domain.of_shape((2, 3))
    likelihood = sequence([[1, 0, 2], [2, 1, 1]], design(domain, "elementary"), "any_zero")
    inner = infer(likelihood)
    publication = crossing(domain)
    listed = sums(replace(inner, exact_sums=None), publication)
    with pytest.raises(InfeasibleError, match="too many for the sums of drawn originals"):
        sums(replace(inner, exact_sums=None, list_originals=lambda: None), publication, draws=0)
    for one, other in zip(sums(inner, publication), listed, strict=True):
        assert other.way == "exact"
        for index in np.ndindex(one.domain.shape):
            values, chances = one.distribution(index)
            again, others = other.distribution(index)
            assert values.tolist() == again.tolist()
            assert np.abs(chances - others).max() < 1e-12


@pytest.mark.parametrize("formula", ["A:B - 1", "A:B + A - 1", "A + B"])
def test_sums_over_parts_are_those_of_all_originals_together(formula: str) -> None:
    """Cells alone, cells under one noisy total, and cells under several."""
    method = methods()["discrete_laplace"]
    table = Table.dense(Domain.of_shape((2, 3)), [[1, 0, 2], [1, 1, 0]])
    problem = Problem(table)
    values = method.resolve_for(problem, {"margins": formula, "cap": 1})
    release, _ = method.perform(problem, values, np.random.default_rng(2))
    inner = infer(likelihood_of(release))
    publication = crossing(table.domain)
    listed = sums(replace(inner, exact_sums=None), publication)
    for one, other in zip(sums(inner, publication), listed, strict=True):
        assert one.way == "exact" and one.reason.startswith("what its border")
        assert other.reason.startswith("every original")
        agree(
            one,
            [
                dict(zip(*map(np.ndarray.tolist, other.distribution(index)), strict=True))
                for index in np.ndindex(one.domain.shape)
            ],
        )
