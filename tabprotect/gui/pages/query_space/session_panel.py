"""A table-server session: queries and their answers, the history, and its replay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPushButton, QSlider, QWidget

from tabprotect.engine.agency import user_name
from tabprotect.engine.errors import InputError, TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.releasing.query_space_state import evidence_of, standard_of
from tabprotect.engine.project.verbs.query_verbs import serve_session
from tabprotect.engine.query_space.lattice import Query, names_joined
from tabprotect.engine.query_space.registered import rules, session_rules
from tabprotect.engine.query_space.release_set import ReleaseSet
from tabprotect.engine.query_space.table_server.decision import Answer, Request, ServerState
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.forms.parameters.name_picks import NamePicks
from tabprotect.gui.lattice.dimension_bars import DimensionBars
from tabprotect.gui.lattice.names import first_names
from tabprotect.gui.lattice.space import Regions, Space
from tabprotect.gui.lattice.words import state_sentence
from tabprotect.gui.look.buttons import choice, connected, named, silent
from tabprotect.gui.look.file_dialogs import ask_place
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row, set_enabled
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.decisions_view import Decision, DecisionsView
from tabprotect.gui.pages.query_space.lattice_panel import look_of
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.engine.query_space.table_server.log_entry import LogEntry

SESSION_ANSWER_CELLS = 5_000
"""Cells of an answer that are listed."""


ANSWERS = {
    "table": message("The table itself"),
    "projection": message("Not the table, but what of it is released"),
    "refusal": message("Refused"),
    "deferral": message("Put off"),
}


@dataclass(frozen=True)
class Served:
    """The history, and the released set after each of its entries.

    Attributes
    ----------
    states
        One more than ``entries``: before the first, after the first, ...
    answer, tables
        What the last request got, and the tables given out with it.
    """

    entries: tuple[LogEntry, ...]
    states: tuple[ReleaseSet, ...]
    answer: Answer | None = None
    tables: tuple[Table, ...] = ()


class Serving:
    """One session on one table. Its methods run in a worker, one at a time."""

    def __init__(
        self, project: Project, url: str, rule: str, values: Mapping[str, object], progress: Progress
    ) -> None:
        # The database library would cost every start of the window most of a second.
        from tabprotect.engine.query_space.table_server.ledger import Ledger
        from tabprotect.engine.query_space.table_server.session import ServerSession

        if not url.strip():
            raise InputError(
                message("a session needs a place for its history"),
                hint="name a file, or a database such as postgresql+psycopg://host/name",
            )
        table = project.original
        standard = standard_of(project.plan, evidence_of(project, progress))
        self._start = ReleaseSet.begin(standard, progress=progress)
        self.table = table
        self.ledger = Ledger(url.strip(), table)
        try:
            state = ServerState.begin(self._start, rules()[rule], values)
            self.session = ServerSession(self.ledger, state, progress)
        finally:
            # No connection stays open between two requests; the next one opens its own.
            self.ledger.close()

    def history(self, progress: Progress) -> Served:
        """All that was asked so far, by this session and by others."""
        from tabprotect.engine.query_space.table_server.session import replay

        try:
            found = list(replay(self.ledger, self._start, progress=progress))
        finally:
            self.ledger.close()
        states = [self._start, *(state for _, state in found)]
        return Served(tuple(entry for entry, _ in found), tuple(states))

    def ask(self, user: str, query: Query, progress: Progress) -> Served:
        """Ask; the decision is in the history before this returns."""
        try:
            answer = self.session.ask(Request(user, query), progress).answer
        finally:
            self.ledger.close()
        served = self.history(progress)
        names = self.session.state.releases.evidence.lattice.names_of
        tables = tuple(self.table.margin(names(q)) for q in answer.queries if q)
        return Served(served.entries, served.states, answer, tables)


class SessionPanel(SpacePanel):
    """``failed`` carries an error, ``changed`` that the history has grown."""

    plans = True

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.serving: Serving | None = None
        self.served: Served | None = None
        self._key: tuple[object, ...] | None = None
        self._regions: Regions | None = None
        self._work: BackgroundTask[tuple[Serving, Served]] = BackgroundTask(
            self, space.document.jobs, self._answered, self._not_answered, stopped=self._stopped
        )
        self.place = named(
            QLineEdit(placeholderText=tr("a file, or a database URL")),
            message("Where the history is kept: a file or a database URL"),
        )
        browse = named(
            QPushButton(tr("Choose\u2026")), message("Choose the file of the history"), clicked=self._browse
        )
        self.rule = choice(
            message("Release rule"),
            {name: found.label for name, found in session_rules().items()},
            self._show_rule,
            tips={name: message("<p>{help}</p>", found.help) for name, found in session_rules().items()},
            current="myopic",
        )
        self.begin = connected(QPushButton(tr("Begin")), clicked=self.begin_session)
        self.values: dict[str, QLineEdit] = {}
        self._values_row = in_row(spacing=GRID)
        self.user = named(QLineEdit(user_name()), message("Who asks"))
        self.user.setMaximumWidth(16 * GRID)
        self.names = named(
            NamePicks(lambda name: message("Variable of the table asked for: {name}", name)),
            message("Variables of the table asked for"),
        )
        self.asking = connected(QPushButton(tr("Ask")), clicked=self.ask)
        self.answer = Label(wordWrap=True, name=message("The answer"), selectable=True)
        self.given = named(
            QComboBox(),
            message("Which of the tables given out"),
            currentIndexChanged=lambda _: self._show_table(),
        )
        self.cells = RowList(message("The table given out"))
        self.bars = DimensionBars()
        self.slider = named(QSlider(Qt.Orientation.Horizontal), message("Point in the history"))
        self.slider.setPageStep(1)
        self.slider.valueChanged.connect(lambda _: self._show_point())
        self._point = Label(wordWrap=True, name=message("What was released then"))
        self.decisions = DecisionsView(
            message("History of queries"),
            message("Lattice at this point of the history"),
            self.bars,
            below_log=(self.given, (self.cells, 2)),
            below_lattice=(self.slider, self._point),
        )
        self.log, self.view = self.decisions.log, self.decisions.lattice
        self.log.chosen.connect(lambda row: self.slider.setValue(row + 1))
        self.view.focused.connect(self._query_chosen)
        self._lay_out(browse)
        self._show_rule()

    def _lay_out(self, browse: QPushButton) -> None:
        where, rule, who = Label(message("History in")), Label(message("Rule")), Label(message("Asked by"))
        where.setBuddy(self.place)
        rule.setBuddy(self.rule)
        who.setBuddy(self.user)
        kept = in_row(where, (self.place, 1), browse, spacing=GRID)
        begun = in_row(rule, self.rule, self._values_row, 1, self.begin, spacing=GRID)
        asked = in_row(
            who, self.user, Label(message("for")), (self.names, 1), self.asking, margins=0, spacing=GRID
        )
        self._asked = QWidget()
        self._asked.setLayout(asked)
        in_column(
            *(kept, begun, self._asked, self.answer, (self.decisions, 1), 0),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    # -- the session --------------------------------------------------------------------------

    def refresh(self) -> None:
        """End a session that belongs to another table or criterion."""
        project, regions = self.space.document.project, self.space.regions
        key = (
            None
            if project is None or regions is None
            else (regions.state.evidence, project.plan.threshold, project.plan.criterion, project.plan.bounds)
        )
        if key is None or self._key is None or key[0] is not self._key[0] or key[1:] != self._key[1:]:
            self._key = key
            self._work.drop()
            self.serving = self.served = None
        self._show()

    def begin_session(self) -> None:
        """Open the history and begin a session by the chosen rule."""
        if (project := self.space.document.project) is None or self._work.running:
            return
        url, rule = self.place.text(), str(self.rule.currentData())
        values = {name: field.text() for name, field in self.values.items()}

        def work(progress: Progress) -> tuple[Serving, Served]:
            serving = Serving(project, url, rule, values, progress)
            return serving, serving.history(progress)

        self._work.ask(message("opening the history"), work)
        self._show()

    def ask(self) -> None:
        """Ask for the sub-table of the names that are picked; of none, for the grand total."""
        serving, regions = self.serving, self.space.regions
        if serving is None or regions is None or self._work.running:
            return
        try:
            query = regions.letters.lattice.query(self.names.chosen)
            if not self.user.text().strip():
                raise InputError(message("nobody is named as asking"), hint=message("say who asks"))
        except TabprotectError as error:
            self.failed.emit(error)
            return
        user = self.user.text().strip()
        self._work.ask(
            message("answering a query"), lambda progress: (serving, serving.ask(user, query, progress))
        )
        self._show()

    def _answered(self, found: tuple[Serving, Served]) -> None:
        self.serving, self.served = found
        served = found[1]
        self._show()
        self.slider.setValue(len(served.entries))
        self._show_point()
        self.changed.emit()

    def _not_answered(self, error: TabprotectError) -> None:
        self.failed.emit(error)
        self._show()

    def _stopped(self) -> None:
        if (serving := self.serving) is not None:
            # The decision may be in the history all the same.
            self._work.ask(
                message("reading the history"), lambda progress: (serving, serving.history(progress))
            )
        self._show()

    def margins(self) -> list[list[str]]:
        """Return what was released at the point that is shown, as margins by name."""
        if (regions := self._regions) is None:
            return []
        names = regions.letters.lattice.names_of
        return [list(names(query)) for query in regions.state.released if query]

    def words(self, project: Project) -> list[str]:
        """The next request as words of the command line; a database's password is left out."""
        place = self.place.text().strip() or "history.sqlite"
        head, at, tail = place.rpartition("@")
        if at and "://" in head:
            scheme, _, login = head.partition("://")
            place = f"{scheme}://{login.partition(':')[0]}@{tail}"
        return serve_session(
            project,
            database=place,
            rule=self.rule.currentData(),
            query=names_joined(self.names.chosen) or "A,B",
        )

    # -- what is shown ------------------------------------------------------------------------

    def _show(self) -> None:
        begun, regions = self.serving is not None, self.space.regions
        self.begin.setEnabled(not self._work.running and regions is not None)
        self.begin.setText(translate(message("Begin anew") if begun else message("Begin")))
        self.names.offer(() if regions is None else regions.letters.lattice.names)
        set_enabled(begun and not self._work.running, self.user, self.names, self.asking)
        served = self.served
        self._asked.setVisible(begun)
        self.decisions.setVisible(served is not None and regions is not None)
        if served is None or regions is None:
            self.answer.setText(
                tr(
                    "A session answers queries from this table and writes every decision down before "
                    "the answer leaves. Choose where, then begin."
                )
            )
            self.log.show_rows(())
            self.given.clear()
            self.given.hide()
            self.cells.show_rows(())
            self.cells.hide()
            self.slider.setRange(0, 0)
            self._show_point()
            return
        self.decisions.show_log(map(_decision, served.entries), regions.letters)
        self.slider.setRange(0, len(served.entries))
        self._show_answer(served)

    def _show_answer(self, served: Served) -> None:
        regions, answer = self.space.regions, served.answer
        with silent(self.given):
            self.given.clear()
            if answer is None or regions is None:
                self.answer.setText(tr("The history is open: ask."))
            else:
                names = [regions.letters.text(q) for q in answer.queries if q]
                given = message(": {names}", first_names(names)) if names else ""
                self.answer.setText(
                    tr("{ANSWERS}{given} ({reason}).", ANSWERS[answer.kind], given, answer.reason)
                )
                self.given.addItems(names)
        self.given.setVisible(self.given.count() > 1)
        self._show_table()

    def _show_table(self) -> None:
        served, at = self.served, self.given.currentIndex()
        tables: tuple[Table, ...] = () if served is None else served.tables
        self.cells.setVisible(0 <= at < len(tables))
        if not 0 <= at < len(tables):
            self.cells.show_rows(())
            return
        table = tables[at]
        domain = table.domain
        keys = np.arange(min(domain.size, SESSION_ANSWER_CELLS), dtype=np.int64)
        codes = [domain.unflat(int(key)) for key in keys]
        columns = [
            ListColumn(v.name, [v.categories[code[n]] for code in codes], str, right=False)
            for n, v in enumerate(domain.variables)
        ]
        self.cells.show_rows([*columns, ListColumn(message("count"), [table[code] for code in codes])])

    def _show_point(self) -> None:
        served, regions = self.served, self.space.regions
        if served is None or regions is None:
            self._regions = None
            self.view.show_levels((), None)
            self.bars.show_counts(self.bars.counts[:, :0])
            self._point.clear()
            return
        at = min(self.slider.value(), len(served.states) - 1)
        self._regions = Regions(served.states[at], regions.letters, "released")
        when = (
            message("Before the first query")
            if not at
            else message("After query {at} of {entries}", at, len(served.entries))
        )
        self._point.setText(tr("{when}: {regions}", when, state_sentence(self._regions)))
        drawn = self.decisions.draw(
            regions.letters,
            lambda query: look_of(self._regions, None, query, 0),
            self._point.text(),
            served.entries[at - 1].line.query if at else None,
        )
        if not drawn:
            self.bars.show_counts(self._regions.by_dimension)
        self.log.set_current(at - 1 if at else None)
        self.changed.emit()

    def _query_chosen(self, query: Query) -> None:
        """A node that is clicked is put into the field, ready to be asked for."""
        if (regions := self.space.regions) is not None:
            self.view.set_focus(query)
            self.names.choose(regions.letters.lattice.names_of(query))

    def _show_rule(self) -> None:
        found = rules()[self.rule.currentData()]
        self.rule.setToolTip(tr("<p>{help}</p>", found.help))
        while self._values_row.count():
            item = self._values_row.takeAt(0)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.values = {}
        for parameter in found.parameters:
            field = named(
                QLineEdit(str(parameter.default)),
                parameter.label,
                tip=message("<p>{help}</p>", parameter.help),
            )
            field.setMaximumWidth(7 * GRID)
            filled(self._values_row, Label(parameter.label.lower(), buddy=field), field)
            self.values[parameter.name] = field

    def _browse(self) -> None:
        ask_place(
            self,
            message("History"),
            "query-history-CONFIDENTIAL.sqlite",
            message("SQLite (*.sqlite);;All files (*)"),
            self.place.setText,
            confirm=False,
        )


def _decision(entry: LogEntry) -> Decision:
    line = entry.line
    why, time = line.detail or line.reason, entry.time.replace(tzinfo=UTC)
    return Decision(entry.number, time, line.user, line.query, line.kind, why)
