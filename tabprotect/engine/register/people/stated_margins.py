"""Margins of releases: what is stated of them, what is believed, as evidence, and what a verdict judges of them.
Confidential no more than the releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.effort import LEAST_EFFECTIVE, VERDICT
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence, OfRelease
from tabprotect.engine.disclosure.cell_beliefs import EXACT_SUMS, TableBelief, as_belief, judged_tables
from tabprotect.engine.equal_rows import members
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.margins import SUMS_DRAWS, Laws, known_laws, laws_of, sums
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.protection.subtables import groupings_of
from tabprotect.engine.release.likelihood import (
    CellFactors,
    ExchangeSteps,
    RecordSwaps,
    SwappedFirst,
    each_cell,
)
from tabprotect.engine.release.published_numbers import Law
from tabprotect.engine.release.release import Release
from tabprotect.engine.release.verdict_figures import JudgedBy
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message

NOTHING_TOLD = 1e-6
"""Differences of chances that tell nothing."""

MOST_ADDED = 2**25
"""Counts of drawn originals that are added up: a second or so."""


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


def told_by_others(evidence: Evidence, own: CellFactors, beside: TableBelief, cells: Ints) -> Evidence | None:
    """What others tell of a margin, beyond the release itself; ``None`` where that is nothing.

    Parameters
    ----------
    own
        What the release tells of each cell of the margin by itself.
    beside
        What is believed of these cells beside the others.
    cells : int64 (cells of the margin,)
        The place of each of them there.
    """
    assert beside.rows is not None
    group, first, chances = beside.rows
    laws, told = list[Law](), False
    for cell, at in enumerate(cells.tolist()):
        low, high = int(own.low[own.kind[cell]]), int(own.high[own.kind[cell]])
        start = own.log_starts[own.kind[cell]]
        alone = np.exp(own.logs[start : start + high - low + 1])
        column = np.arange(low, high + 1) - first[at]
        inside = (column >= 0) & (column < chances.shape[1])
        both = np.where(inside, chances[group[at], np.where(inside, column, 0)], 0.0)
        # What is drawn may by chance not meet a count.
        both += alone * min(beside.error, 1.0)
        told |= bool(
            np.abs(both / both.sum() - alone / alone.sum()).max() > max(NOTHING_TOLD, 3 * beside.error)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(alone > 0, np.log(both) - np.log(alone), -np.inf)
        met = np.flatnonzero(logs > -np.inf)
        laws.append((low + int(met[0]), low + int(met[-1]), logs[met[0] : met[-1] + 1]))
    if not told:
        return None
    every = np.arange(own.domain.size, dtype=np.int64)
    return Evidence(
        evidence.release, CellFactors.of(own.domain, (), each_cell(own.domain), every, laws), alone=True
    )


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


def exact_margins(evidence: Evidence, names: Sequence[str]) -> Iterable[Table]:
    """The margins that a release states whole, the largest ones."""
    found: list[set[str]] = []
    for size in range(len(names), -1, -1):
        for some in combinations(names, size):
            if any(set(some) <= other for other in found):
                continue
            margin = exact_margin(evidence, some)
            if margin is not None:
                found.append(set(some))
                yield margin


def stated_factors(domain: Domain, margin: Table) -> CellFactors:
    """The sums of a margin, as factors."""
    key = domain.project_keys(np.arange(domain.size, dtype=np.int64), margin.domain.names)
    cells = np.argsort(key, kind="stable").astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=margin.domain.size))]).astype(np.int64)
    values, kind = np.unique(margin.counts.reshape(-1), return_inverse=True)
    laws: list[Law] = [(value, value, None) for value in values.tolist()]
    return CellFactors.of(domain, (), (starts, cells), kind.reshape(-1).astype(np.int64), laws)


def no_factors(domain: Domain) -> CellFactors:
    none = np.zeros(0, dtype=np.int64)
    return CellFactors.of(domain, (), (np.zeros(1, dtype=np.int64), none), none, [])


def certain_counts(table: Table) -> tuple[Ints, Ints, Floats]:
    """The rows of beliefs about a table that everybody knows."""
    counts = table.counts.reshape(-1)
    return np.zeros(len(counts), dtype=np.int64), counts, np.ones((1, 1))


def places_among(domain: Domain, shared: Domain) -> Ints:
    """The cells of a domain among those of one that has all its categories, int64 (cells,)."""
    codes = np.unravel_index(np.arange(domain.size), domain.shape)
    there = []
    for variable in shared.variables:
        axis = domain.axis(variable.name)
        place = {name: code for code, name in enumerate(variable.categories)}
        own = np.array([place[name] for name in domain.variables[axis].categories])
        there.append(own[codes[axis]])
    return np.asarray(np.ravel_multi_index(there, shared.shape), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PublishedSums:
    """A published table of sums of the cells that several releases share.

    Attributes
    ----------
    domain
        The variables of the sums.
    keys : int64 (shared cells,)
        The sum that each is in; -1 where the release counts nobody.
    judged : bool (sums,)
        The sums that a verdict on the release judges: those that are drawn, and the hidden ones.
    """

    domain: Domain
    keys: Ints
    judged: Bools

    @classmethod
    def of_cells(cls, domain: Domain) -> PublishedSums:
        """The cells of a table, all judged."""
        return cls(domain, np.arange(domain.size), np.ones(domain.size, dtype=np.bool_))

    def placed(self, held: Sequence[Ints], size: int) -> PublishedSums:
        """The same of the cells of a finer table, of which each of these cells holds some."""
        keys = np.full(size, -1)
        for key, cells in zip(self.keys.tolist(), held, strict=True):
            keys[cells] = key
        return replace(self, keys=keys)

    def among(self, cells: Ints) -> PublishedSums:
        """The same of some cells alone."""
        keys = np.full(len(self.keys), -1)
        keys[cells] = self.keys[cells]
        return replace(self, keys=keys)

    @property
    def cells(self) -> list[Ints]:
        """The shared cells of each sum."""
        there = np.flatnonzero(self.keys >= 0)
        return [there[own] for own in members(self.keys[there], self.domain.size)]

    def ends(self, known: CellFactors, of_cells: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
        """The least and the most of each sum, as far as each number by itself tells.

        Parameters
        ----------
        known
            What is told of sums of the cells.
        of_cells : int64 (cells,)
            The ends of each of them.
        """
        cells = self.cells
        low, high = (np.array([ends[some].sum() for some in cells], dtype=np.int64) for ends in of_cells)
        place = {some.tobytes(): at for at, some in enumerate(cells)}
        for number, ends in enumerate(zip(*known.ends, strict=True)):
            some = np.sort(known.cells[known.starts[number] : known.starts[number + 1]])
            if (at := place.get(some.tobytes())) is not None:
                low[at], high[at] = max(low[at], ends[0]), min(high[at], ends[1])
        return low, high

    def added_up(self, tables: Ints) -> Ints:
        """The sums of tables over the shared cells, int64 (tables, sums)."""
        each = [tables[:, cells].sum(axis=1) for cells in self.cells]
        return np.stack(each, axis=1)

    def belief(self, laws: Laws, way: JudgedBy, error: float) -> TableBelief:
        """A belief by the laws of the sums, and the standard error of a chance, 0 of exact ones."""
        if error and way == "exact":
            way = "exact_draws"
        rows = np.arange(self.domain.size), *laws
        draws = 0.25 / error**2 if error else None
        return TableBelief(self.domain, False, self.judged, rows, way, error=error, draws=draws)


def published_sums(release: Release, shared: Domain) -> Iterator[PublishedSums]:
    """The tables of a release that add up cells of a domain that has all categories of its variables."""
    whole, judged = release.domain, dict(judged_tables(release))
    domain = whole.project(shared.names)
    own = whole.project_keys(np.arange(whole.size, dtype=np.int64), domain.names)
    groupings = groupings_of(whole, release.mechanism.parameters)
    for number, published in enumerate(release.tables):
        table = published.table.domain
        key = Publication(whole, (table.names,), groupings).keys(0)
        added = np.zeros(domain.size, dtype=np.int64)
        added[own] = key
        if table.size >= domain.size or (added[own] != key).any():
            # The cells themselves, or a table of other variables.
            continue
        keys = np.full(shared.size, -1)
        keys[places_among(domain, shared)] = added
        some = judged[number] if number in judged else np.zeros(table.size, dtype=np.bool_)
        yield PublishedSums(table, keys, np.ones(table.size, dtype=np.bool_) if some is None else some)


def believed_of(
    found: Posterior, cells: Sequence[Ints], chance: OfRelease, way: JudgedBy
) -> tuple[Laws, JudgedBy, float]:
    """The laws of sums of some cells of a posterior each, how they were found, and the standard error of a chance,
    0 of exact ones.

    Parameters
    ----------
    way
        How the posterior was found.

    Raises
    ------
    InfeasibleError
        Where they would follow from too few draws.
    """
    exact, recorded = known_laws(found, cells, EXACT_SUMS)
    if exact is not None:
        return exact, way, 0.0
    if recorded is not None:
        return recorded, way, found.error or 0.0
    listed = found.list_originals() if found.way == "exact" else None
    number = min(SUMS_DRAWS, MOST_ADDED // found.domain.size)
    if listed is None or len(listed[1]) * found.domain.size > MOST_ADDED:
        worth = float(number) if found.independent else min(number, found.effective_sample_size or number)
        if worth < LEAST_EFFECTIVE:
            raise InfeasibleError(message("so few as {draws:,} drawn originals say too little", int(worth)))
        tables = found.draw_originals(number, chance.generator(), SILENT)
        weights, error = np.full(number, 1 / number), 0.5 / worth**0.5
    else:
        (tables, weights), error = listed, 0.0
    added = np.stack([tables[:, some].sum(axis=1) for some in cells], axis=1)
    return laws_of(added, weights), way, error


def cells_and_sums(
    found: Posterior, published: Iterable[PublishedSums], chance: OfRelease
) -> list[TableBelief]:
    """What a posterior says of its cells, and of those published sums of them that are judged.

    Raises
    ------
    InfeasibleError
        Where sums would follow from too few draws.
    """
    cells = as_belief(found, inner=True, judged=None)
    judged = (one for one in published if one.judged.any())
    return [cells, *(one.belief(*believed_of(found, one.cells, chance, cells.way)) for one in judged)]


def sums_of_rest(members: Sequence[Sequence[PublishedSums]]) -> Iterator[PublishedSums]:
    """The sums of a rest that follow from sums that several releases publish, not all of them exact.

    Parameters
    ----------
    members
        The published sums of each, of the largest first.
    """
    first, *others = members
    for one in first:
        names = one.domain.names
        alike = [next((each for each in other if each.domain.names == names), None) for other in others]
        if all(alike) and any(each.judged.any() for each in (one, *filter(None, alike))):
            yield replace(one, judged=np.ones(one.domain.size, dtype=np.bool_))
