"""Keyed fingerprints of originals: they identify, but nothing can be guessed from them.

HMAC-SHA256 under a key of the house, so that not even a table of four cells can be found by trying
all of them. Neither the order of the variables nor that of the categories matters.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import unicodedata
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.tables.table import Table

NAMELESS = frozenset({"row", "column"})
"""Names without meaning: any two grids would share them."""


@dataclass(frozen=True)
class OriginalMarks:
    """Fingerprints of one original, each in hexadecimal.

    Attributes
    ----------
    original
        Mark of variables, categories and counts.
    variables
        Mark of each variable's name, sorted; none for a grid whose variables have no own names.
    records
        Marks that two tables of the same records share: of each one-way margin, and of the sum of
        the record keys if the records have keys. Sorted.
    """

    original: str
    variables: tuple[str, ...]
    records: tuple[str, ...]


def marks_of(table: Table, key: bytes, record_keys: Table | None = None) -> OriginalMarks:
    """The fingerprints of an original.

    Parameters
    ----------
    key : 32 bytes
        The house's key.
    record_keys
        The sum of the record keys in each cell, if the records have keys.
    """

    def mark(kind: str, content: bytes) -> str:
        return hmac.new(key, f"{kind}\n".encode() + content, hashlib.sha256).hexdigest()

    names = table.domain.names
    records = [mark("margin", _canonical(table.margin([name]))) for name in names]
    if record_keys is not None:
        records.append(mark("records", f"{record_keys.total} of {table.total}".encode()))
    return OriginalMarks(
        mark("original", _canonical(table)),
        tuple(sorted(mark("variable", _plain(n).encode()) for n in names if n not in NAMELESS)),
        tuple(sorted(records)),
    )


def _plain(text: str) -> str:
    """A label without differences that mean nothing to a person."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _canonical(table: Table) -> bytes:
    """The table as bytes, independent of the order of its variables and categories."""
    domain = table.domain
    axes = sorted(range(domain.ndim), key=lambda axis: (_plain(domain.names[axis]), axis))
    orders = [
        np.array(sorted(range(len(v.categories)), key=v.categories.__getitem__), dtype=np.int64)
        for v in domain.variables
    ]
    stated = [
        [_plain(domain.names[axis]), [domain.variables[axis].categories[k] for k in orders[axis]]]
        for axis in axes
    ]
    text = json.dumps(stated, ensure_ascii=False).encode("utf-8", "surrogatepass")
    # The first variable is the slowest, as in the keys of a table.
    if table.is_sparse:
        keys, counts = table.cells
        index = np.unravel_index(keys, domain.shape)
        places = [np.argsort(orders[axis])[index[axis]] for axis in axes]
        order_of_cells = np.lexsort(places[::-1])
        rows = [place[order_of_cells] for place in places] + [counts[order_of_cells]]
    else:
        laid_out = np.asarray(table.counts[np.ix_(*orders)]).transpose(axes)
        filled = laid_out != 0
        rows = [*np.argwhere(filled).T, laid_out[filled]]
    return text + b"\n" + np.stack(rows).astype("<i8").tobytes()
