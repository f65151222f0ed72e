"""Releases of counts and of magnitudes of the same records: which of them were judged with one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.agency import key as house_key
from tabprotect.engine.bundle.tables.data_package import table_csv
from tabprotect.engine.bundle.verify import of_magnitudes
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.people.reading_together import LookedUp
from tabprotect.engine.register.register_entry import COINS, Earlier, coins_mark
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.groupings.grouping import true_table
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import TOTAL


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
    weighed = [_weighed(problem, release, one, opened.get(id(one))) for one in close]
    counted = bool(release.magnitudes) and any(one.relation == "records" for one in counts)
    return OtherMeasures(not all(weighed), counted)


def _weighed(problem: Problem, release: Release, one: Earlier, before: Release | None) -> bool:
    """Return True if an earlier release and this one are judged with each other, or tell nothing together."""
    if before is None:
        return False
    try:
        if not (before.magnitudes and release.magnitudes):
            numbers = all(one.counted for one in (before, release))
            return numbers or known_beside(problem.table, (*before.tables, *release.tables))
        if one.relation == "records":
            method = methods("magnitudes")[release.mechanism.method]
            return (
                method.adds_nothing(before, release)
                or _of_another_time(problem, before, release)
                or _by_the_same_factors(problem, one, before, release)
            )
        then, now = before.mechanism, release.mechanism
        return (
            then.method == now.method
            and dict(then.parameters) == dict(now.parameters)
            and table_csv(before.magnitude_table) == table_csv(release.magnitude_table)
        )
    except TabprotectError:
        return False


def _of_another_time(problem: Problem, before: Release, release: Release) -> bool:
    """Return True if one measure is that of two times: sums that were stated are not what they are now.

    What one of them tells of the other follows from nothing but what a reader assumes of the change.
    """
    then, now = before.magnitude_table, release.magnitude_table
    if then.measure != now.measure or not methods("magnitudes")[before.mechanism.method].takes_rules:
        return False
    if not methods("magnitudes")[release.mechanism.method].takes_rules:
        # Noise states no sum as it is.
        given = problem.contributions
        now = given.published(given.table.cells.value)
    earlier, later = _stated(then), _stated(now)
    both = earlier.keys() & later.keys()
    return len(both) > 1 and 2 * sum(earlier[one] != later[one] for one in both) > len(both)


def _by_the_same_factors(problem: Problem, one: Earlier, before: Release, release: Release) -> bool:
    """Return True if each contributor has one factor in both tables of a measure, whatever the time.

    Who works out what one of them put in has it times the factor, and nothing else from either: all of it in
    proportion tells as little as one of it.
    """
    then, now = before.mechanism, release.mechanism
    return (
        then.method == now.method
        and not methods("magnitudes")[now.method].takes_rules
        and dict(then.parameters) == dict(now.parameters)
        and (before.magnitude_table.measure, before.magnitude_table.decimals)
        == (release.magnitude_table.measure, release.magnitude_table.decimals)
        and problem.contributions.seed is None
        and one.entry.publication.gate.get(COINS) == coins_mark(0, house_key())
    )


def _stated(table: PublishedMagnitudes) -> dict[tuple[tuple[str, ...], ...], int]:
    """The sums that a table shows, by the categories of the variables that they are not added up over."""
    of = [
        [
            () if name == TOTAL and not level else (variable.name, level, name)
            for level, name in variable.nodes
        ]
        for variable in table.variables
    ]
    shown = np.flatnonzero(~table.hidden)
    return {
        tuple(sorted(filter(None, (nodes[at] for nodes, at in zip(of, where, strict=True))))): int(value)
        for where, value in zip(table.nodes[:, shown].T.tolist(), table.value[shown].tolist(), strict=True)
    }
