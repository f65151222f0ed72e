"""Belief and change on UCI Adult under swapped occupations: the reference's runs, within their chance."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.arrays import Ints
from tabprotect.engine.posterior.swaps.swap_laws import SwapLaws
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.swaps.swap_plan import SwapLevel, SwapPlan, SwapRule, SwapRuns
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.version import RESOURCES

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())
METHOD = methods()["record_swapping"]
CLASSES, NEGLIGIBLE = 32, 8


@pytest.fixture(scope="module")
def people() -> dict[str, Ints]:
    """Codes of 48,842 people, age and schooling in four bands."""
    with gzip.open(RESOURCES / "examples" / "adult-census" / "records.csv.gz", "rt") as file:
        read = list(csv.DictReader(file))
    said: dict[str, list[str]] = {name: [one[name] for one in read] for name in ("occupation", "sex")}
    for name, column, ends in (("age", "age", [30, 45, 60]), ("schooling", "education_num", [9, 11, 13])):
        said[name] = list(map(str, np.digitize([int(one[column]) for one in read], ends)))
    others = ("marital_status", "race", "native_country", "workclass", "income")
    said |= {name: [one[name] for one in read] for name in others}
    return {name: np.unique(values, return_inverse=True)[1] for name, values in said.items()}


@pytest.fixture(scope="module")
def adult(people: dict[str, Ints]) -> Table:
    """Occupation, sex, age, schooling, marital status and race."""
    names = ("occupation", "sex", "age", "schooling", "marital_status", "race")
    codes = [people[name] for name in names]
    domain = Domain.of(
        {name: list(map(str, range(of.max() + 1))) for name, of in zip(names, codes, strict=True)}
    )
    counts = np.bincount(np.ravel_multi_index(codes, domain.shape), minlength=domain.size)
    return Table.dense(domain, counts.reshape(domain.shape))


@pytest.mark.parametrize("rate", [0.05, 0.1, 0.2])
def test_beliefs_in_small_counts_and_changes_are_those_of_the_reference(adult: Table, rate: float) -> None:
    expected = REFERENCE["risk_utility"]["adult"][f"{rate:g}".lstrip("0") + " occ x marital x race"]
    given = {"swap": "occupation", "match": "sex*age*schooling", "rule": "deal", "rate": rate}
    release = METHOD.run(Problem(adult), given, Randomness.seeded(1)).release
    likelihood = likelihood_of(release)
    assert isinstance(likelihood, RecordSwaps)
    laws = SwapLaws(likelihood)
    places = len(adult.domain["occupation"].categories)
    cells = np.arange(adult.domain.size).reshape(places, CLASSES, -1)
    true, published = (table.counts.reshape(cells.shape).sum(axis=1) for table in (adult, release.table))
    at_risk = (true > 0) & (true < 3)
    assert at_risk.sum() == expected["true"]
    believed = np.zeros((2, *true.shape))
    # Larger ones are 1 or 2 with no chance that counts.
    for place, kind in zip(*np.nonzero(published <= NEGLIGIBLE), strict=True):
        first, law = laws.law(cells[place, :, kind], SILENT)
        believed[:, place, kind] = [law[n - first] if 0 <= n - first < len(law) else 0.0 for n in (1, 2)]
    # One run each: the standard error of a mean over some 74 counts is about .02.
    assert (believed**2).sum() / believed.sum() == pytest.approx(expected["mean_belief"], abs=0.05)
    assert believed.sum() == pytest.approx(expected["expected"], abs=9)
    right = believed[np.maximum(true - 1, 0)[at_risk], *np.nonzero(at_risk)]
    assert right.mean() == pytest.approx(expected["true_belief"], abs=0.12)
    assert np.abs(true - published).mean() == pytest.approx(expected["mad"], rel=0.25)


@pytest.mark.parametrize("rule", ["deal", "own"])
def test_small_counts_of_three_tables_from_one_swap_are_those_of_the_reference(
    people: dict[str, Ints], rule: SwapRule
) -> None:
    def together(*names: str) -> Ints:
        shape = [people[name].max() + 1 for name in names]
        every = np.ravel_multi_index([people[name] for name in names], shape)
        return np.unique(every, return_inverse=True)[1]

    tables = ("occ x native", "occ x marital x race", "occ x workclass x income")
    columns = (
        ("sex", "age", "schooling"),
        ("native_country",),
        ("marital_status", "race"),
        ("workclass", "income"),
    )
    kinds, kind = np.unique([together(*names) for names in columns], axis=1, return_inverse=True)
    places = people["occupation"].max() + 1
    nowhere = np.zeros(places, dtype=np.int64)
    rates = np.array([0.25, 0.0]) if rule == "own" else np.full(kinds.shape[1], 0.2)
    level = SwapLevel(nowhere, np.arange(places), rule, rates, kinds[1:], 2)
    rows = {
        "own": (REFERENCE["own_counts_many_targets"]["adult three tables"], "0.25/0"),
        "deal": (REFERENCE["risk_utility"]["adult"], ".2"),
    }
    cells = np.indices((places, kinds.shape[1])).reshape(2, -1)
    plan = SwapPlan(*cells, kinds[0], (level,))
    counts = np.bincount(people["occupation"] * kinds.shape[1] + kind.reshape(-1), minlength=cells.shape[1])
    generator, draws = np.random.default_rng(1), 25
    published = next(SwapRuns(plan, counts).tables(1, generator))[0]
    drawn = np.concatenate(list(SwapRuns(plan, published).tables(draws, generator)))
    for name, category in zip(tables, kinds[1:], strict=True):
        of_rule, words = rows[rule]
        expected = of_rule[f"{words} {name}"]
        cell = category[cells[1]] * places + cells[0]
        true, seen, *may = (np.bincount(cell, weights=one) for one in (counts, published, *drawn))
        at_risk = (true > 0) & (true < 3)
        assert at_risk.sum() == expected["true"]
        believed = np.stack([(np.stack(may) == n).mean(axis=0) for n in (1, 2)])
        # What a few draws add to a square is taken off.
        squared = believed**2 - believed * (1 - believed) / (draws - 1)
        assert squared.sum() / believed.sum() == pytest.approx(expected["mean_belief"], abs=0.05)
        assert believed.sum() == pytest.approx(expected["expected"], abs=15)
        assert np.abs(true - seen).mean() == pytest.approx(expected["mad"], rel=0.15)
