"""Refused draws of another mechanism, and of the same one: against brute force over all coins."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import PriorKnowledge
from tabprotect.engine.bundle.reader_page.page_model import computed_model
from tabprotect.engine.disclosure import gate as gate_module
from tabprotect.engine.disclosure import refusals
from tabprotect.engine.disclosure.counts_verdict import weigh_refused
from tabprotect.engine.disclosure.gate import protect
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.protection.remedy import Remedy
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Gate, Mechanism, RefusedDraws
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from cycle_law import Counts, law

DOMAIN = Domain.of_shape((2, 3))
METHOD = methods()["cyclic_perturbation"]
LIMITS = AgencyPolicy().limits()
PLAIN = replace(LIMITS, passed=False)
FIRST = Randomness.seeded(1)


def mechanism(blocking: str, gate: Gate) -> Mechanism:
    values = METHOD.resolve(DOMAIN, {"cycles": "strips-2", "blocking": blocking})
    ones = Problem(Table.dense(DOMAIN, np.ones((2, 3), dtype=np.int64)))
    done, _ = METHOD.perform(ones, values, np.random.default_rng(0))
    return replace(done.mechanism, gate=gate)


def released(counts: Counts, stated: Mechanism) -> Release:
    table = Table.dense(DOMAIN, np.array(counts).reshape(2, 3))
    return Release((PublishedTable(table),), stated)


FIBRE: list[Counts] = [
    (a, b, 4 - a - b, 3 - a, 2 - b, a + b - 2) for a in range(4) for b in range(3) if 2 <= a + b <= 4
]


def laws(blocking: str) -> dict[Counts, dict[Counts, float]]:
    moves = likelihood_of(released(FIBRE[0], mechanism(blocking, LIMITS))).moves
    entries = [moves.entries(k) for k in range(len(moves))]
    cycles = [dict(zip(at.tolist(), by.tolist(), strict=True)) for at, by in entries]
    return {x: law(x, cycles, blocking) for x in FIBRE}


def refused_with(blocking: str) -> dict[Counts, float]:
    """The chance that a draw from each original is refused."""
    stated = mechanism(blocking, LIMITS)
    out = {}
    judged: dict[Counts, bool] = {}
    for x, outcomes in laws(blocking).items():
        for y in outcomes:
            if y not in judged:
                judged[y] = verdict(released(y, stated)).passed is True
        out[x] = sum(p for y, p in outcomes.items() if not judged[y])
    return out


def chances(found: Posterior, cell: int) -> dict[int, float]:
    values, shares = found.distribution(DOMAIN.unflat(cell))
    return {v: p for v, p in zip(values.tolist(), shares.tolist(), strict=True) if p}


@pytest.mark.parametrize(
    ("first", "second", "draws"), [("any_zero", "negative", 3), ("any_zero", "any_zero", 2)]
)
def test_refused_draws_weigh_the_originals(first: str, second: str, draws: int) -> None:
    q, law_of = refused_with(first), laws(second)
    assert len(set(q.values())) >= 4 and max(q.values()) == 1.0
    refused = (RefusedDraws(draws, mechanism(first, PLAIN)),)
    gate = replace(LIMITS, changed=first != second, refused=refused)
    stated = mechanism(second, gate)
    moved = 0.0
    for y in {y for outcomes in law_of.values() for y in outcomes}:
        weights = {x: p[y] * q[x] ** draws for x, p in law_of.items() if y in p and q[x]}
        total = sum(weights.values())
        if not total:
            # None of its originals is refused: it cannot follow a refusal.
            continue
        release = released(y, stated)
        read = believe([release], knowing=PriorKnowledge(weigh_refused=weigh_refused)).posterior
        assert read.complete and "taken in" in read.note
        assert read.originals == len(weights)
        page = computed_model(release, likelihood_of(release))
        assert len(np.asarray(page["tables"])) == len(weights)
        plain = infer(likelihood_of(release))
        small = {1, 2}
        truth = np.zeros(2)
        for cell in range(6):
            expected: dict[int, float] = {}
            for x, weight in weights.items():
                expected[x[cell]] = expected.get(x[cell], 0.0) + weight / total
            assert chances(read, cell) == pytest.approx(expected, abs=1e-12)
            before = chances(plain, cell)
            moved = max([moved, *(abs(before.get(v, 0.0) - p) for v, p in expected.items())])
            truth += [
                sum(p**2 for v, p in expected.items() if v in small),
                sum(p for v, p in expected.items() if v in small),
            ]
        # The gate judges what this reader believes.
        judged = verdict(release)
        assert judged.left_out == ()
        assert judged.tables[0].mean_belief == pytest.approx(truth[0] / truth[1])
        # Who does not weigh them says so.
        assert believe([release]).posterior.left_out == ("attempts",)
    assert moved > 0.02


def test_draws_that_are_made_again_agree_with_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = (RefusedDraws(2, mechanism("any_zero", PLAIN)),)
    release = released(FIBRE[3], mechanism("negative", LIMITS))
    found = infer(likelihood_of(release))
    exact = weigh_refused(found, refused, Randomness.seeded(1))
    monkeypatch.setattr(refusals, "LISTED_CELLS", 0)
    drawn = weigh_refused(found, refused, Randomness.seeded(1))
    assert exact is not None and drawn is not None and drawn.draws is not None
    assert exact.way == "exact" and drawn.way == "monte_carlo" and drawn.independent
    assert drawn.draws >= 100 and drawn.error is not None and drawn.error < 0.05
    for cell in range(6):
        one, other = chances(exact, cell), chances(drawn, cell)
        for value in one.keys() | other.keys():
            gap = abs(one.get(value, 0.0) - other.get(value, 0.0))
            assert gap < 4 * drawn.error + 1e-9
    again = weigh_refused(found, refused, Randomness.seeded(1))
    assert again is not None and (again.chances == drawn.chances).all()


def test_a_certain_refusal_tells_nothing() -> None:
    table = Table.dense(DOMAIN, np.ones((2, 3), dtype=np.int64))
    release = Release((PublishedTable(table),), mechanism("negative", LIMITS))
    found = infer(likelihood_of(release))
    refused = RefusedDraws(3, mechanism("any_zero", replace(PLAIN, share=0.0, belief_limit=0.5)))
    again = weigh_refused(found, (refused,), Randomness.seeded(1))
    assert again is not None
    assert chances(again, 0) == pytest.approx(chances(found, 0))


def test_a_pilot_is_enough_where_no_belief_is_near_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "LISTED_CELLS", 0)
    monkeypatch.setattr(refusals, "PILOT", 100)
    made: list[bool] = []
    draw = refusals._Judge.draw

    def counted(judge: Any, original: Any, generator: Any) -> bool:
        made.append(draw(judge, original, generator))
        return made[-1]

    monkeypatch.setattr(refusals._Judge, "draw", counted)
    release = released(FIBRE[3], mechanism("negative", LIMITS))
    found = infer(likelihood_of(release))
    highest = max(float(found.probability(value).max()) for value in (1, 2))
    # What may be missed by 100 draws is less than a twelfth of any belief.
    for limit, wanted in ((highest * 1.2, 100), (highest * 1.05, 600)):
        made.clear()
        gate = replace(PLAIN, share=0.0, belief_limit=limit, mean_belief_limit=0.0)
        refused = RefusedDraws(3, mechanism("any_zero", gate))
        again = weigh_refused(found, (refused,), Randomness.seeded(1))
        assert all(made) and len(made) == wanted
        assert again is not None and chances(again, 0) == pytest.approx(chances(found, 0))


def test_what_is_too_much_is_left_out() -> None:
    release = released(FIBRE[3], mechanism("negative", LIMITS))
    found = infer(likelihood_of(release))
    one = RefusedDraws(3, mechanism("any_zero", PLAIN))
    assert weigh_refused(found, (one,) * 5, Randomness.seeded(1)) is None
    other = RefusedDraws(3, replace(one.mechanism, method="cell_key"))
    assert weigh_refused(found, (other,), Randomness.seeded(1)) is None
    gate = replace(LIMITS, changed=True, refused=(one,) * 5)
    judged = verdict(released(FIBRE[3], mechanism("negative", gate)))
    assert judged.left_out == ("attempts",) and judged.passed is not True


SUPPRESSION = methods()["suppression"]
PATTERN: dict[str, object] = {"choice": "cheapest", "level": 1}
SQUARE = Domain.of_shape((3, 3))


def square(counts: Any) -> Problem:
    return Problem(Table.dense(SQUARE, np.array(counts).reshape(3, 3)))


def cheapest_refused() -> RefusedDraws:
    """The one draw of the cheapest pattern."""
    gate = replace(PLAIN, attempts_at_most=1)
    values = SUPPRESSION.resolve(SQUARE, PATTERN)
    known = {p.name: values[p.name] for p in SUPPRESSION.parameters if p.public}
    return RefusedDraws(1, Mechanism("suppression", SQUARE, known, gate))


def test_whoever_follows_the_remedy_of_a_refused_pattern_is_judged_whole() -> None:
    """Every original of the blocks is weighed by whether its cheapest pattern is refused."""
    problem, before = square([[2, 0, 2], [2, 2, 1], [0, 4, 2]]), cheapest_refused()
    with pytest.raises(RefusedError):
        protect(SUPPRESSION, problem, PATTERN, Randomness.seeded(1))
    done = protect(
        *(SUPPRESSION, problem, {"choice": "blocks"}, Randomness.seeded(1)), changed=True, refused=(before,)
    )
    assert done.record.verdict is not None and done.record.verdict.left_out == ()
    plain = infer(likelihood_of(done.release))
    listed = plain.list_originals()
    assert listed is not None
    refused = []
    for original in listed[0]:
        values = SUPPRESSION.resolve_for(square(original), PATTERN)
        release, _ = SUPPRESSION.perform(square(original), values, np.random.default_rng(0))
        refused.append(verdict(release, LIMITS).passed is not True)
    assert 0 < sum(refused) < len(refused)
    read = believe([done.release], knowing=PriorKnowledge(weigh_refused=weigh_refused)).posterior
    weights = listed[1] * refused / (listed[1] * refused).sum()
    for cell in range(9):
        for value in (1, 2):
            expected = float(weights[listed[0][:, cell] == value].sum())
            assert read.probability(value).reshape(-1)[cell] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("within", [True, False])
def test_what_a_refusal_can_tell_is_bounded(within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a verdict on each original takes too long, some are drawn."""
    done = SUPPRESSION.run(square([[1, 2, 0], [2, 6, 2], [4, 5, 3]]), {"choice": "blocks"}, FIRST)
    found = infer(likelihood_of(done.release))
    listed = found.list_originals()
    assert listed is not None
    rare = listed[0][0]
    for name in ("LISTED_CELLS", "PROGRAMMED"):
        monkeypatch.setattr(refusals, name, 0)
    monkeypatch.setattr(refusals._Judge, "draw", lambda _, x, __: bool((x != rare).any()))
    before = cheapest_refused()
    assert before.mechanism.gate is not None
    beliefs = np.stack([found.probability(value).reshape(-1) for value in (1, 2)])
    plain = float((beliefs**2).sum() / beliefs.sum())
    # The limit is that of the mean: a single belief above it is no matter.
    limit = 0.9 if within else plain + 0.01
    assert within or beliefs.max() > limit
    gate = replace(before.mechanism.gate, mean_belief_limit=limit, belief_limit=0.95)
    before = replace(before, mechanism=replace(before.mechanism, gate=gate))
    read = weigh_refused(found, (before,), Randomness.seeded(1))
    assert (read is not None) == within
    if read is None:
        return
    weights = listed[1] * (listed[0] != rare).any(axis=1)
    share = float(weights.sum())
    assert 1.0 / share < read.widening.larger < 1.5 and "no belief larger" in read.note
    for cell in range(9):
        for value in (1, 2):
            belief = float(weights[listed[0][:, cell] == value].sum()) / share
            assert belief <= read.widening.larger * found.probability(value).reshape(-1)[cell] + 1e-12
    after = replace(gate, changed=True, refused=(before,))
    release = replace(done.release, mechanism=replace(done.release.mechanism, gate=after))
    assert verdict(release).left_out == ()
    nearer = replace(after, mean_belief_limit=plain + 0.01)
    assert verdict(release, nearer).left_out == ("attempts",)
    assert verdict(release, replace(nearer, insider_limit=0.9)).left_out == ("attempts",)


def test_the_bound_is_that_of_clopper_and_pearson() -> None:
    from scipy.stats import beta

    for tried, hits in ((20, 20), (20, 19), (40, 37), (40, 1)):
        expected = beta.ppf(refusals.DOUBT / 2, hits, tried - hits + 1)
        assert refusals.at_least(tried, hits) == pytest.approx(expected, abs=1e-9)
    assert refusals.at_least(20, 0) == 0.0


def test_a_refusal_that_is_not_worked_out_beside_the_next_settings_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = released(FIBRE[3], mechanism("negative", LIMITS))
    assert refusals.may_be_weighed(whole, LIMITS, verdict)
    assert not refusals.may_be_weighed(whole, replace(LIMITS, changed=True), verdict)
    pattern = SUPPRESSION.run(square([[2, 0, 2], [2, 2, 1], [0, 4, 2]]), PATTERN, FIRST)
    assert refusals.may_be_weighed(pattern.release, LIMITS, verdict)
    margins = " + ".join([*SQUARE.names, ":".join(SQUARE.names)])
    keys = methods()["cell_key"].run(square(range(9)), {"margins": margins}, FIRST)
    assert not refusals.may_be_weighed(keys.release, LIMITS, verdict)
    another = (Remedy("another way", {}, 1.0, 0.0),)
    monkeypatch.setattr(gate_module, "what_helps", lambda *_, **__: another)
    strict = replace(AgencyPolicy(), mean_belief_limit=0.2)
    with pytest.raises(RefusedError) as refused:
        protect(methods()["cell_key"], square(range(9)), {"margins": margins}, FIRST, policy=strict)
    assert "a register keeps" in refused.value.hint


STATED = json.loads((Path(__file__).parents[2] / "reference" / "refusals_tiny.json").read_text())


@pytest.mark.parametrize("at", range(len(STATED["tables"])))
def test_the_published_figures_of_tiny_tables(at: int) -> None:
    """All originals of kept margins, neighbouring columns by turns: any_zero is refused, then negative."""
    one = STATED["tables"][at]
    rows, columns = np.sum(one["table"], axis=1), np.sum(one["table"], axis=0)
    fibre = [
        (a, b, rows[0] - a - b, columns[0] - a, columns[1] - b, columns[2] - rows[0] + a + b)
        for a in range(columns[0] + 1)
        for b in range(columns[1] + 1)
        if 0 <= rows[0] - a - b <= columns[2]
    ]
    pairs = [{0: 1, 1: -1, 3: -1, 4: 1}, {1: 1, 2: -1, 4: -1, 5: 1}]
    arrays = [[[1, -1, 0], [-1, 1, 0]], [[0, 1, -1], [0, -1, 1]]]
    moves = MoveSet.from_arrays(DOMAIN, arrays)

    def stated(blocking: str, gate: Gate) -> Mechanism:
        values = METHOD.resolve(DOMAIN, {"cycles": moves, "blocking": blocking})
        ones = Problem(Table.dense(DOMAIN, np.ones((2, 3), dtype=np.int64)))
        return replace(METHOD.perform(ones, values, np.random.default_rng(0))[0].mechanism, gate=gate)

    before = RefusedDraws(3, stated("any_zero", PLAIN))
    truth = tuple(int(count) for count in np.ravel(one["table"]))
    moved, share = [], []
    first = {x: law(x, pairs, "any_zero") for x in fibre}
    judged = {
        y: verdict(released(y, stated("any_zero", LIMITS))).passed is True
        for y in {y for outcomes in first.values() for y in outcomes}
    }
    refused = {x: sum(p for y, p in outcomes.items() if not judged[y]) ** 3 for x, outcomes in first.items()}
    second = {x: law(x, pairs, "negative") for x in fibre}
    for y, chance in second[truth].items():
        weights = {x: p[y] for x, p in second.items() if y in p}
        share.append((chance, sum(p * refused[x] for x, p in weights.items()) / sum(weights.values())))
        found = infer(likelihood_of(released(y, stated("negative", LIMITS))))
        again = weigh_refused(found, (before,), Randomness.seeded(1))
        assert again is not None
        changes = [abs(again.probability(v) - found.probability(v)).max() for v in (1, 2)]
        moved.append((chance, float(max(changes))))
    assert sum(p * r for p, r in share) == pytest.approx(one["r"], abs=1e-9)
    assert min(r for _, r in share) == pytest.approx(one["rmin"], abs=1e-9)
    assert max(d for _, d in moved) == pytest.approx(one["db"], abs=1e-9)
    assert sum(p * d for p, d in moved) == pytest.approx(one["dbmean"], abs=1e-9)


def test_a_try_costs_the_same_however_many_were_refused_before() -> None:
    y = next(y for y in laws("negative")[FIBRE[0]] if min(y) > 0)
    found = infer(likelihood_of(released(y, mechanism("negative", LIMITS))))
    q: dict[tuple[int, ...], float] = {**refused_with("any_zero")}
    asked: dict[int, int] = {}
    for draws in (1, 20):
        refusals._last.clear()
        judged = Mock(side_effect=verdict)
        stated = RefusedDraws(draws, mechanism("any_zero", PLAIN))
        weighed = refusals.weigh_refusals(found, (stated,), FIRST, judged)
        asked[draws] = judged.call_count
        listed = found.list_originals()
        assert weighed is not None and listed is not None
        tables, weights = listed
        weights = weights * [q[tuple(table)] ** draws for table in tables.tolist()]
        for cell in range(6):
            for value, chance in chances(weighed, cell).items():
                assert chance == pytest.approx(
                    weights @ (tables[:, cell] == value) / weights.sum(), abs=1e-12
                )
    assert asked[1] == asked[20] > 0
