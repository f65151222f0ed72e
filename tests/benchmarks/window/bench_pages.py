"""Every page shown first and again, and what is done most, at a hundred thousand cells.

What the window's thread is held for, in processor time: until the page is painted, and by the
longest answer that comes from beside the window afterwards. Pages were made ready in idle moments,
as in the program itself; the longest of those moments is the first line.
"""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp()
# What benchmarks share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from bench_cycles_page import LIMIT, Heartbeat, settle
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tabprotect.engine.project.history import History
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import place, set_count
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import Readying, application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.theme import THEME

SHAPES = ((316, 317), (10, 20, 18, 6))


class Acts:
    """Does one thing after another, and prints what each costs."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.beat = Heartbeat()

    def __call__(self, what: str, do: Callable[[], object]) -> None:
        settle(self.window)
        self.beat.ask()
        begin = time.thread_time()
        do()
        QApplication.processEvents()
        painted = time.thread_time() - begin
        self.beat.ask()
        settle(self.window)
        later = self.beat.ask()
        mark = "" if max(painted, later) <= LIMIT else "   OVER"
        print(f"  {what:34} {painted * 1e3:6.0f} ms, then {later * 1e3:6.0f} ms{mark}", flush=True)


def ready(window: MainWindow, beat: Heartbeat) -> None:
    """Let the window make its pages ready."""
    beat.ask()
    readying = Readying(window, window.pages, window.document)
    readying.ended.connect(gc.freeze)
    while not readying.done:
        QApplication.processEvents()
        time.sleep(0.001)
    print(f"  {'longest piece of making ready':34} {beat.ask() * 1e3:6.0f} ms")


def measured(shape: tuple[int, ...]) -> None:
    """One table."""
    print(" x ".join(map(str, shape)))
    window = MainWindow(Document())
    window.resize(1366, 768)
    window.show()
    act = Acts(window)
    settle(window)
    ready(window, act.beat)
    document = window.document
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, np.random.default_rng(1).poisson(3, shape))
    project = Project(table=table, placement=Placement.of(domain))
    act("open", lambda: document.take(History(project)))
    act("select a cell", lambda: document.select((5,) * len(shape)))
    act("type a count", lambda: document.do(set_count, index=[3] * len(shape), count=1))
    act("undo", document.undo)
    act("redo", document.redo)
    names = domain.names
    act(
        "change the axes",
        lambda: document.do(place, rows=[names[1]], columns=[names[0]], layers=list(names[2:])),
    )
    act("protect", lambda: document.do(protect, seed=1))
    for again in ("", ", again"):
        for name in window.pages:
            if not window.pages.why_not(name):
                window.go("help" if name != "help" else "start")
                act(f"{name}{again}", partial(window.go, name))
    window.go("query_space")
    settle(window)
    area = window.page
    act("the pointer moves", lambda: QTest.mouseMove(area, QPoint(300, 300)))
    for name in ("table", "check"):
        window.go(name)
        act(f"dark, on {name}", lambda: THEME.apply(mode="dark"))
        act(f"light, on {name}", lambda: THEME.apply(mode="light"))
    act("as a reader sees it", lambda: document.set_public(True))
    act("and back", lambda: document.set_public(False))
    with tempfile.TemporaryDirectory() as folder:
        act("save", lambda: window.files.save_to(Path(folder) / "survey.tabprotect"))
    document.saved = document.project
    begin = time.thread_time()
    window.close()
    print(f"  {'close':34} {(time.thread_time() - begin) * 1e3:6.0f} ms")


def main() -> None:
    """All tables."""
    application()
    for shape in SHAPES:
        measured(shape)


if __name__ == "__main__":
    main()
