"""Margins of releases as evidence: what is stated of them, and what is believed. Confidential no more than these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence, OfRelease
from tabprotect.engine.posterior.margins import sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.likelihood import (
    CellFactors,
    ExchangeSteps,
    RecordSwaps,
    SwappedFirst,
    each_cell,
)
from tabprotect.engine.release.published_numbers import Law
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table


def believed_cells(evidence: Sequence[Evidence], chance: OfRelease, progress: Progress = SILENT) -> Posterior:
    """The posterior of the inner cells by what is given alone, with the effort of a verdict."""
    return believe(
        evidence, knowing=RELEASE_ALONE, inner=True, effort=VERDICT, randomness=chance, progress=progress
    ).posterior


def believed_margin(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """What a reader of a release believes of a margin, as evidence for a table that has it, too."""
    return believed_sums(evidence, Publication(evidence.likelihood.domain, (tuple(names),)))


def believed_sums(evidence: Evidence, publication: Publication) -> Evidence:
    """The same of the one margin of a publication.

    With an even belief over both tables the weight of a sum is the product of the ways in which each of them
    comes to it: what is believed of it from one is its likelihood for the other.
    """
    release = evidence.release
    chance = OfRelease(release, "a margin")
    found = believed_cells([evidence], chance)
    (margin,) = sums(found, publication, randomness=chance)
    laws: list[Law] = []
    for cell in range(margin.domain.size):
        chances = margin.chances[margin.group_of_cell[cell]]
        first, last = np.flatnonzero(chances)[[0, -1]]
        with np.errstate(divide="ignore"):
            logs = np.log(chances[first : last + 1])
        start = int(margin.first[cell])
        laws.append((start + int(first), start + int(last), logs))
    cells = np.arange(margin.domain.size, dtype=np.int64)
    known = CellFactors.of(margin.domain, (), each_cell(margin.domain), cells, laws)
    return Evidence(release, known, alone=True)


def margin_evidence(evidence: Evidence, names: Sequence[str]) -> Evidence:
    """What a release tells of a margin: what it states, else what is believed."""
    stated = exact_margin(evidence, names)
    return believed_margin(evidence, names) if stated is None else known_margin(evidence.release, stated)


def exact_margin(evidence: Evidence, names: Sequence[str]) -> Table | None:
    """A margin where a release states every cell of it exactly; ``None`` where not."""
    found, domain = evidence.likelihood, evidence.likelihood.domain
    if not set(names) <= set(domain.names):
        return None
    if isinstance(found, CellFactors):
        tables = (published.table.domain.names for published in evidence.release.tables)
        return next(filter(None, (_of_table(found, one, names) for one in tables)), None)
    if isinstance(found, RecordSwaps | ExchangeSteps):
        kept = found.kept
        stays = any(kept.determines(margin, names) for margin in kept.margins)
        return found.published.margin(names) if stays else None
    if isinstance(found, SwappedFirst):
        stays = any(found.kept.determines(margin, names) for margin in found.kept.margins)
        return exact_margin(replace(evidence, known=found.then), names) if stays else None
    keys, moves = domain.project_keys(found.moves.cells, names), found.moves
    _, place = np.unique(moves.rows * domain.size + keys, return_inverse=True)
    if np.bincount(place.reshape(-1), weights=moves.signs).any():
        return None
    return found.published.margin(names)


def _of_table(found: CellFactors, table: tuple[str, ...], names: Sequence[str]) -> Table | None:
    """The margin by the sums of one published table, all of whose cells have one value."""
    domain = found.domain
    if not set(names) <= set(table) <= set(domain.names):
        return None
    margin = domain.project(table)
    keys, sizes = domain.project_keys(found.cells, table), np.diff(found.starts)
    filled = np.flatnonzero(sizes == domain.size // margin.size)
    filled = filled[found.low[found.kind[filled]] == found.high[found.kind[filled]]]
    if not len(filled):
        return None
    members = found.starts[filled, None] + np.arange(domain.size // margin.size)
    whole = keys[members]
    one = (whole == whole[:, :1]).all(axis=1)
    values = np.full(margin.size, -1, dtype=np.int64)
    values[whole[one, 0]] = found.low[found.kind[filled[one]]]
    if (values < 0).any():
        return None
    return Table.dense(margin, values.reshape(margin.shape)).margin(names)


def known_margin(release: Release, margin: Table) -> Evidence:
    """A margin as what is known beside a release that holds it."""
    cells = np.arange(margin.domain.size, dtype=np.int64)
    values, kind = np.unique(margin.counts.reshape(-1), return_inverse=True)
    sums = np.arange(len(cells) + 1, dtype=np.int64), cells
    laws: list[Law] = [(int(value), int(value), None) for value in values.tolist()]
    exact = CellFactors.of(margin.domain, (), sums, kind.reshape(-1).astype(np.int64), laws)
    return Evidence(release, exact, alone=True)
