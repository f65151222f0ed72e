"""The posterior of swapped records: the reference, sums, priors, draws, and what there is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Floats
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.bundle import public
from tabprotect.engine.bundle.reader_text import reader_text
from tabprotect.engine.bundle.verify import verify_bytes
from tabprotect.engine.disclosure import groups
from tabprotect.engine.disclosure.verdict import verdict
from tabprotect.engine.errors import InfeasibleError, InputError, ParameterError
from tabprotect.engine.posterior.approach import Approach
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.posterior.prior import Exchangeable, Flat, Member, Poisson, Positive, Prior
from tabprotect.engine.posterior.prior_text import parse_prior
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.release.mechanism import Gate, Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.swaps.swap_plan import SwapRuns
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.testing.brute_force import chance_of, every_original, marginals

REFERENCE = json.loads((Path(__file__).parents[3] / "reference" / "swapping.json").read_text())
METHOD = methods()["record_swapping"]
SEED = Randomness.seeded(4)


def release_of(counts: object, rates: object, **given: object) -> Release:
    array = np.array(counts)
    names = ("area", "kind", "class")[: array.ndim]
    domain = Domain.of(
        {name: [str(k) for k in range(size)] for name, size in zip(names, array.shape, strict=True)}
    )
    values = METHOD.resolve(domain, {"swap": "area", "rule": "deal", **given})
    stated = {p.name: values[p.name] for p in METHOD.parameters if p.public}
    mechanism = Mechanism("record_swapping", domain, stated | {"rates": rates, "small": 1})
    return Release((PublishedTable(Table.dense(domain, array)),), mechanism)


def law(found: tuple[int, Floats], size: int = 200) -> Floats:
    out = np.zeros(size)
    out[found[0] : found[0] + len(found[1])] = found[1]
    return out


@pytest.mark.parametrize(("number", "rates"), [(0, [0.3]), (1, [0.5, 0.1, 0.3])])
def test_counts_and_sums_are_those_of_the_listed_originals(number: int, rates: list[float]) -> None:
    case = REFERENCE["tables"][number]
    found = infer(likelihood_of(release_of(case["published"], rates)))
    assert found.way == "exact" and found.exact_sums is not None
    originals = [(np.array(o["table"]).reshape(-1), o["exchangeable"]) for o in case["originals"]]
    for cells in [*([c] for c in range(9)), [0, 1, 3, 4], [0, 2], [1, 4, 7], [0, 1, 2, 3, 4, 5, 6, 7, 8]]:
        expected = np.zeros(200)
        for table, chance in originals:
            expected[table[cells].sum()] += chance
        assert law(found.exact_sums.law(np.array(cells), SILENT)) == pytest.approx(expected, abs=1e-12)
        if len(cells) == 1:
            values, chances = found.distribution((cells[0] // 3, cells[0] % 3))
            assert chances == pytest.approx(expected[values], abs=1e-12)
    # The records of some places with some kinds are a rectangle; three cells around a corner are not.
    assert found.exact_sums.work(np.array([0, 1, 3])) is None
    drawn = found.sample(8_000, np.random.default_rng(1)).reshape(8_000, 9)
    for table, chance in originals:
        assert (drawn == table).all(axis=1).mean() == pytest.approx(chance, abs=0.03)


PRIORS: dict[str, Callable[[], Prior]] = {
    "exchangeable": Exchangeable,
    "flat_cell": Flat,
    "at_least_one": Positive,
    "member": Member,
}


@pytest.mark.parametrize("case", REFERENCE["cells_deal"], ids=lambda c: f"{c['N']}-{c['m']}-{c['y']}")
@pytest.mark.parametrize("prior", PRIORS)
def test_every_prior_of_one_count_is_the_reference(case: dict[str, float], prior: str) -> None:
    records, inside, having, count = (int(case[name]) for name in ("N", "n", "m", "y"))
    others = records - inside - having + count
    release = release_of([[count, inside - count], [having - count, others]], [case["r"]])
    values, chances = infer(likelihood_of(release), PRIORS[prior]()).distribution((0, 0))
    found = np.zeros(500)
    found[values] = chances
    expected = np.array(case[prior])
    if prior == "flat_cell" and records == 1250 and having == 25:
        # There the reference divides what is left of its digits: alike up to its own sum.
        found *= expected[0] / found[0]
        assert found[: len(expected)] == pytest.approx(expected, rel=1e-6)
    else:
        assert found[: len(expected)] == pytest.approx(expected, abs=1e-12)


def test_classes_are_folded() -> None:
    counts = np.array([[[2, 1], [0, 3]], [[1, 0], [4, 2]], [[0, 1], [2, 1]]])
    release = release_of(counts, [0.4], match="class")
    found = infer(likelihood_of(release))
    assert found.exact_sums is not None
    drawn = found.sample(20_000, np.random.default_rng(1))[:, 0, 0, :].sum(axis=1)
    exact = law(found.exact_sums.law(np.array([0, 1]), SILENT))
    for value in range(5):
        assert (drawn == value).mean() == pytest.approx(exact[value], abs=0.015)
    # By place and class everything is exact.
    assert law(found.exact_sums.law(np.array([0, 2]), SILENT))[2] == 1.0


@pytest.mark.parametrize("rule", ["deal", "own"])
def test_another_belief_weighs_draws(rule: str) -> None:
    counts = [[2, 1], [1, 1]]
    rates = [0.4] if rule == "deal" else [[0.8, 0.2]]
    likelihood = likelihood_of(release_of(counts, rates, rule=rule))
    prior = Poisson(np.array([2.0, 0.5, 0.5, 1.5]))
    expected = marginals(every_original(likelihood, prior, 3), 3)
    found = infer(likelihood, prior, randomness=SEED)
    seen = np.stack([found.probability(k).reshape(-1) for k in range(4)], axis=1)
    assert found.way == "monte_carlo" and found.error is not None
    assert np.abs(seen - expected).max() < 5 * found.error + 1e-3


def test_own_is_drawn_and_says_so() -> None:
    likelihood = likelihood_of(release_of([[2, 1], [1, 1]], [[0.8, 0.2]], rule="own"))
    found = infer(likelihood, randomness=SEED)
    assert (found.way, found.independent, found.draws) == ("monte_carlo", True, 6_000)
    expected = marginals(every_original(likelihood, Exchangeable(), 3), 3)
    seen = np.stack([found.probability(k).reshape(-1) for k in range(4)], axis=1)
    assert np.abs(seen - expected).max() < 0.02
    with pytest.raises(InfeasibleError, match="no exact laws"):
        infer(likelihood, approach=Approach(way="exact"))
    member = infer(likelihood, Member(), randomness=SEED).probability(0)
    assert member.max() == 0.0


def test_a_second_release_weighs_the_draws_of_a_swap() -> None:
    swap = release_of([[2, 1], [1, 1]], [0.5])
    rounding = methods()["random_rounding"]
    table = Table.dense(swap.domain, np.array([[3, 0], [0, 2]]))
    rounded = rounding.run(Problem(table), {}, Randomness.seeded(3)).release
    both = believe([Evidence(rounded), Evidence(swap)], knowing=RELEASE_ALONE, randomness=SEED).posterior
    first, second = likelihood_of(swap), likelihood_of(rounded)
    known = every_original(first, Exchangeable(), 5)
    weights = {cells: p * chance_of(second, cells) for cells, p in known.items()}
    total = sum(weights.values())
    for count in range(4):
        expected = sum(w for cells, w in weights.items() if cells[0] == count) / total
        assert both.probability(count)[0, 0] == pytest.approx(expected, abs=0.03)


def test_a_negative_count_and_a_prior_without_a_draw_are_refused() -> None:
    with pytest.raises(InputError, match="negative"):
        infer(likelihood_of(release_of([[2, -1], [1, 1]], [0.5])))
    likelihood = likelihood_of(release_of([[2, 1], [1, 1]], [0.5]))
    with pytest.raises(InfeasibleError, match="excludes every original"):
        infer(likelihood, Poisson(np.zeros(4)), randomness=SEED)


def test_priors_have_names() -> None:
    domain = Domain.of_shape((2, 2))
    assert isinstance(parse_prior("exchangeable", domain), Exchangeable)
    assert isinstance(parse_prior("flat", domain), Flat)
    member = parse_prior("member:0,1", domain)
    assert isinstance(member, Member) and member.cells is not None and member.cells.tolist() == [1]
    assert member.log_weight([0, 1, 1], [5, 3, 0]).tolist() == [0.0, pytest.approx(np.log(3)), -np.inf]
    assert member.support(np.array([0, 1]))[0].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"swap": "height"}, "swap"),
        ({"match": "area"}, "match"),
        ({"match": "height"}, "match"),
        ({"levels": "county"}, "levels"),
        ({"rule": "own", "targets": "height"}, "targets"),
        ({"rule": "own", "rate": 0.4}, "rate"),
        ({"targets": "kind"}, "targets"),
        ({"lo": 0.1}, "lo"),
        ({"rate": 2}, "rate"),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(given: dict[str, object], field: str) -> None:
    domain = Domain.of({"area": ["a", "b"], "kind": ["x", "y"], "class": ["1", "2"]})
    with pytest.raises(ParameterError) as caught:
        METHOD.resolve(domain, {"swap": "area", "rule": "deal", **given})
    assert field in caught.value.fields


@pytest.mark.parametrize("rates", [[0.3, 0.2, 0.1, 0.4, 0.9], [1.5], "many", [[0.1]], None])
def test_chances_that_are_none_are_refused(rates: object) -> None:
    with pytest.raises(InputError, match="no chances"):
        likelihood_of(release_of([[2, 1], [1, 1]], rates))


def test_levels_of_the_variable_are_swapped_across_first_and_a_bundle_says_so() -> None:
    area = Variable("area", ("n1", "n2", "s1", "s2"), (Level("region", ("N", "N", "S", "S")),))
    domain = Domain((area, Variable("kind", ("a", "b"))))
    table = Table.dense(domain, np.array([[4, 1], [3, 2], [0, 5], [2, 2]]))
    release = METHOD.run(Problem(table), {"margins": "area@region*kind"}, Randomness.seeded(1)).release
    read = verify_bytes(public.to_bytes(release, page=False)).release
    found = likelihood_of(read)
    assert isinstance(found, RecordSwaps)
    across, within = found.plan.levels
    assert (across.within.tolist(), across.unit.tolist()) == ([0, 0, 0, 0], [0, 0, 1, 1])
    assert (within.within.tolist(), within.unit.tolist()) == ([0, 0, 1, 1], [0, 1, 2, 3])
    assert (across.rates.tolist(), within.rates.tolist()) == ([0.3, 0.0], [0.25, 0.0])
    assert across.small == 2
    names = [published.table.domain.names for published in read.tables]
    assert names[:2] == [("area", "kind"), ("area@region", "kind")]
    alone = METHOD.run(Problem(table), {"levels": "none"}, Randomness.seeded(1)).release
    assert alone.mechanism.parameters["swap_levels"] == "none"


def test_small_counts_that_stay_by_places_count_as_known() -> None:
    table = Table.dense(
        Domain.of_shape((3, 2, 2)), np.array([[[1, 0], [5, 9]], [[6, 2], [4, 8]], [[7, 3], [5, 9]]])
    )
    verdicts = [
        verdict(METHOD.run(Problem(table), given, Randomness.seeded(1)).release, Gate())
        for given in ({"rate": 0.6}, {"rate": 0.6, "match": "B"})
    ]
    # Of the first place one record only is of the first class, and cannot hide there.
    assert [found.tables[0].known for found in verdicts] == [0, 1]
    assert verdicts[1].passed is False


@pytest.mark.parametrize("name", [name for name in REFERENCE["group"] if name.startswith("swap ")])
def test_that_a_group_shares_a_category_has_a_closed_form(name: str) -> None:
    people, group, others, rate = (float(part) for part in re.findall(r"=([\d.]+)", name))
    rest = [others, people - group - others]
    release = release_of(np.array([[0, group], rest], dtype=np.int64), [rate])
    posterior = infer(likelihood_of(release))
    tables = groups.DrawnOnce(posterior, np.random.default_rng(1), SILENT)
    found = groups.group_beliefs(tables, posterior.domain, None, 1, [0], 3)
    assert found is not None and found.draws is None
    assert abs(found.whole[0, 1] - REFERENCE["group"][name]["whole"]) < 1e-12


def test_users_get_counts_without_bias_and_are_told_what_is_left_of_association() -> None:
    counts = np.array([[[4, 1], [2, 3]], [[1, 6], [5, 2]], [[3, 0], [0, 1]]])
    rate = 0.4
    found = infer(likelihood_of(release_of(counts, [rate], match="class"))).weakened
    assert found is not None
    # By the definition, class by class: means of one deal from every table, as from this one.
    plan = likelihood_of(release_of(counts, [rate], match="class"))
    assert isinstance(plan, RecordSwaps)
    tables = np.concatenate(
        list(SwapRuns(plan.plan, counts.reshape(-1)).tables(40_000, np.random.default_rng(1)))
    )
    people = counts.sum(axis=(0, 1))
    apart = counts.sum(axis=1)[:, None, :] * counts.sum(axis=0)[None] / people
    assert np.allclose(
        apart + found.left.reshape(counts.shape) * (counts - apart),
        tables.mean(axis=0).reshape(counts.shape),
        atol=0.02,
    )
    again = (tables - apart.reshape(-1)) / found.left + apart.reshape(-1)
    assert np.allclose(again.mean(axis=0), counts.reshape(-1), atol=0.04)
    assert np.allclose(
        found.unbiased.reshape(counts.shape), apart + (counts - apart) / found.left.reshape(counts.shape)
    )
    # A reader's mean departs from independence as the published count does, once more weakened.
    mean = infer(likelihood_of(release_of(counts, [rate], match="class"))).mean
    assert np.allclose(mean, apart + found.left.reshape(counts.shape) * (counts - apart))
    assert infer(likelihood_of(release_of(counts[:, :, 0], [[0.2, 0.5]])), randomness=SEED).weakened is None


def test_within_regions_alone_every_small_count_of_a_region_is_said_to_stay() -> None:
    domain = Domain.of({"region": ["N", "S"], "area": ["n", "m", "s", "t"], "born": ["a", "b", "c"]})
    counts = np.zeros(domain.shape, dtype=np.int64)
    counts[0, :2] = [[20, 1, 9], [14, 0, 11]]
    counts[1, 2:] = [[15, 2, 8], [10, 0, 12]]
    given = {"swap": "area", "match": "region", "rule": "deal", "rate": 0.5}
    done = METHOD.run(Problem(Table.dense(domain, counts)), given, Randomness.seeded(1))
    said = "2 of 2 small counts of region × born are published as they are."
    assert said in verdict(done.release, Gate()).sentence
    judged = Release(done.release.tables, replace(done.release.mechanism, gate=Gate()))
    assert said in reader_text(judged)
    assert "Records that must share a region are exchanged within regions alone" in METHOD.parameters[1].help
