"""Perturb a table by cell keys: the noise of every count is looked up."""

from __future__ import annotations

import hmac

import numpy as np

from tabprotect.engine.protection.cell_keys.perturbation_table import PerturbationTable
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.tables.design_weights import times_mean
from tabprotect.engine.tables.table import Table


def perturbed(table: PerturbationTable, counts: Table, keys: Table, weights: Table | None = None) -> Table:
    """Add the noise of its cell key to every count.

    Parameters
    ----------
    keys
        Sums of record keys, over the domain of the counts; taken modulo 10^8.
    weights
        Sums of design weights, in millionths: each result is then multiplied by the mean weight.
    """
    if not counts.is_sparse:
        flat = counts.counts.reshape(-1)
        noise = table.noise_of(flat, keys.counts.reshape(-1) % KEY_MODULUS)
        sums = None if weights is None else weights.counts.reshape(-1)
        found = flat + noise if sums is None else times_mean(sums, flat, noise)
        return Table.dense(counts.domain, found.reshape(counts.domain.shape))
    cells, values = counts.cells
    noise = table.noise_of(values, keys.counts_at(cells) % KEY_MODULUS)
    found = values + noise if weights is None else times_mean(weights.counts_at(cells), values, noise)
    return Table.sparse(counts.domain, cells, found)


def hashed(keys: Table, secret: bytes) -> Table:
    """Cell keys hashed under a secret: equal ones stay equal, and nothing else about them stays.

    HMAC-SHA256 of the key modulo 10^8 as eight bytes, its first eight bytes modulo 10^8, both with
    the lowest byte first.
    """
    dense = not keys.is_sparse
    cells, values = (None, keys.counts.reshape(-1)) if dense else keys.cells
    distinct, at = np.unique(values % KEY_MODULUS, return_inverse=True)
    found = np.array(
        [
            int.from_bytes(hmac.digest(secret, _HASHED + key.to_bytes(8, "little"), "sha256")[:8], "little")
            % KEY_MODULUS
            for key in distinct.tolist()
        ],
        dtype=np.int64,
    )[at.reshape(-1)]
    if cells is None:
        return Table.dense(keys.domain, found.reshape(keys.domain.shape))
    return Table.sparse(keys.domain, cells, found)


_HASHED = b"tabprotect cell key\0"


def drawn(table: Table, generator: np.random.Generator) -> Table:
    """Draw a key for each cell that is not empty."""
    cells, _ = table.cells
    keys = generator.integers(0, KEY_MODULUS, len(cells))
    sparse = Table.sparse(table.domain, cells, keys)
    return sparse if table.is_sparse else Table.dense(table.domain, sparse.counts)
