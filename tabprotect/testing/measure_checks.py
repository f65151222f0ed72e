"""What holds for every measure of risk or utility."""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tabprotect.engine.assessment.assessed_release import AssessedRelease
from tabprotect.engine.assessment.compared_cells import published_by
from tabprotect.engine.assessment.intruder_key import Key
from tabprotect.engine.assessment.measure import NEEDS, Measure
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.testing.failure import CheckFailed, require

TABLES: tuple[npt.ArrayLike, ...] = (
    [[4, 0], [1, 5]],
    [[2, 3, 0], [1, 7, 1]],
    [0, 0, 0],
    [7, 0, 0],
    [1, 2, 3],
)


def releases() -> Iterator[AssessedRelease]:
    """Small releases beside their originals: an ordinary one, empty ones, of one variable."""
    method = methods()["cell_key"]
    for seed, counts in enumerate(TABLES):
        table = Table.dense(Domain.of_shape(np.shape(counts)), counts)
        values = method.resolve(table.domain, {"D": 3, "V": 1.0, "js": 0})
        problem = Problem(table)
        release, _ = method.perform(problem, values, np.random.default_rng(seed))
        key = Key.of(table.domain, None, None)
        yield AssessedRelease(problem, release, published_by(release), key, second_is_new=False)


def _check(measure: Measure) -> None:
    require(bool(measure.label and measure.unit and measure.help), "label, unit, help are needed")
    require(measure.noun in ("risk", "utility"), f"noun must be risk or utility: {measure.noun!r}")
    require(
        measure.direction in ("higher is better", "lower is better"),
        f"direction must be higher or lower is better: {measure.direction!r}",
    )
    unknown = sorted(set(measure.needs) - set(NEEDS))
    require(not unknown, f"unknown needs {unknown}; there are {sorted(NEEDS)}")
    json.dumps(measure.as_json(), allow_nan=False)
    computed = 0
    for case, again in zip(releases(), releases(), strict=True):
        at = f"for the table {case.problem.table.counts.tolist()}"
        found, second = measure.assess(case), measure.assess(again)
        if found.value is None:
            require(bool(found.reason), f"{at} there is neither a value nor a reason")
            continue
        computed += 1
        require(not found.reason, f"{at} there are both a value and a reason")
        require(bool(np.isfinite(found.value)), f"{at} the value is no finite number")
        require(second.value == found.value, f"the same release gave another figure {at}")
        if found.per_cell is not None:
            shape = found.per_cell.shape
            wanted = _shape(measure, case)
            require(shape == wanted, f"{at} per_cell has shape {shape}, not {wanted}")
    require(computed > 0, "no release of five could be measured")


def _shape(measure: Measure, case: AssessedRelease) -> tuple[int, ...]:
    domain = case.problem.table.domain
    if measure.over == "inner cells":
        return domain.shape
    if measure.over == "key groups":
        return domain.project(case.key.variables).shape
    return (case.compared.size,)


def check_measure(measure: Measure | type[Measure]) -> None:
    """Run every check on a measure of one's own; it need not be registered.

    Raises
    ------
    CheckFailed
        With what the first check that fails found.
    """
    made = measure() if isinstance(measure, type) else measure
    try:
        _check(made)
    except CheckFailed as error:
        raise CheckFailed(f"{made.name}: {error}") from None
