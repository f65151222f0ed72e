"""Belief and change on UCI Adult under swapped occupations: the reference's runs, within their chance."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from tabprotect.engine.posterior.swaps.swap_laws import SwapLaws
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.likelihood import RecordSwaps
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.version import RESOURCES

REFERENCE = json.loads((Path(__file__).parents[2] / "reference" / "swapping.json").read_text())
METHOD = methods()["record_swapping"]
CLASSES, NEGLIGIBLE = 32, 8


@pytest.fixture(scope="module")
def adult() -> Table:
    """Occupation, sex, four bands of age and of schooling, marital status and race of 48,842 people."""
    with gzip.open(RESOURCES / "examples" / "adult-census" / "records.csv.gz", "rt") as file:
        people = list(csv.DictReader(file))
    said: dict[str, list[str]] = {name: [one[name] for one in people] for name in ("occupation", "sex")}
    for name, column, ends in (("age", "age", [30, 45, 60]), ("schooling", "education_num", [9, 11, 13])):
        said[name] = list(map(str, np.digitize([int(one[column]) for one in people], ends)))
    said |= {name: [one[name] for one in people] for name in ("marital_status", "race")}
    domain = Domain.of({name: sorted(set(values)) for name, values in said.items()})
    codes = [np.unique(values, return_inverse=True)[1] for values in said.values()]
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
