"""The best release at the threshold: searched for by three methods, compared, and accepted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtWidgets import QPushButton, QSpinBox

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.query_space_state import evidence_of, standard_of
from tabprotect.engine.project.verbs.query_verbs import optimal
from tabprotect.engine.query_space.frontier import Frontier
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.query_space.optimal.best_release import (
    METHODS,
    ReleaseProposal,
    SearchMethod,
    judged_proposal,
)
from tabprotect.engine.query_space.optimal.best_release import optimal as best_release
from tabprotect.engine.query_space.registered import utilities
from tabprotect.engine.randomness import Randomness
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.lattice.dimension_bars import DimensionBars
from tabprotect.gui.lattice.names import counted, first_names
from tabprotect.gui.lattice.space import RELEASED, UNKNOWN, Space
from tabprotect.gui.look.buttons import Scrolling, choice, connected, named, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_column, in_row
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, count_text, number_text, per_cent
from tabprotect.gui.pages.query_space.lattice_panel import DRAWN
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import capital, message
from tabprotect.languages.translation import tr, translate

NOW = message("as planned now")

SEARCHES: dict[SearchMethod, str] = {
    "annealing": message("simulated annealing"),
    "heuristic": message("widest tables first"),
    "exhaustive": message("every release"),
}
"""What the ways to search are called."""

COMPARING = message("comparing releases")


REBUILT_CELLS = 20_000
"""Cells up to which a table is rebuilt from its margins for comparison."""


VERDICTS = {
    "safe": message("may go out"),
    "bad": message("may not go out"),
    "unknown": message("not proved wide enough"),
}


@dataclass(frozen=True)
class Compared:
    """One release to compare.

    Attributes
    ----------
    rebuilt
        The share of records that the release alone puts into the right cells; ``None`` for
        tables too large to rebuild.
    """

    plan: ReleaseProposal
    rebuilt: float | None

    @property
    def safe(self) -> bool:
        """Return True if it is proved to reach the threshold."""
        return self.plan.judgement.verdict == "safe"

    @property
    def verdict(self) -> str:
        """In words; a search that was stopped says so."""
        word = VERDICTS[self.plan.judgement.verdict]
        return word if self.plan.complete else message("{word}, best so far", word)


class OptimalPanel(SpacePanel):
    """``failed`` carries an error, ``changed`` that another release can be accepted."""

    plans = True

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.found: dict[str, Compared] = {}
        self._key: tuple[object, ...] | None = None
        jobs = space.document.jobs
        self._now: BackgroundTask[Compared] = BackgroundTask(
            self, jobs, lambda found: self._answered(NOW, found), self.failed.emit
        )
        self._all: BackgroundTask[Compared] = BackgroundTask(
            self, jobs, lambda found: self._answered(self._all_name(), found), self.failed.emit
        )
        self._search: BackgroundTask[Compared] = BackgroundTask(
            self, jobs, self._found, self._not_found, came=self._better, stopped=self._keep
        )
        self._best: tuple[Query, ...] = ()
        self._by: SearchMethod = "annealing"
        self.method = choice(
            message("How to search"),
            {name: SEARCHES.get(name, words) for name, words in METHODS.items()},
            self._tell_method,
            tips={name: message("<p>{help}</p>", help_) for name, help_ in METHODS.items()},
        )
        self.go = connected(QPushButton(tr("Search")), clicked=self.search)
        self.stop = connected(QPushButton(tr("Stop, keep the best")), clicked=self._search.cancel)
        self.order = named(
            QSpinBox(minimum=1, maximum=1, value=1, prefix=tr("all "), suffix=tr("-way tables")),
            message("Compare with all tables of a dimension"),
            valueChanged=lambda _: self._ask_all(),
        )
        self._method_help = Label(wordWrap=True, role="quiet")
        self._live = Label(wordWrap=True, name=message("The best so far"))
        self.list = connected(
            RowList(message("Releases to compare"), sortable=False), chosen=lambda _: self._show_chosen()
        )
        self._frontier = Label(wordWrap=True, name=message("Its frontier"))
        self.bars = (DimensionBars(), DimensionBars())
        self._titles = (Label(), Label())
        self._lay_out()
        self._tell_method()

    def _lay_out(self) -> None:
        against = Label(message("  compare with"), buddy=self.order)
        row = in_row(self.method, self.go, self.stop, against, self.order, 1, spacing=GRID)
        sides = in_row(spacing=2 * GRID)
        for title, bars in zip(self._titles, self.bars, strict=True):
            dress(title, "section")
            sides.addLayout(in_column(title, (bars, 1)), 1)
        in_column(
            row,
            self._method_help,
            self._live,
            (self.list, 2),
            self._frontier,
            (Scrolling(held(sides)), 3),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    # -- what is shown ------------------------------------------------------------------------

    @property
    def live(self) -> str:
        """Say what the running search has found so far."""
        return self._live.text()

    def refresh(self) -> None:
        """Compare anew where the question has changed."""
        regions, project = self.space.regions, self.space.document.project
        self.stop.setVisible(self._search.running)
        self.go.setEnabled(not self._search.running and regions is not None)
        if regions is None or project is None:
            self.found.clear()
            self._key = None
            self._fill()
            return
        key = (regions.state.evidence, project.plan.threshold, project.plan.criterion)
        if self._key is None or any(a is not b and a != b for a, b in zip(key, self._key)):  # noqa: B905
            self._search.drop()
            self._live.clear()
            self.found.clear()
            self._key = key
            with silent(self.order):
                self.order.setMaximum(max(1, regions.variables - 1))
                self.order.setValue(min(3, regions.variables - 1))
            self._ask_all()
        released = regions.state.released.members
        self._now.ask(COMPARING, lambda progress: compare(project, released, progress))
        self._fill()

    def _all_name(self) -> str:
        return message("all {value}-way tables", self.order.value())

    def _ask_all(self) -> None:
        regions, project = self.space.regions, self.space.document.project
        if regions is None or project is None:
            return
        for name in [n for n in self.found if n.startswith("all ")]:
            del self.found[name]
        queries = tuple(regions.letters.lattice.level(self.order.value()))
        self._all.ask(COMPARING, lambda progress: compare(project, queries, progress))

    def _answered(self, name: str, found: Compared) -> None:
        self.found[name] = found
        self._fill(name if name in METHODS else None)

    @property
    def _names(self) -> list[str]:
        known = [NOW, *METHODS, *(n for n in self.found if n.startswith("all "))]
        return [name for name in known if name in self.found]

    @property
    def chosen(self) -> str:
        """The release that was gone to; empty where none was."""
        at = self.list.currentIndex()
        return self._names[at.row()] if at.isValid() and at.row() < len(self._names) else ""

    def _fill(self, choose: str | None = None) -> None:
        before = choose or self.chosen
        names = self._names
        rows = [self.found[name] for name in names]
        dimensions = len(rows[0].plan.released.by_dimension) if rows else 0
        columns = [
            ListColumn(message("release"), names, str, right=False),
            ListColumn(message("tables"), [r.plan.released.size for r in rows]),
            ListColumn(self._unit(), [r.plan.judgement for r in rows], _width),
            ListColumn(message("verdict"), [r.verdict for r in rows], str, right=False),
            ListColumn(
                message("decomposable"),
                [message("yes") if r.plan.decomposable else message("no") for r in rows],
                str,
            ),
        ]
        if any(r.rebuilt is not None for r in rows):
            columns.append(
                ListColumn(
                    message("rebuilt"),
                    [r.rebuilt for r in rows],
                    lambda value: "\u2013" if value is None else per_cent(number_text(100 * value, digits=1)),
                )
            )
        for d in range(dimensions):
            counts = [r.plan.released.by_dimension[d] for r in rows]
            columns.append(ListColumn(message("{dimension}-way", d), counts))
        self.list.show_rows(
            columns,
            stretch=(0,) if dimensions <= DRAWN + 1 else (),
            current=names.index(before) if before in names else None,
        )
        self._show_chosen()

    def _unit(self) -> str:
        regions = self.space.regions
        criterion = None if regions is None else regions.state.criterion
        return "width" if criterion is None or criterion.name == "width" else criterion.unit

    def _show_chosen(self) -> None:
        name = self.chosen
        regions = self.space.regions
        shown = [name or (NOW if NOW in self.found else ""), self._all_name()]
        for title, bars, one in zip(self._titles, self.bars, shown, strict=True):
            found = self.found.get(one)
            title.setText(translate(capital(one) if found else ""))
            released = () if found is None else found.plan.released.by_dimension
            counts = np.zeros((4, len(released)), dtype=np.int64)
            counts[RELEASED] = released
            if regions is not None and released:
                counts[UNKNOWN] = regions.by_dimension.sum(axis=0) - counts[RELEASED]
            bars.show_counts(counts)
        if (found := self.found.get(shown[0])) is None or regions is None:
            self._frontier.clear()
        else:
            texts = regions.letters.text
            frontier = [texts(q) if q else tr("total") for q in found.plan.released]
            self._frontier.setText(
                tr(
                    "{name}: {value}",
                    capital(shown[0]),
                    tr("{frontier} and all below.", first_names(frontier, 12)),
                )
            )
        self.changed.emit()

    # -- searching ----------------------------------------------------------------------------

    def _tell_method(self) -> None:
        self._method_help.setText(tr("{help}.", capital(METHODS[self.method.currentData()])))

    def search(self) -> None:
        """Search for the best release by the chosen method, beside the window."""
        project, regions = self.space.document.project, self.space.regions
        if project is None or regions is None or self._search.running:
            return
        method: SearchMethod = self.method.currentData()
        self._best, self._by = (), method
        self._search.ask(COMPARING, lambda progress: search(project, method, progress))
        self._live.setText(tr("Searching \u2026"))
        self.refresh()

    def _better(self, best: object) -> None:
        regions = self.space.regions
        if not isinstance(best, tuple) or regions is None or not best:
            return
        self._best = best
        size = Frontier.below(regions.letters.lattice, best).size
        names = first_names([regions.letters.text(q) for q in best], 6)
        self._live.setText(tr("Best so far: {size}; {names}.", counted(size), names))

    def _keep(self) -> None:
        """A search that was stopped leaves the best it had."""
        project, best = self.space.document.project, self._best
        self._best = ()
        if best and project is not None:
            self._search.ask(COMPARING, lambda progress: compare(project, best, progress, complete=False))
        self._end()

    def _found(self, found: Compared) -> None:
        self._answered(self._by, found)
        self._end()

    def _not_found(self, error: TabprotectError) -> None:
        self.failed.emit(error)
        self._end()

    def _end(self) -> None:
        self._live.clear()
        self.refresh()

    def margins(self) -> list[list[str]]:
        """The chosen release as margins by name; empty unless it may go out."""
        if (found := self.found.get(self.chosen)) is None or not found.safe or self.chosen == NOW:
            return []
        names = found.plan.lattice.names_of
        return [list(names(query)) for query in found.plan.released if query]

    def words(self, project: Project) -> list[str]:
        """The search as words of the command line."""
        return optimal(project, method=self.method.currentData())


def _width(judgement: object) -> str:
    width, exact = judgement.width, judgement.exact  # type: ignore[attr-defined]
    return count_text(width) if exact else message("at most {width}", count_text(width))


def compare(
    project: Project, queries: Sequence[Query], progress: Progress, *, complete: bool = True
) -> Compared:
    """Judge a release by the project's criterion."""
    standard = standard_of(project.plan, evidence_of(project, progress))
    found = judged_proposal(standard, queries, complete=complete, progress=progress)
    return _rebuilt(project, found, progress)


def search(project: Project, method: SearchMethod, progress: Progress) -> Compared:
    """The best release a method finds at the project's criterion and threshold."""
    standard = standard_of(project.plan, evidence_of(project, progress))
    found = best_release(standard, method, randomness=Randomness.fresh(), progress=progress)
    return _rebuilt(project, found, progress)


def _rebuilt(project: Project, found: ReleaseProposal, progress: Progress) -> Compared:
    table = project.original
    if table.domain.size > REBUILT_CELLS:
        return Compared(found, None)
    share = utilities()["reconstruction"].value(table, found.released, progress)
    return Compared(found, share)
