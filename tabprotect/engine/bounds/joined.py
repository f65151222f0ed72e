"""Tables of the same records that share only margins, joined in one table with all as margins.

Where the tables come apart as a tree, each is laid along what is there by the north-west corner rule
(Dantzig, Linear programming and extensions, 1963, section 14.2) within every cell that both have;
else an integer programme finds such a table. Its other sums are one possibility among many:
whatever follows from the tables' own sums alone (bounds, suppression, rounding) is that of the true
table, and nothing else of it may be published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import combinations

import numpy as np

from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.programme import LARGEST_TOTAL
from tabprotect.engine.errors import InfeasibleError, InputError, TooLargeError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.solver import Entries, whole_table
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table, better_sparse
from tabprotect.engine.tables.variable import Variable
from tabprotect.languages.messages import message, plural

JOINED_CELLS = 100_000
"""Most cells of files that do not come apart and are joined by an integer programme."""


def joined_table(tables: Mapping[str, Table], progress: Progress = SILENT) -> Table:
    """One table with all of these as margins.

    Parameters
    ----------
    tables
        By name. A variable that is named as a level of another table's (``region@nuts2``) is that
        level.

    Raises
    ------
    InputError
        Where two tables have different counts in a shared cell (which is named), or no table of
        whole counts has all of them as margins.
    TooLargeError
        Where they do not come apart and have too many cells for an integer programme.
    """
    domain, parts = _aligned(tables)
    waiting = list(parts.values())
    whole = waiting.pop(0)
    while waiting:
        beside = max(waiting, key=lambda table: len(common_margin(whole.domain, table.domain)))
        shared = common_margin(whole.domain, beside.domain)
        if not _same(whole.margin(shared), beside.margin(shared)):
            return _solved(domain, list(parts.values()), progress)
        whole = _along(whole, beside, shared, domain)
        waiting.remove(beside)
    return whole if better_sparse(domain, len(whole.cells[0])) else Table.dense(domain, whole.counts)


def stacked_table(tables: Mapping[str, Table], by: str) -> Table:
    """One table of tables of the same variables, each of them the people of one category of a further variable.

    Parameters
    ----------
    tables
        By category.
    by
        The name of the variable.

    Raises
    ------
    InputError
        Where they have not the same variables, or one of this name.
    """
    parts = list(tables.items())
    for name, table in parts:
        if set(table.domain.names) != set(parts[0][1].domain.names) or by in table.domain.known_names:
            raise InputError(
                message("not a table of the people of one category of {by}", repr(by)),
                file=name,
                hint=message("the tables of all parts have the same variables, and {by} is none of them", by),
            )
    variables = _domain([table for _, table in parts]).variables
    domain = Domain((*variables, Variable(by, tuple(tables))))
    keys = [_over(table, domain, name).cells for name, table in parts]
    places = [own * len(parts) + number for number, (own, _) in enumerate(keys)]
    return Table.sparse(domain, np.concatenate(places), np.concatenate([counts for _, counts in keys]))


def common_margin(one: Domain, two: Domain) -> tuple[str, ...]:
    """The margin that two tables have in common, over the variables that both know."""
    return one.tidy(
        [
            *(name for name in two.names if name in one.known_names),
            *(name for name in one.names if name in two.known_names),
        ]
    )


def check_common(tables: Mapping[str, Table]) -> None:
    """Refuse tables that have different counts in a shared cell.

    Raises
    ------
    InputError
        Naming the first such cell.
    """
    _aligned(tables)


def _aligned(tables: Mapping[str, Table]) -> tuple[Domain, dict[str, Table]]:
    """The joined domain, and each table over its variables, after checking what they share."""
    domain = _domain(list(tables.values()))
    parts = {name: _over(table, domain, name) for name, table in tables.items()}
    for one, two in combinations(parts, 2):
        shared = common_margin(parts[one].domain, parts[two].domain)
        _check_same(parts[one].margin(shared), parts[two].margin(shared), one, two)
    return domain, parts


def _check_same(a: Table, b: Table, one: str, two: str) -> None:
    if _same(a, b):
        return
    (ours, counts), (theirs, others) = a.cells, b.cells
    differ = sorted(
        set(zip(ours.tolist(), counts.tolist(), strict=True))
        ^ set(zip(theirs.tolist(), others.tolist(), strict=True))
    )
    cells = list(dict.fromkeys(key for key, _ in differ))
    raise InputError(
        plural(
            len(cells),
            "{cells:,} of {size:,} common cells is counted otherwise than in {one}",
            "{cells:,} of {size:,} common cells are counted otherwise than in {one}",
            len(cells),
            a.domain.size,
            one,
        ),
        file=two,
        cell=a.domain.cell_text(a.domain.unflat(cells[0])) if a.domain.ndim else message("the total"),
        hint=message("tables of a set are of the same records"),
    )


def _same(one: Table, two: Table) -> bool:
    return all(map(np.array_equal, one.cells, two.cells))


def _domain(tables: Sequence[Table]) -> Domain:
    """All variables, each with the categories of all tables and the levels of any of them."""
    found: dict[str, list[Variable]] = {}
    for variable in (v for table in tables for v in table.domain.variables):
        found.setdefault(variable.name, []).append(variable)
    levels = {name for variables in found.values() for v in variables for name in v.named}
    variables = [_one(same) for name, same in found.items() if name not in levels]
    names = {v.name for v in variables}
    stated = [
        zero
        for table in tables
        for zero in table.domain.structural
        if names >= {name for name, _ in zero.where}
    ]
    return Domain(tuple(variables)).with_structural(stated)


def _one(same: Sequence[Variable]) -> Variable:
    every = dict.fromkeys(c for v in same for c in v.categories)
    whole = [v for v in same if len(v.categories) == len(every)]
    if whole:
        return max(whole, key=lambda v: len(v.coarser))
    if any(v.coarser for v in same):
        raise InputError(
            message("no file has all categories of {name}", repr(same[0].name)),
            hint=message("the file with its levels must list every category"),
        )
    return Variable(same[0].name, tuple(every))


def _over(table: Table, domain: Domain, name: str) -> Table:
    """The table over variables of the whole, in its order and with its categories."""
    names = table.domain.names
    own = domain.project(names)
    if own.ndim < len(names):
        raise InputError(
            message("two of its variables tell each other"), file=name, hint=message("leave one out")
        )
    codes, counts = table.listed
    by_name: dict[str, Ints] = {}
    for variable, column in zip(table.domain.variables, codes, strict=True):
        target = domain[variable.name]
        unknown = set(variable.categories) - set(target.categories)
        if unknown:
            raise InputError(
                message("{unknown} is no group of {name}", repr(sorted(unknown)[0]), repr(variable.name)),
                file=name,
                hint=message("name groups as the file with the levels does"),
            )
        numbers = np.array([target.code(c) for c in variable.categories], dtype=np.int64)
        by_name[target.name] = numbers[column]
    return Table.sparse(own, _keys(own, [by_name[n] for n in own.names], len(counts)), counts)


def _keys(domain: Domain, codes: Sequence[Ints], cells: int) -> Ints:
    keys = np.zeros(cells, dtype=np.int64)
    for size, column in zip(domain.shape, codes, strict=True):
        keys = keys * size + column
    return keys


def _along(whole: Table, beside: Table, shared: Sequence[str], domain: Domain) -> Table:
    """Join two tables in order within every shared cell, where their counts have equal sums."""
    taken = []
    for table in (whole, beside):
        keys, counts = table.cells
        order = np.argsort(table.domain.project_keys(keys, shared), kind="stable")
        ends = np.cumsum(counts[order])
        codes = zip(table.domain.names, table.listed[0], strict=True)
        taken.append((ends, {name: np.asarray(c[order], dtype=np.int64) for name, c in codes}))
    (ends, mine_of), (other_ends, theirs_of) = taken
    cuts = np.union1d(ends, other_ends)
    mine: Ints = np.searchsorted(ends, cuts)
    theirs: Ints = np.searchsorted(other_ends, cuts)
    over = domain.project([*whole.domain.names, *beside.domain.names])
    columns = [mine_of[n][mine] if n in mine_of else theirs_of[n][theirs] for n in over.names]
    return Table.sparse(over, _keys(over, columns, len(cuts)), np.diff(cuts, prepend=0))


def _solved(domain: Domain, parts: Sequence[Table], progress: Progress) -> Table:
    """Join by an integer programme over the cells that no part says are empty."""
    hint = message("count the records by all variables, or leave out a file")
    if domain.size > JOINED_CELLS or parts[0].total > LARGEST_TOTAL:
        raise TooLargeError(
            message("the files do not come apart, and {size:,} cells are too many to be joined", domain.size),
            hint=hint,
        )
    keys = np.arange(domain.size, dtype=np.int64)
    keys = keys[~domain.structural_cells(keys)]
    for part in parts:
        keys = keys[part.counts.reshape(-1)[domain.project_keys(keys, part.domain.names)] > 0]
    rows, totals, sums = [], [], 0
    most = np.full(len(keys), LARGEST_TOTAL)
    for part in parts:
        held, counts = part.cells
        of = np.searchsorted(held, domain.project_keys(keys, part.domain.names))
        most = np.minimum(most, counts[of])
        rows.append(of + sums)
        totals.append(counts)
        sums += len(held)
    point = None
    with suppress(InfeasibleError):
        if len(keys):
            point = whole_table(
                Entries.adding_up(np.column_stack(rows)),
                sums=(np.concatenate(totals),) * 2,
                cells=(np.zeros(len(keys)), most),
                progress=progress,
                stage=message("joining the files"),
            )
    if point is not None:
        found = Table.dense(domain, Table.sparse(domain, keys, point).counts)
        if all(_same(found.margin(part.domain.names), part) for part in parts):
            return found
    raise InputError(message("no table of whole counts has all the files as its margins"), hint=hint)
