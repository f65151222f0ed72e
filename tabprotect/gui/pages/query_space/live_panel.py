"""The table server seen from the window: opened for a look, and asked in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QPushButton

from tabprotect.engine.errors import TabprotectError, needing
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.sources import Opened
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.lattice.space import Space
from tabprotect.gui.look.buttons import connected, named
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.query_space.panel import SpacePanel
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

if TYPE_CHECKING:
    from tabprotect.server.hosting.trial_server import TrialServer

SERVER = ("server", message("the table server"))
"""Its extra, and what it is called: it is loaded when it is first asked for."""

QUIET = message(
    "Open the table as a server on this machine alone, by the criterion above, and ask it in the browser: its "
    "pages show the history, both frontiers and what refusals tell. Nothing is written into this document; "
    "the history is gone when the server stops."
)


class LivePanel(SpacePanel):
    """``failed`` carries an error."""

    def __init__(self, space: Space) -> None:
        super().__init__(space)
        self.document = space.document
        self.look: TrialServer | None = None
        self._begun: list[TrialServer] = []
        self._served: Table | None = None
        self._note = ""
        self._opening: BackgroundTask[TrialServer] = BackgroundTask(
            self, self.document.jobs, self._opened, self._not_opened, stopped=self.stop
        )
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
        self.said = Label(QUIET, wordWrap=True, name=message("Where the server stands"))
        row = in_row(self.open, (self.where, 1), self.browse, self.copy, self.stopping, spacing=GRID)
        in_column(row, self.said, 1, on=self, margins=(0, GRID, 0, 0), spacing=GRID)
        connected(self.document, project_changed=lambda _: self._check_table(), closed=self._closed)
        self.refresh()

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
        self.look = None
        self.refresh()

    def _opened(self, look: TrialServer) -> None:
        self.look = look
        self.refresh()

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
        said = message("Waiting for the server \u2026") if opening else QUIET
        self.said.setText(translate(joined(filter(None, (self._note, said)), " ")))


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
