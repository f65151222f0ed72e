"""Releases of counts and of sums of the same records: which of them tell more than was judged."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bundle.verify import of_magnitudes, verify_bytes
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.register.reading_together import LookedUp
from tabprotect.engine.register.register_entry import Earlier, OriginalMarks, marks_of
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


def sums_among(earlier: Sequence[Earlier], looked: LookedUp) -> Iterator[tuple[Earlier, bytes]]:
    """The earlier releases of sums of the same records whose bundles are kept."""
    # Sums have no marks of counts under other names.
    asked = [e for e in earlier if e.relation == "records" and not e.entry.publication.marks.unlabelled]
    return ((one, data) for one, data in looked.contents(asked) if of_magnitudes(data))


def unweighed_with_sums(problem: Problem, release: Release, looked: LookedUp) -> bool:
    """Return True if counts are to leave after sums of the same records that were not weighed with them."""
    return not all(
        known_beside(problem.table, release.tables, numbers=_with_numbers(data))
        for _, data in sums_among(looked.earlier, looked)
    )


def _with_numbers(data: bytes) -> bool:
    try:
        return with_numbers(verify_bytes(data).release.magnitude_table)
    except TabprotectError:
        # What cannot be read may publish them.
        return True


_FOUND: WeakKeyDictionary[MagnitudeTable, tuple[bytes, OriginalMarks]] = WeakKeyDictionary()


def marks_of_sums(table: MagnitudeTable, key: bytes) -> OriginalMarks:
    """The fingerprints of a magnitude table: its own, and those of the counts of its records."""
    found = _FOUND.get(table)
    if found is None or found[0] != key:
        counted = marks_of(table.units, key)
        own = hmac.new(key, b"magnitudes\n" + _canonical(table), hashlib.sha256).hexdigest()
        # The same counts under other names may have another measure.
        found = key, replace(counted, original=own, unlabelled="")
        _FOUND[table] = found
    return found[1]


def _canonical(table: MagnitudeTable) -> bytes:
    """The contributions as bytes, independent of the order of records, categories and holdings."""
    rows = table.rows
    labels = [sorted(v.categories) for v in table.variables]
    codes = [_ranks(v.categories)[code] for v, code in zip(table.variables, rows.codes, strict=True)]
    columns = np.stack([*codes, _ranks(table.names)[rows.holding], rows.own, rows.weight, rows.units])
    head = [table.measure, table.decimals, [v.name for v in table.variables], labels]
    text = json.dumps([*head, sorted(table.names)], ensure_ascii=False)
    ordered = columns[:, np.lexsort(columns[::-1])]
    return text.encode("utf-8", "surrogatepass") + b"\n" + ordered.astype("<i8").tobytes()


def _ranks(names: Sequence[str]) -> Ints:
    """The place of each name among the sorted ones."""
    ranks = np.empty(len(names), dtype=np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks
