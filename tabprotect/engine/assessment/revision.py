"""Two vintages of one table: the changes, and what their releases disclose about them.

A person who comes or goes changes one cell by one. Where readers learn such a small change they
learn about that person, although both releases by themselves keep every small count hidden: the sums
that both publish exactly differ by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.belief.believing import believe
from tabprotect.engine.belief.evidence import RELEASE_ALONE, Evidence
from tabprotect.engine.budgets import BELIEF_LIMIT
from tabprotect.engine.errors import InputError
from tabprotect.engine.plain_values.encoding import Encodable
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.release.exact_margins import exact_sums
from tabprotect.engine.release.likelihood import Likelihood
from tabprotect.engine.release.release import Release
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import joined, message

MOST_PAIRED = 10**8
"""Most counts over all pairs of an earlier and a later original."""


EACH_PERSON = 0.01
"""Odds that a reader who expects few changes gives to one more person who came or went."""


@dataclass(frozen=True)
class CellChange(Encodable):
    """A cell whose true count changed. Confidential.

    Attributes
    ----------
    index, labels
        The cell.
    old, new
        Its true counts.
    singles_out
        Whether the change is that of a few people, and known.
    published
        The difference of the published counts; ``None`` where either has none.
    belief
        The belief in the true change of a reader who takes the vintages as unrelated; ``None``
        without releases.
    belief_few_changes
        The belief of a reader who expects few people to have come or gone; ``None`` where there are
        too many pairs of originals.
    """

    index: Index
    labels: tuple[str, ...]
    old: int
    new: int
    singles_out: bool
    published: int | None = None
    belief: float | None = None
    belief_few_changes: float | None = None
    json_keys = "index labels old new change published_change=published belief belief_few_changes singles_out"

    @property
    def change(self) -> int:
        """Return how many more people there are."""
        return self.new - self.old


@dataclass(frozen=True)
class SumChange(Encodable):
    """A cell of a margin that both releases publish exactly, and that changed. Public.

    Attributes
    ----------
    names, labels
        The margin's variables and the cell's categories; none for the grand total.
    change
        How many more people there are.
    singles_out
        Whether it is a change of a few people.
    """

    names: tuple[str, ...]
    labels: tuple[str, ...]
    change: int
    singles_out: bool
    json_keys = "table=names cell=labels change singles_out"


@dataclass(frozen=True)
class Revision:
    """The changes between two vintages, and what readers learn of them. Confidential.

    Attributes
    ----------
    cells
        Every cell whose true count changed.
    sums
        Every changed sum that both releases publish exactly; none without releases.
    way
        How the beliefs were found; empty without releases.
    note
        What was left out, in words.
    """

    cells: tuple[CellChange, ...]
    sums: tuple[SumChange, ...] = ()
    way: str = ""
    note: str = ""

    @property
    def came(self) -> int:
        """People more, summed over the cells with more."""
        return sum(max(cell.change, 0) for cell in self.cells)

    @property
    def went(self) -> int:
        """People fewer, summed over the cells with fewer."""
        return sum(max(-cell.change, 0) for cell in self.cells)


def revision(
    old: Table,
    new: Table,
    releases: tuple[Release, Release] | None = None,
    *,
    rule: SmallCount,
    progress: Progress = SILENT,
) -> Revision:
    """Compare two originals of one domain.

    Parameters
    ----------
    releases
        The releases of the old and of the new original. Without them the tables are taken as
        published unchanged.
    rule
        The sizes of a change that singles out a few people.

    Raises
    ------
    InputError
        When the tables or the releases have different variables.
    InfeasibleError
        When there is no posterior of a release.
    """
    new = aligned(new, old.domain)
    cells = _changed_cells(old, new, rule)
    if releases is None:
        return Revision(cells)
    earlier, later = (Evidence(release) for release in releases)
    if any(one.likelihood.domain != old.domain for one in (earlier, later)):
        raise InputError(
            message("a release is of a table with other variables"),
            hint=message("give the releases of these very tables, the old one's first"),
        )
    before, after = (
        believe([one], knowing=RELEASE_ALONE, progress=progress).posterior for one in (earlier, later)
    )
    together = _few_changes(before, after, progress)
    ways = {before.way, after.way}
    notes = dict.fromkeys(filter(None, (before.note, after.note)))
    return Revision(
        tuple(_as_read(cell, before, after, together) for cell in cells),
        _changed_sums(old.domain, (earlier.likelihood, later.likelihood), rule),
        "exact" if ways == {"exact"} else "monte_carlo",
        joined(notes, " "),
    )


def aligned(table: Table, domain: Domain) -> Table:
    """The same table with its variables and categories in the order of a domain.

    Raises
    ------
    InputError
        When it has other variables or categories.
    """
    if table.domain == domain:
        return table
    same = set(table.domain.names) == set(domain.names) and all(
        set(table.domain[name].categories) == set(domain[name].categories) for name in domain.names
    )
    if not same:
        raise InputError(
            message("the two tables have other variables or categories"),
            hint=message("only tables of one domain can be compared cell by cell"),
        )
    keys, counts = table.cells
    index = np.unravel_index(keys, table.domain.shape)
    places = []
    for variable in domain.variables:
        mine = table.domain.axis(variable.name)
        move = np.array([variable.code(c) for c in table.domain.variables[mine].categories])
        places.append(move[index[mine]])
    return Table.sparse(domain, np.ravel_multi_index(tuple(places), domain.shape), counts)


def _few(rule: SmallCount, change: int) -> bool:
    return bool(rule.low <= abs(change) <= rule.high)


def _changed_cells(old: Table, new: Table, rule: SmallCount) -> tuple[CellChange, ...]:
    """Every cell whose count changed, as if both tables were published unchanged."""
    cells = []
    for place in np.argwhere(new.counts != old.counts):
        index = tuple(map(int, place))
        was, now = int(old.counts[index]), int(new.counts[index])
        few = _few(rule, now - was)
        cells.append(CellChange(index, old.domain.labels(index), was, now, few))
    return tuple(cells)


def _as_read(
    cell: CellChange, before: Posterior, after: Posterior, together: Mapping[tuple[int, int], float] | None
) -> CellChange:
    """A change as readers of both releases see it."""
    belief = _unrelated(before, after, cell.index, cell.change)
    place = before.domain.flat(cell.index), cell.change
    paired = None if together is None else together.get(place, 0.0)
    known = max(belief, paired or 0.0) > BELIEF_LIMIT
    published = (before.published_count(cell.index), after.published_count(cell.index))
    return replace(
        cell,
        singles_out=known and cell.singles_out,
        published=None if None in published else int(published[1] or 0) - int(published[0] or 0),
        belief=belief,
        belief_few_changes=paired,
    )


def _unrelated(before: Posterior, after: Posterior, index: Index, change: int) -> float:
    """P(change of a cell) from the two posteriors alone."""
    values, chances = before.distribution(index)
    later, theirs = after.distribution(index)
    shared, mine, other = np.intersect1d(values + change, later, return_indices=True)
    return float((chances[mine] * theirs[other]).sum()) if len(shared) else 0.0


def _few_changes(
    before: Posterior, after: Posterior, progress: Progress
) -> Mapping[tuple[int, int], float] | None:
    """P(change) of each cell for a reader who expects few people to have come or gone.

    Every pair of an earlier and a later original is tried; ``None`` where there are too many.
    """
    earlier, later = before.list_originals(), after.list_originals()
    if earlier is None or later is None:
        return None
    (old, weights), (new, others) = earlier, later
    if len(old) * len(new) * old.shape[1] > MOST_PAIRED:
        return None
    reach = int(max(new.max(initial=0) - old.min(initial=0), old.max(initial=0)))
    cells = old.shape[1]
    width = 2 * reach + 1
    mass: Floats = np.zeros(cells * width)
    base: Ints = np.arange(cells) * width + reach
    for number, (table, weight) in enumerate(zip(old, weights, strict=True)):
        progress.report(message("pairing the originals"), number / len(old))
        change = new - table
        each = weight * others * EACH_PERSON ** np.abs(change).sum(axis=1)
        place = (change + base).reshape(-1)
        mass += np.bincount(place, weights=np.repeat(each, cells), minlength=len(mass))
    total = float(mass[:width].sum())
    found = np.flatnonzero(mass)
    return {(int(at) // width, int(at) % width - reach): float(mass[at]) / total for at in found.tolist()}


def _changed_sums(
    domain: Domain, releases: tuple[Likelihood, Likelihood], rule: SmallCount
) -> tuple[SumChange, ...]:
    before, after = (exact_sums(likelihood) for likelihood in releases)
    out = []
    for (names, key), value in before.items():
        change = after.get((names, key), value) - value
        if change:
            margin = domain.project(names)
            labels = margin.labels(margin.unflat(key)) if names else ()
            out.append(SumChange(names, labels, change, _few(rule, change)))
    return tuple(out)
