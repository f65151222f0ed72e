"""The fingerprints of a magnitude table: its own, and those of the counts of its records. Confidential."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.register.register_entry import OriginalMarks, marks_of

if TYPE_CHECKING:
    from tabprotect.engine.magnitudes.tables.magnitude_table import MagnitudeTable

_OF_MAGNITUDES: WeakKeyDictionary[MagnitudeTable, tuple[bytes, OriginalMarks]] = WeakKeyDictionary()


def marks_of_magnitudes(table: MagnitudeTable, key: bytes) -> OriginalMarks:
    """The fingerprints of a magnitude table: its own, and those of the counts of its records."""
    found = _OF_MAGNITUDES.get(table)
    if found is None or found[0] != key:
        counted = marks_of(table.units, key)
        own = hmac.new(key, b"magnitudes\n" + _canonical(table), hashlib.sha256).hexdigest()
        # The same counts under other names may have another measure.
        found = key, replace(counted, original=own, unlabelled="")
        _OF_MAGNITUDES[table] = found
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
