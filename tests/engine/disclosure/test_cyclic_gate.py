"""The gate on cyclic perturbation: laws of the release enumerated, readers who list everything."""

from __future__ import annotations

import itertools
import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.effort import OTHERS
from tabprotect.engine.disclosure import gate
from tabprotect.engine.disclosure.policy import AgencyPolicy
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import MoveSequence
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.engine.tables.table import Table

sys.path.insert(0, str(Path(__file__).parents[2] / "oracles"))

from cycle_law import Counts, Cycle, beliefs, law, marginal

METHOD = methods()["cyclic_perturbation"]
LIMITS = AgencyPolicy().limits()
RULES = ("any_zero", "negative")


class Setting:
    """One table's shape, cycles and rule; each release is judged once."""

    def __init__(self, shape: tuple[int, ...], cycles: str, rule: str) -> None:
        self.domain, self.rule = Domain.of_shape(shape), rule
        values = METHOD.resolve(self.domain, {"cycles": cycles, "blocking": rule})
        public = {p.name: values[p.name] for p in METHOD.parameters}
        self.mechanism = Mechanism(METHOD.name, self.domain, public)
        self.cycles: list[Cycle] = []
        for number in range(len(values["cycles"])):
            cells, signs = values["cycles"].entries(number)
            self.cycles.append(dict(zip(cells.tolist(), signs.tolist(), strict=True)))
        self._accepted: dict[Counts, bool] = {}

    def release(self, counts: Counts) -> Release:
        table = Table.dense(self.domain, np.array(counts).reshape(self.domain.shape))
        return Release.of(table, self.mechanism)

    def judge(self, tables: list[Counts]) -> None:
        """All of them by the posterior alone, side by side; every 20th as the program does, too."""
        likelihood = likelihood_of(self.release(tables[0]))
        assert isinstance(likelihood, MoveSequence)
        one, number, cells = likelihood.moves, len(tables), self.domain.size
        domain = Domain.of_shape((number, *self.domain.shape))
        at = np.arange(number)[:, None]
        every = (at * cells + one.cells).reshape(-1)
        starts = np.append(at * len(one.cells) + one.starts[:-1], len(every))
        moves = MoveSet(domain, starts, every, np.tile(one.signs, number), ())
        published = Table.dense(domain, np.array(tables).reshape(domain.shape))
        found = infer(replace(likelihood, published=published, moves=moves))
        beliefs = np.stack([found.probability(v).reshape(number, cells) for v in (1, 2)])
        known = (beliefs.max(axis=0) > LIMITS.belief_limit).sum(axis=1)
        expected = beliefs.sum(axis=(0, 2))
        guessed = (beliefs**2).sum(axis=(0, 2)) <= (LIMITS.mean_belief_limit + 1e-12) * expected
        accepted = (known <= LIMITS.share * expected) & guessed
        self._accepted |= dict(zip(tables, accepted.tolist(), strict=True))
        for counts in tables[::20]:
            assert verdict(self.release(counts), LIMITS, effort=OTHERS).accepted == self._accepted[counts]

    def accepted(self, counts: Counts) -> bool:
        # With two rows and alpha = beta, the rows the other way round are the cycles' other sign.
        half = len(counts) // 2
        key = min(counts, counts[half:] + counts[:half]) if self.domain.shape[0] == 2 else counts
        if key not in self._accepted:
            self._accepted[key] = verdict(self.release(key), LIMITS, effort=OTHERS).accepted
        return self._accepted[key]

    def chance(self, original: Counts) -> float:
        outcomes = law(original, self.cycles, self.rule)
        return sum(chance for counts, chance in outcomes.items() if self.accepted(counts))

    def belief_in_truth(self, original: Counts) -> float:
        """Mean belief in the true at-risk counts, before the gate."""
        cells = np.array(original).reshape(self.domain.shape)
        at_risk = (cells >= 1) & (cells <= 2)
        found = 0.0
        for counts, chance in law(original, self.cycles, self.rule).items():
            posterior = infer(likelihood_of(self.release(counts)))
            found += chance * float(posterior.probability(cells)[at_risk].mean())
        return found


CASES = {
    "ones": ((2, 3), "strips-2", (1,) * 6, (0, 1), (0.506754, 0.431315)),
    "two zeros": ((2, 3), "strips-2", (0, 1, 2, 2, 1, 0), (0, 1), (0.970588, 0.455505)),
    "three zeros": ((3, 3), "strips-2", (1, 2, 0, 2, 0, 1, 0, 1, 3), (0, 1), (0.830928, 0.396947)),
    "Duncan and Roehrig": (
        *((4, 4), "bidiagonal", (15, 1, 3, 1, 20, 10, 10, 15, 3, 10, 10, 2, 12, 14, 7, 2)),
        *((1, 1), (0.363161, 0.307739)),
    ),
}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_the_law_of_acceptance(name: str, number: int) -> None:
    shape, cycles, original, chances, belief = CASES[name]
    setting = Setting(shape, cycles, RULES[number])
    assert setting.chance(original) == pytest.approx(chances[number], abs=1e-12)
    assert setting.belief_in_truth(original) == pytest.approx(belief[number], abs=5e-7)


def test_every_small_table() -> None:
    """All 4,032 tables 2x3 of counts 0..3 with an at-risk cell, half of which are refused."""
    setting = Setting((2, 3), "strips-2", "any_zero")
    originals = [table for table in itertools.product(range(4), repeat=6) if {1, 2} & set(table)]
    assert len(originals) == 4032
    laws = [law(table, setting.cycles, "any_zero") for table in originals]
    setting.judge(sorted({counts for outcomes in laws for counts in outcomes}))
    found = sum(map(setting.chance, originals)) / len(originals)
    assert found == pytest.approx(0.53828, abs=5e-6)


@pytest.mark.parametrize("rule", RULES)
def test_a_reader_who_lists_everything_finds_what_the_verdict_says(rule: str) -> None:
    """Within a fibre: the reader's own posterior, whether the release passed or not; of those that
    passed nobody is certain, not even with three attempts."""
    setting = Setting((2, 3), "strips-2", rule)
    fibre = [
        t
        for t in itertools.product(range(7), repeat=6)
        if (sum(t[:3]), sum(t[3:]), t[0] + t[3], t[1] + t[4]) == (5, 6, 3, 4)
    ]
    assert len(fibre) > 10
    laws = {original: law(original, setting.cycles, rule) for original in fibre}
    refused = {original: 1 - setting.chance(original) for original in fibre}
    three = {
        original: {
            counts: chance * sum(refused[original] ** k for k in range(3))
            for counts, chance in outcomes.items()
        }
        for original, outcomes in laws.items()
    }
    accepted = 0
    capped = beliefs(three)
    for counts, weights in beliefs(laws).items():
        found = verdict(setting.release(counts), LIMITS)
        posterior = infer(likelihood_of(setting.release(counts)))
        sure = 0
        for cell in range(6):
            own = marginal(weights, cell)
            shown, chances = posterior.distribution(setting.domain.unflat(cell))
            assert dict(zip(shown.tolist(), chances.tolist(), strict=True)) == pytest.approx(own, abs=1e-12)
            sure += max(own.get(v, 0.0) for v in (1, 2)) > 1 - 1e-9
            # At most three times the odds, and never from possible to impossible.
            for value, chance in marginal(capped[counts], cell).items():
                odds = chance / max(1 - chance, 1e-300)
                plain = own[value] / max(1 - own[value], 1e-300)
                assert plain / 3 - 1e-9 <= odds <= plain * 3 + 1e-9 or own[value] > 1 - 1e-9
        assert found.certain == sure
        if found.accepted:
            accepted += 1
            assert sure == 0
    assert accepted


def test_three_attempts_are_calibrated_by_the_weight_of_the_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """P(original | let through) is proportional to P(release | original) (1 + q + q^2)."""
    setting = Setting((2, 3), "strips-2", "any_zero")
    originals = [
        t
        for t in itertools.product(range(4), repeat=6)
        if (sum(t[:3]), sum(t[3:]), t[0] + t[3], t[1] + t[4]) == (3, 4, 2, 3)
    ]
    laws = {original: law(original, setting.cycles, "any_zero") for original in originals}
    weighed: dict[Counts, dict[Counts, float]] = {}
    for original, outcomes in laws.items():
        refused = 1 - setting.chance(original)
        for counts, chance in outcomes.items():
            weighed.setdefault(counts, {})[original] = chance * (1 + refused + refused**2)
    # Nobody reads the remedies here.
    monkeypatch.setattr(gate, "what_helps", lambda *_, **__: ())
    given = {"cycles": "strips-2", "alpha": 0.25, "beta": 0.25}
    choose, surplus, spread, times = random.Random(4), 0.0, 0.0, 0
    for number in range(460):
        original = choose.choice(originals)
        table = Table.dense(setting.domain, np.array(original).reshape(2, 3))
        try:
            done = gate.protect(METHOD, Problem(table), given, Randomness.seeded(number), kept_small="keep")
        except RefusedError:
            continue
        times += 1
        weights = weighed[tuple(done.release.table.counts.reshape(-1).tolist())]
        total = sum(weights.values())
        # How many cells hold a 1, against what the reader expects.
        mean = sum(w * t.count(1) for t, w in weights.items()) / total
        spread += sum(w * (t.count(1) - mean) ** 2 for t, w in weights.items()) / total
        surplus += original.count(1) - mean
    assert times > 100 and spread > 20
    assert abs(surplus) < 4 * spread**0.5


SAMPLED = {
    "sparse, strips": ("sparse10x10", "strips-2", (0.0, 0.835), (20, 60)),
    "sparse, triangular": ("sparse10x10", "triangular", (0.0, 0.995), (2, 8)),
    "4x4x3": ("4x4x3", "strips-2", (0.698, 1.0), (24, 8)),
    "20x20": ("20x20", "strips-2", (1.0, 1.0), (8, 8)),
}


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("name", SAMPLED)
def test_the_chance_of_acceptance(name: str, number: int) -> None:
    which, cycles, chances, draws = SAMPLED[name]
    chance, runs = chances[number], draws[number]
    counts = sampled_table(which)
    table = Table.dense(Domain.of_shape(counts.shape), counts)
    # Triangular cycles follow from the kept margins, too.
    values = METHOD.resolve_for(Problem(table), {"cycles": cycles, "blocking": RULES[number]})
    generator, passed = np.random.default_rng(1), 0
    for _ in range(runs):
        release, _ = METHOD.perform(Problem(table), values, generator)
        passed += verdict(release, LIMITS, effort=OTHERS).accepted
    spread = (chance * (1 - chance) / runs) ** 0.5
    assert passed / runs == pytest.approx(chance, abs=4 * spread + 1e-12)


def sampled_table(name: str) -> Ints:
    if name == "20x20":
        return np.random.default_rng(20).poisson(4.0, (20, 20))
    if name == "4x4x3":
        return open_table("example:duncan-roehrig-4x4x3").table.counts
    reference = Path(__file__).parents[2] / "reference" / "cyclic.json"
    tables = json.loads(reference.read_text())["measured_variants"]["tables"]
    return np.array(tables[name])


@pytest.mark.parametrize("rule", RULES)
def test_with_an_earlier_release_the_verdict_is_that_of_who_lists_originals(rule: str) -> None:
    """Two releases with fresh coins: the weights of every original multiply; one told twice is one."""
    setting = Setting((2, 3), "strips-2", rule)
    original = (1, 2, 0, 2, 1, 3)
    fibre = [
        t
        for t in itertools.product(range(7), repeat=6)
        if (sum(t[:3]), sum(t[3:]), t[0] + t[3], t[1] + t[4]) == (3, 6, 3, 3)
    ]
    laws = {one: law(one, setting.cycles, rule) for one in fibre}
    came = list(law(original, setting.cycles, rule))
    more = 0.0
    for first, second in itertools.product(came[:5], came[-5:]):
        weights = {
            one: outcomes[first] * (outcomes[second] if second != first else 1.0)
            for one, outcomes in laws.items()
            if first in outcomes and second in outcomes
        }
        total = sum(weights.values())
        joint = {one: weight / total for one, weight in weights.items()}
        found = verdict(setting.release(first), LIMITS, earlier=[setting.release(second)])
        assert found.way == "exact" and found.complete
        cells = [marginal(joint, cell) for cell in range(6)]
        expected = sum(cell.get(v, 0.0) for cell in cells for v in (1, 2))
        assert found.at_risk == pytest.approx(expected, abs=1e-9)
        sure = [max(cell.get(v, 0.0) for v in (1, 2)) for cell in cells]
        assert found.known == sum(p > LIMITS.belief_limit for p in sure)
        assert found.certain == sum(p > 1 - 1e-9 for p in sure)
        more += found.known - verdict(setting.release(first), LIMITS).known
    assert more > 0
