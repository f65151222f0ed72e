"""Secondary suppression: the choice of further cells to hide so that the primary ones stay hidden.

Every primary cell keeps its *protection interval*: among the tables that agree with everything
published there is one in which the cell is at least ``above`` higher, and one in which it is at
least ``below`` lower. Cell by cell the cheapest such table is looked for (only the cells in which
it differs have to be hidden, and hidden ones cost nothing more); a table found for one cell
serves all others that it moves far enough; at the end every secondary cell that is not needed is
published again, the dearest first.

Sources: Kelly, Golden and Assad 1992, *Cell suppression: disclosure protection for sensitive
tabular data*, Networks 22; Fischetti and Salazar 2001, *Solving the cell suppression problem on
tabular data with linear constraints*, Management Science 47. Singletons: Langsrud and Lupp's
GaussSuppression guards against one respondent who undoes a pair; here a respondent who is alone
in a cell is taken to know its count.
"""

from __future__ import annotations

from typing import NoReturn, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Bools, Floats, Ints
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.progress import SILENT, Announced, Progress
from tabprotect.engine.protection.suppressing.hiding_problem import HidingProblem
from tabprotect.engine.protection.suppressing.near_tables.deviation import Deviation
from tabprotect.engine.protection.suppressing.near_tables.linear_moves import LinearMoves
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import joined, message, plural

Scalar = TypeVar("Scalar", bound=np.generic)

MOST_LISTED = 20
"""Most cells that an error lists."""


class Engine(Protocol):
    """A way of finding tables that agree on the published cells.

    Attributes
    ----------
    most_routes
        Most routes that the tidying may ask for: a number, so that no clock decides.
    gave_up
        Whether a route was not found that may exist.
    """

    most_routes: int
    gave_up: bool

    def open(self, cells: Ints) -> None:
        """Suppress cells."""

    def close(self, cells: Ints) -> None:
        """Publish cells again."""

    def route(
        self, cell: int, sign: int, need: int, *, barred: Ints, pay: bool, quick: bool = False
    ) -> Deviation | None:
        """The cheapest change found that moves one cell by ``sign * need``; ``quick``: if at once."""

    def at_once(self, cells: Ints, sign: int, needs: Ints, still: Bools) -> Bools:
        """The cells that surely have a change of suppressed ones, none of them in ``still``."""

    def extreme(self, cell: int, sign: int, known: int) -> tuple[int, bool, Deviation | None]:
        """Return how far one suppressed cell can move, whether proven, and a change that does."""

    def seconds(self, ends: int) -> tuple[float, float]:
        """About how long choosing and checking take at least and at most, for so many ends of intervals."""


class Steady:
    """Progress that stays where it is while a solver only asks whether to go on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage, self._fraction = "", 0.0

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        """Pass on what is more than a question."""
        if fraction:
            self._stage, self._fraction = stage, fraction
        self._progress.report(self._stage or stage, self._fraction, partial)


def engine(publication: Publication, room: tuple[Ints, Ints], cost: Floats, progress: Progress) -> Engine:
    """Flows where the published tables are a network, else linear programmes.

    Parameters
    ----------
    room : int64 (published cells,), int64 (inner cells,)
        How far each count is above the least that a reader allows.
    """
    if TwoWayFlows.fits(publication):
        return TwoWayFlows(publication, room[0], cost)
    return LinearMoves(publication, room[0], cost, room[1], progress)


def select(task: Task, progress: Progress = SILENT, expected: Bools | None = None) -> Bools:
    """The suppressed cells, primary and secondary, bool (size,). Deterministic.

    Parameters
    ----------
    expected : bool (size,)
        Where only matters whether it is this set: another one may come out unfinished.

    Raises
    ------
    InfeasibleError
        When some primary cells cannot be protected even if all cells were hidden that may be, or
        no way was found within the stated work; it lists them and says which.
    """
    return _Selection(task, Steady(progress)).run(expected)


def give_up(task: Task, lost: list[int], *, certain: bool) -> NoReturn:
    """Say which published cells cannot be protected.

    Raises
    ------
    InfeasibleError
        Always. ``certain``: hiding everything that may be hidden would not do.
    """
    name = task.publication.cell_text
    listed = [name(cell) for cell in lost[:MOST_LISTED]]
    if len(lost) > MOST_LISTED:
        listed.append(message("... and {lost} more", len(lost) - MOST_LISTED))
    cells = plural(len(lost), "{lost} unsafe cell", "{lost} unsafe cells", len(lost))
    where = f"{name(lost[0])}{', ...' if len(lost) > 1 else ''}"
    raise InfeasibleError(
        message("{cells} cannot be protected by hiding other cells: {where}", cells, where)
        if certain
        else message("no way was found within the stated work to protect {cells}: {where}", cells, where),
        hint=message(
            "allow totals or zeros to be hidden, lower the protection level, ask less of people "
            "alone in a cell, or merge categories"
        ),
        detail=joined(listed, "\n"),
    )


def lacking(task: Task, suppressed: Bools, progress: Progress = SILENT) -> Ints:
    """Primary cells for which no change was found that a pattern leaves open, int64.

    In two-way tables there is none.
    """
    return _Selection(task, Steady(progress)).lacking(suppressed)


MANY = 500
"""Ends of intervals from which on they are looked at together first."""

Aim = tuple[int, int]
"""A primary cell, and +1 for the upper or -1 for the lower end of its interval."""


class _Selection:
    def __init__(self, task: Task, progress: Progress) -> None:
        self._task = task
        self._progress = progress
        # The same number published twice is hidden twice or not at all.
        self._problem = HidingProblem.of(task)
        self._cost = self._of_cells(self._problem.cost, np.inf)
        room = task.room, task.inner_room
        self._engine = engine(task.publication, room, self._cost, progress)
        self._kept = self._of_cells(self._problem.always, other=False)
        self._suppressed = self._kept.copy()
        self._engine.open(np.flatnonzero(self._kept))
        self._person = task.person
        self._person_of = np.ascontiguousarray(task.person).data
        # Who is alone in which published cells, and who in the cells of each change.
        self._by_person = np.argsort(task.person, kind="stable")
        self._persons = task.person[self._by_person]
        self._people: dict[Deviation, frozenset[int]] = {}
        self._spares: dict[int, frozenset[int]] = {}
        self._owned: dict[int, Ints] = {}
        self._need = {sign: self._of_cells(need, 0) for sign, need in self._problem.needs.items()}
        self._needs = {sign: need.tolist() for sign, need in self._need.items()}
        self._proofs: dict[Aim, list[Deviation]] = {}
        self._routes = 0

    def _of_cells(self, numbers: npt.NDArray[Scalar], other: float) -> npt.NDArray[Scalar]:
        """Figures of distinct numbers, each at its first published cell."""
        out = np.full(self._task.publication.size, other, dtype=numbers.dtype)
        out[self._task.publication.distinct[0]] = numbers
        return out

    def _aims(self) -> list[Aim]:
        """The ends that need a change of their own.

        Of many ends, those are left out that hidden cells known to nobody prove at once: these
        cells stay hidden.
        """
        aims = []
        many = (self._need[1] > 0).sum() + (self._need[-1] > 0).sum() >= MANY
        for sign in (1, -1):
            cells = np.flatnonzero(self._need[sign])
            if many:
                known = (self._person >= 0) & (self._task.insiders != "none")
                needs = self._need[sign][cells]
                cells = cells[~self._engine.at_once(cells, sign, needs, known)]
            aims += [(cell, sign) for cell in cells.tolist()]
        # What asks for most has the fewest ways; what it hides then serves the others.
        aims.sort(key=lambda aim: (-int(self._need[aim[1]][aim[0]]), aim[0], -aim[1]))
        return aims

    def lacking(self, suppressed: Bools) -> Ints:
        """Primary cells that a given pattern does not protect."""
        first = self._task.publication.distinct[0]
        more = first[suppressed[first] & ~self._suppressed[first]]
        self._suppressed[more] = True
        self._engine.open(more)
        lost = []
        aims = self._aims()
        for done, aim in enumerate(aims):
            self._progress.report(message("checking the intervals"), done / len(aims))
            if not self._protected(aim) and not self._protect(aim, pay=False):
                lost.append(aim[0])
        return np.unique(np.array(lost, dtype=np.int64))

    def run(self, expected: Bools | None = None) -> Bools:
        """Hide what is needed, then publish what is not; see :func:`select`."""
        aims = self._aims()
        self._progress = Announced(self._progress, *self._engine.seconds(len(aims)))
        lost = []
        for done, aim in enumerate(aims):
            self._progress.report(message("secondary suppression"), 0.7 * done / len(aims))
            if not self._protected(aim) and not self._protect(aim, pay=True):
                lost.append(aim[0])
        if lost:
            give_up(self._task, sorted(set(lost)), certain=not self._engine.gave_up)
        first = self._task.publication.distinct[0]
        needed = None if expected is None else self._of_cells(expected[first], other=False)
        # What is hidden by now can only become less.
        if needed is None or not (needed & ~self._suppressed).any():
            self._tidy(needed)
        return self._problem.published(self._suppressed[first])

    def _moves_of(self, found: Deviation) -> frozenset[int]:
        """Return who knows the count of a cell that a deviation moves; -1 for nobody."""
        people = self._people.get(found)
        if people is None:
            people = frozenset(self._person_of[cell] for cell in found.cells.tolist())
            self._people[found] = people
        return people

    def _cells_of(self, person: int) -> Ints:
        """The published cells that somebody is alone in."""
        if person not in self._owned:
            begin, end = np.searchsorted(self._persons, [person, person + 1])
            self._owned[person] = self._by_person[begin:end]
        return self._owned[person]

    def _spared(self, cell: int) -> frozenset[int]:
        """Return against whom a cell needs no protection; see :meth:`HidingProblem.spared`."""
        if cell not in self._spares:
            number = int(self._task.publication.distinct[1][cell])
            self._spares[cell] = self._problem.spared(number)
        return self._spares[cell]

    def _rulers_out(self, proofs: list[Deviation], cell: int) -> frozenset[int]:
        """The people who can rule out each of some deviations, of which there is one."""
        people = self._moves_of(proofs[0]) - self._spared(cell)
        for found in proofs[1:]:
            if not people:
                break
            people &= self._moves_of(found)
        return people

    def _enough(self, proofs: list[Deviation], cell: int) -> bool:
        """Return True if neither one insider (nor all together) can rule out every deviation."""
        if not proofs:
            return False
        if self._task.insiders == "all":
            spared = self._spared(cell)
            return any(self._moves_of(found) <= spared for found in proofs)
        return not self._rulers_out(proofs, cell)

    def _protected(self, aim: Aim) -> bool:
        return self._enough(self._proofs.get(aim, []), aim[0])

    def _protect(self, aim: Aim, *, pay: bool, quick: bool = False) -> bool:
        """Find deviations for one end of one interval; what they use is suppressed."""
        cell, sign = aim
        proofs = self._proofs.setdefault(aim, [])
        barred = np.zeros(0, dtype=np.int64)
        if self._task.insiders == "all":
            first, inverse = self._task.publication.distinct
            barred = first[self._problem.barred(int(inverse[cell]))]
        while not self._enough(proofs, cell):
            if self._task.insiders in ("one", "outside") and proofs:
                barred = self._cells_of(min(self._rulers_out(proofs, cell)))
            self._routes += 1
            need = int(self._need[sign][cell])
            found = self._engine.route(cell, sign, need, barred=barred, pay=pay, quick=quick)
            if found is None:
                return False
            new = found.cells[~self._suppressed[found.cells]]
            if len(new):
                self._suppressed[new] = True
                self._engine.open(new)
            self._credit(found)
            proofs = self._proofs[aim]
        return True

    def _credit(self, found: Deviation) -> None:
        """Enter a deviation as a proof for every primary cell that it moves far enough."""
        moved = list(zip(found.cells.tolist(), found.change.tolist(), strict=True))
        for way, most in ((1, found.ahead), (-1, found.behind)):
            for cell, change in moved:
                sign = way if change > 0 else -way
                need = self._needs[sign][cell]
                if need and -(-need // abs(change)) <= most:
                    proofs = self._proofs.setdefault((cell, sign), [])
                    if not self._enough(proofs, cell):
                        proofs.append(found)

    def _tidy(self, needed: Bools | None) -> None:
        """Publish again, the dearest first, every secondary cell that no interval needs.

        The first one that ``needed`` names ends it.
        """
        secondary = np.flatnonzero(self._suppressed & ~self._kept)
        self._routes = 0
        order = secondary[np.argsort(-self._cost[secondary], kind="stable")]
        users: dict[int, set[Aim]] = {int(cell): set() for cell in order}
        for aim, proofs in self._proofs.items():
            self._enlist(users, aim, proofs)
        for done, cell in enumerate(order.tolist()):
            self._progress.report(
                message("publishing what need not be hidden"), 0.7 + 0.3 * done / len(order)
            )
            if self._routes > self._engine.most_routes:
                break
            self._suppressed[cell] = False
            self._engine.close(np.array([cell]))
            if self._do_without(cell, users):
                if needed is not None and needed[cell]:
                    return
                continue
            self._suppressed[cell] = True
            self._engine.open(np.array([cell]))
        used = self._kept.copy()
        for proofs in self._proofs.values():
            for found in proofs:
                used[found.cells] = True
        self._suppressed &= used

    def _enlist(self, users: dict[int, set[Aim]], aim: Aim, proofs: list[Deviation]) -> None:
        for found in proofs:
            for cell in found.cells.tolist():
                if cell in users:
                    users[cell].add(aim)

    def _do_without(self, cell: int, users: dict[int, set[Aim]]) -> bool:
        before: dict[Aim, list[Deviation]] = {}
        for aim in sorted(users[cell]):
            proofs = self._proofs[aim]
            kept = [found for found in proofs if cell not in found.cells]
            if len(kept) == len(proofs):
                continue
            before[aim] = proofs
            self._proofs[aim] = kept
            if not self._protected(aim) and not self._protect(aim, pay=False, quick=True):
                self._proofs |= before
                return False
        for aim in before:
            self._enlist(users, aim, self._proofs[aim])
        return True
