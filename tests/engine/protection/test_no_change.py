"""The chance that nothing at all changes: before any draw, of a release, and what follows from it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.disclosure.coin_laws import forward_law
from tabprotect.engine.disclosure.gate import against, protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import ParameterError, RefusedError
from tabprotect.engine.fitting.synthetic_tables import expected_counts
from tabprotect.engine.parameters import Values
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.cycle_runs.no_change import COINS
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.table import Table

SWAPPING = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())
REFERENCE: dict[str, float] = SWAPPING["no_change"]
METHOD = methods()["cyclic_perturbation"]
LL = open_table("example:langsrud-lupp").table
OPENED = open_table("example:duncan-roehrig-4x4")
DR = OPENED.table
COIN = {"alpha": 0.25, "beta": 0.25}
FOUR = {"cycles": OPENED.moves, "blocking": "any_zero"}


def law(values: Values, published: Table) -> MoveSequence:
    """The mechanism as a sequence of moves."""
    return MoveSequence(
        published, values["cycles"], values["alpha"], values["beta"], values["passes"], values["blocking"]
    )


def stays(values: Values, table: Table) -> float:
    """P(published = original | original), every coin enumerated."""
    counts = table.counts.reshape(-1)
    return forward_law(law(values, table), counts).get(counts.tobytes(), 0.0)


@pytest.mark.parametrize("name", dict.fromkeys(case.rpartition("|")[0] for case in REFERENCE))
def test_the_chance_is_the_reference(name: str) -> None:
    example, blocking, coin = name.split("|")
    opened = {"langsrud-lupp": None}.get(example, open_table(f"example:{example}"))
    table = LL if opened is None else opened.table
    chance = Fraction(coin).limit_denominator(3) if coin == "0.333" else float(coin)
    given = {"alpha": float(chance), "beta": float(chance), "blocking": blocking}
    moves = METHOD.resolve_for(Problem(LL), COIN)["cycles"] if opened is None else opened.moves
    for passes in range(1, 5):
        if (expected := REFERENCE.get(f"{name}|{passes}")) is not None:
            values = METHOD.resolve(table.domain, {**given, "cycles": moves, "passes": passes})
            assert stays(values, table) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", SWAPPING["no_change_public"])
def test_the_chance_is_a_mean_over_tables_with_the_kept_margins(name: str) -> None:
    case, opened = SWAPPING["no_change_public"][name], open_table(f"example:{name}")
    table, passes = opened.table, case["passes"]
    given = {**COIN, "blocking": case["rule"], "passes": passes}
    given |= {} if opened.moves is None else {"cycles": opened.moves}
    values = METHOD.resolve_for(Problem(table), given)
    coins = len(values["cycles"]) * passes
    assert len(values["cycles"]) == case["cycles"] and 0.5**coins == case["lower_bound"]
    found, kept = METHOD.no_change(table, values), METHOD.kept(table.domain, values)
    assert found is not None and kept is not None
    assert found == pytest.approx(case["poisson"], abs=0.015)
    if coins > 10:
        # All coins are too many to be enumerated: of none of the tables nothing changed.
        assert found == case["true"] == 0.0
        return
    assert stays(values, table) == pytest.approx(case["true"], abs=1e-12)
    # At least the chance that no coin falls.
    assert found > 0.9 * case["lower_bound"]
    expected, random = expected_counts(KeptMargins.of(kept, table)), np.random.default_rng(7)
    drawn = random.poisson(expected, (300, table.domain.size)).reshape(300, *table.domain.shape)
    exact = [stays(values, Table.dense(table.domain, one)) for one in drawn]
    assert abs(found - np.mean(exact)) < 4 * np.std(exact) / np.sqrt(len(exact)) + 0.005


def test_the_coin_falls_more_often_where_nothing_would_change() -> None:
    assert METHOD.resolve_for(Problem(LL), {})["alpha"] == METHOD.resolve_for(Problem(LL), {})["beta"] == 0.43
    found = METHOD.resolve_for(Problem(DR), FOUR)
    assert found["alpha"] == found["beta"] == COINS[1]
    assert stays(found, DR) == pytest.approx(0.02469135802469137)
    # The smallest that does.
    assert (METHOD.no_change(DR, found) or 1) <= 0.05 < (METHOD.no_change(DR, found | COIN) or 0)
    sparse = open_table("example:sparse-10x10").table
    assert METHOD.resolve_for(Problem(sparse), {})["alpha"] == COINS[0]


@pytest.mark.parametrize("given", [{"alpha": 0.25}, {"beta": 0.25}, {"passes": 1}, {"n_cover": 3}])
def test_what_is_given_is_taken(given: dict[str, object]) -> None:
    found = METHOD.resolve_for(Problem(LL), given)
    assert found["alpha"] == found["beta"] == 0.25


def test_tables_with_the_same_kept_margins_have_the_same_coin() -> None:
    values = METHOD.resolve_for(Problem(LL), {})
    moves = values["cycles"]
    other = LL.counts.reshape(-1).copy()
    for k in range(len(moves)):
        cells, signs = moves.entries(k)
        if (other[cells] + signs >= 0).all():
            other[cells] += signs
    assert (other != LL.counts.reshape(-1)).any()
    again = METHOD.resolve_for(Problem(Table.dense(LL.domain, other.reshape(LL.domain.shape))), {})
    assert again["alpha"] == values["alpha"] and again["cycles"].starts.tobytes() == moves.starts.tobytes()


def test_a_release_says_how_likely_it_is_the_original() -> None:
    table = Table.dense(Domain.of_shape((2, 3)), np.array([[3, 1, 2], [2, 4, 0]]))
    done = protect(METHOD, Problem(table), {"blocking": "negative"}, Randomness.seeded(3), accept="a test")
    found, published = verdict(done.release), done.release.table.counts.reshape(-1)
    likelihood = likelihood_of(done.release)
    assert isinstance(likelihood, MoveSequence)
    # Every table that could be behind it, by its definition.
    total = mine = 0.0
    for a in range(12):
        for b in range(12):
            row = table.margin(("a",)).counts if "a" in table.domain.names else table.counts.sum(axis=1)
            column = table.counts.sum(axis=0)
            cells = np.array(
                [[a, b, row[0] - a - b], [column[0] - a, column[1] - b, column[2] - row[0] + a + b]]
            )
            if (cells < 0).any():
                continue
            chance = forward_law(likelihood, cells.reshape(-1)).get(published.tobytes(), 0.0)
            total += chance
            mine += chance * bool((cells.reshape(-1) == published).all())
    assert found.unchanged == pytest.approx(mine / total, abs=1e-9) and 0 < mine < total
    assert found.as_json()["unchanged"] == found.unchanged
    assert found.no_change == METHOD.no_change(
        table, METHOD.resolve(table.domain, done.release.mechanism.parameters)
    )


def test_drawn_originals_say_about_the_same() -> None:
    table = open_table("example:duncan-roehrig-4x4x3").table
    done = protect(METHOD, Problem(table), {"cycles": "default"}, Randomness.seeded(5), accept="a test")
    found = verdict(done.release)
    likelihood = likelihood_of(done.release)
    assert isinstance(likelihood, MoveSequence) and found.unchanged is not None
    listed = infer(likelihood).list_originals()
    assert listed is not None
    tables, chances = listed
    exact = chances[(tables == done.release.table.counts.reshape(-1)).all(axis=1)].sum() / chances.sum()
    assert abs(found.unchanged - exact) < 4 * np.sqrt(exact * (1 - exact) / 4000) + 1e-9


def test_other_methods_and_hidden_cells_say_nothing_of_it() -> None:
    done = protect(methods()["suppression"], Problem(DR), {}, Randomness.seeded(5), accept="a test")
    found = verdict(done.release)
    assert found.no_change is None and found.unchanged is None


CYCLES = {"order": "listed"}
"""Cycles, whatever would be taken by default."""


def test_it_is_told_by_default() -> None:
    done = protect(METHOD, Problem(LL), CYCLES, Randomness.seeded(5), accept="a test")
    assert done.record.verdict is not None and done.record.verdict.passed
    assert "nothing at all changes in about 13 in 100 draws (limit 5 in 100)" in done.record.verdict.sentence
    assert against(done, AgencyPolicy()) == ""


def test_the_house_can_refuse_it() -> None:
    policy = AgencyPolicy(no_change="refuse")
    with pytest.raises(RefusedError, match="nothing at all changes in about 13 in 100") as refused:
        protect(METHOD, Problem(LL), CYCLES, Randomness.seeded(5), policy=policy)
    assert not refused.value.drawn
    done = protect(METHOD, Problem(LL), CYCLES, Randomness.seeded(5), policy=policy, accept="a test")
    assert done.record.overruled and "in about 13 in 100 draws" in done.record.decisions[0]
    drafted = protect(METHOD, Problem(LL), CYCLES, Randomness.seeded(5), policy=policy, draft=True)
    assert "in about 13 in 100 draws" in against(drafted, policy)
    lax = AgencyPolicy(no_change="refuse", no_change_limit=0.2, kept_small="keep")
    assert protect(METHOD, Problem(LL), CYCLES, Randomness.seeded(5), policy=lax).record.verdict is not None


def test_what_is_offered_then_leaves() -> None:
    policy = AgencyPolicy(no_change="refuse")
    table = open_table("example:czech-autoworkers").table
    with pytest.raises(RefusedError) as refused:
        protect(METHOD, Problem(table), {}, Randomness.seeded(5), policy=policy)
    given = dict(refused.value.suggestions[0].parameters)
    done = protect(METHOD, Problem(table), given, Randomness.seeded(5), policy=policy)
    assert done.record.verdict is not None and (done.record.verdict.no_change or 0) <= 0.05


def test_limits_that_make_no_sense() -> None:
    with pytest.raises(ParameterError):
        AgencyPolicy(no_change_limit=1.5)
    with pytest.raises(ParameterError):
        AgencyPolicy.of({"no_change": "judge"})
