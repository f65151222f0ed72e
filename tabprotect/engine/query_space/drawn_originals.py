"""Originals drawn from what is released alone: no unreleased count is looked at."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import READER
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.errors import TooLargeError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.published_margins import counts_of, sum_factors
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Lattice
from tabprotect.engine.randomness import Randomness
from tabprotect.engine.release.mechanism import Mechanism
from tabprotect.engine.release.release import PublishedTable, Release
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

DRAWN_ORIGINALS_CELLS = 4_096
"""Most cells of a table whose originals are drawn: each draw is judged as a whole."""


CHAIN_DRAWS = 400
"""Draws of the posterior's own walk if it cannot be drawn from exactly."""

REMEMBERED = 4
"""Released sets whose originals are cached: many requests come between two releases."""

_KNOWN: WeakKeyDictionary[Table, OrderedDict[object, tuple[Table, ...]]] = WeakKeyDictionary()


def drawn_originals(
    table: Table, lattice: Lattice, released: Frontier, number: int, progress: Progress = SILENT
) -> tuple[Table, ...]:
    """Tables that agree with all that is released, drawn with equal probability.

    The same released counts give the same draws, whatever else the table holds.

    Raises
    ------
    TooLargeError
        If the table has too many cells.
    InfeasibleError
        If the posterior cannot be drawn from.
    """
    if table.domain.size > DRAWN_ORIGINALS_CELLS:
        raise TooLargeError(
            message("originals of {size:,} cells are too large to be judged one by one", table.domain.size),
            hint=message("take a rule or a criterion that draws none"),
        )
    known = _KNOWN.setdefault(table, OrderedDict())
    key = (released.members, number)
    if key not in known:
        known[key] = _drawn(table, lattice, released, number, progress)
        if len(known) > REMEMBERED:
            known.popitem(last=False)
    return known[key]


def _drawn(
    table: Table, lattice: Lattice, released: Frontier, number: int, progress: Progress
) -> tuple[Table, ...]:
    domain = table.domain
    if not any(released):
        possible = np.flatnonzero(~domain.structural_cells())
        counts = np.zeros((number, domain.size), dtype=np.int64)
        counts[:, possible] = _compositions(table.total, len(possible), number, _generator([]))
    else:
        publication = Publication(domain, lattice.margins(released))
        tables = tuple(PublishedTable(table.margin(margin)) for margin in publication.margins)
        release = Release(tables, Mechanism("publish_margins", domain, {}))
        counts = counts_of(release, publication)
        generator = _generator([counts])
        likelihood = sum_factors(release, (publication, counts), lambda count, _: (count, count, None))
        posterior = believe(
            [Evidence(release, likelihood, alone=True)],
            knowing=RELEASE_ALONE,
            effort=replace(READER, draws=CHAIN_DRAWS),
            randomness=Randomness.seeded(int(generator.integers(2**62))),
            progress=progress,
        ).posterior
        counts = posterior.sample(number, generator, progress)
    return tuple(Table.dense(domain, each.reshape(domain.shape)) for each in counts)


def _generator(counts: list[Ints]) -> np.random.Generator:
    """A random generator seeded by the released counts alone."""
    digest = hashlib.sha256(b"originals that agree with what is released")
    for each in counts:
        digest.update(each.astype("<i8").tobytes())
    return np.random.default_rng(int.from_bytes(digest.digest(), "big"))


def _compositions(total: int, cells: int, number: int, generator: np.random.Generator) -> Ints:
    """Tables with the given grand total, int64 (number, cells), drawn as stars and bars."""
    out = np.empty((number, cells), dtype=np.int64)
    for row in out:
        bars = np.sort(generator.choice(total + cells - 1, cells - 1, replace=False))
        ends = np.concatenate([[-1], bars, [total + cells - 1]])
        row[:] = np.diff(ends) - 1
    return out
