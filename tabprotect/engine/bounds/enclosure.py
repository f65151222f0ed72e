"""Bounds from both sides: counts proven impossible, and counts that known tables attain.

The outer bounds contain the true ones; the inner ones are attained by tables of whole counts
that have the released margins (the original is one of them). Where both meet, the bounds are
sharp. So a release can be called bad by outer bounds alone, and safe by inner bounds alone.

Releases that name levels of variables, as releases of a table with an axis for each level.

A released level (``region@nuts2``) is a variable of its own beside the finer levels that are
released too. Cells whose levels contradict each other hold nobody. A margin that names a finer
level says as much with all coarser ones added, so that these cells are zeros of a released margin:
then nothing beyond the margins is known, and all that holds of releases holds of these.

What is known beyond the margins are crossing groupings and structural zeros: which combinations of
released categories there are at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.bounds.bounds import Method
from tabprotect.engine.bounds.decomposable import MarginPart, MarginTree, closed_form, counts_at, margin_tree
from tabprotect.engine.bounds.neighbours import Neighbours
from tabprotect.engine.bounds.programme import CellProgramme
from tabprotect.engine.bounds.shuttle import shuttle_bounds, sums_exact
from tabprotect.engine.bounds.support import SUPPORT_CELLS, support
from tabprotect.engine.progress import Progress
from tabprotect.engine.solver import Sense
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.possible import Possible, keys_by, possible
from tabprotect.engine.tables.table import Table
from tabprotect.languages.messages import message


@dataclass(frozen=True, eq=False)
class Unfolded:
    """A table and a release of it, each released level on an axis of its own.

    Attributes
    ----------
    table
        Over the released variables and levels.
    margins
        The margins, with every coarser level that they determine.
    cells : int64 (m,)
        The asked cells in that table.
    open : bool (m,)
        Whether each shares its released categories with another cell of the original table, so
        that only zero bounds it from below.
    structure
        The possible combinations of categories, as tables of 1 and 0, where groupings cross that no
        margin names together, and where structural zeros are.
    nobody : bool (m,)
        Whether each asked cell is a structural zero.
    """

    table: Table
    margins: MarginSet
    cells: Ints
    open: Bools
    structure: tuple[Table, ...]
    nobody: Bools


def unfolded(table: Table, release: MarginSet, cells: Ints) -> Unfolded:
    """Unfold a release (margins by variable or level, none contained in another) of a table.

    Raises
    ------
    TooLargeError
        Where structural zeros join too many variables.
    """
    domain = table.domain
    used = _used(domain, release)
    names = [name for axis in used for name in axis]
    margins = tuple(tuple(name for name in names if domain.tells(margin, name)) for margin in release)
    over = Domain(tuple(domain[name] for name in names))
    if all(len(axis) < 2 for axis in used):
        small = table.margin(names)
    else:
        keys, values = table.cells
        small = Table.sparse(over, keys_by(domain, names, keys), values)
    known = possible(domain)
    structure = []
    for one in known:
        chosen = [level for name in one.domain.names for level in used[domain.axis(name)]]
        if any(set(chosen) <= set(margin) for margin in margins):
            continue
        every = keys_by(one.domain, chosen, np.arange(one.domain.size, dtype=np.int64))
        there = np.unique(every[one.mask])
        if len(there) < len(np.unique(every)):
            structure.append(_ones(one.domain, chosen, there))
    for axis, chosen in enumerate(used):
        if len(chosen) > 1 and not any(set(chosen) <= set(margin) for margin in margins):
            own = Domain((domain.variables[axis],))
            pairs = keys_by(own, chosen, np.arange(own.size, dtype=np.int64))
            structure.append(_ones(own, chosen, np.unique(pairs)))
    return Unfolded(
        small,
        margins,
        keys_by(domain, names, cells),
        _open(domain, used, known, cells),
        tuple(structure),
        domain.structural_cells(cells),
    )


def _ones(own: Domain, names: Sequence[str], there: Ints) -> Table:
    return Table.sparse(Domain(tuple(own[n] for n in names)), there, np.ones_like(there))


def _used(domain: Domain, release: MarginSet) -> list[list[str]]:
    """The released names of each axis, in the domain's order."""
    used: list[list[str]] = [[] for _ in domain.variables]
    for name in dict.fromkeys(name for margin in release for name in margin):
        used[domain.axis_of(name)].append(name)
    return [sorted(axis, key=domain.order) for axis in used]


def _open(domain: Domain, used: Sequence[Sequence[str]], known: Sequence[Possible], cells: Ints) -> Bools:
    out = np.zeros(len(cells), dtype=np.bool_)
    stated = {name for one in known for name in one.domain.names}
    others = [Domain((v,)) for v in domain.variables if v.name not in stated]
    single = [Possible(one, np.ones(one.size, dtype=np.bool_)) for one in others]
    for one in (*single, *known):
        names = one.domain.names
        chosen = [level for name in names for level in used[domain.axis(name)]]
        if not set(names) <= set(chosen):
            out |= one.shared(chosen)[keys_by(domain, names, cells)]
    return out


SENSES: tuple[Sense, ...] = ("max", "min")

STRENGTH: tuple[Method, ...] = ("decomposable", "frechet", "shuttle", "lp", "integer")


class Kernel:
    """A part of a release that does not come apart, and the cells asked for in it.

    Attributes
    ----------
    of : int64 (m,)
        The part's cell that each asked cell of the table belongs to.
    low, high : int64 (cells,)
        Outer bounds of the part's cells.
    least, most : int64 (cells,)
        Inner ones.
    """

    def __init__(
        self,
        table: Table,
        margins: MarginSet,
        asked: Ints,
        most_cells: int,
        progress: Progress,
        structure: Sequence[Table] = (),
    ) -> None:
        keys, self.of = np.unique(asked, return_inverse=True)
        self._table, self._margins = table, margins
        truth = table.counts_at(keys)
        self.least, self.most = truth.copy(), truth.copy()
        self.low = np.zeros(len(keys), dtype=np.int64)
        self.high = np.full(len(keys), table.total, dtype=np.int64)
        for margin in margins:
            progress.report(message("margins at the cells"), 0.0)
            np.minimum(self.high, counts_at(table, margin, keys), out=self.high)
        self._opened = support(table, margins, most_cells=most_cells, structure=structure, progress=progress)
        if self._opened is not None:
            self._at = self._opened.positions(keys)
            # Empty, be it by a structural zero that no margin tells of.
            self.high[self._at < 0] = 0
            self._box = (
                np.zeros(len(self._opened.keys), dtype=np.int64),
                np.full(len(self._opened.keys), table.total, dtype=np.int64),
            )
        self._neighbours: Neighbours | None = None
        self._programmes: dict[bool, CellProgramme] = {}

    @property
    def opened(self) -> bool:
        """Return True if its cells were few enough to be listed."""
        return self._opened is not None

    def tighten(self, progress: Progress) -> bool:
        """Run the shuttle, unless it is too large; say whether it ran."""
        if self._opened is None or not sums_exact(self._opened):
            return False
        self._box = shuttle_bounds(self._table, self._margins, self._opened, progress=progress)
        self.low, self.high = (self._opened.at(box, self._at) for box in self._box)
        return True

    def solvable(self, most_cells: int) -> bool:
        """Return True if a programme of at most so many cells can be made of it."""
        return self._opened is not None and CellProgramme.fits(self._opened, most_cells)

    def walk(self, cell: int, spread: int | None) -> None:
        """Widen the range of a cell's attained counts by tables near the original.

        Parameters
        ----------
        spread
            The range at which to stop; as far as possible when ``None``.
        """
        if self._opened is None or self._at[cell] < 0:
            return
        if self._neighbours is None:
            self._neighbours = Neighbours(self._opened, self._margins)
        for sense in SENSES:
            if self.low[cell] == self.least[cell] if sense == "min" else (self.high[cell] == self.most[cell]):
                continue
            goal = None
            if spread is not None:
                if self.most[cell] - self.least[cell] >= spread:
                    return
                goal = int(self.least[cell] + spread if sense == "max" else self.most[cell] - spread)
            self._attain(self._neighbours.walk(int(self._at[cell]), sense, goal))

    def _attain(self, table: Ints) -> None:
        assert self._opened is not None
        counts = self._opened.at(table, self._at)
        np.minimum(self.least, counts, out=self.least)
        np.maximum(self.most, counts, out=self.most)

    def solve(
        self, cell: int, *, integral: bool, most_nodes: int | None, progress: Progress, stage: str
    ) -> None:
        """Refine both ends of one cell; tables met on the way serve all cells."""
        assert self._opened is not None
        ends: list[Sense] = []
        if self.low[cell] < self.least[cell]:
            ends.append("min")
        if self.high[cell] > self.most[cell]:
            ends.append("max")
        if not ends:
            return
        programme = self._programmes.get(integral)
        if programme is None:
            programme = CellProgramme(self._opened, *self._box, integral=integral)
            self._programmes[integral] = programme
        for sense in ends:
            found = programme.extreme(
                int(self._at[cell]),
                sense,
                (int(self.low[cell]), int(self.high[cell])),
                most_nodes=most_nodes,
                progress=progress,
                stage=stage,
            )
            if sense == "min":
                self.low[cell] = max(self.low[cell], found.bound)
            else:
                self.high[cell] = min(self.high[cell], found.bound)
            if found.witness is not None:
                self._attain(found.witness)


class Enclosure:
    """Outer and inner bounds of the asked cells under one release.

    Parameters
    ----------
    table
        The original.
    release
        Released margins, none contained in another.
    cells : int64 (m,)
        Mixed-radix keys.
    split
        Whether to take the release apart first.
    most_cells
        Parts that leave more cells open are bounded by single margins alone.

    Attributes
    ----------
    kernels
        The parts without a closed form.
    alike : int64 (m,)
        Number of the cells that every way treats as one: in the same cell of every kernel.
    method
        The strongest way used so far.
    left_out
        Whether a part was too large for a programme that was asked for.
    """

    def __init__(
        self,
        table: Table,
        release: MarginSet,
        cells: Ints,
        *,
        split: bool,
        most_cells: int = SUPPORT_CELLS,
        progress: Progress,
    ) -> None:
        total = table.total
        found = unfolded(table, release, cells)
        table, asked = found.table, found.cells
        # What is known beyond the margins joins what they leave apart: such a release stays whole.
        whole = MarginTree((MarginPart(table.domain.names, found.margins),), ())
        tree = margin_tree(found.margins) if split else whole
        known = {
            part: [one for one in found.structure if set(one.domain.names) <= set(part.names)]
            for part in tree.parts
        }
        if len({id(one) for ones in known.values() for one in ones}) < len(found.structure):
            tree, known = whole, {whole.parts[0]: list(found.structure)}
        closed = tuple(part.names for part in tree.parts if len(part.margins) == 1)
        self._upper, self._base = closed_form(table, closed, tree.separators, asked)
        self._base -= np.where(found.open, total, 0)
        self.kernels = [
            Kernel(
                table.margin(part.names),
                part.margins,
                table.domain.project_keys(asked, part.names),
                most_cells,
                progress,
                known[part],
            )
            for part in tree.parts
            if len(part.margins) > 1
        ]
        self.cells = cells
        self._nobody = found.nobody
        self.alike = np.zeros(len(cells), dtype=np.int64)
        for kernel in self.kernels:
            both = self.alike * (int(kernel.of.max()) + 1) + kernel.of
            self.alike = np.unique(both, return_inverse=True)[1]
        self.method: Method = "frechet" if self.kernels else "decomposable"
        self.left_out = False

    def outer(self) -> tuple[Ints, Ints]:
        """Lower and upper bounds (m,) that contain the true ones."""
        return self._glue([(k.low[k.of], k.high[k.of]) for k in self.kernels])

    def inner(self) -> tuple[Ints, Ints]:
        """Lowest and highest attained counts (m,): tables of the parts can be combined freely."""
        return self._glue([(k.least[k.of], k.most[k.of]) for k in self.kernels])

    def _glue(self, sides: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
        lower, upper = self._base.copy(), self._upper.copy()
        for low, high in sides:
            lower += low
            np.minimum(upper, high, out=upper)
        return np.where(self._nobody, 0, np.maximum(lower, 0)), np.where(self._nobody, 0, upper)

    def sharp(self) -> Bools:
        """The cells whose bounds are proven to be the true ones, bool (m,)."""
        (low, high), (least, most) = self.outer(), self.inner()
        met: Bools = (low == least) & (high == most)
        return met

    def tighten(self, progress: Progress) -> None:
        """Run the shuttle on every part."""
        for kernel in self.kernels:
            if kernel.tighten(progress):
                self._used("shuttle")

    @property
    def walkable(self) -> bool:
        """Return True if there is a kernel for :meth:`walk`."""
        return any(kernel.opened for kernel in self.kernels)

    def solvable(self, most_cells: int) -> bool:
        """Return True if there is a kernel for :meth:`solve`."""
        self.left_out |= not all(kernel.solvable(most_cells) for kernel in self.kernels)
        return any(kernel.solvable(most_cells) for kernel in self.kernels)

    def walk(self, cell: int, spread: int | None) -> None:
        """Widen the range of one cell's attained counts; ``spread`` as in :meth:`Kernel.walk`."""
        for kernel in self.kernels:
            kernel.walk(int(kernel.of[cell]), spread)

    def solve(
        self,
        cell: int,
        *,
        integral: bool,
        most_cells: int,
        most_nodes: int | None,
        progress: Progress,
        stage: str,
    ) -> None:
        """Refine one cell in every part that has at most so many open cells."""
        for kernel in self.kernels:
            if not kernel.solvable(most_cells):
                continue
            self._used("integer" if integral else "lp")
            kernel.solve(
                int(kernel.of[cell]), integral=integral, most_nodes=most_nodes, progress=progress, stage=stage
            )

    def _used(self, method: Method) -> None:
        self.method = max(self.method, method, key=STRENGTH.index)
