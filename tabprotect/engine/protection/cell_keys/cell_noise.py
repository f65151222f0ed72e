"""Perturb a table by cell keys: the noise of every count is looked up."""

from __future__ import annotations

import hmac
import math

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.errors import InputError
from tabprotect.engine.protection.cell_keys.perturbation_table import PerturbationTable
from tabprotect.engine.randomness import KEY_MODULUS
from tabprotect.engine.tables.design_weights import times_mean
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


def perturbed(table: PerturbationTable, counts: Table, keys: Table, weights: Table | None = None) -> Table:
    """Add the noise of its cell key to every count.

    Parameters
    ----------
    keys
        Cell keys below 10^8, over the domain of the counts.
    weights
        Sums of design weights, in millionths: each result is then multiplied by the mean weight.
    """
    if not counts.is_sparse:
        flat = counts.counts.reshape(-1)
        noise = table.noise_of(flat, keys.counts.reshape(-1))
        sums = None if weights is None else weights.counts.reshape(-1)
        found = flat + noise if sums is None else times_mean(sums, flat, noise)
        return Table.dense(counts.domain, found.reshape(counts.domain.shape))
    cells, values = counts.cells
    noise = table.noise_of(values, keys.counts_at(cells))
    found = values + noise if weights is None else times_mean(weights.counts_at(cells), values, noise)
    return Table.sparse(counts.domain, cells, found)


def cell_keys(counts: Table, sums: Table, key_range: int) -> Table:
    """The cell keys below 10^8 of the cells that are not empty, each in the middle of what its sum stands for.

    Parameters
    ----------
    key_range
        What the sums are taken modulo.

    Raises
    ------
    InputError
        Where the keys of the cells are no random numbers: noise could then be taken off again.
    """
    cells, _ = counts.cells
    found = sums.counts_at(cells) % key_range
    _check_uniform(found, key_range)
    keys = (2 * found + 1) * KEY_MODULUS // (2 * key_range)
    if counts.is_sparse:
        return Table.sparse(counts.domain, cells, keys)
    laid_out = np.zeros(counts.domain.size, dtype=np.int64)
    laid_out[cells] = keys
    return Table.dense(counts.domain, laid_out.reshape(counts.domain.shape))


STEPS = 2**16
"""Places at which the law of the cell keys is compared with the uniform one, at most."""

CRITICAL = 3.8
"""Kolmogorov's statistic that uniform keys exceed once in 10^12 times."""


def _check_uniform(keys: Ints, key_range: int) -> None:
    """Compare the keys of cells with uniform ones, by Kolmogorov's test."""
    steps = min(key_range, STEPS)
    number = np.bincount(keys * steps // key_range, minlength=steps)
    ends = (np.arange(steps) + 1) * key_range // steps / key_range
    apart = float(np.abs(np.cumsum(number) / max(len(keys), 1) - ends).max(initial=0))
    if len(keys) and math.sqrt(len(keys)) * apart > CRITICAL:
        raise InputError(
            message(
                "the cell keys of {n:,} cells crowd into a part of their range: the noise could be taken off "
                "again",
                len(keys),
            ),
            hint=message("make keys from the house key: record-keys FILE --out KEYED"),
        )


def hashed(keys: Table, secret: bytes) -> Table:
    """Cell keys hashed under a secret: equal ones stay equal, and nothing else about them stays.

    HMAC-SHA256 of the key as eight bytes, its first eight bytes modulo 10^8, both with
    the lowest byte first.
    """
    dense = not keys.is_sparse
    cells, values = (None, keys.counts.reshape(-1)) if dense else keys.cells
    distinct, at = np.unique(values, return_inverse=True)
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
