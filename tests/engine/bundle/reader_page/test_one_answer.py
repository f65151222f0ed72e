"""Where a posterior is drawn, the page of a bundle and ``infer`` say the same of one file."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.bundle.inferring import Inferring, inferred
from tabprotect.engine.bundle.reader_page.page_model import computed_model, model_of
from tabprotect.engine.progress import SILENT
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of, methods
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table

SHAPE = 12, 10


def released(method: str) -> Release:
    domain = Domain.of({"a": [*map(str, range(SHAPE[0]))], "b": [*map(str, range(SHAPE[1]))]})
    counts = np.random.default_rng(1).poisson(2.0, SHAPE)
    return methods()[method].run(Problem(Table.dense(domain, counts)), {}, Randomness.seeded(7)).release


def asked(release: Release, **given: object) -> np.ndarray:
    evidence = Evidence(release, likelihood_of(release))
    found, _ = inferred([evidence], Inferring(**given), bundled=False, progress=SILENT)
    return found.posterior.chances[found.posterior.group_of_cell]


@pytest.mark.parametrize(
    "method",
    ["small_count_rounding", "suppression", "random_rounding", "binomial_compensated", "record_swapping"],
)
def test_page_and_infer_say_the_same(method: str) -> None:
    release = released(method)
    likelihood = likelihood_of(release)
    assert model_of(release, likelihood) is None
    model = computed_model(release, likelihood)
    assert model["way"] == "kept" and model["drawn"]
    mine = asked(release)
    for cell, row in enumerate(model["row"]):
        kept = np.array(model["rows"][row]) / 1e6
        assert np.abs(mine[cell, : len(kept)] - kept).max() < 6e-7
    assert np.array_equal(mine, asked(release))
    # Who asks for other draws gets them.
    other = asked(release, seed=3)
    assert mine.shape != other.shape or not np.array_equal(mine, other)
