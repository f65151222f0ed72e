"""A reader with this program protects every table that fits again: what the gate knows of that."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from listing_reader import Reader, TooManyError
from suppression_brute_force import with_zeros

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER, VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE
from tabprotect.engine.belief.weighing import plain
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.counts_verdict import posterior_figures
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import ParameterError, RefusedError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.factors import reweighing
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.methods.suppression import PLUGIN
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.protection.suppressing.block_rule import BlockRule, groups
from tabprotect.engine.protection.suppressing.choice import choose
from tabprotect.engine.protection.suppressing.hiding_sets.promise import check_intervals
from tabprotect.engine.protection.suppressing.sensitive import task_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import CellFactors
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

RULE = SmallCount(1, 2)
LIMITS = AgencyPolicy().limits(RULE, again=False)
REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "rerun.json").read_text())
SMALL = [one for one in REFERENCE["small"] if one["choice"] == "cheapest"]

PARTY = Table.dense(
    Domain.of_shape((3, 3, 2)),
    np.array([0, 0, 8, 4, 4, 1, 0, 1, 3, 5, 1, 0, 2, 3, 9, 6, 2, 7]).reshape(3, 3, 2),
)
"""Votes by party, age and sex: Langsrud and Lupp."""


def _table(shape: tuple[int, ...], counts: object) -> Table:
    return Table.dense(Domain.of_shape(shape), np.array(counts).reshape(shape))


def _run(table: Table, given: dict[str, object]) -> Protected:
    return PLUGIN.run(Problem(table, at_risk=RULE), {"choice": "cheapest"} | given, Randomness.seeded(1))


def _likelihood(done: Protected) -> CellFactors:
    return PLUGIN.likelihood(done.release)


@pytest.mark.parametrize("case", SMALL)
def test_the_gate_and_readers_run_it_again(case: dict[str, object]) -> None:
    done = _run(_table(tuple(case["shape"]), case["counts"]), {"level": case["level"]})
    found = verdict(done.release, LIMITS)
    assert done.release.tables[0].hidden.reshape(-1).astype(int).tolist() == case["hidden_inner"]
    assert (found.known, found.certain) == (case["known"], case["certain"])
    assert found.at_risk == pytest.approx(case["at_risk"], abs=1e-9)
    assert (found.passed is False) == case["reader_fails"] and found.complete
    whole = believe([done.release], effort=READER).posterior
    assert whole.originals == case["originals_with_this_choice"]
    assert infer(plain(_likelihood(done))).originals == case["originals_that_fit"]
    inner, figures = found.tables[0], posterior_figures(whole, RULE, 0.95)
    assert figures.known == inner.known and figures.certain == inner.certain
    assert figures.at_risk == pytest.approx(inner.at_risk, abs=1e-12)


@pytest.mark.parametrize("case", REFERENCE["block_rule"])
def test_blocks_as_computed_by_an_independent_prototype(case: dict[str, object]) -> None:
    done = _run(_table(tuple(case["shape"]), case["counts"]), {"choice": "blocks"})
    found = verdict(done.release, LIMITS)
    assert done.release.tables[0].hidden.reshape(-1).astype(int).tolist() == case["hidden_inner"]
    assert sum(int(p.hidden.sum()) for p in done.release.tables) == case["hidden_numbers"]
    assert (found.known, found.certain) == (case["known"], case["certain"])
    assert found.at_risk == pytest.approx(case["at_risk"], abs=1e-9)
    posterior = believe([done.release], knowing=RELEASE_ALONE, effort=VERDICT).posterior
    assert posterior.originals == case["originals_with_this_choice"] and posterior.complete


@pytest.mark.parametrize(
    ("shape", "mean", "given"),
    [
        ((3, 3), 3, {"level": 1}),
        ((3, 3), 3, {"level": 2}),
        ((3, 4), 5, {"level": 3}),
        ((4, 4), 6, {"choice": "blocks"}),
        ((6, 2), 6, {"choice": "blocks", "block": 3}),
        ((4, 2), 3, {"choice": "blocks", "zeros": "allowed"}),
        ((4, 4), 5, {"choice": "blocks", "totals": "published"}),
        ((4, 2, 2), 6, {"choice": "blocks"}),
    ],
)
def test_a_reader_who_lists_and_runs_knows_what_the_gate_says(
    shape: tuple[int, ...], mean: float, given: dict[str, object]
) -> None:
    """On the first random table whose originals are few."""
    for seed in range(50):
        done = _run(_table(shape, np.random.default_rng(seed).poisson(mean, shape)), given)
        with suppress(TooManyError):
            reader = Reader(done.release, RULE, 60)
            if done.release.table.cells[1].size and reader.listed > 1:
                break
    else:
        pytest.fail("no table has few originals")
    found = verdict(done.release, LIMITS)
    assert found.complete and found.way == "exact"
    for judged in (one for one in found.tables if one.who == "user"):
        (published,) = (p for p in done.release.tables if p.table.domain.names == judged.names)
        theirs = reader.figures(published.table.domain, published.hidden.reshape(-1), 0.95)
        assert (judged.known, judged.certain) == (theirs.known, theirs.certain)
        assert judged.at_risk == pytest.approx(theirs.at_risk, abs=1e-9)


def test_beyond_the_work_it_is_not_judged_and_letters_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    table = PARTY
    problem = Problem(table, at_risk=RULE)
    monkeypatch.setattr(
        gate, "verdict", lambda *a, **k: verdict(*a, **{**k, "effort": replace(VERDICT, weighing=3e5)})
    )
    with pytest.raises(RefusedError, match="tables tried give what was published") as refused:
        gate.protect(PLUGIN, problem, {"level": 3, "choice": "cheapest"}, Randomness.seeded(1))
    first = refused.value.suggestions[0]
    assert first.parameters == {"choice": "letters", "level": 1}
    done = gate.protect(PLUGIN, problem, {"level": 3, **first.parameters}, Randomness.seeded(1))
    found = done.record.verdict
    assert found is not None and found.passed and found.complete and not found.left_out


def test_drawn_originals_are_kept_by_their_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where originals cannot be listed, those kept are exact draws; too few are not judged."""
    table = _table((3, 4), REFERENCE["block_rule"][0]["counts"])
    likelihood = _likelihood(_run(table, {"choice": "blocks"}))
    whole = infer(likelihood)
    monkeypatch.setattr(reweighing, "MOST_ORIGINALS", 1)
    drawn = infer(likelihood, randomness=Randomness.seeded(5))
    assert drawn.way == "monte_carlo" and drawn.independent and drawn.complete
    assert drawn.effective_sample_size is not None
    assert drawn.effective_sample_size >= reweighing.WANTED
    for count in (1, 2, 3):
        off = np.abs(drawn.probability(count) - whole.probability(count))
        assert off.max() < 5 * 0.5 / drawn.effective_sample_size**0.5
    assert likelihood.rerun is not None
    never = replace(likelihood.rerun, many=lambda originals, _: np.zeros(len(originals)))
    left = infer(replace(likelihood, rerun=never), randomness=Randomness.seeded(5))
    assert left.left_out == ("pattern_choice",) and "(0 of " in left.note
    # Without hope the drawing ends early.
    assert "(0 of 1,000,000" not in left.note


def test_a_random_choice_is_followed_once_for_each_original() -> None:
    table = _table((3, 4), SMALL[1]["counts"])
    done = _run(table, {"level": 1, "choice": "random"})
    approach = Approach(weighing=5e5)
    found = infer(_likelihood(done), approach=approach, randomness=Randomness.seeded(2))
    again = _likelihood(done).rerun
    assert again is not None and not again.exact
    chances = {again.estimate(table, np.random.default_rng(seed)) for seed in range(8)}
    assert chances <= {0.0, 1.0}
    assert found.complete


def test_groups_of_categories() -> None:
    assert groups(3, 2).tolist() == [0, 0, 0]
    assert groups(4, 2).tolist() == [0, 0, 1, 1]
    assert groups(7, 2).tolist() == [0, 0, 1, 1, 2, 2, 2]
    assert groups(7, 3).tolist() == [0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("given", [{}, {"zeros": "allowed"}, {"totals": "published"}])
def test_many_originals_at_once_are_followed_as_one(given: dict[str, object]) -> None:
    """Also where numbers stand in several tables: one category, cells where nobody can be."""
    generator = np.random.default_rng(3)
    base = with_zeros(_table((4, 2, 1), generator.poisson(2, (4, 2, 1))), [1, 4])
    values = PLUGIN.resolve(base.domain, {"choice": "blocks", **given})
    publication = publication_of(base.domain, values)
    rule = BlockRule.of(
        publication, RULE, 2, zeros=values["zeros"] == "allowed", totals=values["totals"] == "allowed"
    )
    originals = generator.poisson(2, (200, 8)) * (base.counts.reshape(-1) >= 0)
    originals[:, [1, 4]] = 0
    own = base.counts.reshape(-1)
    originals[0] = own
    hidden = rule.hidden(own)
    same = [np.array_equal(rule.hidden(one), hidden) for one in originals]
    assert rule.gives(hidden, originals).tolist() == [float(one) for one in same]
    sums = publication.incidence @ own
    assert hidden[(sums >= 1) & (sums <= 2)].all()
    first, inverse = publication.distinct
    assert (hidden == hidden[first][inverse]).all()
    done = _run(base, {"choice": "blocks", **given})
    assert infer(_likelihood(done)).originals >= 1


def test_blocks_promise_no_interval_and_take_no_statuses() -> None:
    domain = Domain.of_shape((4, 4))
    values = PLUGIN.resolve(domain, {"choice": "blocks"})
    assert values["block"] == 2 and "intervals_protected" not in PLUGIN.promised(values)
    assert PLUGIN.resolve(domain, {"block": 3})["block"] is None
    assert "intervals_protected" in PLUGIN.promised(PLUGIN.resolve(domain, {"choice": "cheapest"}))
    with pytest.raises(ParameterError, match="statuses"):
        PLUGIN.resolve(domain, {"choice": "blocks", "statuses": "A=a1,B=b1,u\n"})


def test_zeros_may_be_hidden_wherever_they_may_be_published() -> None:
    """A sum of two people cannot fall to 0 for either of them: that is not asked for."""
    table = _table((4, 3, 2), [1, 1, 4, 5, 0, 1, 1, 0, 3, 4, 5, 6, 3, 4, 2, 5, 4, 3, 6, 4, 5, 3, 4, 4])
    problem = Problem(table, at_risk=RULE)
    for zeros in ("published", "allowed"):
        values = PLUGIN.resolve(table.domain, {"zeros": zeros, "level": 2})
        task = task_of(problem, publication_of(table.domain, values), values)
        pair = int(np.flatnonzero(task.values == 2)[0])
        assert task.below[pair] <= 1 or zeros == "published"
        assert not len(check_intervals(task, choose(task).hidden).unprotected)
