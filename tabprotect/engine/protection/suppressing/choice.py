"""The choice of a hiding set: cell after cell or by cutting planes, whichever gives the cheaper.

Small tables and large two-way ones are done cell after cell (one posterior may repeat the choice for
thousands of small tables; flows come within a few percent in large ones). In between,
and for three variables, cutting planes are much cheaper. Of tables of more variables both are
tried, as long as they have few sensitive numbers: neither is always better there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tabprotect.engine.arrays import Bools
from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.parameters import Parameter
from tabprotect.engine.progress import SILENT, Announced, Progress
from tabprotect.engine.protection.suppressing.hiding_problem import HidingProblem
from tabprotect.engine.protection.suppressing.hiding_sets.cutting_planes import GAP, CuttingPlanes
from tabprotect.engine.protection.suppressing.near_tables.linear_moves import SMALL
from tabprotect.engine.protection.suppressing.near_tables.two_way_flows import TwoWayFlows
from tabprotect.engine.protection.suppressing.pattern import give_up, select
from tabprotect.engine.protection.suppressing.task import Task
from tabprotect.engine.tables.publication import Publication
from tabprotect.languages.messages import message, percent

MOST_IN_PLANES = 3_000
"""Most published numbers for which cutting planes are tried: beyond, programmes take too long."""


Search = Literal["usual", "longer"]

SEARCH: Parameter[Search] = Parameter(
    "search",
    message("Search"),
    message("How long a cheap pattern is looked for."),
    "choice",
    "usual",
    choices={
        "usual": message("Some seconds at most, minutes in large tables of three and more variables."),
        "longer": message(
            "About eight times as long: a cheaper pattern where there are three variables or more."
        ),
    },
)

WORK, BY_NUMBER, TWO_WAY, LONGER = 2.3e6, 2_100.0, 1.2e6, 8.0
"""Microseconds of a usual core that cutting planes take at least, more for each published number,
for a two-way table, and how many times as long a longer search is. Counted, never timed."""


FEW = 100
"""Most ends of intervals for which a table of more than three variables is done both ways."""


@dataclass(frozen=True, eq=False)
class HidingChoice:
    """A hiding set with its cost and a bound of the cost. Confidential.

    Attributes
    ----------
    hidden : bool (published cells,)
    cost : float
        Cost of the numbers that are hidden beyond those that must be.
    bound : float or None
        No hiding set costs less; ``None`` where nothing useful is known.
    """

    hidden: Bools
    cost: float
    bound: float | None

    @property
    def gap(self) -> float | None:
        """The share of the cost that the cheapest set might save; ``None`` where unknown."""
        if self.bound is None:
            return None
        return max(0.0, 1.0 - self.bound / self.cost) if self.cost else 0.0

    @property
    def sentence(self) -> str:
        """The quality of the choice, in words."""
        if self.gap is None:
            return message("There is no useful bound on how much cheaper a pattern could be.")
        if self.gap <= GAP:
            return message("No pattern is more than {GAP} cheaper.", percent(GAP))
        return message("No pattern is more than {gap} cheaper.", percent(self.gap))


def most_work(publication: Publication, search: Search = "usual") -> float:
    """The most work of cutting planes, in microseconds of a usual core; 0 where none are used."""
    count = len(publication.distinct[0])
    if not SMALL < count <= MOST_IN_PLANES:
        return 0.0
    most = TWO_WAY if TwoWayFlows.fits(publication) else max(WORK, BY_NUMBER * count)
    return most * (LONGER if search == "longer" else 1.0)


def choose(
    task: Task, search: Search = "usual", progress: Progress = SILENT, expected: Bools | None = None
) -> HidingChoice:
    """The cheapest hiding set found. Deterministic.

    Parameters
    ----------
    expected : bool (published cells,)
        Where only matters whether it is this set: another one may come out unfinished, and costs
        are not told.

    Raises
    ------
    InfeasibleError
        When some primary cells cannot be protected even with every cell hidden that may be, or
        no way was found within the stated work.
    """
    limit = most_work(task.publication, search)
    progress = Announced(progress, limit / 1e6, limit / 1e6)
    progress.report(message("secondary suppression"), 0.0)
    if expected is not None and not limit:
        return HidingChoice(select(task, progress, expected), 0.0, None)
    problem = HidingProblem.of(task)
    start = None
    if not limit or _quick(problem):
        start = select(task, progress)
    if start is not None and (not limit or not _cost(problem, start)):
        cost = _cost(problem, start)
        return HidingChoice(start, cost, None if cost else 0.0)
    planes = CuttingPlanes(problem, limit, progress)
    impossible = planes.impossible()
    if impossible:
        give_up(task, impossible, certain=True)
    known = None if start is None else start[task.publication.distinct[0]]
    found = planes.run(known)
    if found is None:
        raise InfeasibleError(
            message("no pattern was found within the stated work"), hint=message("search longer")
        )
    useful = found.bound > found.cost / 2
    return HidingChoice(problem.published(found.hidden), found.cost, found.bound if useful else None)


def _quick(problem: HidingProblem) -> bool:
    """Return True if the choice cell after cell is cheap, or may be the better one."""
    if TwoWayFlows.fits(problem.task.publication):
        return True
    return problem.task.table.domain.ndim > 3 and len(problem.aims) <= FEW


def _cost(problem: HidingProblem, hidden: Bools) -> float:
    first = problem.task.publication.distinct[0]
    return float(problem.cost[hidden[first] & ~problem.always].sum())
