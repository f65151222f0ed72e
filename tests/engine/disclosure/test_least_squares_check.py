"""What all published tables say together decides, where each table alone would pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tabprotect.engine import agency
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.disclosure.cell_beliefs import tables_believed
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.fitting.margin_variance import deviation_left, largest_family
from tabprotect.engine.protection.cell_keys.cell_noise import drawn, hashed
from tabprotect.engine.protection.problem import Problem, Protected
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.protection.subtables import publication_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

CELL_KEY = methods()["cell_key"]
SMALL = {"D": 2, "V": 1.0, "js": 0}


def planted(shape: tuple[int, ...], seed: int = 1) -> Problem:
    generator = np.random.default_rng(seed)
    domain = Domain.of({n: list("0123456789"[:k]) for n, k in zip("ABCDE", shape, strict=False)})
    means = generator.gamma(0.8, 2.5, shape)
    return Problem(Table.dense(domain, generator.poisson(means).astype(np.int64)))


def run(problem: Problem, **given: Any) -> Protected:
    return CELL_KEY.run(problem, given, Randomness.seeded(1))


def test_all_margins_of_five_binary_variables_are_refused_by_the_tables_together() -> None:
    problem = planted((2,) * 5)
    release = run(problem, **SMALL, margins="A*B*C*D*E").release
    limits = AgencyPolicy().limits(problem.at_risk)
    alone = tables_believed(Evidence(release), "uniform", effort=replace(VERDICT, joint=0))
    assert all(belief.left_out == ("joint_noise",) for belief in alone.beliefs)
    found = verdict(release, limits)
    assert found.passed is False and found.known > 0
    again = verdict(release, limits)
    assert found.as_json() == again.as_json()


def test_a_release_whose_tables_were_put_together_is_judged_whole() -> None:
    done = run(planted((4, 4)))
    assert done.release.mechanism.parameters["keys"] == "hashed"
    found = verdict(done.release)
    assert found.passed and found.complete and found.way == "simulation"
    assert {table.names for table in found.tables} == {("A", "B"), ("A",), ("B",), ()}


def test_plain_keys_leave_their_algebra_out() -> None:
    done = run(planted((4, 4)), keys="plain")
    found = verdict(done.release)
    assert found.left_out == ("key_algebra",) and found.passed is None
    with pytest.raises(RefusedError, match="keys of totals are sums of keys") as refused:
        protect(CELL_KEY, planted((4, 4)), {"keys": "plain"}, Randomness.seeded(1))
    assert refused.value.suggestions
    alone = run(planted((4, 4)), margins="A:B - 1").release
    assert alone.mechanism.parameters["keys"] == "plain" and verdict(alone).complete


def test_settings_that_readers_undo_are_refused_before_any_draw() -> None:
    given = {**SMALL, "margins": "A*B*C*D*E"}
    messages = set()
    for seed in (1, 2):
        with pytest.raises(RefusedError, match=r"standard deviation of 0\.36") as refused:
            protect(CELL_KEY, planted((2,) * 5, seed), given, Randomness.seeded(seed))
        messages.add((str(refused.value.message), refused.value.hint))
    # It says nothing of the table.
    assert len(messages) == 1


def test_the_published_family_follows_from_shape_and_variance() -> None:
    domain = planted((4, 4, 4)).table.domain
    assert largest_family(domain, 3.0) == "A*B*C"
    assert largest_family(domain, 1.0) == "A + B + C + A:B:C"
    # Of inner cells tables of four variables would leave 1.07, of tables of three 0.45.
    pairs = "(A + B + C + D + E + F + G + H)^2 + A:B:C:D:E:F:G:H"
    assert largest_family(Domain.of_shape((2,) * 8), 3.0) == pairs
    values = CELL_KEY.resolve_for(planted((4, 4, 4)), SMALL)
    assert values["margins"] == "A + B + C + A:B:C"
    left = deviation_left(publication_of(domain, values), 1.0)
    assert left == pytest.approx(0.9231253073986287)
    thin = CELL_KEY.preview(planted((4, 4, 4)), {**SMALL, "margins": "A*B*C"})
    assert "standard deviation of 0.72" in thin.sentence


def test_hashed_keys_are_one_function_of_the_sum_and_the_secret() -> None:
    problem = planted((3, 3))
    keys = drawn(problem.table, np.random.default_rng(1))
    once = hashed(keys, b"secret")
    assert once == hashed(keys, b"secret") != hashed(keys, b"other")
    assert len(np.unique(once.counts)) == len(np.unique(keys.counts))
    assert once.counts.min() >= 0 and once.counts.max() < 10**8


def test_kept_keys_get_the_noise_of_the_house_in_every_run() -> None:
    problem = planted((3, 3))
    keys = drawn(problem.table, np.random.default_rng(1))
    kept = Problem(problem.table, problem.at_risk, record_keys=keys)
    found = [CELL_KEY.run(kept, {}, Randomness.seeded(seed)).release for seed in (1, 2)]
    assert found[0] == found[1]
    agency.key_file().unlink()
    assert CELL_KEY.run(kept, {}, Randomness.seeded(1)).release != found[0]


def test_other_noise_of_large_tables_is_put_together_too() -> None:
    rounding = methods()["random_rounding"]
    generator = np.random.default_rng(1)
    domain = Domain.of({"A": [f"a{k}" for k in range(30)], "B": [f"b{k}" for k in range(20)]})
    table = Table.dense(domain, generator.poisson(6.0, (30, 20)).astype(np.int64))
    release = rounding.run(Problem(table), {}, Randomness.seeded(1)).release
    alone = tables_believed(Evidence(release), "uniform", effort=replace(VERDICT, joint=0))
    assert "joint_noise" in alone.beliefs[0].left_out
    assert verdict(release).complete
