"""Cumulative rounding: every node within the base, right on average, and its posterior by all originals."""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Poisson
from tabprotect.engine.protection.methods.controlled_rounding import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.rounding import cumulative_rounding
from tabprotect.engine.protection.rounding.cumulative_rounding import Remainders, line_of
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable

GIVEN: dict[str, object] = {"base": 3, "choice": "cumulative"}
TREE: dict[str, object] = {"margins": "A + A:B"}


def _domain(*shape: int) -> Domain:
    return Domain.of_shape(shape)


def _release(counts: Any, seed: int = 1, **more: object) -> Release:
    array = np.array(counts)
    problem = Problem(Table.dense(_domain(*array.shape), array))
    return PLUGIN.run(problem, GIVEN | more, Randomness.seeded(seed)).release


def _law(shape: tuple[int, ...], most: int, base: int) -> dict[bytes, dict[tuple[int, ...], float]]:
    """P(published inner cells | original) over a box of originals: the definition, in plain steps."""
    found: dict[bytes, dict[tuple[int, ...], float]] = defaultdict(dict)
    for x in itertools.product(range(most + 1), repeat=int(np.prod(shape))):
        for start in range(base):
            up_to, out = start, []
            for count in x:
                before = up_to // base
                up_to += count
                out.append(base * (up_to // base - before))
            key = np.array(out, dtype=np.int64).tobytes()
            found[key][x] = found[key].get(x, 0.0) + 1.0 / base
    return found


@pytest.mark.parametrize(("shape", "base"), [((4,), 3), ((2, 2), 2), ((3,), 5)])
def test_the_posterior_is_that_of_all_originals(shape: tuple[int, ...], base: int) -> None:
    counts = np.array([2, 0, 4, 1][: int(np.prod(shape))]).reshape(shape)
    more: dict[str, object] = {"base": base} | ({} if len(shape) == 1 else TREE)
    seen = set()
    for seed in range(12):
        release = _release(counts, seed, **more)
        y = release.tables[0].table.counts.reshape(-1)
        if y.tobytes() in seen:
            continue
        seen.add(y.tobytes())
        law = _law(shape, int(y.max()) + base, base)[np.asarray(y, dtype=np.int64).tobytes()]
        for prior in (None, Poisson(np.full(counts.size, 1.5))):
            logs = {
                x: 0.0
                if prior is None
                else sum(float(prior.log_weight(c, np.array([n]))[0]) for c, n in enumerate(x))
                for x in law
            }
            weights = {x: chance * np.exp(logs[x]) for x, chance in law.items()}
            posterior = infer(PLUGIN.likelihood(release), prior)
            assert posterior.way == "exact" and not posterior.left_out
            for cell in range(counts.size):
                for value in range(int(y.max()) + base):
                    expected = sum(w for x, w in weights.items() if x[cell] == value) / sum(weights.values())
                    found = float(posterior.probability(value).reshape(-1)[cell])
                    assert found == pytest.approx(expected, abs=1e-12)
    assert len(seen) > 1


def test_drawn_originals_have_the_law_of_listed_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    release = _release([2, 0, 1, 4, 0], 4)
    exact = infer(PLUGIN.likelihood(release))
    monkeypatch.setattr(cumulative_rounding, "MOST_LISTED", 0)
    drawn = infer(PLUGIN.likelihood(release), None, Approach(draws=20_000), Randomness.seeded(1))
    assert drawn.way == "monte_carlo" and not drawn.left_out
    for value in range(9):
        assert np.abs(drawn.probability(value) - exact.probability(value)).max() < 0.02
    # Every original of the chain is one of the list.
    remainders = Remainders(release.table.counts.reshape(-1), np.arange(5), 3)
    listed = exact.list_originals()
    assert listed is not None
    possible = {row.tobytes() for row in np.asarray(listed[0], dtype=np.int64)[listed[1] > 0]}
    assert {row.tobytes() for row in remainders.draw(2_000, np.random.default_rng(2))} == possible


def test_every_node_is_within_the_base_and_right_on_average() -> None:
    counts = np.random.default_rng(1).integers(0, 6, (4, 5))
    table = Table.dense(_domain(4, 5), counts)
    publication = publication_of(table.domain, PLUGIN.resolve(table.domain, GIVEN | TREE))
    line = line_of(publication)
    assert line is not None
    true = publication.added_up(table)
    nodes = []
    for start in range(3):
        inner = cumulative_rounding.rounded(counts.reshape(-1), line, 3, start)
        nodes.append(publication.added_up(Table.dense(table.domain, inner.reshape(4, 5))))
    for one in nodes:
        assert (one % 3 == 0).all() and (np.abs(one - true) < 3).all() and (one[true == 0] == 0).all()
    assert np.array_equal(np.sum(nodes, axis=0), 3 * true)


def test_tables_that_do_not_nest_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="do not nest"):
        PLUGIN.resolve(_domain(3, 3), GIVEN)
    with pytest.raises(ParameterError, match="do not nest"):
        PLUGIN.resolve(_domain(3, 3), GIVEN | {"margins": "A + B"})
    with pytest.raises(ParameterError, match="another choice"):
        PLUGIN.resolve(_domain(5), GIVEN | {"gamma": 0.5})


def test_levels_of_one_variable_leave_whole_with_every_node_within_the_base() -> None:
    number = 120
    levels = (Level("county", tuple(f"c{k // 6}" for k in range(number))),)
    domain = Domain((Variable("place", tuple(f"m{k}" for k in range(number)), levels),))
    counts = np.random.default_rng(5).poisson(np.random.default_rng(6).gamma(0.7, 8, number))
    problem = Problem(Table.dense(domain, counts))
    # In tables of one variable nobody has to ask for it.
    done = gate.protect(PLUGIN, problem, {"margins": "place + place@county"}, Randomness.seeded(3))
    assert done.release.mechanism.parameters["choice"] == "cumulative"
    assert done.verdict.passed and done.verdict.left_out == ()
    assert len(done.release.tables) == 3
    for published in done.release.tables:
        true = true_table(problem.table, published.table.domain).counts
        assert (np.abs(published.table.counts - true) < 3).all() and (published.table.counts % 3 == 0).all()
