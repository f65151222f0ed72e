"""The single owner of the open project, the selection, and the view (confidential or public)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, get_args

import numpy as np
from PySide6.QtCore import QObject, Signal

from tabprotect.engine.arrays import Bools
from tabprotect.engine.budgets import DENSE_LIMIT
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import SILENT, Progress
from tabprotect.engine.project import recipe_text
from tabprotect.engine.project.command import Command, Order
from tabprotect.engine.project.history import History
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.project.project import EVERYTHING, PRIORS, Project, Who
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.engine.tables.variable import Variable
from tabprotect.gui.base.background.background_task import BackgroundTask, Told, same, tell_failure
from tabprotect.gui.base.background.jobs import Job, Jobs
from tabprotect.gui.base.judging import JudgedMagnitudes, Judging
from tabprotect.gui.base.preferences import Preferences
from tabprotect.gui.base.recent_files import RecentFile
from tabprotect.gui.base.trying import Trying
from tabprotect.gui.look.buttons import connected, present
from tabprotect.languages.messages import joined, message

if TYPE_CHECKING:
    from tabprotect.engine.belief.believed import Believed
    from tabprotect.engine.formats.file_preview import HiddenCell
    from tabprotect.engine.posterior.posterior import Posterior

P = ParamSpec("P")


@dataclass(frozen=True)
class Total:
    """All cells that share the categories of one cell on some variables.

    Attributes
    ----------
    names
        The variables, or levels of them.
    cell
        The index of that cell.
    """

    names: tuple[str, ...]
    cell: Index


@dataclass(frozen=True)
class AskedSigns:
    """What signs of a file mean by its totals, until somebody agrees.

    Attributes
    ----------
    cells
        The cells that have a sign, and what the totals leave for each.
    table
        The table that they are in.
    agree, otherwise
        Called when somebody agrees, and when they have something else to say.
    """

    cells: Sequence[HiddenCell]
    table: Table
    agree: Callable[[], object]
    otherwise: Callable[[], object]


class Document(QObject):
    """The state that all pages share. The values are frozen; this object only points at the current ones.

    Signals: ``project_changed`` (frozenset of the names a command reports), ``selection_changed``
    (cell index or None), ``total_selected`` (a :class:`Total` or None), ``cycle_selected`` (number or None), ``view_changed`` (public?),
    ``posterior_ready`` ("user" or "intruder", the posterior), ``error_raised`` (error, page name
    or "" for the page in front), ``page_asked`` (the name of a page to go to), ``next_asked`` (what decides on the table is to do what comes next), ``open_asked`` (a path, or
    "" to ask which), ``records_asked``, ``reader_asked`` (a bundle, for a window of its own),
    ``begins`` (an order that opens a new document), ``work_found`` (what a killed program left, to recover it or None, to discard it),
    ``closed`` (no more work is running: timers and other background activity end too).
    """

    project_changed = Signal(object)
    selection_changed = Signal(object)
    total_selected = Signal(object)
    cycle_selected = Signal(object)
    view_changed = Signal(bool)
    posterior_ready = Signal(str, object)
    posterior_failed = Signal(str, object)
    originals_counted = Signal(str, object)
    error_raised = Signal(object, str)
    page_asked = Signal(str)
    rename_asked = Signal(str, str)
    next_asked = Signal()
    open_asked = Signal(str)
    records_asked = Signal()
    reader_asked = Signal(str)
    begins = Signal(object)
    work_found = Signal(object, object, object)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.jobs = Jobs(self)
        self.judging = Judging(self, self.jobs)
        self.trying = connected(Trying(self, self.jobs), failed=self._tell_error)
        self.judged_magnitudes = connected(JudgedMagnitudes(self, self.jobs), failed=self._tell_error)
        self.history = History()
        self.saved: Project | None = None
        """The project as last saved; any difference from it is unsaved work."""
        self.selection: Index | None = None
        self.total: Total | None = None
        """The selected total, if a total rather than a cell is selected."""
        self.selected_cycle: int | None = None
        self.preferences = Preferences()
        self.recent: Callable[[], list[RecentFile]] = list
        """Recent files, latest first."""
        self.signs: AskedSigns | None = None
        self._public = False
        self._queue: list[tuple[Order, Told]] = []
        self._busy: Job | None = None
        self._beliefs: dict[str, BackgroundTask[tuple[Release, Believed]]] = {}
        self._counts: dict[str, BackgroundTask[int | None]] = {}
        for who in get_args(Who):
            self._beliefs[who] = BackgroundTask(
                self, self.jobs, partial(self._believed, who), partial(self.posterior_failed.emit, who)
            )
            self._counts[who] = BackgroundTask(
                self, self.jobs, partial(self.originals_counted.emit, who), self._tell_error
            )
        self._mask: tuple[object, Bools] | None = None
        self._number: tuple[object, int] | None = None

    # -- what is open -------------------------------------------------------------------------

    @property
    def project(self) -> Project | None:
        """The current project; ``None`` before anything is opened."""
        project = self.history.project
        return None if project.kind == "empty" else project

    @property
    def modified(self) -> bool:
        """True if there is unsaved work; who reads a bundle has none."""
        project = self.project
        return project is not None and self.has_original and project is not self.saved

    @property
    def original(self) -> Table | None:
        """The confidential table; ``None`` for a reader of a bundle."""
        return None if self.project is None else self.project.table

    @property
    def asked(self) -> AskedSigns | None:
        """The question that is open of the signs in the table's file; ``None`` where there is none."""
        return self.signs if self.signs is not None and self.signs.table is self.original else None

    @property
    def has_original(self) -> bool:
        """True if there is anything confidential to show."""
        return self.original is not None

    @property
    def release(self) -> Release | None:
        """The release, published or about to be; ``None`` before the table is protected."""
        return None if self.project is None or self.project.of_magnitudes else self.project.release

    @property
    def published(self) -> Table | None:
        """The protected inner cells; ``None`` if they are not published.

        Suppressed cells are 0 here; :attr:`suppressed` says which they are.
        """
        inner = None if self.release is None else self.release.inner
        return None if inner is None else inner.table

    @property
    def suppressed(self) -> Bools | None:
        """The inner cells published without a count; ``None`` if there are none."""
        inner = None if self.release is None else self.release.inner
        return None if inner is None else inner.suppressed

    @property
    def shown_table(self) -> Table | None:
        """The table this view may show: the original in the house, the published table in public view."""
        return self.published if self.public else self.original or self.published

    @property
    def public(self) -> bool:
        """True if every page shows only what a reader of the bundle sees."""
        return self._public or (self.project is not None and not self.has_original)

    @property
    def in_house(self) -> bool:
        """True if there is an original and the pages show it: the house's own view."""
        return self.has_original and not self.public

    @property
    def hiding(self) -> bool:
        """True if the house looks through a reader's eyes: there is an original that no page shows."""
        return self.has_original and self.public

    def set_public(self, public: bool) -> None:
        """Switch the public view (F9). A reader's project always stays public."""
        before = self.public
        self._public = public
        if self.public != before:
            self.view_changed.emit(self.public)

    @property
    def at_risk(self) -> Bools | None:
        """The at-risk cells of the original; ``None`` without an original that can be laid out."""
        project = self.project
        if project is None or project.table is None or project.domain.size > DENSE_LIMIT:
            return None
        if project.magnitudes is not None:
            # Its sums are judged, not the counts of the same records.
            return None
        key = (project.table, project.at_risk)
        if self._mask is None or not same(self._mask[0], key):
            self._mask = (key, project.at_risk.mask(project.table.counts))
        return self._mask[1]

    @property
    def at_risk_cells(self) -> int:
        """The number of at-risk cells; 0 without an original."""
        if (project := self.project) is None or project.table is None:
            return 0
        if project.magnitudes is not None:
            return self.judged_magnitudes.unsafe(project)
        key = (project.table, project.at_risk)
        if self._number is None or not same(self._number[0], key):
            counts = project.table.cells[1]
            number = int(np.count_nonzero(project.at_risk.mask(counts)))
            if project.at_risk.low == 0:
                number += project.domain.size - len(counts)
            self._number = (key, number)
        return self._number[1]

    # -- magnitudes ---------------------------------------------------------------------------

    @property
    def of_magnitudes(self) -> bool:
        """True if a magnitude table is open, or a release of one."""
        return self.project is not None and self.project.of_magnitudes

    @property
    def magnitudes(self) -> ChosenMagnitudes | None:
        """The confidential magnitude table with what was chosen for it; ``None`` for counts, and readers."""
        return None if self.project is None else self.project.magnitudes

    @property
    def magnitude_release(self) -> Release | None:
        """The release of sums, published or about to be; ``None`` before a table is protected."""
        return None if self.project is None else self.project.magnitude_release

    @property
    def has_release(self) -> bool:
        """True if there is a release, of counts or of sums."""
        return self.release is not None or self.magnitude_release is not None

    @property
    def tells_counts(self) -> bool:
        """True if there is a release with counts among its measures."""
        magnitudes = self.magnitude_release
        return self.release is not None or (
            magnitudes is not None and bool(magnitudes.magnitude_table.beside)
        )

    @property
    def public_title(self) -> str:
        """The title that readers see; empty before there is a release."""
        release = self.release or self.magnitude_release
        return "" if release is None else release.title

    @property
    def magnitude_variables(self) -> tuple[Variable, ...]:
        """The variables of the magnitude table that is open, or of a release of one."""
        if self.magnitudes is not None:
            return self.magnitudes.table.variables
        return () if self.magnitude_release is None else self.magnitude_release.magnitude_table.variables

    def magnitude_cell_text(self, nodes: Index) -> str:
        """A cell of a magnitude table by what it is called."""
        named = (
            variable.written[node] for variable, node in zip(self.magnitude_variables, nodes, strict=True)
        )
        return joined(named, ", ")

    def as_total(self, nodes: Index) -> Total:
        """A cell of a magnitude table as the counts in it are added up: its entries, and one inner cell."""
        at = list(zip(self.magnitude_variables, nodes, strict=True))
        names = [variable.entries[node][0] for variable, node in at if node < len(variable.nodes) - 1]
        cell = [int((variable.depths == node).any(axis=0).argmax()) for variable, node in at]
        return Total(tuple(names), tuple(cell))

    def select_count(self, total: Total) -> None:
        """Select the cells of counts that a total adds up: one inner cell, or several."""
        if self.of_magnitudes:
            return self.select(self.as_nodes(total))
        inner = self.counts_release is not None and total.names == self.counts_release.domain.names
        return self.select(total.cell) if inner else self.select_total(total)

    def as_nodes(self, total: Total) -> Index:
        """The cell of a magnitude table that a total is the count of."""
        nodes = [
            next(
                (int(node) for node in variable.depths[:, at] if variable.entries[node][0] in total.names),
                len(variable.nodes) - 1,
            )
            for variable, at in zip(self.magnitude_variables, total.cell, strict=True)
        ]
        return tuple(nodes)

    @property
    def counts_selected(self) -> tuple[Index | None, Total | None]:
        """The selected inner cell of counts, and the selected total of them."""
        if not self.of_magnitudes or self.selection is None:
            return self.selection, self.total
        total = self.as_total(self.selection)
        return (total.cell, None) if total.cell == self.selection else (None, total)

    # -- commands -----------------------------------------------------------------------------

    @property
    def working(self) -> Job | None:
        """The command that runs; ``None`` while none does."""
        return self._busy if self._busy is not None and self._busy.running else None

    def do(self, command: Command[P], /, *args: P.args, **given: P.kwargs) -> Job | None:
        """Run a command with its arguments (see :meth:`run`)."""
        return self.run(command(*args, **given))

    def run(self, order: Order, *, page: str = "", failed: Told | None = None) -> Job | None:
        """Run a command: at once, or as a job (which is returned) if it is slow.

        Later commands wait while a job runs, so that none is lost. Errors go to ``failed`` if it
        is given, else to ``error_raised`` with the page's name; the project is unchanged then.
        """
        if failed is None:
            failed = partial(self._tell_error, page=page)
        if self._busy is not None:
            self._queue.append((order, failed))
            return None
        history = self.history
        try:
            if order.slow(history.project):
                return self._start(
                    order.label(history.project),
                    lambda p: history.do(order, progress=p),
                    failed,
                    deniable=not order.command.says.seals,
                )
            self._done(history.do(order, progress=SILENT))
        except TabprotectError as error:
            failed(error)
        return None

    def load(self, label: str, work: Callable[[Progress], History], then: Callable[[], object]) -> Job | None:
        """Open a saved project in a job, then call ``then``; no other command runs meanwhile."""
        if self._busy is not None:
            return None
        job = self.jobs.command(label, work)
        self._busy = job
        job.finished.connect(self.take)
        connected(job, finished=lambda _: then(), failed=tell_failure(self._tell_error), ended=self._next)
        return job

    def stop(self, then: Callable[[], object]) -> None:
        """Stop the command that runs and those that wait for it; then go on."""
        self._queue.clear()
        if self._busy is None:
            then()
            return
        self._busy.ended.connect(then)
        self._busy.cancel()

    def take(self, history: History) -> None:
        """Replace the history by a loaded or recovered one."""
        self.jobs.document += 1
        self.select(None)
        self.select_cycle(None)
        self._become(history, EVERYTHING)

    def _tell_error(self, error: TabprotectError, page: str = "") -> None:
        self.error_raised.emit(error, page)

    def _start(self, label: str, work: Any, failed: Told, *, deniable: bool) -> Job:
        job = self.jobs.command(label, work, deniable=deniable)
        self._busy = job
        connected(job, finished=self._done, failed=tell_failure(failed), ended=self._next)
        return job

    def _done(self, result: tuple[History, frozenset[str]]) -> None:
        self._become(*result)

    def _next(self) -> None:
        self._busy = None
        while self._queue and self._busy is None:
            order, failed = self._queue.pop(0)
            self.run(order, failed=failed)

    def _become(self, history: History, changes: frozenset[str]) -> None:
        """Go on with another history. What is selected and is not in it is given up first, while the
        pages still show the project that it is selected in."""
        before, self.history = self.history, history
        shape = None if self.shown_table is None else self.shown_table.domain.shape
        if self.of_magnitudes:
            shape = tuple(len(variable.nodes) for variable in self.magnitude_variables)
        whole = None if self.project is None else self.project.domain.shape
        cycles = 0 if self.selected_cycle is None else self._cycles()
        self.history = before
        if self.selection is not None and not _inside(self.selection, shape):
            self.select(None)
        if self.total is not None and not _inside(self.total.cell, whole):
            self.select_total(None)
        if self.selected_cycle is not None and self.selected_cycle >= cycles:
            self.select_cycle(None)
        self.history = history
        if self.magnitudes is not None:
            self.judged_magnitudes.ask(self.magnitudes)
        self.project_changed.emit(changes)

    def _cycles(self) -> int:
        """The number of cycles; 0 if the shape allows none."""
        if self.project is None:
            return 0
        try:
            return len(self.project.cycles)
        except TabprotectError:
            return 0

    def undo(self) -> None:
        """Undo one named step."""
        self._travel(lambda history: history.undo())

    def redo(self) -> None:
        """Redo one named step."""
        self._travel(lambda history: history.redo())

    def jump(self, step: int) -> None:
        """Go to a step in the history panel."""
        self._travel(lambda history: history.jump(step))

    def _travel(self, move: Any) -> None:
        if self._busy is not None:
            return
        try:
            self._done(move(self.history))
        except TabprotectError as error:
            self.error_raised.emit(error, "")

    def set_preferences(self, preferences: Preferences) -> None:
        """Set the person's preferences, and perhaps the policy, and redo what depends on them."""
        self.preferences = preferences
        self.judging.again()
        self.project_changed.emit(frozenset({"parameters", "release", "title"}))

    # -- selection ----------------------------------------------------------------------------

    def select(self, index: Index | None) -> None:
        """Select a cell, on every page at once."""
        if index is not None:
            index = tuple(int(i) for i in index)
        self.select_total(None)
        if index != self.selection:
            self.selection = index
            self.selection_changed.emit(index)

    def select_total(self, total: Total | None) -> None:
        """Select a total of the table; selecting a cell later replaces it."""
        if total != self.total:
            self.total = total
            self.total_selected.emit(total)

    def select_cycle(self, cycle: int | None) -> None:
        """Select a cycle, on every page at once."""
        if cycle != self.selected_cycle:
            self.selected_cycle = cycle
            self.cycle_selected.emit(cycle)

    # -- the posterior ------------------------------------------------------------------------

    def posterior(self, who: Who = "user") -> Posterior | None:
        """The posterior of the release under a prior, if it is already known.

        Otherwise it is computed in the background and ``posterior_ready`` reports it.
        """
        project = self.project
        if project is None or not self.tells_counts:
            return None
        if (known := self.known_posterior(who)) is not None:
            return known
        release, text = present(project.release), project.priors[who]

        def work(progress: Progress) -> tuple[Release, Believed]:
            # Inference imports scipy; a window that only shows a table does not wait for it.
            from tabprotect.engine.belief.believing import believe
            from tabprotect.engine.belief.counts_among import counts_among
            from tabprotect.engine.belief.evidence import PriorKnowledge
            from tabprotect.engine.bundle.informed_prior import informed
            from tabprotect.engine.disclosure.counts_verdict import weigh_refused

            knowing = PriorKnowledge(weigh_refused=weigh_refused)
            # Of the inner cells wherever they can be put together: all tables follow from them.
            inner = text == PRIORS["user"]
            evidence = present(counts_among(release))
            prior = informed(text, [evidence], progress)
            found = believe([evidence], prior, knowing=knowing, inner=inner, progress=progress)
            # The posterior caches these; pages ask for them as soon as it is shown, for all cells at once.
            posterior = found.posterior
            _ = posterior.mode_matches, posterior.entropy, posterior.small(project.at_risk)
            return evidence.release, found

        self._beliefs[who].ask(message("what {who} would think", who), work, (release, text))
        return None

    def known_posterior(self, who: Who = "user") -> Posterior | None:
        """The posterior if it is already known; never starts a job."""
        known = self.known_belief(who)
        return None if known is None else known.posterior

    def known_belief(self, who: Who = "user") -> Believed | None:
        """The posterior if it is already known, with what it leaves out."""
        found = self._read(who)
        return None if found is None else found[1]

    @property
    def counts_release(self) -> Release | None:
        """What is published of counts: the release, or the counts among its measures once they are read."""
        found = None if self.release is not None else self._read("user") or self._read("intruder")
        return self.release if found is None else found[0]

    def _read(self, who: Who) -> tuple[Release, Believed] | None:
        project = self.project
        return None if project is None else self._beliefs[who].known((project.release, project.priors[who]))

    def _believed(self, who: str, found: tuple[Release, Believed]) -> None:
        key, posterior = self._beliefs[who].key, found[1].posterior
        self.posterior_ready.emit(who, posterior)
        # The count can take longer than the posterior itself; nobody waits for it.
        self._counts[who].ask(
            message("counting the tables that could be behind it"), lambda progress: posterior.originals, key
        )

    def originals(self, who: Who = "user") -> int | None:
        """The number of originals that remain possible; ``None`` while unknown, or if too many to count."""
        return self._counts[who].known(self._beliefs[who].key)

    def ask_again(self, who: Who) -> None:
        """Allow a cancelled or failed question to be asked again."""
        self._beliefs[who].drop()

    def recipe_text(self) -> str:
        """The recipe of the present state, without seeds."""
        return recipe_text.to_text(self.history.trail, seeds=False)

    def close(self) -> None:
        """End all work; no thread remains."""
        self._queue.clear()
        self.jobs.close()
        self.closed.emit()


def _inside(index: Index, shape: tuple[int, ...] | None) -> bool:
    return (
        shape is not None
        and len(index) == len(shape)
        and all(0 <= i < n for i, n in zip(index, shape, strict=True))
    )
