"""Bounds of cells under any release, and whether a release is safe.

The cheapest way that is exact is taken: the closed form where the release comes apart into
single margins; else the shuttle, linear programmes and integer programmes on what does not come
apart, each only for the cells that are still open.

Source: Dobra, Karr, Sanil and Fienberg 2002, section 4 (releasable when the smallest width of
the at-risk cells is at least beta).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tabprotect.engine import solver
from tabprotect.engine.arrays import Ints
from tabprotect.engine.bounds.bounds import Bounds, Method
from tabprotect.engine.bounds.enclosure import Enclosure
from tabprotect.engine.bounds.support import SUPPORT_CELLS
from tabprotect.engine.errors import InputError, ParameterError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.tables.margins import MarginSet, maximal_margins
from tabprotect.engine.tables.table import Table
from tabprotect.engine.ways_to_bound import BOUNDS_WAYS, BoundsWay
from tabprotect.languages.messages import message, plural

MOST_LISTED = 5_000_000
"""Most cells that `cells="all"` lists."""

AUTO_INTEGER_CELLS = 1_500
"""Most open cells for which `auto` solves integer programmes; beyond, one takes minutes."""

HURRIED_INTEGER_CELLS = 100
"""The same where the work is limited."""

AUTO_NODES = 5_000
"""Branch-and-bound nodes `auto` spends on one end of one interval."""

MOST_CELLS = 20_000
"""Most open cells in a programme; at that size a cell takes about a tenth of a second."""

Verdict = Literal["safe", "bad", "unknown"]

CellChoice = Literal["all"] | tuple[int, int] | Ints
"""All cells, those whose counts lie between two, or mixed-radix keys (m,)."""

AT_RISK = (1, 2)
"""Counts that are at risk when nothing else is said."""


TOO_LARGE = message(" The release leaves too many cells open, or too large counts, to solve for it.")

Step = Literal["shuttle", "neighbours", "lp", "integer"]

_STEPS: dict[str, tuple[Step, ...]] = {
    "auto": ("shuttle", "neighbours", "lp", "integer"),
    "decomposable": (),
    "shuttle": ("shuttle",),
    "lp": ("lp",),
    "integer": ("lp", "integer"),
}

_STAGES: dict[Step, str] = {
    "shuttle": message("shuttle algorithm"),
    "neighbours": message("tables near the original"),
    "lp": message("linear programmes"),
    "integer": message("integer programmes"),
}


@dataclass(frozen=True, eq=False)
class WidthResult:
    """The smallest width of the cells that matter. Confidential.

    Attributes
    ----------
    width
        Smallest upper minus lower bound; an upper limit of it where not ``exact``.
    exact
        Whether ``width`` is proven to be the true one.
    method
        The strongest way that was needed.
    verdict
        Against beta: ``safe`` (proven: every width is at least beta), ``bad`` (proven: one is
        not), ``unknown`` (not proven safe, which refuses); ``None`` without a beta.
    tight
        The bounds of those too tight cells that were met; without a beta, of the cells with the
        smallest width.
    why
        In a sentence, for people.
    """

    width: int
    exact: bool
    method: Method
    verdict: Verdict | None
    tight: Bounds
    why: str


def bounds(
    table: Table,
    release: Sequence[Sequence[str]],
    *,
    cells: CellChoice = "all",
    method: BoundsWay = "auto",
    progress: Progress = SILENT,
) -> Bounds:
    """Lower and upper bounds of cells, given released margins.

    Parameters
    ----------
    table
        The original, dense or sparse.
    release
        Released margins by variable names; ``()`` among them is the grand total.
    cells
        ``"all"``, the smallest and largest count at risk, or mixed-radix keys (m,).
    method
        See ``BOUNDS_WAYS``.

    Raises
    ------
    InputError
        For an empty release, unknown or repeated variables, negative counts, no at-risk cell,
        too many cells to list.
    ParameterError
        For an unknown method, or ``decomposable`` where the release is not.
    Interrupted
        When cancelled.
    """
    search = Search(method)
    enclosure = _enclosure(table, release, cells, search, progress)
    if method == "decomposable" and enclosure.kernels:
        raise ParameterError(
            {"bounds": message("the released margins are not decomposable: there is no closed form")},
            hint=message("take auto"),
        )
    for step in _STEPS[method]:
        if step == "shuttle":
            enclosure.tighten(progress)
        elif _can(enclosure, step, search):
            waiting = np.flatnonzero(~enclosure.sharp())
            _, first = np.unique(enclosure.alike[waiting], return_index=True)
            for done, cell in enumerate(waiting[np.sort(first)]):
                progress.report(_STAGES[step], done / len(first))
                _refine(enclosure, int(cell), step, search, None, progress)
    return _result(enclosure)


@dataclass(frozen=True)
class Search:
    """The way that bounds are sought, and the work that it may take.

    Attributes
    ----------
    way
        See ``BOUNDS_WAYS``.
    most_open
        Parts of the release that leave more cells open are not looked at closely.
    most_work
        Nominal microseconds: no further cell is looked at closely once programmes have cost that,
        and under such a limit no integer programmes are solved that can be slow.
    """

    way: BoundsWay = "auto"
    most_open: int = SUPPORT_CELLS
    most_work: float = math.inf

    def most_cells(self, step: Step) -> int:
        """Most open cells for which a step solves programmes."""
        if self.way != "auto" or step != "integer":
            return MOST_CELLS
        return AUTO_INTEGER_CELLS if self.most_work == math.inf else HURRIED_INTEGER_CELLS


THOROUGH = Search()
"""The cheapest exact way, for as long as it takes."""


def width(
    table: Table,
    release: Sequence[Sequence[str]],
    *,
    cells: CellChoice = AT_RISK,
    beta: int | None = None,
    search: Search = THOROUGH,
    progress: Progress = SILENT,
) -> WidthResult:
    """The smallest width of some cells, and whether the release is safe at beta.

    Only the cells that can be the tightest are looked at closely. With a ``beta``, work stops as
    soon as the release is proven safe or bad: the width is then an upper limit of the true one
    unless ``exact``.

    The other parameters and the errors are those of :func:`bounds`, but that ``decomposable`` on a
    release that is not leaves the verdict unknown.
    """
    end = solver.solver_work() + search.most_work
    enclosure = _enclosure(table, release, cells, search, progress)
    for step in _STEPS[search.way]:
        if step == "shuttle":
            enclosure.tighten(progress)
        elif _can(enclosure, step, search):
            _narrow(enclosure, step, search, beta, end, progress)
        if _decided(*_widths(enclosure), beta):
            break
    outer, inner = _widths(enclosure)
    smallest = int(outer.min())
    exact = smallest == int(inner.min())
    verdict: Verdict | None = None
    tight = outer == smallest
    if beta is not None:
        verdict = "bad" if smallest < beta else "safe" if int(inner.min()) >= beta else "unknown"
        tight = outer < beta
    return WidthResult(
        smallest,
        exact,
        enclosure.method,
        verdict,
        _result(enclosure).only(tight),
        _sentence(verdict, smallest, beta, enclosure, exact),
    )


def _narrow(
    enclosure: Enclosure, step: Step, search: Search, beta: int | None, end: float, progress: Progress
) -> None:
    """Solve for the tightest cells until the smallest width, or the verdict, is known."""
    tried = np.zeros(len(enclosure.cells), dtype=np.bool_)
    while True:
        outer, inner = _widths(enclosure)
        if _decided(outer, inner, beta):
            return
        goal = int(outer.min()) if beta is None else beta
        waiting = np.flatnonzero(~tried & (inner < goal) & (inner < outer))
        if not len(waiting) or solver.solver_work() >= end:
            return
        cell = int(waiting[np.argmin(outer[waiting])])
        progress.report(_STAGES[step], 1 - len(waiting) / len(tried))
        _refine(enclosure, cell, step, search, goal, progress)
        tried[enclosure.alike == enclosure.alike[cell]] = True


def _widths(enclosure: Enclosure) -> tuple[Ints, Ints]:
    """The widths of the outer and of the inner bounds (m,)."""
    (low, high), (least, most) = enclosure.outer(), enclosure.inner()
    return high - low, most - least


def _decided(outer: Ints, inner: Ints, beta: int | None) -> bool:
    if beta is None:
        return int(outer.min()) == int(inner.min())
    return int(outer.min()) < beta or int(inner.min()) >= beta


def _can(enclosure: Enclosure, step: Step, search: Search) -> bool:
    """Return True if a step after the shuttle has anything small enough to work on."""
    return enclosure.walkable if step == "neighbours" else enclosure.solvable(search.most_cells(step))


def _refine(
    enclosure: Enclosure, cell: int, step: Step, search: Search, goal: int | None, progress: Progress
) -> None:
    if step == "neighbours":
        enclosure.walk(cell, goal)
        return
    enclosure.solve(
        cell,
        integral=step == "integer",
        most_cells=search.most_cells(step),
        most_nodes=AUTO_NODES if search.way == "auto" else None,
        progress=progress,
        stage=_STAGES[step],
    )


def _enclosure(
    table: Table, release: Sequence[Sequence[str]], cells: CellChoice, search: Search, progress: Progress
) -> Enclosure:
    if search.way not in BOUNDS_WAYS:
        raise ParameterError(
            {
                "bounds": message(
                    "unknown: {bounds}; there are {BOUNDS_WAYS}", repr(search.way), ", ".join(BOUNDS_WAYS)
                )
            }
        )
    if table.has_negative:
        raise InputError(
            message("an original count is negative"), hint=message("bounds are for counts from 0")
        )
    return Enclosure(
        table,
        released(table, release),
        _keys(table, cells),
        split=search.way in ("auto", "decomposable"),
        most_cells=search.most_open,
        progress=progress,
    )


def released(table: Table, release: Sequence[Sequence[str]]) -> MarginSet:
    """A release as its maximal margins, each in the table's order.

    Raises
    ------
    InputError
        For an empty release, and for unknown or repeated variables.
    """
    if not len(release):
        raise InputError(
            message("nothing is released"), hint=message("name at least one margin: --release A,B")
        )
    for margin in release:
        twice = {name for name in margin if list(margin).count(name) > 1}
        if twice:
            raise InputError(
                message("the variable {twice} is named twice in one margin", repr(min(twice))),
                hint=message("name it once"),
            )
    return maximal_margins(table.domain, release)


def _keys(table: Table, cells: CellChoice) -> Ints:
    if isinstance(cells, np.ndarray):
        keys = np.array(cells, dtype=np.int64)
        if not len(keys):
            raise InputError(message("no cells are asked for"))
        if int(keys.min()) < 0 or int(keys.max()) >= table.domain.size:
            raise InputError(message("a cell lies outside the table"))
        return keys
    low, high = (0, None) if cells == "all" else cells
    if low > 0 and high is not None:
        held, counts = table.cells
        keys = held[(counts >= low) & (counts <= high)]
    else:
        if table.domain.size > MOST_LISTED:
            raise InputError(
                message("the table has {size:,} cells: too many to list", table.domain.size),
                hint=message("ask for the small counts, with counts from 1"),
            )
        keys = np.arange(table.domain.size, dtype=np.int64)
        if high is not None:
            # Everybody knows of structural zeros.
            small = table.counts.reshape(-1) <= high
            keys = keys[small & ~table.domain.structural_cells()]
    if not len(keys):
        raise InputError(
            message(
                "no cell of the table has a count in {at_risk}..{at_risk2}: there are no small counts",
                low,
                high,
            ),
            hint=message("declare other small counts, for example 1..3, or ask for all cells"),
        )
    return keys


def _result(enclosure: Enclosure) -> Bounds:
    lower, upper = enclosure.outer()
    sharp = enclosure.sharp()
    if not enclosure.kernels:
        why = message("The released margins are decomposable: the bounds are a closed form and sharp.")
    elif sharp.all():
        why = message(
            "The bounds are sharp: for each end of each interval there is a table of whole counts "
            "with the released margins."
        )
    else:
        why = message(
            "The bounds of {sum:,} of {sharp:,} cells contain the true "
            "ones but are not proven sharp: they can prove a release too narrow, never wide enough.",
            int((~sharp).sum()),
            len(sharp),
        )
        if enclosure.left_out:
            why += TOO_LARGE
    return Bounds(enclosure.cells, lower, upper, sharp, enclosure.method, why)


def _sentence(
    verdict: Verdict | None, smallest: int, beta: int | None, enclosure: Enclosure, exact: bool
) -> str:
    if verdict == "safe":
        return message(
            "Wide enough: from the released margins by themselves it is proved that every judged cell "
            "can still take counts at least {beta} apart.",
            beta,
        )
    if verdict == "bad":
        return message(
            "Too narrow: a judged cell's width is at most {smallest}, less than {beta}.", smallest, beta
        )
    if verdict == "unknown":
        assert beta is not None
        short = int((_widths(enclosure)[1] < beta).sum())
        why = plural(
            short,
            "Not proved wide enough at {beta}: no tables that far apart are known for {short:,} cell.",
            "Not proved wide enough at {beta}: no tables that far apart are known for {short:,} cells.",
            beta,
            short,
        )
        return why + (TOO_LARGE if enclosure.left_out else "")
    return (
        message("The smallest width is {smallest}.", smallest)
        if exact
        else message("The smallest width is at most {smallest}.", smallest)
    )
