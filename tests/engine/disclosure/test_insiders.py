"""What somebody alone in a cell learns: reference values, exact and drawn, told and judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.belief.effort import TRIAL
from tabprotect.engine.bundle.staff.release_findings import headline, of_tables
from tabprotect.engine.disclosure import insiders
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

REFERENCE = Path(__file__).parents[2] / "reference" / "readers.json"
FIGURES = json.loads(REFERENCE.read_text())["figures"]
LIMITS = AgencyPolicy().limits()
METHOD = methods()["cyclic_perturbation"]


def pairs(size: int) -> list[tuple[int, int]]:
    """A ring; a single pair of two."""
    return [(0, 1)] if size == 2 else [(k, (k + 1) % size) for k in range(size)]


def release_of(case: dict[str, Any]) -> Release:
    """A release of the reference, with its elementary cycles."""
    shape = tuple(case["shape"])
    cycles = []
    for i, k in pairs(shape[0]):
        for j, m in pairs(shape[1]):
            cycle = np.zeros(shape, dtype=int)
            cycle[i, j], cycle[k, m], cycle[i, m], cycle[k, j] = 1, 1, -1, -1
            cycles.append(cycle)
    domain = Domain.of_shape(shape)
    given = {
        "cycles": MoveSet.from_arrays(domain, cycles),
        "alpha": case["alpha"],
        "beta": case["alpha"],
        "blocking": case["rule"],
        "passes": case["passes"],
    }
    values = METHOD.resolve(domain, given)
    stated = {
        p.name: values[p.name]
        for p in METHOD.parameters
        if p.public and not (p.may_be_unstated and values[p.name] is None)
    }
    table = Table.dense(domain, np.array(case["published"]).reshape(shape))
    return Release.of(table, Mechanism(METHOD.name, domain, stated))


@pytest.mark.parametrize("number", range(len(FIGURES)))
def test_the_chance_is_that_of_the_reference_listed_or_drawn(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = FIGURES[number]
    release = release_of(case)
    found = verdict(release, LIMITS)
    assert found.insiders.exact and found.insiders.alone == pytest.approx(case["alone"])
    assert found.insiders.chance == pytest.approx(case["insider_learns"])
    assert (found.mean_belief, found.small_known, found.known, found.at_risk) == pytest.approx(
        (case["expected_belief"], case["small_known"], case["known"], case["at_risk"])
    )
    worst = found.insiders.worst
    assert worst is not None and (worst == 0) == (case["insider_learns"] == 0)
    monkeypatch.setattr(insiders, "LISTED_CELLS", 0)
    drawn = verdict(release, LIMITS).insiders
    assert not drawn.exact and drawn == verdict(release, LIMITS).insiders
    assert drawn.chance == pytest.approx(case["insider_learns"], abs=0.01)


def test_a_sample_of_people_says_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_table("example:sparse-10x10").table
    release = METHOD.run(Problem(table), {}, Randomness.seeded(7)).release
    every = verdict(release, LIMITS).insiders
    assert every.chance is not None and 0 < every.chance < 0.2
    monkeypatch.setattr(insiders, "DRAWN_WORK", 50 * insiders.PROPOSING * table.domain.size)
    some = verdict(release, LIMITS).insiders
    assert some.chance == pytest.approx(every.chance, abs=0.1) and some != every


@pytest.mark.parametrize("rule", ["negative", "any_zero"])
def test_a_part_says_the_same_as_the_whole(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of six strips: all of them, and some."""
    rng = np.random.default_rng(2)
    counts = rng.poisson(rng.gamma(0.5, 4.0, size=(18, 12)))
    table = Table.dense(Domain.of_shape((18, 12)), counts)
    given = {"cycles": "strips-3", "blocking": rule}
    release = METHOD.run(Problem(table), given, Randomness.seeded(2)).release
    whole = verdict(release, LIMITS).insiders
    assert whole.chance and 0.05 < whole.chance < 0.9 and not whole.exact
    monkeypatch.setattr(insiders, "PART_CELLS", 200)
    every = verdict(release, LIMITS).insiders
    assert every != whole and every == verdict(release, LIMITS).insiders
    assert every.chance == pytest.approx(whole.chance, abs=0.03)
    assert every.worst == pytest.approx(whole.worst, abs=0.03)
    monkeypatch.setattr(insiders, "PART_CELLS", 100)
    some = verdict(release, LIMITS).insiders
    assert some.alone == whole.alone and some.chance != every.chance
    assert some.chance == pytest.approx(whole.chance, abs=0.2)


def test_it_is_told_and_judged_only_where_the_policy_says_so() -> None:
    release = release_of(FIGURES[5] | {"published": [2, 1, 2, 1, 3, 1, 1, 2, 1]})
    told = verdict(release, AgencyPolicy().limits())
    chance = told.insiders.chance
    assert told.passed and chance is not None and 0 < chance < 1
    (found,) = told.insiders.findings(told.limits)
    assert found.kind.startswith("insiders") and found in told.findings
    assert told.as_json()["insiders"] == {"chance": chance, "worst": told.insiders.worst}
    assert found in of_tables(told)
    strict = AgencyPolicy(insiders="judge", insider_limit=chance / 2)
    judged = verdict(release, strict.limits())
    assert judged.passed is False and not judged.failing
    assert judged.findings[0].kind == "insiders_beyond" and headline(judged).state == "failed"
    assert verdict(release, AgencyPolicy(insiders="judge", insider_limit=chance).limits()).passed
    # A limit that is only told of judges nothing.
    assert verdict(release, AgencyPolicy(insider_limit=chance / 2).limits()).passed
    # A brief look leaves it out unless it is judged.
    assert verdict(release, told.limits, effort=TRIAL).insiders.chance is None  # type: ignore[arg-type]
    assert verdict(release, strict.limits(), effort=TRIAL).passed is False


def test_nobody_alone_and_nothing_to_learn() -> None:
    domain = Domain.of_shape((2, 3))
    full = Table.dense(domain, np.full((2, 3), 40))
    release = methods()["random_rounding"].run(Problem(full), {}, Randomness.seeded(1)).release
    assert verdict(release, LIMITS).as_json()["insiders"] == {"chance": None, "worst": None}
    few = Table.dense(domain, np.array([[1, 0, 2], [3, 1, 1]]))
    given = {"margins": "A:B - 1"}
    own = methods()["random_rounding"].run(Problem(few), given, Randomness.seeded(1)).release
    assert verdict(own, LIMITS).insiders.chance == 0.0


def test_a_release_that_insiders_read_too_well_is_refused() -> None:
    table = Table.dense(Domain.of_shape((3, 3)), np.array([[2, 1, 2], [1, 3, 1], [1, 2, 1]]))
    given = {"cycles": "strips-2", "blocking": "any_zero"}
    lenient = protect(METHOD, Problem(table), given, Randomness.seeded(3)).record.verdict
    assert lenient is not None and lenient.insiders.chance
    strict = AgencyPolicy(insiders="judge", insider_limit=0.0, attempts_at_most=1)
    with pytest.raises(RefusedError, match="alone in a cell") as caught:
        protect(METHOD, Problem(table), given, Randomness.seeded(3), policy=strict)
    # It was judged: a standing reason would not let it out.
    assert "standing reason" not in caught.value.hint


def test_what_is_not_known_of_insiders_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    release = release_of(FIGURES[6])
    monkeypatch.setattr(insiders, "LISTED_CELLS", 0)
    monkeypatch.setattr(insiders, "MOST_DRAWN", 0)
    monkeypatch.setattr(insiders, "MOST_OF_FEW", 0)
    assert verdict(release, LIMITS).passed and verdict(release, LIMITS).insiders.unknown
    found = verdict(release, AgencyPolicy(insiders="judge", insider_limit=0.5).limits())
    assert found.passed is None and found.left_out == ("simulation",)
    assert "could not be worked out" in found.note


def test_neighbours_in_common() -> None:
    """Against sets, with sums of many sizes, empty ones too."""
    rng = np.random.default_rng(4)
    sums = [rng.choice(60, size, replace=False) for size in rng.integers(0, 7, 25)]
    starts = np.cumsum([0, *map(len, sums)]).astype(np.int64)
    pairs = rng.integers(0, 60, (500, 2))
    beside: dict[int, set[int]] = {cell: set() for cell in range(60)}
    for one in sums:
        for cell in one.tolist():
            beside[cell] |= set(one.tolist())
    wanted = [bool(beside[a] & beside[b]) for a, b in pairs.tolist()]
    found = insiders._share_a_neighbour((starts, np.concatenate(sums)), pairs, 60)
    assert found.tolist() == wanted and 0.05 < np.mean(wanted) < 0.95


def test_pairs_that_are_near() -> None:
    """All pairs with a cell beside both, against sets."""
    rng = np.random.default_rng(5)
    sums = [np.sort(rng.choice(40, size, replace=False)) for size in rng.integers(1, 5, 18)]
    owner = np.repeat(np.arange(len(sums)), [len(one) for one in sums])
    beside: dict[int, set[int]] = {}
    for one in sums:
        for cell in one.tolist():
            beside.setdefault(cell, set()).update(one.tolist())
    wanted = {(a, b) for a in beside for b in beside if a != b and beside[a] & beside[b]}
    found = insiders._near_pairs(owner, np.concatenate(sums), 40)
    assert len(found) == len(wanted) and {(a, b) for a, b in found.tolist()} == wanted
