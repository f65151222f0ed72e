"""The table server seen from the window: opened for a look, and followed while it answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QLineEdit, QPushButton

from tabprotect.engine.errors import TabprotectError, needing
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import Opened
from tabprotect.engine.query_space.lattice import Query
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.lattice.matrix import FrontierMatrix, by_share
from tabprotect.gui.lattice.names import VariableLetters, counted
from tabprotect.gui.lattice.node_looks import NodeLook
from tabprotect.gui.lattice.space import CANDIDATE, RELEASED, UNRELEASABLE, Space
from tabprotect.gui.look.buttons import connected, named
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_column, in_row, set_enabled, set_visible
from tabprotect.gui.look.lists.listing import ListColumn
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.decisions_view import Decision, DecisionsView
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.server.client import FollowedLine, Standing
    from tabprotect.server.hosting.trial_server import TrialServer

SERVER = ("server", message("the table server"))
"""Its extra, and what it is called: it is loaded when it is first asked for."""

EVERY = 2_000
"""Milliseconds between two questions to a server that is followed."""

QUIET = message(
    "Open the table as a server on this machine alone, by the criterion above, and ask it in the "
    "browser. Nothing is written into this document; the history is gone when the server stops. "
    "Or follow a server that runs already, by its address and the key of an operator or an auditor."
)


class LivePanel(SpacePanel):
    """``failed`` carries an error."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.document = space.document
        self.look: TrialServer | None = None
        self.standing: Standing | None = None
        self.following = False
        self._begun: list[TrialServer] = []
        self._served: Table | None = None
        self._note = ""
        self._opening: BackgroundTask[TrialServer] = BackgroundTask(
            self, self.document.jobs, self._opened, self._not_opened, stopped=self.stop
        )
        self._asking: BackgroundTask[Standing] = BackgroundTask(
            self, self.document.jobs, self._heard, self._lost, stopped=self.unfollow
        )
        self._timer = connected(QTimer(self, interval=EVERY), timeout=self._ask)
        self.open = connected(QPushButton(tr("Open as a server")), clicked=self.open_server)
        self.stopping = named(QPushButton(tr("Stop")), message("Stop the server"), clicked=self.stop)
        self.browse = QPushButton(tr("Open in the browser"))
        self.browse.clicked.connect(lambda: self.look and visit(self.look.address))
        self.copy = named(
            QPushButton(tr("Copy the operator\u2019s key")),
            tip=message("<p>To sign in on its pages as operator: log, what-if, prices.</p>"),
            clicked=self._copy_key,
        )
        self.where = Label(name=message("Address of the server"))
        self.where.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.address = named(
            QLineEdit(placeholderText="http://host:port"), message("Address of the server to follow")
        )
        self.key = named(
            QLineEdit(echoMode=QLineEdit.EchoMode.Password), message("Key of an operator or an auditor")
        )
        self.follow = connected(QPushButton(tr("Follow a server")), clicked=self._follow_clicked)
        for field in (self.address, self.key):
            field.returnPressed.connect(self._follow_clicked)
        self.said = Label(QUIET, wordWrap=True, name=message("Where the server stands"))
        self.released = FrontierMatrix(message("Released frontier of the server"), hatched=False)
        self.unreleasable = FrontierMatrix(message("Refused frontier of the server"), hatched=True)
        self._lay_out()
        connected(self.document, project_changed=lambda _: self._check_table(), closed=self._closed)
        self.refresh()

    def _lay_out(self) -> None:
        where, key = Label(message("at")), Label(message("key"))
        where.setBuddy(self.address)
        key.setBuddy(self.key)
        first = in_row(self.open, (self.where, 1), self.browse, self.copy, self.stopping, spacing=GRID)
        second = in_row(self.follow, where, (self.address, 2), key, (self.key, 1), spacing=GRID)
        frontiers = held(
            in_column(
                Label(message("Released frontier"), role="section"),
                (self.released, 1),
                Label(message("Unreleasable frontier"), role="section"),
                (self.unreleasable, 1),
                margins=0,
                spacing=GRID // 2,
            )
        )
        self.decisions = DecisionsView(
            message("History of the server"), message("Lattice of the server"), frontiers
        )
        self.log = self.decisions.log
        column = in_column(
            first, second, self.said, (self.decisions, 1), on=self, margins=(0, GRID, 0, 0), spacing=GRID
        )
        # Takes the room while nothing is followed.
        column.addStretch(0)

    # -- a server for a look ------------------------------------------------------------------

    def open_server(self) -> None:
        """Serve the table on the loopback, beside the window."""
        project = self.document.project
        if project is None or project.table is None or self.look or self._opening.running:
            return
        begun: list[TrialServer] = []
        self._begun, self._served, self._note = begun, project.table, ""

        def work(progress: Progress) -> TrialServer:
            found = look_at(project)
            begun.append(found)
            return found.start(progress)

        self._opening.ask(message("opening a server"), work)
        self.refresh()

    def stop(self) -> None:
        """End the server for a look; what it answers now is finished beside the window."""
        self._opening.drop()
        for look in self._begun:
            look.stop()
        if self.look is not None and self.address.text() == self.look.address:
            self.unfollow()
            self.key.clear()
        self.look = None
        self.refresh()

    def _opened(self, look: TrialServer) -> None:
        self.look = look
        self.address.setText(translate(look.address))
        self.key.setText(translate(look.key))
        self.begin_following()

    def _not_opened(self, error: TabprotectError) -> None:
        self.failed.emit(error)
        self.stop()

    def _check_table(self) -> None:
        """It serves the table as it was when it began: a changed one ends it."""
        project = self.document.project
        served = self.look is not None or self._opening.running
        if served and (project is None or project.table is not self._served):
            self._note = message("The table has changed: the server for a look has ended.")
            self.stop()

    def _closed(self) -> None:
        self.stop()
        for look in self._begun:
            look.wait()

    def _copy_key(self) -> None:
        if self.look is not None:
            QGuiApplication.clipboard().setText(translate(self.look.key))

    # -- following ----------------------------------------------------------------------------

    def begin_following(self) -> None:
        """Ask the named server from now on, as long as this is in front."""
        self.standing, self._note = None, ""
        self.following = True
        if self.isVisible():
            self._timer.start()
        self._ask()
        self.refresh()

    def unfollow(self) -> None:
        """Ask no more."""
        self.following = False
        self._timer.stop()
        self._asking.drop()
        self.refresh()

    def _follow_clicked(self) -> None:
        if self.following:
            self.unfollow()
        else:
            self.begin_following()

    def _ask(self) -> None:
        if self._asking.running or not self.following:
            return
        address, key = self.address.text(), self.key.text()

        def work(progress: Progress) -> Standing:
            with needing(*SERVER):
                from tabprotect.server.client import standing
            return standing(address, key)

        self._asking.ask(message("asking the server"), work)

    def _heard(self, standing: Standing) -> None:
        if standing != self.standing:
            self.standing = standing
            self.refresh()

    def _lost(self, error: TabprotectError) -> None:
        self.unfollow()
        self.failed.emit(error)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.following:
            self._timer.start()
            self._ask()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()

    # -- what is shown ------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show where the server stands."""
        look, opening = self.look, self._opening.running
        project = self.document.project
        there = project is not None and project.table is not None
        self.open.setEnabled(look is None and not opening and there)
        self.open.setVisible(look is None)
        self.where.setText(translate("" if look is None else look.address))
        set_visible(look is not None, self.browse, self.copy)
        self.stopping.setVisible(look is not None or opening)
        self.follow.setText(
            translate(message("Stop following") if self.following else message("Follow a server"))
        )
        set_enabled(not self.following, self.address, self.key)
        standing = self.standing
        self.decisions.setVisible(standing is not None)
        if standing is None:
            waiting = opening or self.following
            said = message("Waiting for the server \u2026") if waiting else QUIET
            self.said.setText(translate(joined(filter(None, (self._note, said)), " ")))
            return
        letters = VariableLetters.of(standing.released.lattice)
        said = sentence(standing, followed=self.following)
        self.said.setText(translate(joined(filter(None, (self._note, said)), " ")))
        self.decisions.show_log(map(_decision, standing.lines), letters, *priced(standing.lines))
        if self.decisions.draw(letters, lambda query: node(standing, query), self.said.text()):
            return
        released, refused = standing.released.members, standing.unreleasable.members
        order = by_share(letters.lattice.variables, (*released, *refused))
        self.released.show_frontier(letters, released, order)
        self.unreleasable.show_frontier(letters, refused, order)

    def minimumSizeHint(self) -> QSize:
        return QSize(50 * GRID, 30 * GRID)


def look_at(project: Project) -> TrialServer:
    """A server of a project's table, by its criterion.

    Raises
    ------
    InputError
        Where the server is not installed.
    """
    with needing(*SERVER):
        from tabprotect.server.hosting.trial_server import TrialServer
        from tabprotect.server.service import CriterionChoice, Service, TableSource
    plan = project.plan
    service = Service(
        title=message("A look at a table server"),
        table=TableSource(at_risk=str(project.at_risk)),
        criterion=CriterionChoice(name=plan.criterion, threshold=plan.threshold, bounds=plan.bounds),
    )
    return TrialServer(service, Opened(project.original, title=project.title))


def visit(address: str) -> None:
    """Show an address in the browser of this desk."""
    QDesktopServices.openUrl(QUrl(address))


def sentence(standing: Standing, *, followed: bool) -> str:
    """Say where a server stands, in words."""
    said = message(
        "{label}: {length} in the history; the frontiers are {released} and {unreleasable}",
        standing.label,
        counted(standing.length, "line"),
        counted(sum(1 for query in standing.released if query), message("released table")),
        counted(len(standing.unreleasable), message("refused one")),
    )
    if standing.frozen:
        said += message("; frozen, no further true table goes out")
    refusals = [line for line in standing.lines if line.bits is not None]
    if refusals:
        said += message(
            ". The latest refusals told {bits:.2f} bits in all, and moved a probability by "
            "{move:.2f} at most",
            sum(line.bits or 0.0 for line in refusals),
            max(line.move or 0.0 for line in refusals),
        )
    return said + ("." if followed else message(". It is not followed any more."))


def _decision(line: FollowedLine) -> Decision:
    return Decision(line.number, line.time, line.user, line.query, line.answer, line.reason)


def priced(lines: tuple[FollowedLine, ...]) -> list[ListColumn]:
    """Return what the refusals of a history told."""
    prices = ["" if line.bits is None else f"{line.bits:.2f}" for line in lines]
    moves = ["" if line.move is None else f"{line.move:.2f}" for line in lines]
    return [ListColumn(message("bits told"), prices, str), ListColumn(message("largest move"), moves, str)]


def node(standing: Standing, query: Query) -> NodeLook:
    """Return how a sub-table looks."""
    for region, frontier in ((RELEASED, standing.released), (UNRELEASABLE, standing.unreleasable)):
        if query in frontier:
            return NodeLook(region, frontier=query in frontier.members)
    return NodeLook(CANDIDATE)
