"""A stated list that begins by the toss of a coin: against all coins, and as the gate runs it."""

from __future__ import annotations

import io
import itertools
import json
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.verify import verify_bytes, with_verdict
from tabprotect.engine.disclosure import ways
from tabprotect.engine.disclosure.choosing.acceptance_probability import Chance
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.disclosure.ways import EVEN, Ways
from tabprotect.engine.errors import InputError, ParameterError, RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.remedy import Remedy
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Gate, Mechanism, RefusedDraws
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.release.stated_list import StatedList
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from cycle_law import Counts, law

METHOD = methods()["cyclic_perturbation"]
DOMAIN = Domain.of_shape((2, 3))
PAIRS = [{0: 1, 1: -1, 3: -1, 4: 1}, {1: 1, 2: -1, 4: -1, 5: 1}]
MOVES = MoveSet.from_arrays(DOMAIN, [[[1, -1, 0], [-1, 1, 0]], [[0, 1, -1], [0, -1, 1]]])
LIMITS = AgencyPolicy().limits()
RULES = ("any_zero", "negative")
LISTED = StatedList(({}, {"blocking": "negative"}), EVEN)


def fibre_of(table: Any) -> list[Counts]:
    rows, columns = np.sum(table, axis=1), np.sum(table, axis=0)
    return [
        (a, b, rows[0] - a - b, columns[0] - a, columns[1] - b, columns[2] - rows[0] + a + b)
        for a in range(columns[0] + 1)
        for b in range(columns[1] + 1)
        if 0 <= rows[0] - a - b <= columns[2]
    ]


def stated(entry: int, listed: StatedList = LISTED) -> Mechanism:
    values = METHOD.resolve(DOMAIN, {"cycles": MOVES, "blocking": RULES[max(entry, 1) - 1]})
    ones = Problem(Table.dense(DOMAIN, np.ones((2, 3), dtype=np.int64)))
    gate = replace(LIMITS, attempts_at_most=1, listed=replace(listed, entry=entry))
    return replace(METHOD.perform(ones, values, np.random.default_rng(0))[0].mechanism, gate=gate)


def released(counts: Counts, mechanism: Mechanism) -> Release:
    table = Table.dense(DOMAIN, np.array(counts).reshape(2, 3))
    return Release((PublishedTable(table),), mechanism)


def laws(fibre: list[Counts], entry: int) -> dict[Counts, dict[Counts, float]]:
    return {x: law(x, PAIRS, RULES[entry - 1]) for x in fibre}


def refusals(fibre: list[Counts], entry: int) -> dict[Counts, float]:
    """The chance that one draw of an entry is refused, as that entry is judged."""
    mechanism, out = stated(entry), {}
    passed: dict[Counts, bool] = {}
    for x, outcomes in laws(fibre, entry).items():
        for y in outcomes.keys() - passed.keys():
            passed[y] = verdict(released(y, mechanism)).passed is True
        out[x] = sum(p for y, p in outcomes.items() if not passed[y])
    return out


def tables(number: int) -> list[Any]:
    given = json.loads((Path(__file__).parents[2] / "reference" / "refusals_tiny.json").read_text())
    rng = np.random.default_rng(11)
    return [one["table"] for one in given["tables"]] + [rng.poisson(1.5, (2, 3)) for _ in range(number)]


def test_no_odds_move_by_more_than_the_list_says() -> None:
    """By brute force over the originals of 30 tables; with (1, 0) as the chances to begin some do."""
    most, without = 0.0, 0.0
    for table in tables(25):
        fibre = fibre_of(np.asarray(table))
        if len(fibre) < 2:
            continue
        q, second = refusals(fibre, 1), laws(fibre, 2)
        for y in {y for outcomes in second.values() for y in outcomes}:
            origins = [x for x in fibre if y in second[x]]
            for start in (EVEN, (1.0, 0.0)):
                weight = [start[1] + start[0] * q[x] for x in origins]
                spread = max(weight) / min(weight) if min(weight) else np.inf
                if start == EVEN:
                    most = max(most, spread)
                    assert spread <= 2.0 + 1e-12
                else:
                    without = max(without, spread)
    assert most > 1.9 and without > 2.0
    assert replace(LISTED, entry=2).factor == 2.0 and replace(LISTED, entry=1).factor == 1.0
    three = StatedList(({}, {}, {}), (0.25, 0.25, 0.5), 3)
    assert three.factor == 2.0 == replace(three, entry=2).factor


def test_what_leaves_by_the_second_entry_is_judged_by_the_widest_that_it_may_tell() -> None:
    """Whatever passes keeps the limits for a reader who knows the chances to be refused."""
    passed = refused = 0
    for table in tables(6):
        fibre = fibre_of(np.asarray(table))
        q, second = refusals(fibre, 1), laws(fibre, 2)
        for y in {y for outcomes in second.values() for y in outcomes}:
            weights = {x: p[y] * (0.5 + 0.5 * q[x]) for x, p in second.items() if y in p}
            total, squares, expected, known = sum(weights.values()), 0.0, 0.0, 0
            for cell, value in itertools.product(range(6), (1, 2)):
                belief = sum(w for x, w in weights.items() if x[cell] == value) / total
                squares, expected, known = squares + belief**2, expected + belief, known + (belief > 0.95)
            fine = known <= 0.05 * expected and squares <= LIMITS.mean_belief_limit * expected + 1e-9
            judged = verdict(released(y, stated(2)))
            if judged.passed:
                assert fine
            passed, refused = passed + bool(judged.passed), refused + (judged.passed is not True)
            plain = verdict(released(y, replace(stated(2), gate=LIMITS)))
            if plain.passed and not judged.passed:
                assert judged.left_out == ("attempts",) and judged.passed is None
    assert passed and refused


def test_a_refused_list_weighs_the_originals() -> None:
    """By brute force: each is weighed by the chance that all of the list is refused."""
    fibre = fibre_of(np.asarray(tables(0)[0]))
    q1, q2 = refusals(fibre, 1), refusals(fibre, 2)
    whole = {x: (0.5 * q1[x] + 0.5) * q2[x] for x in fibre}
    refused = RefusedDraws(1, stated(0))
    plain = replace(stated(2), gate=replace(LIMITS, changed=True, refused=(refused,)))
    second, weighed = laws(fibre, 2), 0
    for y in {y for outcomes in second.values() for y in outcomes}:
        weights = {x: p[y] * whole[x] for x, p in second.items() if y in p}
        found = infer(likelihood_of(released(y, plain)))
        again = weigh_refused(found, (refused,), Randomness.seeded(1))
        if not sum(weights.values()):
            assert again is None
            continue
        weighed += 1
        assert again is not None
        for cell, value in itertools.product(range(6), (1, 2)):
            expected = sum(w for x, w in weights.items() if x[cell] == value) / sum(weights.values())
            assert again.probability(value).reshape(-1)[cell] == pytest.approx(expected, abs=1e-12)
    assert weighed


THREE = Problem(Table.dense(Domain.of_shape((3, 3)), [[9, 3, 8], [7, 9, 4], [2, 5, 6]]))


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the tables with the sums of this one half pass by the default, and all by a remedy."""
    remedy = Remedy("more passes", {"alpha": 0.3, "beta": 0.3, "passes": 3}, 1.0, 0.0)
    monkeypatch.setattr(ways, "chance", lambda *_, **__: Chance(0.5, None, 4))
    monkeypatch.setattr(ways, "remedies", lambda *_, **__: (remedy,))


def by_seeds(problem: Problem, number: int = 12) -> list[Release]:
    return [
        protect(METHOD, problem, {}, Randomness.seeded(seed), kept_small="keep").release
        for seed in range(number)
    ]


def test_the_default_is_plain_where_it_is_sure() -> None:
    assert all(
        one.mechanism.gate is not None and one.mechanism.gate.listed is None for one in by_seeds(THREE, 2)
    )


@pytest.mark.usefixtures("unsure")
def test_the_default_is_a_list_where_it_may_fail() -> None:
    found = by_seeds(THREE)
    gates = [one.mechanism.gate for one in found]
    entries = {gate.listed.entry for gate in gates if gate is not None and gate.listed is not None}
    assert entries == {1, 2} and all(gate is not None and gate.listed is not None for gate in gates)
    for release in found:
        gate = release.mechanism.gate
        assert gate is not None and gate.listed is not None and gate.attempts_at_most == 1
        assert gate.passed and not gate.left_out and not gate.changed
        read = believe([release])
        assert read.factor == gate.listed.factor and read.posterior.complete
        assert ("2 to 1" in read.sentence) == (gate.listed.entry == 2)
        assert read.head()["odds_factor"] == read.factor
        bundle = public.to_bytes(release)
        again = with_verdict(verify_bytes(bundle))
        assert again.verdict is not None and again.verdict.passed
        assert f"entry {gate.listed.entry} of" in "".join(
            archive.read(name).decode()
            for archive in [zipfile.ZipFile(io.BytesIO(bundle))]
            for name in archive.namelist()
            if name.endswith((".txt", ".md"))
        )
    # Whoever names a setting takes that one.
    named = protect(METHOD, THREE, {"passes": 2}, Randomness.seeded(1), kept_small="keep", draft=True)
    assert named.release.mechanism.gate is not None and named.release.mechanism.gate.listed is None


@pytest.mark.usefixtures("unsure")
def test_where_it_begins_is_a_coin_of_the_run_and_told_nowhere() -> None:
    values = METHOD.resolve_for(THREE, {})
    found = Ways.of(METHOD, THREE, {}, values, LIMITS)
    assert found.listed is not None and found.of_refusal.listed == found.listed
    begins = [next(found.draws(Randomness.seeded(seed)))[0] for seed in range(400)]
    assert 160 < begins.count(1) < 240
    for release in by_seeds(THREE, 4):
        gate = release.mechanism.gate
        assert gate is not None and set(gate.as_json()["gate"]["list"]) == {"entries", "start", "entry"}  # type: ignore[index]


def test_what_is_foreseen_to_fail_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ways, "remedies", lambda *_, **__: ())
    monkeypatch.setattr(ways, "may_pass", lambda *_, **__: False)
    monkeypatch.setattr(ways, "chance", lambda *_, **__: Chance(0.0, None, 4))
    monkeypatch.setattr(type(METHOD), "attempt", None)
    with pytest.raises(RefusedError, match="nothing was drawn") as refused:
        protect(METHOD, THREE, {}, Randomness.seeded(1), kept_small="keep")
    assert not refused.value.drawn


@pytest.mark.parametrize(
    "wrong",
    [
        {"entries": [{}], "start": [1.0], "entry": 1},
        {"entries": [{}, {}], "start": [0.5, 0.6], "entry": 1},
        {"entries": [{}, {}], "start": [1.0, 0.0], "entry": 1},
        {"entries": [{}, {}], "start": [0.5, 0.5], "entry": 3},
        {"entries": [{}, {}], "start": [0.5, 0.5], "entry": 1, "begin": 1},
        {"entries": "all", "start": [0.5, 0.5], "entry": 1},
    ],
)
def test_a_list_that_is_none_is_refused(wrong: dict[str, Any]) -> None:
    right = replace(LISTED, entry=2)
    assert StatedList.from_json(json.loads(json.dumps(right.as_json()))) == right
    with pytest.raises((InputError, ParameterError)):
        StatedList.from_json(wrong)
    text = json.loads(stated(2).to_text())
    text["gate"]["list"] = wrong
    with pytest.raises(InputError):
        Gate.from_json(text, DOMAIN)
