"""What the query-space page looks at: the released set, the sub-table in focus, what would follow.

Everything is asked as a question beside the window and kept; nothing here changes the project.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QObject, Signal

from tabprotect.engine.arrays import Bools, Ints
from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.query_space_state import released_set
from tabprotect.engine.query_space.criterion_evidence import RiskJudgement
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.release_set import Consequence, ReleaseSet
from tabprotect.gui.base.background.background_task import BackgroundTask, same
from tabprotect.gui.base.document import Document
from tabprotect.gui.lattice.names import VariableLetters
from tabprotect.languages.messages import message

RELEASED, CANDIDATE, UNRELEASABLE, UNKNOWN = range(4)

STATUS = ("released", "candidate", "unreleasable", message("not proved wide enough"))
"""The regions as files name them."""

REGION_WORDS = (
    "released",
    message("may be released"),
    message("may not be released"),
    message("not proved wide enough"),
)
"""The same regions in words."""
"""The words for the four regions, by number."""

KEPT = 256


@dataclass(frozen=True)
class Regions:
    """A released set laid out over the whole lattice.

    Attributes
    ----------
    state
        The released set itself.
    letters
        Names of the variables in drawings.
    out
        What the released set is called: ``planned`` until it is published.
    waiting
        Whether what is unknown is still being looked at.
    """

    state: ReleaseSet
    letters: VariableLetters
    out: Literal["planned", "released"] = "planned"
    waiting: bool = False

    @property
    def variables(self) -> int:
        """Return how many variables and levels above them there are."""
        return self.letters.lattice.variables

    def at(self, query: Query) -> int:
        """Return where a query stands in the arrays over all of them."""
        return int(self.letters.lattice.at([query])[0])

    @cached_property
    def every(self) -> Ints:
        """All queries, ascending (queries,)."""
        return self.letters.lattice.every

    @cached_property
    def status(self) -> npt.NDArray[np.uint8]:
        """The region of every query (queries,)."""
        out = np.full(len(self.every), UNKNOWN, dtype=np.uint8)
        out[self.state.proved.covers(self.every)] = UNRELEASABLE
        out[self.letters.lattice.at(self.state.allowed)] = CANDIDATE
        out[self.state.released.covers(self.every)] = RELEASED
        return out

    @cached_property
    def frontier(self) -> Bools:
        """Tell whether a query is on the released or the unreleasable frontier (queries,)."""
        out = np.zeros(len(self.every), dtype=np.bool_)
        for edge in (self.state.released, self.state.unreleasable):
            out[self.letters.lattice.at(edge.members)] = True
        return out

    @cached_property
    def by_dimension(self) -> Ints:
        """Return how many queries of each region there are by dimension (4, dimensions)."""
        lattice = self.letters.lattice
        size = lattice.dimensions(self.every)
        out = np.zeros((4, len(lattice.axes) + 1), dtype=np.int64)
        np.add.at(out, (self.status, size), 1)
        return out


@dataclass(frozen=True)
class Foresight:
    """The foreseen consequence of releasing a query.

    Attributes
    ----------
    judgement
        Of the released set with it; its tight cells are those below the threshold, or, where
        none is, the tightest ones.
    newly_released, newly_unreleasable : bool (queries,)
        What would change.
    """

    query: Query
    consequence: Consequence
    judgement: RiskJudgement
    newly_released: Bools
    newly_unreleasable: Bools


def foresee_release(regions: Regions, query: Query, progress: Progress) -> Foresight:
    """Work out what releasing a query would do."""
    state = regions.state
    consequence = state.preview(query, progress)
    judgement = state.judge(query, progress)
    if not judgement.tight and judgement.exact and query not in state.released:
        closest = replace(state, standard=replace(state.standard, threshold=judgement.width + 1))
        judgement = replace(judgement, tight=closest.judge(query, progress).tight)
    nothing = np.zeros(len(regions.every), dtype=np.bool_)
    if consequence.judgement.verdict != "safe":
        # It would be refused: nothing changes.
        return Foresight(query, consequence, judgement, nothing, nothing)
    below = (regions.every & query) == regions.every
    gone = consequence.newly_unreleasable.covers(regions.every)
    return Foresight(
        query,
        consequence,
        judgement,
        below & (regions.status != RELEASED),
        gone & (regions.status == CANDIDATE),
    )


def _laid_out(state: ReleaseSet, *, waiting: bool = False) -> Regions:
    """The regions with all that the page draws of them."""
    regions = Regions(state, VariableLetters.of(state.evidence.lattice), waiting=waiting)
    regions.status, regions.frontier, regions.by_dimension  # noqa: B018 (worked out here)
    return regions


class _SoFar:
    """Progress that hands on the regions with every report: only the latest one is heard.

    What is found of a smaller plan on the way is not shown.
    """

    def __init__(self, project: Project, progress: Progress) -> None:
        self._planned = project.plan.margins
        self._progress = progress
        self._regions: Regions | None = None

    def report(self, stage: str, fraction: float, partial: object = None) -> None:
        if isinstance(partial, ReleaseSet):
            lattice = partial.evidence.lattice
            if all(lattice.query(names) in partial.released for names in self._planned):
                self._regions = _laid_out(partial, waiting=True)
        self._progress.report(stage, fraction, self._regions)


class Space(QObject):
    """The query space of the open project.

    Signals: ``changed`` (the regions, or that there are none), ``focus_changed``, ``foreseen``
    (a :class:`Foresight` of the query in focus), ``failed`` (the error).
    """

    changed = Signal()
    focus_changed = Signal(int)
    foreseen = Signal(object)
    failed = Signal(object)

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.regions: Regions | None = None
        self.focus: Query = 0
        self._foresights: OrderedDict[Query, Foresight] = OrderedDict()
        self._looking: BackgroundTask[Regions] = BackgroundTask(
            self, document.jobs, self._set, self._failed, came=self._came, stopped=self._stopped
        )
        self._ahead: BackgroundTask[Foresight] = BackgroundTask(
            self, document.jobs, self._foreseen, self.failed.emit
        )
        self.stopped = False
        """Whether the last question for the regions was cancelled."""

    @staticmethod
    def _key(project: Project) -> tuple[object, ...]:
        return (project.table, project.at_risk, project.plan)

    @property
    def busy(self) -> bool:
        """Return True if the regions of the project as it stands are still being worked out."""
        return self._looking.running

    def refresh(self, *, again: bool = False) -> None:
        """Bring the regions up to date with the project, beside the window."""
        if (project := self.document.project) is None or project.table is None:
            self._looking.drop()
            self.stopped = False
            self._set(None)
            return
        key, before = self._key(project), self._looking.key
        if again:
            self._looking.drop()

        def work(progress: Progress) -> Regions:
            return _laid_out(released_set(project, _SoFar(project, progress)))

        if not self._looking.ask(message("looking at every table"), work, key):
            return
        self.stopped = False
        if before is None or not same(before[:2], key[:2]):
            # Another table: what is on the screen belongs to nothing any more.
            self.focus = 0
            self._set(None)

    def _came(self, regions: Regions) -> None:
        """Take what is proved so far; what would follow is foreseen from all of it only."""
        if regions is not self.regions:
            self.regions = regions
            self._foresights.clear()
            self._ahead.drop()
            self.changed.emit()

    def _failed(self, error: TabprotectError) -> None:
        self._set(None)
        self.failed.emit(error)

    def _stopped(self) -> None:
        self.stopped = True
        self._set(None)

    def _set(self, regions: Regions | None) -> None:
        self.regions = regions
        self._foresights.clear()
        self._ahead.drop()
        self.changed.emit()
        if regions is not None:
            self._foresee(self.focus)

    def set_focus(self, query: Query) -> None:
        """Put a sub-table in focus on every part of the page."""
        if self.regions is None or query == self.focus:
            return
        self.focus = query
        self.focus_changed.emit(query)
        self._foresee(query)

    def foresight(self) -> Foresight | None:
        """Return what releasing the sub-table in focus would do, where it is known."""
        return self._foresights.get(self.focus)

    def foresee(self, query: Query) -> Foresight | None:
        """As :meth:`foresight`; asks where it is not known, and ``foreseen`` tells."""
        if (found := self._foresights.get(query)) is None:
            self._foresee(query)
        return found

    def _foresee(self, query: Query) -> None:
        if (regions := self.regions) is None or regions.waiting:
            return
        if (known := self._foresights.get(query)) is not None:
            self.foreseen.emit(known)
            return
        if not self._ahead.running:
            # What was foreseen and forgotten, or failed, may be asked again.
            self._ahead.drop()
        self._ahead.ask(
            message("looking ahead"),
            lambda progress: foresee_release(regions, query, progress),
            (regions, query),
        )

    def _foreseen(self, found: Foresight) -> None:
        self._foresights[found.query] = found
        while len(self._foresights) > KEPT:
            self._foresights.popitem(last=False)
        self.foreseen.emit(found)
