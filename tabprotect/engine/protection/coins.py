"""Coins as a keyed function of the table and the mechanism: the same ones for ever.

Publishing again gives the same bytes, so that nothing can be averaged, and running again after a
refusal draws the same releases. The counts enter the function: coins that depend on the shape alone
would publish the exact difference of two vintages. To readers a keyed function of the original
is chance.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping

import numpy as np

from tabprotect.engine import agency
from tabprotect.engine.protection.problem import Problem
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

LABEL = message("tabprotect coins of a release, version 1")
KEYS_LABEL = "tabprotect record keys, version 1"


def agency_randomness(
    problem: Problem, method: str, values: Mapping[str, object], key: bytes | None = None
) -> Randomness:
    """HMAC-SHA256 (RFC 2104) of the original and all of the mechanism, as a seed of 256 bits.

    Parameters
    ----------
    values
        The method's resolved parameters, the cycles among them.
    key : 32 bytes
        By default the house's own, made where there is none.

    Raises
    ------
    InputError
        When the house's key cannot be read or made.
    """
    domain = problem.table.domain
    mechanism = Mechanism(method, domain, dict(sorted(values.items())))
    parts = [
        LABEL.encode(),
        mechanism.to_text(categories=True).encode(errors="surrogatepass"),
        str(problem.at_risk).encode(),
        _canonical(problem.table),
        _canonical(problem.record_keys),
        _canonical(None if problem.weights is None else problem.weights.sums),
        json.dumps(None if problem.weights is None else [problem.weights.low, problem.weights.high]).encode(),
    ]
    return _keyed(parts, key)


def house_keys(table: Table, key: bytes | None = None) -> Randomness:
    """HMAC-SHA256 of the counted records, as the seed of their drawn record keys.

    Recipes draw so: the same records counted in the same way get the same keys, in a later run too.
    """
    named = [[v.name, *v.categories] for v in table.domain.variables]
    return _keyed([KEYS_LABEL.encode(), json.dumps(named).encode(), _canonical(table)], key)


def _keyed(parts: list[bytes], key: bytes | None) -> Randomness:
    """Randomness from a keyed hash of parts, each as long as it says: no two lists give the same bytes."""
    content = b"".join(len(part).to_bytes(8, "little") + part for part in parts)
    digest = hmac.new(agency.key() if key is None else key, content, hashlib.sha256).digest()
    return Randomness(int.from_bytes(digest, "big"), given=False, coins="house")


def _canonical(table: Table | None) -> bytes:
    """Keys and counts of the cells that are not zero, as 64-bit little-endian integers."""
    return b"none" if table is None else np.stack(table.cells).astype("<i8").tobytes()
