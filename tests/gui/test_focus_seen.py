"""By keys alone: whatever Tab stops at looks different while it has the focus, on every page."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget
from readable import tab_order

from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.gui.frame.app import EXAMPLE
from tabprotect.gui.frame.main_window import MainWindow

Settle = Callable[[], None]


def unseen(window: MainWindow, page: QWidget) -> list[str]:
    """What looks the same with the focus as without it."""
    out = []
    for stop in tab_order(page):
        window.setFocus()
        QApplication.processEvents()
        before = stop.grab().toImage()
        stop.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        if stop.hasFocus() and stop.grab().toImage() == before:
            out.append(f"{type(stop).__name__} {stop.accessibleName()!r}")
    return out


def test_every_stop_of_tab_is_seen(window: MainWindow, settle: Settle) -> None:
    window.files.open(EXAMPLE)
    settle()
    window.document.do(protect, seed=7, draft=True)
    window.activateWindow()
    wrong = {}
    for name in ("start", "table", "variables", "protect", "perturb", "check", "release", "help"):
        window.go(name)
        settle()
        if found := unseen(window, window.page):
            wrong[name] = found
    assert not wrong, wrong
