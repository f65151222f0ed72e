"""Cyclic perturbation that keeps named margins, at any level of a hierarchy."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.bundle import public
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.progress import SILENT
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.cycle_runs.choosing_cycles import candidates, chosen_cycles
from tabprotect.engine.protection.cycle_runs.trial_runs import Tried, tried_cycles
from tabprotect.engine.protection.methods.cyclic_perturbation import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import all_margins
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

GROUPINGS = "reg:geo=" + ",".join(f"g{i}>{'abc'[min(i // 3, 2)]}" for i in range(8))
PUBLIC = {"order": "listed", "passes": 1, "n_cover": 0, "alpha": 0.25, "beta": 0.25}


def original(mean: float = 4.0) -> Table:
    domain = Domain.of({"geo": [f"g{i}" for i in range(8)], "age": list("abcd")})
    counts = np.random.default_rng(7).poisson(mean, (8, 4)).astype(np.int64)
    return Table.dense(domain, counts)


def released(table: Table, seed: int = 1, **given: object) -> Release:
    return PLUGIN.run(Problem(table), given, Randomness.seeded(seed)).release


def test_kept_margins_are_published_exact_and_the_posterior_follows() -> None:
    table = original()
    given = {"keep": "geo + reg*age", "groupings": GROUPINGS, "blocking": "negative"}
    release = released(table, **given)
    names = [p.table.domain.names for p in release.tables]
    assert names == [("geo", "age"), ("geo",), ("reg",), ("age",), ("reg", "age")]
    publication = Publication.of(
        table.domain, "geo + reg + age + reg:age", release.mechanism.parameters["cycles"].groupings
    )
    for true, published in zip(publication.sums(table)[1:], release.tables[1:], strict=True):
        assert true == published.table
    assert release.table != table
    assert {"table.csv", "table-5.csv"} <= set(public.files(release))
    posterior = infer(likelihood_of(release))
    assert posterior.way == "exact"
    assert (posterior.probability(table.counts) > 0).all()
    # What stands beside the inner cells is exact by design: it is not judged.
    assert PLUGIN.publishes_true_counts(release)
    assert [found.inner for found in verdict(release).tables] == [True]


def test_a_reader_designs_the_same_cycles() -> None:
    table = original(1.0)
    given = {"keep": "geo + reg*age", "groupings": GROUPINGS, "cycles": "triangular"}
    release = released(table, **given)
    again = PLUGIN.resolve_for(Problem(release.table), given)
    assert again["cycles"] == release.mechanism.parameters["cycles"]
    chosen = PLUGIN.resolve_for(Problem(table), {})["cycles"]
    assert PLUGIN.resolve_for(Problem(released(table).table), {})["cycles"] == chosen


def test_a_cycle_set_that_breaks_a_kept_margin_is_refused() -> None:
    with pytest.raises(InputError, match="changes the margin reg=a, age=a"):
        PLUGIN.resolve_for(
            Problem(original()), {"keep": "geo + reg*age", "groupings": GROUPINGS, "cycles": "strips"}
        )


def test_keeping_the_table_itself_is_refused() -> None:
    with pytest.raises(InputError, match="published as it is"):
        PLUGIN.resolve_for(Problem(original()), {"keep": "geo*age"})


def test_reversible_goes_with_equal_chances() -> None:
    given = {"blocking": "reversible", "alpha": 0.3, "beta": 0.2}
    with pytest.raises(ParameterError, match="alpha = beta"):
        PLUGIN.resolve(original().domain, given)
    release = released(original(), blocking="reversible", theta=0.5)
    assert release.mechanism.parameters["theta"] == 0.5
    assert likelihood_of(release).theta == 0.5
    assert "theta" not in released(original()).mechanism.parameters


@pytest.mark.parametrize(("mean", "name"), [(0.7, "triangular"), (30.0, "strips")])
def test_the_choice_follows_from_the_margins(mean: float, name: str) -> None:
    domain = Domain.of_shape((10, 10))
    generator = np.random.default_rng(5)
    table = Table.dense(domain, generator.poisson(mean, (10, 10)).astype(np.int64))
    kept = KeptMargins.of(Publication(domain, all_margins(domain)), table)
    values = Values(PUBLIC | {"blocking": "any_zero", "theta": None})
    found = {c.name: c for c in candidates(kept, values)}
    assert chosen_cycles(kept, values).moves == found[name].moves


@pytest.mark.parametrize(("mean", "rule"), [(0.7, "negative"), (30.0, "any_zero")])
def test_so_does_the_rule_where_none_is_given(mean: float, rule: str) -> None:
    domain = Domain.of_shape((10, 10))
    counts = np.random.default_rng(5).poisson(mean, (10, 10)).astype(np.int64)
    problem = Problem(Table.dense(domain, counts))
    values = PLUGIN.resolve_for(problem, {})
    assert values["blocking"] == rule
    # Whoever has the release finds the same rule; a given one stays.
    release = PLUGIN.run(problem, {}, Randomness.seeded(1)).release
    assert PLUGIN.resolve_for(Problem(release.table), {})["blocking"] == rule
    assert release.mechanism.parameters["blocking"] == rule
    assert PLUGIN.resolve_for(problem, {"blocking": "any_zero"})["blocking"] == "any_zero"
    assert PLUGIN.resolve_for(problem, {"cycles": "elementary"})["blocking"] == "any_zero"


def test_the_default_is_no_worse_than_any_other_at_equal_change() -> None:
    # The corners of this table are small, and open strips touch each corner once.
    table = open_table("example:duncan-roehrig-4x4").table
    kept = KeptMargins.of(Publication(table.domain, all_margins(table.domain)), table)
    taken = PLUGIN.resolve_for(Problem(table), {})
    counts = np.repeat(table.counts.reshape(-1, 1), 64, axis=1)

    def done(moves: MoveSet, coin: float) -> Tried:
        generator = np.random.Generator(np.random.PCG64(1))
        return tried_cycles(moves, taken | {"alpha": coin, "beta": coin}, counts, generator, SILENT)

    for other in candidates(kept, taken):
        calm = done(other.moves, 0.25)
        coins = np.arange(0.25, 0.05, -0.01)
        alike = next(r for c in coins if (r := done(taken["cycles"], c)).change <= calm.change)
        assert alike.repeated <= calm.repeated + 0.02
