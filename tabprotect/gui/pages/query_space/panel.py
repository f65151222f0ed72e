"""What the page of the query space asks of each of its views."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.query_verbs import frontier, widths
from tabprotect.gui.lattice.space import Space


class SpacePanel(QWidget):
    """A view of the query space.

    ``failed`` carries an error, ``changed`` that other margins may be planned.
    """

    failed = Signal(object)
    changed = Signal()

    plans = False
    """Whether it finds margins that may be planned together."""

    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space

    def refresh(self) -> None:
        """Show the space as it is."""

    def refocus(self) -> None:
        """Show another sub-table in focus."""

    def margins(self) -> list[list[str]]:
        """The margins by name that it would have planned."""
        return []

    def words(self, project: Project) -> list[str]:
        """Return what it shows as words of the command line."""
        # The command line has no word for an empty release.
        return frontier(project) if project.plan.margins else widths(project)
