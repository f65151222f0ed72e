"""Releases of counts and of magnitudes of the same records: which of them were judged with one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.bundle.tables.data_package import table_csv
from tabprotect.engine.bundle.verify import of_magnitudes
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.reading_together import LookedUp
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table


def known_beside(counts: Table, published: Sequence[PublishedTable]) -> bool:
    """Return True if released counts and magnitudes without numbers tell nothing further of each other.

    True counts tell how many records a sum is of, which its readers are taken to know, and a table of
    magnitudes tells which cells have records. Changed counts protect somebody: what they and the
    magnitudes tell together is not weighed.

    Parameters
    ----------
    counts
        The true ones by the finest categories.
    """
    try:
        true = [true_table(counts, one.table.domain).counts for one in published]
    except (TabprotectError, KeyError):
        return False
    return all(
        of[one.hidden].all() and np.array_equal(of[~one.hidden], one.table.counts[~one.hidden])
        for of, one in zip(true, published, strict=True)
    )


@dataclass(frozen=True)
class OtherMeasures:
    """What left before of other measures of the same records, or of other tables of magnitudes.

    Attributes
    ----------
    unweighed
        Whether it and the release at hand tell something together that was not weighed.
    counted
        Whether readers of the magnitudes at hand know by counts how many contribute to each.
    """

    unweighed: bool = False
    counted: bool = False


def other_measures(problem: Problem, release: Release, looked_up: LookedUp) -> OtherMeasures:
    """Weigh a release with what left before of other measures of the same records.

    Hidden sums have totals in common with those of another table, and another measure of the same
    records says how large somebody is. All that is said of counts is read together with them.
    """
    close = [one for one in looked_up.earlier if one.relation in ("original", "records")]
    kept = {id(one): data for one, data in looked_up.files(close)}
    counts = [one for one in close if id(one) not in kept or not of_magnitudes(kept[id(one)])]
    if not release.magnitudes:
        close = [one for one in close if one not in counts]
    opened = {id(one): before for one, before in looked_up.releases(close)}
    weighed = [_weighed(problem, release, one.relation, opened.get(id(one))) for one in close]
    counted = bool(release.magnitudes) and any(one.relation == "records" for one in counts)
    return OtherMeasures(not all(weighed), counted)


def _weighed(problem: Problem, release: Release, relation: str, before: Release | None) -> bool:
    """Return True if an earlier release and this one are judged with each other, or tell nothing together."""
    if before is None:
        return False
    try:
        if not (before.magnitudes and release.magnitudes):
            numbers = all(one.counted for one in (before, release))
            return numbers or known_beside(problem.table, (*before.tables, *release.tables))
        if relation == "records":
            return methods("magnitudes")[release.mechanism.method].adds_nothing(before, release)
        then, now = before.mechanism, release.mechanism
        return (
            then.method == now.method
            and dict(then.parameters) == dict(now.parameters)
            and table_csv(before.magnitude_table) == table_csv(release.magnitude_table)
        )
    except TabprotectError:
        return False
