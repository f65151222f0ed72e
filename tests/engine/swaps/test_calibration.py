"""Believed chances against true shares, band by band, and levels: a made-up census, and those of the reference."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.swaps.swap_plan import SwapLevel, SwapPlan, SwapRuns

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())
PLACES, KINDS, BANDS = 16, 60, np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
REGION, NOWHERE = np.arange(PLACES) % 4, np.zeros(PLACES, dtype=np.int64)
CELLS = np.indices((PLACES, KINDS)).reshape(2, -1)


def level(within: Ints, unit: Ints, *rates: float) -> SwapLevel:
    """One rate: a deal; two: pairs with a small count."""
    own = len(rates) == 2
    targets = np.arange(KINDS)[None] if own else np.zeros((0, KINDS), dtype=np.int64)
    chances = np.array(rates) if own else np.full(KINDS, rates[0])
    return SwapLevel(within, unit, "own" if own else "deal", chances, targets, 2 if own else 0)


def plan_of(*levels: SwapLevel) -> SwapPlan:
    return SwapPlan(*CELLS, np.arange(KINDS) % 2, levels)


ACROSS = level(NOWHERE, REGION, 0.3, 0.0)
PLANS = {
    "deal .1": plan_of(level(NOWHERE, np.arange(PLACES), 0.1)),
    "own .25/0": plan_of(level(NOWHERE, np.arange(PLACES), 0.25, 0.0)),
    "levels": plan_of(ACROSS, level(REGION, np.arange(PLACES), 0.25, 0.0)),
    "within regions alone": plan_of(level(REGION, np.arange(PLACES), 0.25, 0.0)),
}


def people(generator: np.random.Generator) -> tuple[Ints, Ints]:
    """Place and kind of some 1,900: places of different size, kinds that thin out."""
    kinds = np.repeat(np.arange(KINDS), np.maximum(160 * 0.92 ** np.arange(KINDS), 2).astype(int))
    sizes = generator.dirichlet(np.full(PLACES, 6.0))
    return generator.choice(PLACES, len(kinds), p=sizes), kinds


def counted(place: Ints, kind: Ints) -> Ints:
    return np.bincount(place * KINDS + kind, minlength=PLACES * KINDS)


def originals(number: int, generator: np.random.Generator) -> Ints:
    """Tables with the places of each class dealt anew: the belief beforehand."""
    place, kind = people(generator)
    out = []
    for _ in range(number):
        place = place.copy()
        for one in (0, 1):
            of = kind % 2 == one
            place[of] = generator.permutation(place[of])
        out.append(counted(place, kind))
    return np.stack(out)


def believed(plan: SwapPlan, published: Ints, draws: int, generator: np.random.Generator) -> Ints:
    return np.concatenate(list(SwapRuns(plan, published, backwards=True).tables(draws, generator)))


def off(chances: Floats, again: Floats, came_true: Floats, draws: int) -> Floats:
    """How many standard errors the share that came true is away from what was believed, by band."""
    band = np.digitize(chances.reshape(-1), BANDS)
    expected, true = (np.bincount(band, one.reshape(-1), len(BANDS) + 1) for one in (again, came_true))
    scatter = np.bincount(band, (again * (1 - again)).reshape(-1), len(BANDS) + 1) * (1 + 1 / draws)
    filled = np.bincount(band, minlength=len(BANDS) + 1) > 20
    return np.asarray((np.abs(true - expected) / np.sqrt(scatter + 1.0))[filled])


@pytest.mark.parametrize("name", ["deal .1", "own .25/0", "levels"])
def test_what_is_believed_comes_true_as_often(name: str) -> None:
    """Bands are made by one half of the draws, and judged by the other."""
    # The reference's own bands of a census that is not in it, nine at most, agree within their chance.
    for number, chance, share in REFERENCE["calibration"].get(name, []):
        assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / number)
    plan, generator, draws = PLANS[name], np.random.default_rng(44), 60
    bands: list[list[Floats]] = []
    for original in originals(12, generator):
        published = next(SwapRuns(plan, original).tables(1, generator))[0]
        drawn = believed(plan, published, 2 * draws, generator)
        for count in (1, 2):
            first, second = ((half == count).mean(axis=0) for half in (drawn[:draws], drawn[draws:]))
            bands.append([first, second, (original == count).astype(float)])
    found = off(*(np.stack(part) for part in zip(*bands, strict=True)), draws)
    assert len(found) >= 8 and found.max() < 4


def test_a_rate_by_the_own_count_read_naively_is_not_calibrated() -> None:
    reference = REFERENCE["naive_reading_of_own_count_rates"]
    assert all(abs(one["mean_belief"] - one["true_belief"]) > 0.01 for one in reference.values())
    generator, draws = np.random.default_rng(44), 60

    def run(table: Ints) -> Ints:
        """The planted fault: records of counts of 1 and 2 are drawn more often than others."""
        chance = np.where(table <= 2, 0.6, 0.02)
        drawn = generator.binomial(table, chance)
        whole = plan_of(level(NOWHERE, np.arange(PLACES), 1.0))
        return table - drawn + next(SwapRuns(whole, drawn).tables(1, generator))[0]

    bands: list[list[Floats]] = []
    for original in originals(12, generator):
        published = run(original)
        drawn = np.stack([run(published) for _ in range(2 * draws)])
        for count in (1, 2):
            first, second = ((half == count).mean(axis=0) for half in (drawn[:draws], drawn[draws:]))
            bands.append([first, second, (original == count).astype(float)])
    assert off(*(np.stack(part) for part in zip(*bands, strict=True)), draws).max() > 8


def test_levels_hide_small_counts_of_regions_and_swaps_within_regions_keep_them_all() -> None:
    """As 318 of 318 of the reference's census."""
    generator, draws = np.random.default_rng(7), 200
    original = counted(*people(generator))

    def regions(tables: Ints) -> Ints:
        grid = tables.reshape(len(tables), PLACES, KINDS)
        return np.stack([grid[:, one == REGION].sum(axis=1) for one in range(4)], axis=1)

    true = regions(original[None])[0]
    small = (true == 1) | (true == 2)
    found = {}
    for name in ("within regions alone", "levels"):
        published = next(SwapRuns(PLANS[name], original).tables(1, generator))[0]
        may = regions(believed(PLANS[name], published, draws, generator))
        belief = np.stack([(may == n).mean(axis=0) for n in (1, 2)])
        squared = belief**2 - belief * (1 - belief) / (draws - 1)
        found[name] = int((belief.max(axis=0) > 0.95)[small].sum()), squared.sum() / belief.sum()
    expected = REFERENCE["levels"]["within regions only .25/.06 | region cob occ"]
    assert expected["known"] == expected["true"] == 318 and expected["mean_belief"] == 1.0
    assert small.sum() > 40 and found["within regions alone"] == (small.sum(), 1.0)
    one = REFERENCE["levels_by_own_counts"]["own .3/0 across, own .25/0 within | region cob occ"]
    assert found["levels"][0] == one["known"] == 0
    assert found["levels"][1] == pytest.approx(one["mean_belief"], abs=0.1)


def test_groups_that_share_a_category_are_hidden_as_in_the_reference() -> None:
    """Of each place and twenty groups of three kinds: all of a group of 3 and more are of one kind."""
    generator, draws = np.random.default_rng(9), 100
    before = [counted(*people(generator)) for _ in range(4)]

    def whole(tables: Ints) -> Floats:
        grid = tables.reshape(len(tables), PLACES, KINDS // 3, 3)
        people_in = grid.sum(axis=3, keepdims=True)
        return np.asarray((grid == people_in) & (people_in >= 3), dtype=np.float64)

    plans = {
        "deal .05": plan_of(level(NOWHERE, np.arange(PLACES), 0.05)),
        "deal .2": plan_of(level(NOWHERE, np.arange(PLACES), 0.2)),
        "own .25/0 on this table": PLANS["own .25/0"],
    }
    means: list[float] = []
    for name, plan in plans.items():
        squared = expected = true = 0.0
        for original in before:
            published = next(SwapRuns(plan, original).tables(1, generator))[0]
            chance = whole(believed(plan, published, draws, generator)).mean(axis=0)
            squared += (chance**2).sum() - (chance * (1 - chance)).sum() / (draws - 1)
            expected += chance.sum()
            true += whole(original[None]).sum()
        assert expected == pytest.approx(true, abs=6)
        means.append(squared / expected)
        # Another census with fewer such groups: what the rules do to them is alike.
        assert means[-1] == pytest.approx(REFERENCE["group_swap"][name]["mean"], abs=0.2)
    assert means[0] > means[1] > means[2]
