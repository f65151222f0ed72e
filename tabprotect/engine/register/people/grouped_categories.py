"""Whether categories of one table are groups of those of another one, whatever they are called.

A coarser code, an upper level and other labels are seen from the counts: which categories go together so that
all sums are such as the other release leaves possible. That is a programme in whole numbers, and where it
has one solution that is the code list. Confidential: one of the tables is the original at hand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.belief.evidence import Evidence
from tabprotect.engine.register.people.stated_margins import believed_sums, exact_margin
from tabprotect.engine.release.likelihood import CellFactors, MoveSequence
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.groupings.bands import Span, span_of
from tabprotect.engine.tables.groupings.grouping import Grouping
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.table import Table

SEARCHED = 5.0
"""Seconds after which a search that has not ended counts as one that may find groups."""


_SEPARATORS = re.compile("[-+,;/&|]| and | und ")
"""What stands between the names of categories that are counted as one."""

NONE_FITS = 2
"""The solver's word for a programme without a solution."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of the categories of one table that are the categories of another.

    Attributes
    ----------
    fine, coarse
        The names of the variables.
    group
        For each category of the finer one that of the coarser, int64; ``None`` where several would do.
    mine_is_fine
        Whether the finer one is that of the original at hand.
    """

    fine: str
    coarse: str
    mine_is_fine: bool
    group: Ints | None = None


def groups_between(
    original: Table, other: Evidence, shared: Sequence[str], *, alike: bool = False
) -> list[Groups]:
    """All pairs of variables of which one may be groups of the other.

    Parameters
    ----------
    shared
        The variables that are the same in both.
    alike
        Whether only variables of one name are looked at.
    """
    own, theirs = original.domain, other.release.domain
    found = []
    for name in theirs.names:
        if name in shared or len(theirs[name].categories) < 2:
            continue
        low, high = limits_of(other, shared, name, original.total)
        for mine in own.names:
            if mine in shared or len(own[mine].categories) < 2 or (alike and mine != name):
                continue
            counts = _sums(original, shared, mine)
            if counts.shape[1] == low.shape[1] and mine != name:
                # As many under another name: that a table was renamed is seen by its marks.
                continue
            if counts.shape[1] >= low.shape[1] and (groups := _found(counts, low, high, fine=True)):
                found.append(Groups(mine, name, True, *groups))
            elif counts.shape[1] < low.shape[1] and (groups := _found(counts, low, high, fine=False)):
                found.append(Groups(name, mine, False, *groups))
    return found


def named_groups(fine: Sequence[str], coarse: Sequence[str]) -> list[list[int]] | None:
    """The finer categories that each coarser one names: ``0-9`` names ``0-4`` and ``5-9``, ``a + b`` names both.

    ``None`` where one names none, two name the same, or each is one of the finer.
    """
    spans = [span_of(one) for one in fine]

    def named(category: str) -> list[int]:
        if category in fine:
            return [fine.index(category)]
        parts, whole = {one.strip() for one in _SEPARATORS.split(category)}, span_of(category)
        if parts <= set(fine):
            return [number for number, one in enumerate(fine) if one in parts]
        return [
            n for n, one in enumerate(spans) if one is not None and whole is not None and _within(one, whole)
        ]

    found = [named(one) for one in coarse]
    every = [number for one in found for number in one]
    fits = all(found) and len(set(every)) == len(every) > len(found)
    return found if fits else None


def _within(one: Span, whole: Span) -> bool:
    """Return True if all numbers of one band are in another."""
    low = whole[0] is None or (one[0] is not None and one[0] >= whole[0])
    return low and (whole[1] is None or (one[1] is not None and one[1] <= whole[1]))


def crossed(evidence: Evidence, groups: Groups) -> bool:
    """Return True if a release shows people of one category of the finer variable in two of the coarser one.

    They are no groups, then, whatever the counts of other releases leave open.
    """
    domain = evidence.release.domain
    if groups.fine == groups.coarse or not {groups.fine, groups.coarse} <= set(domain.names):
        return False
    low, _ = limits_of(evidence, (groups.fine,), groups.coarse, evidence.release.table.total)
    return bool(((low[:-1] > 0).sum(axis=1) > 1).any())


def limits_of(evidence: Evidence, shared: Sequence[str], name: str, most: int) -> tuple[Ints, Ints]:
    """The least and the largest sums that a release leaves possible.

    Parameters
    ----------
    most
        The number of all records.

    Returns
    -------
    int64 (cells of the shared variables and one for all, categories), twice
    """
    known, whole = evidence.likelihood, evidence.likelihood.domain
    domain = whole.project((*shared, name))
    row, column = _places(domain, shared, name)
    rows, columns = int(row.max()) + 1, int(column.max()) + 1
    low, high = np.zeros((rows + 1, columns), dtype=np.int64), np.zeros((rows + 1, columns), dtype=np.int64)
    at = _places(whole, shared, name)
    for ends, of in zip((low, high), _of_cells(evidence, most), strict=True):
        np.add.at(ends, at, of)
        ends[rows] = ends[:rows].sum(axis=0)

    def narrow(cells: Ints, least: int, largest: int) -> None:
        if len(np.unique(column[cells])) != 1 or len(cells) not in (1, rows):
            return
        at = (int(row[cells[0]]) if len(cells) == 1 else rows), column[cells[0]]
        low[at], high[at] = max(low[at], least), min(high[at], largest)

    if isinstance(known, CellFactors):
        keys, each = whole.project_keys(known.cells, domain.names), whole.size // domain.size
        for number, kind in enumerate(known.kind.tolist()):
            own = keys[known.starts[number] : known.starts[number + 1]]
            cells = np.unique(own)
            if len(own) == len(cells) * each:
                narrow(cells, int(known.low[kind]), int(known.high[kind]))
    else:
        for names in ((*shared, name), (name,)):
            margin = exact_margin(evidence, names)
            if margin is not None:
                key = domain.project_keys(np.arange(domain.size), margin.domain.names)
                for cell, count in enumerate(margin.counts.reshape(-1).tolist()):
                    narrow(np.flatnonzero(key == cell), count, count)
    low[rows] = np.maximum(low[rows], low[:rows].sum(axis=0))
    high[rows] = np.minimum(high[rows], high[:rows].sum(axis=0))
    return low, np.minimum(high, most)


def _of_cells(evidence: Evidence, most: int) -> tuple[Ints, Ints]:
    """The least and the largest count of each inner cell that a release leaves possible by itself."""
    known = evidence.likelihood
    low, high = np.zeros(known.domain.size, dtype=np.int64), np.full(known.domain.size, most, dtype=np.int64)
    if isinstance(known, CellFactors):
        single = np.flatnonzero(np.diff(known.starts) == 1)
        cells, kind = known.cells[known.starts[single]], known.kind[single]
        np.maximum.at(low, cells, known.low[kind])
        np.minimum.at(high, cells, known.high[kind])
    elif isinstance(known, MoveSequence):
        steps = known.passes * np.bincount(known.moves.cells, minlength=known.domain.size)
        counts = known.published.counts.reshape(-1)
        low, high = np.maximum(counts - steps, 0), counts + steps
    return low, high


def over_groups(known: CellFactors, groups: Groups, fine: Domain) -> CellFactors:
    """Factors of the coarser variable, and of shared ones, as factors of sums of a finer table's cells."""
    assert groups.group is not None
    codes = {
        name: (name, np.arange(len(fine[name].categories)))
        for name in known.domain.names
        if name in fine.names
    }
    return over_categories(known, fine, codes | {groups.coarse: (groups.fine, groups.group)})


def summed_evidence(fine: Evidence, shared: Sequence[str], groups: Groups, coarse: Domain) -> Evidence | None:
    """What the release of a finer table tells of the sums that a coarser one has; ``None`` where one of its
    categories has no part."""
    assert groups.group is not None
    categories, domain = coarse[groups.coarse].categories, fine.likelihood.domain
    # A name that is no variable of the finer table.
    name = groups.fine + "'"
    grouping = Grouping(name, groups.fine, tuple(categories[group] for group in groups.group.tolist()))
    names = tuple(one for one in domain.names if one in shared)
    at = sum(domain.axis(one) < domain.axis(groups.fine) for one in names)
    told = believed_sums(fine, Publication(domain, ((*names[:at], name, *names[at:]),), (grouping,)))
    if set(grouping.variable.categories) != set(categories):
        return None
    places = np.array([grouping.variable.code(category) for category in categories])
    codes = {one: (one, np.arange(len(coarse[one].categories))) for one in names}
    known = told.likelihood
    assert isinstance(known, CellFactors)
    return replace(told, known=over_categories(known, coarse, codes | {name: (groups.coarse, places)}))


def over_categories(known: CellFactors, finer: Domain, codes: Mapping[str, tuple[str, Ints]]) -> CellFactors:
    """Factors over sums of the cells of another table.

    Parameters
    ----------
    codes
        For each variable of the factors the variable of the other table that determines it, and its code for
        each of the categories there.
    """
    cells = np.indices(finer.shape).reshape(finer.ndim, -1)
    of = [codes[name][1][cells[finer.axis(codes[name][0])]] for name in known.domain.names]
    key = np.ravel_multi_index(of, known.domain.shape)
    order = np.argsort(key, kind="stable").astype(np.int64)
    first = np.concatenate([[0], np.cumsum(np.bincount(key, minlength=known.domain.size))])
    members = [order[first[cell] : first[cell + 1]] for cell in known.cells.tolist()]
    added = np.concatenate([[0], np.cumsum([len(one) for one in members])]).astype(np.int64)
    every = np.concatenate(members)
    return replace(known, domain=finer, tables=(), starts=added[known.starts], cells=every, rerun=None)


def _places(domain: Domain, shared: Sequence[str], name: str) -> tuple[Ints, Ints]:
    """The row of each cell among those of the shared variables, and its category."""
    codes = np.indices(domain.shape).reshape(domain.ndim, -1)
    row = np.zeros(domain.size, dtype=np.int64)
    for one in shared:
        row = row * len(domain[one].categories) + codes[domain.axis(one)]
    return row, codes[domain.axis(name)]


def _sums(original: Table, shared: Sequence[str], name: str) -> Ints:
    """The sums of the original, and those of all, int64 (rows + 1, categories)."""
    margin = original.margin((*shared, name))
    row, column = _places(margin.domain, shared, name)
    found = np.zeros((int(row.max()) + 1, int(column.max()) + 1), dtype=np.int64)
    found[row, column] = margin.counts.reshape(-1)
    return np.concatenate([found, found.sum(axis=0, keepdims=True)])


def _found(counts: Ints, low: Ints, high: Ints, *, fine: bool) -> tuple[Ints | None] | None:
    """The groups that fit; ``(None,)`` where several do, ``None`` where none does.

    Parameters
    ----------
    counts
        Of the original; these are the finer ones if ``fine``.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    many, few = (counts.shape[1], low.shape[1]) if fine else (low.shape[1], counts.shape[1])
    # x[i, j]: category i is in group j. What is empty goes anywhere.
    filled = np.asarray((counts if fine else high).any(axis=0))
    one_each = np.kron(np.eye(many), np.ones(few))
    rules = [LinearConstraint(one_each, 1, 1)]

    def sums(of: Ints) -> Floats:
        return np.concatenate([np.kron(row, np.eye(few)) for row in of.astype(np.float64)])

    if fine:
        rules.append(LinearConstraint(sums(counts), low.reshape(-1), high.reshape(-1)))
    else:
        rules.append(LinearConstraint(sums(low), -np.inf, counts.reshape(-1)))
        rules.append(LinearConstraint(sums(high), counts.reshape(-1), np.inf))
    whole, ends = np.ones(many * few, dtype=np.int64), Bounds(0, 1)
    none = np.zeros(many * few)

    def solved(more: Sequence[LinearConstraint] = ()) -> tuple[int, Bools | None]:
        found = milp(
            none,
            integrality=whole,
            bounds=ends,
            constraints=[*rules, *more],
            options={"time_limit": SEARCHED},
        )
        return int(found.status), None if found.x is None else found.x > 0.5

    status, first = solved()
    if first is None:
        return None if status == NONE_FITS else (None,)
    # Of several that fit, those that keep the order are the code list.
    rank = np.arange(1.0, few + 1)
    in_order = LinearConstraint(np.kron(np.eye(many)[1:] - np.eye(many)[:-1], rank), 0, np.inf)
    for rule in ([], [in_order]):
        _, one = solved(rule)
        if one is None:
            break
        chosen = one.reshape(many, few) & filled[:, None]
        other = LinearConstraint(chosen.reshape(1, -1).astype(np.float64), -np.inf, chosen.sum() - 1)
        if solved([*rule, other])[0] == NONE_FITS:
            return (np.asarray(one.reshape(many, few).argmax(axis=1), dtype=np.int64),)
    return (None,)
