"""Chance that belongs to a cell: a uniform number from its labels and a key.

The same cell has the same number in every table with these variables, whatever else is counted and
in whatever order: what was drawn of it last year is drawn of it again, so that two vintages of a table
differ where its counts do.
"""

from __future__ import annotations

import hmac

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.tables.domain import Domain

KEY_BYTES = 32


def cell_uniforms(domain: Domain, cells: Ints, key: bytes) -> Floats:
    """A number from 0 up to 1 for each of some cells, float64 (cells,).

    HMAC-SHA256 (RFC 2104) of the names and categories of all variables, each as long as it says, the
    variables by name.

    Parameters
    ----------
    cells : int64 (cells,)
        Flat cells.
    """
    places = np.unravel_index(cells, domain.shape)
    order = sorted(range(domain.ndim), key=lambda axis: domain.names[axis])
    columns = []
    for axis in order:
        variable = domain.variables[axis]
        said = [_framed(variable.name) + _framed(str(one)) for one in variable.categories]
        columns.append([said[k] for k in places[axis].tolist()])
    drawn = b"".join(hmac.digest(key, b"".join(one), "sha256")[:8] for one in zip(*columns, strict=True))
    return np.frombuffer(drawn, dtype="<u8").astype(np.float64) / 2.0**64


def _framed(text: str) -> bytes:
    said = text.encode(errors="surrogatepass")
    return len(said).to_bytes(8, "little") + said
