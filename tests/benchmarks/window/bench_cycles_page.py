"""The Cycles page at a hundred thousand cycles: nothing it does holds the window's thread for long.

Each act is timed by itself, and a heartbeat counts what was done between two events while the
answers came from beside the window: processor time of the window's thread, whatever else runs.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp()

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from tabprotect.engine.cycles.designs import design
from tabprotect.engine.project.history import History
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.cycles.page import CyclesPage

LIMIT = 0.1
"""Seconds that the window's thread may be held."""

CASES = (((320, 320), "elementary"), ((60, 50, 34), "elementary"))


class Heartbeat:
    """The longest work without an event since it was asked last."""

    def __init__(self) -> None:
        self._last, self.longest = time.thread_time(), 0.0
        self._timer = QTimer(interval=2)
        self._timer.timeout.connect(self._beat)
        self._timer.start()

    def _beat(self) -> None:
        now = time.thread_time()
        self.longest, self._last = max(self.longest, now - self._last), now

    def ask(self) -> float:
        """Seconds; begins again."""
        found, self.longest = self.longest, 0.0
        self._last = time.thread_time()
        return found


def settle(window: MainWindow, seconds: float = 8.0) -> None:
    """Serve events until nothing is asked any more."""
    end, quiet = time.perf_counter() + seconds, 0
    while quiet < 100 and time.perf_counter() < end:
        QApplication.processEvents()
        time.sleep(0.002)
        quiet = 0 if window.document.jobs.running else quiet + 1


def measured(shape: tuple[int, ...], kind: str) -> None:
    """One table: print what each act costs."""
    domain = Domain.of_shape(shape)
    counts = np.random.default_rng(1).poisson(3, shape)
    moves = design(domain, kind)
    window = MainWindow(Document())
    window.resize(1366, 768)
    window.show()
    table = Table.dense(domain, counts)
    project = Project(table=table, placement=Placement.of(domain), moves=moves, cycles_from=kind)
    window.document.take(History(project))
    settle(window)
    beat = Heartbeat()
    print(f"{' x '.join(map(str, shape))}, {len(moves):,} cycles")

    def act(what: str, do: Callable[[], object]) -> None:
        beat.ask()
        begin, worked = time.perf_counter(), time.thread_time()
        do()
        at_once = time.thread_time() - worked
        settle(window)
        held = max(at_once, beat.ask())
        whole = time.perf_counter() - begin
        print(f"  {what:44} {held * 1e3:7.1f} ms of {LIMIT * 1e3:.0f}; done in {whole:.2f} s")

    act("opened", lambda: window.go("cycles"))
    page = window.pages["cycles"]
    assert isinstance(page, CyclesPage)
    words = page.list.filter
    for text in ("77", domain.variables[0].categories[11], "broken", "blocked", ""):
        act(f"filter {text!r}", lambda text=text: words.setText(text))  # type: ignore[misc]
    one = ", ".join(variable.categories[2] for variable in domain.variables)
    act(f"filter by one cell, {one!r}", lambda: words.setText(one))
    act("no filter", words.clear)
    act("a cycle drawn", lambda: window.document.select_cycle(len(moves) // 2))
    act("the next one drawn", lambda: window.document.select_cycle(len(moves) // 2 + 1))
    act("chances", lambda: page._tools["chances"].setChecked(True))
    act("the cycle again", lambda: page._tools["chances"].setChecked(False))
    act("a cell selected", lambda: window.document.select((5,) * domain.ndim))
    bar = page.list.view.verticalScrollBar()
    act("the list scrolled", lambda: bar.setValue(bar.maximum() // 2))
    act("templates", lambda: page._tools["templates"].setChecked(True))
    act("templates left", lambda: page._tools["templates"].setChecked(False))
    act("another page and back", lambda: (window.go("table"), window.go("cycles")))
    act("a cycle removed", page.editor.remove)
    window.document.saved = window.document.project
    window.close()


def main() -> None:
    """All tables."""
    application()
    for shape, kind in CASES:
        measured(shape, kind)


if __name__ == "__main__":
    main()
