"""The window as its menus and files see it: pages, panels, and how to go about."""

from __future__ import annotations

from abc import abstractmethod

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QDockWidget, QMainWindow

from tabprotect.engine.project.history import History
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page
from tabprotect.gui.frame.rail import Rail
from tabprotect.gui.frame.stages import Pages


class Window(QMainWindow):
    """One window with one document."""

    document: Document
    settings: QSettings | None
    pages: Pages
    docks: dict[str, QDockWidget]
    rail: Rail

    @property
    @abstractmethod
    def page(self) -> Page:
        """The page in front."""

    @property
    @abstractmethod
    def decision(self) -> Page | None:
        """What stands beside the table; ``None`` for a page that has the window."""

    @abstractmethod
    def go(self, name: str) -> None:
        """Bring a page to the front, unless it cannot be used (then the rail says why)."""

    @abstractmethod
    def another(self) -> Window:
        """A new window, with nothing open."""

    @abstractmethod
    def show_reader(self, history: History, path: str) -> None:
        """Show an opened release bundle in a window of its own."""

    @abstractmethod
    def reset_layout(self) -> None:
        """Panels as at the first start."""
