"""Releases of counts and of sums of the same records: which of them tell more than was judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.bundle.tables.data_package import table_csv
from tabprotect.engine.bundle.verify import of_magnitudes, verify_bytes
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.protection.registered import methods
from tabprotect.engine.register.reading_together import LookedUp
from tabprotect.engine.register.register_entry import Earlier
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.table import Table


def with_numbers(published: PublishedMagnitudes) -> bool:
    """Return True if sums are published with how many records they are of, or with means."""
    return published.units is not None or published.means is not None


def known_beside(counts: Table, published: Sequence[PublishedTable], *, numbers: bool) -> bool:
    """Return True if released counts tell what readers of sums are taken to know anyway.

    That is how many records each sum is of. Changed counts protect somebody: what they and the sums
    tell together is not weighed. Neither is what hidden counts leave open where the sums publish them.

    Parameters
    ----------
    counts
        The true ones by the finest categories.
    numbers
        Whether numbers or means stand beside the sums.
    """
    try:
        return all(_true(counts, one) and not (numbers and one.suppressed is not None) for one in published)
    except (TabprotectError, KeyError):
        return False


def _true(counts: Table, published: PublishedTable) -> bool:
    codes, shape = [], []
    for variable in published.table.domain.variables:
        axis, level = counts.domain.place(variable.name)
        own = counts.domain.variables[axis]
        groups = own.categories if level is None else level.groups
        at = {name: n for n, name in enumerate(variable.categories)}
        codes.append((axis, np.array([at[group] for group in groups], dtype=np.int64)))
        shape.append(len(variable.categories))
    keys, numbers = counts.cells
    places = np.unravel_index(keys, counts.domain.shape)
    cells = np.zeros(len(keys), dtype=np.int64)
    for (axis, code), size in zip(codes, shape, strict=True):
        cells = cells * size + code[places[axis]]
    true = np.zeros(published.table.domain.size, dtype=np.int64)
    np.add.at(true, cells, numbers)
    shown = ~np.asarray(published.hidden).reshape(-1)
    return np.array_equal(true[shown], published.table.counts.reshape(-1)[shown])


def magnitudes_among(earlier: Sequence[Earlier], looked_up: LookedUp) -> Iterator[tuple[Earlier, bytes]]:
    """The earlier releases of sums of the same records whose bundles are kept."""
    # Sums have no marks of counts under other names.
    asked = [e for e in earlier if e.relation == "records" and not e.entry.publication.marks.unlabelled]
    return ((one, data) for one, data in looked_up.contents(asked) if of_magnitudes(data))


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
    records says how large somebody is. True counts tell readers how many contribute, as they are taken
    to know anyway; others were changed to protect somebody.
    """
    if problem.magnitudes is None:
        known = (
            known_beside(problem.table, release.tables, numbers=_with_numbers(data))
            for _, data in magnitudes_among(looked_up.earlier, looked_up)
        )
        return OtherMeasures(not all(known))
    close = [one for one in looked_up.earlier if one.relation in ("original", "records")]
    kept = {id(one): data for one, data in looked_up.contents(close)}
    weighed = [_weighed(problem, release, one.relation, kept.get(id(one))) for one in close]
    counted = any(
        one.relation == "records" and (id(one) not in kept or not of_magnitudes(kept[id(one)]))
        for one in close
    )
    return OtherMeasures(not all(weighed), counted)


def _weighed(problem: Problem, release: Release, relation: str, data: bytes | None) -> bool:
    """Return True if another release of the same records tells nothing together with these magnitudes."""
    if data is None:
        return False
    try:
        before, table = verify_bytes(data).release, release.magnitude_table
        if not before.magnitudes:
            return known_beside(problem.table, before.tables, numbers=with_numbers(table))
        if relation == "records":
            return methods("magnitudes")[release.mechanism.method].adds_nothing(before, release)
        then, now = before.mechanism, release.mechanism
        return (
            then.method == now.method
            and dict(then.parameters) == dict(now.parameters)
            and table_csv(before.magnitude_table) == table_csv(table)
        )
    except TabprotectError:
        return False


def _with_numbers(data: bytes) -> bool:
    try:
        return with_numbers(verify_bytes(data).release.magnitude_table)
    except TabprotectError:
        # What cannot be read may publish them.
        return True
