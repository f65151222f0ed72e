"""Linear and integer programmes: the one place that uses HiGHS.

HiGHS runs with one thread and a fixed seed, so that the same programme gives the same
answer. (Never load OR-tools into the same process: the two clash.) It is imported with the first
programme: most work needs none.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.errors import InfeasibleError, Interrupted, SolverError
from tabprotect.engine.progress import SILENT, Progress, foretold
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    import highspy
    from scipy.sparse import csc_array

PATIENCE = 0.2
"""Seconds within which a cancelled integer programme has to stop."""


Sense = Literal["min", "max"]

Bounds = tuple[npt.NDArray[np.number], npt.NDArray[np.number]]

PRIMAL_SIMPLEX, DUAL_SIMPLEX = 4, 1

SHORT = {"primal_simplex_bound_perturbation_multiplier": 0.0, "simplex_primal_edge_weight_strategy": 0}
"""Options for short runs: bounds unperturbed, and the steepest column by its cost."""

NEAR = 1e-6
"""Largest distance of a float from the integer it stands for."""

POLL = 0.05
"""Seconds between two checks for cancellation of an integer programme."""


SMALL_PROGRAMME = 1_000
"""Entries of an integer programme up to which the root of its tree takes milliseconds."""

RUN_COST, ITERATION_COST = 300.0, 0.02
"""Microseconds on an ordinary core, roughly: of a run, and of an iteration per entry."""

ROOT, NODE = {False: (0.0, 1e-7), True: (3e-8, 3.6e-7)}, 1e-6
"""Seconds of a usual core that an integer programme takes up to its first branches, least and most,
for each two of its entries, by whether something is minimised; and a node for each entry.

Measured on controlled roundings of tables of three to five variables, of 1,700 to 11,700 entries.
"""

_spent = threading.local()


def search_seconds(entries: int, nodes: int, *, minimised: bool) -> tuple[float, float]:
    """About how many seconds an integer programme takes, at least and at most, by its size.

    Parameters
    ----------
    entries
        Of its matrix, those that are not 0.
    nodes
        Nodes after which it ends.
    minimised
        Whether there is an objective; else any point ends it.
    """
    least, most = ROOT[minimised]
    return least * entries**2, most * entries**2 + NODE * entries * nodes


def solver_work() -> float:
    """The cost of this thread's programmes so far, in nominal microseconds.

    Counted from iterations and sizes, never timed: the same programmes cost the same on any
    machine, whatever else it does. Only differences are meaningful.
    """
    return float(getattr(_spent, "work", 0.0))


@dataclass(frozen=True)
class SolverOutcome:
    """The result of one run.

    Attributes
    ----------
    bound
        No feasible point has a better objective (up to the solver's tolerance); infinite if a
        limit ended the run before anything was proved.
    value
        Objective of the best point found; ``None`` if a limit ended the run before there was one.
    point : float64 (columns,)
        That point; empty if there is none.
    optimal
        Whether the run ended without reaching a limit.
    """

    bound: float
    value: float | None
    point: Floats
    optimal: bool


class _Watcher:
    """Answers the solver's question whether to go on; one for each solver."""

    def __init__(self) -> None:
        self.question: Callable[[], None] | None = None
        self.stopped: BaseException | None = None
        self.most_questions: int | None = None
        self.most_nodes: int | None = None
        self.asked = 0
        self.share = 0.0
        """How much of the most nodes has been searched."""

    def ask(self, event: highspy.highs.HighsCallbackEvent) -> None:
        # The flag outlasts the run it stopped.
        event.interrupt(False)
        self.asked += 1
        if self.most_nodes:
            self.share = min(max(event.data_out.mip_node_count / self.most_nodes, 0.0), 1.0)
        if self.most_questions is not None and self.asked > self.most_questions:
            event.interrupt()
        # An exception must not travel through the solver's own code.
        if self.question is not None and self.stopped is None:
            try:
                self.question()
            except (Interrupted, KeyboardInterrupt) as stop:
                self.stopped = stop
        if self.stopped is not None:
            event.interrupt()


@contextmanager
def _kept_from_the_solver(watcher: _Watcher) -> Iterator[None]:
    """Keep a Ctrl-C until the solver is asked: as an exception it would pass through the solver's code."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield
        return

    def keep(*_: object) -> None:
        watcher.stopped = KeyboardInterrupt()

    signal.signal(signal.SIGINT, keep)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True, eq=False)
class Entries:
    """A sparse matrix by columns.

    Attributes
    ----------
    starts : int (columns + 1,)
        The start of each column's entries.
    rows : int (entries,)
    values : float64 (entries,)
    """

    starts: Ints
    rows: Ints
    values: Floats

    @classmethod
    def at(cls, rows: Ints, columns: Ints, values: Floats | float, size: int) -> Entries:
        """Make one from places in any order; ``size`` is the number of columns."""
        order = np.lexsort((rows, columns))
        starts = np.searchsorted(columns[order], np.arange(size + 1))
        every = np.broadcast_to(values, rows.shape)[order].astype(np.float64)
        return cls(starts.astype(np.int64), rows[order].astype(np.int64), every)

    @classmethod
    def joined(cls, parts: Sequence[tuple[Ints, Floats | float]]) -> Entries:
        """Make one from the places and values of one column after the other."""
        nothing: tuple[Ints, Floats] = (np.zeros(0, dtype=np.int64), np.zeros(0))
        values = [np.broadcast_to(value, place.shape) for place, value in [nothing, *parts]]
        starts = np.cumsum([0, *(len(place) for place, _ in parts)], dtype=np.int64)
        places = np.concatenate([place for place, _ in [nothing, *parts]])
        return cls(starts, places.astype(np.int64), np.concatenate(values).astype(np.float64))

    @classmethod
    def of(cls, matrix: csc_array) -> Entries:
        """Make one from a sparse matrix by columns."""
        places = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
        return cls(*places, matrix.data.astype(np.float64))

    @classmethod
    def adding_up(cls, sums: Ints) -> Entries:
        """Make one of cells that each add into so many sums, int64 (cells, sums)."""
        return cls(np.arange(len(sums) + 1) * sums.shape[1], sums.reshape(-1), np.ones(sums.size))


@dataclass(frozen=True)
class Tuning:
    """The settings by which the solver goes about a programme.

    Attributes
    ----------
    strategy
        ``DUAL_SIMPLEX`` if bounds change between runs and the objective hardly does.
    short
        Whether runs are short: cancellation is checked only between them, and options that pay off
        in long runs are left out.
    presolved
        Whether an integer programme is large enough for a presolve to pay off.
    """

    strategy: int = PRIMAL_SIMPLEX
    short: bool = False
    presolved: bool = True


ORDINARY = Tuning()


@dataclass(frozen=True)
class Limit:
    """The work after which an integer programme gives up; counted, so that no machine matters.

    Attributes
    ----------
    nodes
        Branch-and-bound nodes.
    questions
        Questions whether to go on, which it asks at fixed points of its search.
    gap
        It may end once the best point is proved to be no further from the optimum than this share
        of its value.
    """

    nodes: int | None = None
    questions: int | None = None
    gap: float = 0.0


UNLIMITED = Limit()


class TableProgramme:
    """Cells between ends, and sums of them between ends, kept between runs.

    A run goes on from where the last one ended. Where what is sought is a set of cells, each one's
    number is whether it is in the set, or which share of it.

    Parameters
    ----------
    entries
        How often each cell (column) is added into each sum (row).
    sums, cells
        Low and high of each.
    integral
        Whether every cell must be a whole number.
    """

    def __init__(
        self,
        entries: Entries,
        *,
        sums: Bounds,
        cells: Bounds,
        integral: bool = False,
        tuning: Tuning = ORDINARY,
    ) -> None:
        self._tuning = tuning
        self._describe(entries, sums, cells, integral)
        self._begin()

    def replace(self, entries: Entries, *, sums: Bounds, cells: Bounds) -> None:
        """Take another programme in place of this one, which is solved as by a new one.

        A solver takes as long to begin as many a small programme.
        """
        self._describe(entries, sums, cells, self.integral)
        self._cost = np.zeros(self.columns)
        self._demand(self._highs.passModel(self._lp), message("take the programme"))

    def _describe(self, entries: Entries, rows: Bounds, columns: Bounds, integral: bool) -> None:
        import highspy

        self.columns = len(columns[0])
        self.integral = integral
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.columns, len(rows[0])
        lp.col_cost_ = np.zeros(self.columns)
        self._ends = {
            "rows": (rows[0].astype(np.float64), rows[1].astype(np.float64)),
            "columns": (columns[0].astype(np.float64), columns[1].astype(np.float64)),
        }
        lp.col_lower_, lp.col_upper_ = self._ends["columns"]
        lp.row_lower_, lp.row_upper_ = self._ends["rows"]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.num_col_, lp.a_matrix_.num_row_ = lp.num_col_, lp.num_row_
        lp.a_matrix_.start_, lp.a_matrix_.index_ = entries.starts, entries.rows
        lp.a_matrix_.value_ = entries.values
        if integral:
            lp.integrality_ = [highspy.HighsVarType.kInteger] * self.columns
        self._lp = lp
        self._entries = len(entries.rows)

    def _begin(self) -> None:
        """A solver that has the programme and has not run."""
        import highspy

        self._highs = highspy.Highs()  # type: ignore[no-untyped-call]
        self._cost = np.zeros(self.columns)
        self._watcher = _Watcher()
        for option, value in {
            "output_flag": False,
            "threads": 1,
            "random_seed": 0,
            "simplex_strategy": self._tuning.strategy,
            "presolve": "on" if self.integral and self._tuning.presolved else "off",
            "mip_rel_gap": 0.0,
            # Objectives are whole numbers: a bound less than one away is proof enough.
            "mip_abs_gap": 0.99,
            "mip_feasibility_tolerance": NEAR / 10,
            # It costs more than it gains on sums of cells.
            "mip_heuristic_run_feasibility_jump": False,
            **(SHORT if self._tuning.short else {}),
        }.items():
            self._highs.setOptionValue(option, value)
        self._demand(self._highs.passModel(self._lp), message("take the programme"))
        if not self._tuning.short:
            self._highs.cbSimplexInterrupt += self._watcher.ask
        self._highs.cbMipInterrupt += self._watcher.ask

    def optimise(
        self,
        columns: Ints,
        sense: Sense,
        *,
        start: Ints | None = None,
        limit: Limit = UNLIMITED,
        progress: Progress = SILENT,
        stage: str = "solving",
    ) -> SolverOutcome:
        """Minimise or maximise the sum of some columns, from where the last run ended.

        Parameters
        ----------
        columns
            The columns that are summed; with none, any feasible point is sought.
        start : (columns,)
            A feasible point in whole numbers, if one is known (integer programmes only).
        progress
            Asked many times a second if the run should go on.

        Raises
        ------
        InfeasibleError
            If no point satisfies the sums.
        Interrupted
            If cancelled; the model can be used again (limits may have to be set again).
        SolverError
            If the solver fails.
        """
        cost = np.zeros(self.columns)
        cost[columns] = 1.0
        return self.weighted(cost, sense, start=start, limit=limit, progress=progress, stage=stage)

    def weighted(
        self,
        cost: Floats,
        sense: Sense = "min",
        *,
        start: Ints | None = None,
        limit: Limit = UNLIMITED,
        progress: Progress = SILENT,
        stage: str = "solving",
    ) -> SolverOutcome:
        """Do as :meth:`optimise` does, with a weight for every column (columns,)."""
        import highspy

        changed = np.flatnonzero(cost != self._cost).astype(np.int32)
        self._demand(
            self._highs.changeColsCost(len(changed), changed, cost[changed]), message("set the objective")
        )
        self._cost = cost.copy()
        wanted = highspy.ObjSense.kMinimize if sense == "min" else highspy.ObjSense.kMaximize
        self._demand(self._highs.changeObjectiveSense(wanted), message("set the objective"))
        if self.integral:
            nodes = 2**31 - 1 if limit.nodes is None else limit.nodes
            self._highs.setOptionValue("mip_max_nodes", nodes)
            self._highs.setOptionValue("mip_rel_gap", limit.gap)
            self._watcher.most_questions, self._watcher.most_nodes = limit.questions, limit.nodes
            if limit.nodes is not None:
                span = search_seconds(self._entries, limit.nodes, minimised=bool(cost.any()))
                stage = foretold(stage, *span)
            if start is not None:
                every = np.arange(self.columns, dtype=np.int32)
                self._highs.setSolution(self.columns, every, start.astype(np.float64))
        self._run(progress, stage)
        if not self.integral and self._strayed():
            # Large counts leave a sum off by more than the tolerance; the other direction around
            # the polytope, from the start, hardly ever does.
            self._highs.clearSolver()
            other = DUAL_SIMPLEX if self._tuning.strategy == PRIMAL_SIMPLEX else PRIMAL_SIMPLEX
            self._highs.setOptionValue("simplex_strategy", other)
            try:
                self._run(progress, stage)
            finally:
                self._highs.setOptionValue("simplex_strategy", self._tuning.strategy)
        return self._outcome()

    def limit_many(self, what: Literal["rows", "columns"], which: Ints, bounds: Bounds) -> None:
        """Set (low, high) of many rows or columns."""
        low, high = self._ends[what]
        low[which], high[which] = bounds
        self._set_ends(what, which, bounds)

    @contextmanager
    def held(self, columns: Ints, low: npt.ArrayLike, high: npt.ArrayLike) -> Iterator[None]:
        """Other ends of some columns, each named once, for as long as the context lasts."""
        ends = np.broadcast_to(low, columns.shape), np.broadcast_to(high, columns.shape)
        self._set_ends("columns", columns, ends)
        try:
            yield
        finally:
            before = self._ends["columns"]
            self._set_ends("columns", columns, (before[0][columns], before[1][columns]))

    def _set_ends(self, what: str, which: Ints, bounds: Bounds) -> None:
        # The solver's type declarations lack the first.
        rows = self._highs.changeRowsBounds  # type: ignore[attr-defined]
        change = rows if what == "rows" else self._highs.changeColsBounds
        low, high = (end.astype(np.float64) for end in bounds)
        self._demand(change(len(which), which.astype(np.int32), low, high), message("set a bound"))

    def more_rows(self, entries: Entries, rows: Bounds) -> None:
        """Add rows between bounds (low, high); the entries are given by rows, not by columns."""
        low, high = (end.astype(np.float64) for end in rows)
        given = (len(low), low, high, len(entries.values))
        places = entries.starts[:-1].astype(np.int32), entries.rows.astype(np.int32)
        self._demand(self._highs.addRows(*given, *places, entries.values), message("take further rows"))
        self._entries += len(entries.values)

    @property
    def iterations(self) -> int:
        """Number of simplex iterations of the last run."""
        return max(0, int(self._highs.getInfo().simplex_iteration_count))

    @property
    def asked(self) -> int:
        """Number of times the last run of an integer programme asked whether to go on."""
        return self._watcher.asked

    def duals(self) -> tuple[Floats, Floats]:
        """Change of the last run's objective per unit of each row and column."""
        solution = self._highs.getSolution()
        return np.array(solution.row_dual), np.array(solution.col_dual)

    def _run(self, progress: Progress, stage: str) -> None:
        progress.report(stage, 0.0)
        watcher = self._watcher
        watcher.stopped = None
        watcher.asked, watcher.share = 0, 0.0
        if self.integral and self._entries > SMALL_PROGRAMME:
            status = self._run_apart(progress, stage)
        else:
            # A thread takes as long as many a small programme.
            watcher.question = lambda: progress.report(stage, watcher.share)
            with _kept_from_the_solver(watcher):
                status = self._highs.run()
            watcher.question = None
        info = self._highs.getInfo()
        taken = max(int(info.simplex_iteration_count), 0) * ITERATION_COST + 1.0
        _spent.work = solver_work() + RUN_COST + taken * (self._entries + self.columns)
        if watcher.stopped is not None:
            # Half a basis would make the next run depend on when this one was cancelled.
            self._highs.clearSolver()
            raise watcher.stopped
        self._demand(status, message("solve the programme"))

    def _run_apart(self, progress: Progress, stage: str) -> highspy.HighsStatus:
        """Run on a separate thread: at the root of a large tree the solver asks nothing for seconds.

        If cancelled, a solver that does not answer is left to end by itself, at its next question.
        The interpreter waits for it before it exits: a solver that outlived the interpreter would
        end the process with an error.
        """
        import highspy

        highs = self._highs
        ended: list[highspy.HighsStatus] = []
        runner = threading.Thread(target=lambda: ended.append(highs.run()), name="solver", daemon=False)
        runner.start()
        try:
            while runner.is_alive():
                # Returns at once when the solver ends.
                runner.join(POLL)
                progress.report(stage, self._watcher.share)
        except BaseException as stop:
            self._watcher.stopped = stop
            runner.join(PATIENCE)
            if runner.is_alive():
                self._begin()
                raise
        return ended[0] if ended else highspy.HighsStatus.kError

    def _strayed(self) -> bool:
        """Return True if the point of a finished run slightly violates the sums."""
        import highspy

        optimal = self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        found = self._highs.getInfo().primal_solution_status
        return optimal and bool(found != highspy.SolutionStatus.kSolutionStatusFeasible)

    def _outcome(self) -> SolverOutcome:
        import highspy

        status = self._highs.getModelStatus()
        if status in (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible):
            raise InfeasibleError(message("no table has these sums"))
        if status not in (
            highspy.HighsModelStatus.kOptimal,
            highspy.HighsModelStatus.kSolutionLimit,
            highspy.HighsModelStatus.kIterationLimit,
            highspy.HighsModelStatus.kInterrupt,
        ):
            raise SolverError(
                message(
                    "the solver stopped without an answer ({status})", self._highs.modelStatusToString(status)
                )
            )
        info = self._highs.getInfo()
        optimal = status == highspy.HighsModelStatus.kOptimal
        found = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        # With large counts, undoing the scaling can leave a sum off by slightly more than the
        # solver's own tolerance.
        found |= not self.integral and optimal and info.max_primal_infeasibility <= NEAR
        value = float(info.objective_function_value) if found else None
        bound = float(info.mip_dual_bound) if self.integral else value
        if bound is None or (not optimal and not self.integral):
            raise SolverError(message("the solver gave up on a linear programme"))
        point = np.array(self._highs.getSolution().col_value) if found else np.zeros(0)
        return SolverOutcome(bound, value, point, optimal)

    def _demand(self, status: highspy.HighsStatus, what: str) -> None:
        import highspy

        if status == highspy.HighsStatus.kError:
            raise SolverError(message("the solver could not {what}", what))


def whole_table(
    entries: Entries,
    *,
    sums: Bounds,
    cells: Bounds,
    limit: Limit = UNLIMITED,
    progress: Progress = SILENT,
    stage: str,
) -> Ints | None:
    """Whole numbers within all ends, or ``None`` where none were found within the limit.

    The relaxed programme is solved first: most tables come from it whole.

    Raises
    ------
    InfeasibleError
        If there are none.
    """
    for integral in (False, True):
        programme = TableProgramme(entries, sums=sums, cells=cells, integral=integral)
        point = programme.weighted(np.zeros(len(cells[0])), limit=limit, progress=progress, stage=stage).point
        if len(point) and np.abs(point - np.rint(point)).max() < NEAR:
            return np.rint(point).astype(np.int64)
    return None
