"""Starting the window."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QApplication

from tabprotect.gui.document import Document
from tabprotect.gui.main_window import MainWindow
from tabprotect.gui.theme import THEME


def application() -> QApplication:
    """The application, made once, with the theme in force."""
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        app = QApplication(sys.argv[:1])
        app.setApplicationName("tabprotect")
        app.setOrganizationName("tabprotect")
        app.setDesktopFileName("tabprotect")
    THEME.apply()
    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window; ``argv`` may name one table, project or bundle."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    app = application()
    window = MainWindow(Document(), QSettings())
    window.show()
    if arguments:
        window.files.open(arguments[0])
    return app.exec()
