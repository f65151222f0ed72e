"""What ``protect`` does unasked on the shipped examples: released, or refused for a tried reason."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.engine.disclosure import gate
from tabprotect.engine.errors import RefusedError
from tabprotect.engine.posterior.infer import infer
from tabprotect.engine.project.sources import open_table
from tabprotect.engine.protection.methods.cyclic_perturbation import PLUGIN
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import likelihood_of
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.table import Table


def belief(release: Release, original: Table) -> float:
    """Mean posterior chance of the true count of the at-risk cells."""
    posterior = infer(likelihood_of(release), randomness=Randomness.seeded(1))
    risky = SmallCount().mask(original.counts)
    return float(posterior.probability(original.counts)[risky].mean())


def change(release: Release, original: Table) -> float:
    return float(np.abs(release.table.counts - original.counts).mean())


@pytest.mark.parametrize(
    ("name", "before", "most"),
    [
        ("langsrud-lupp", "balanced", 0.55),
        ("sparse-10x10", "strips-2", 0.55),
        ("duncan-roehrig-4x4", "strips-2", 0.45),
    ],
)
def test_released_and_readers_believe_less_than_of_the_default_before(
    name: str, before: str, most: float
) -> None:
    original = open_table(f"example:{name}").table
    problem = Problem(original)
    release = gate.protect(PLUGIN, problem, {}, Randomness.seeded(7), kept_small="keep").release
    told = belief(release, original)
    assert told < most
    # No worse than what was taken before where that changes as much.
    given = {"cycles": before, "blocking": "any_zero", "alpha": 0.5, "beta": 0.5, "passes": 2}
    old = PLUGIN.run(problem, given, Randomness.seeded(7)).release
    assert told <= belief(old, original) + 0.05 or change(old, original) > change(release, original)


def test_refused_where_next_to_nothing_else_has_these_margins() -> None:
    problem = Problem(open_table("example:czech-autoworkers").table)
    with pytest.raises(RefusedError) as refused:
        gate.protect(PLUGIN, problem, {}, Randomness.seeded(7))
    assert "a reader would know 3 of" in refused.value.message
    assert "more steps" in refused.value.hint and "(passed on this table" in refused.value.hint
