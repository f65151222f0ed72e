"""What is done less often, at a hundred thousand cells and at a million: each holds the window how long?

Two figures for each act, in processor time of the window's thread: the act itself until it is
painted, and the longest turn of the event loop afterwards.
"""

from __future__ import annotations

import os
import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["TABPROTECT_HOME"] = tempfile.mkdtemp()
# What benchmarks share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from bench_pages import Acts, ready
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractScrollArea, QApplication

from tabprotect.engine.project.history import History
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.publish_verbs import publish
from tabprotect.engine.project.verbs.release_verbs import protect
from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.app import Autosave, application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.grid.cell_texts import FIGURES
from tabprotect.gui.lattice.lattice_view import LatticeView
from tabprotect.gui.pages.compare.page import ComparePage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.page import TablePage

SHAPES: tuple[tuple[tuple[int, ...], Placement | None], ...] = (
    ((250, 400), None),
    ((10, 10, 10, 100), None),
    ((1000, 1000), None),
    ((10, 10, 10, 1000), Placement(("A", "D"), ("B",), ("C",))),
)
"""Shapes, and how they are placed where not as the program would; pages are seen at the first."""


def history(shape: tuple[int, ...], placement: Placement | None = None) -> History:
    """A new table of random counts."""
    domain = Domain.of_shape(shape)
    table = Table.dense(domain, np.random.default_rng(1).poisson(3, shape))
    return History(Project(table=table, placement=placement or Placement.of(domain)))


def wheel(area: QAbstractScrollArea) -> None:
    """One notch of the wheel over a list."""
    view = area.viewport()
    at = QPointF(view.rect().center())
    no_button, no_key = Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier
    down, phase = QPoint(0, -120), Qt.ScrollPhase.NoScrollPhase
    there = view.mapToGlobal(at)
    QApplication.sendEvent(view, QWheelEvent(at, there, QPoint(), down, no_button, no_key, phase, False))


def of_table(act: Acts, page: CountsPart) -> None:
    """What is done with the table in front."""
    cells = page.grid.cells
    for figure in (*list(FIGURES)[1:], "counts"):
        act(f"figures: {figure}", partial(page.show_figure, figure))
    act("at-risk lines only", lambda: page.show_only_at_risk(True))
    act("all lines", lambda: page.show_only_at_risk(False))
    act("next at-risk cell", lambda: page.go_at_risk(1))
    act("a wheel's notch over the table", lambda: wheel(cells))
    act("select all", cells.selectAll)
    act("copy it", lambda: page.copy(with_headers=True))
    cells.clearSelection()
    act("the risk list", page.choices()["risks"])
    act("a letter into its filter", lambda: page.risks.search.setText("1"))
    act("another letter", lambda: page.risks.search.setText("11"))
    act("no filter", page.risks.search.clear)
    act("sorted by count", lambda: page.risks.list.sortByColumn(0, Qt.SortOrder.DescendingOrder))
    act("a wheel's notch over it", lambda: wheel(page.risks.list))
    act("its cells of group disclosure", lambda: page.risks.kind.setCurrentIndex(1))
    act("its counts again", lambda: page.risks.kind.setCurrentIndex(0))
    act("closed", page.choices()["risks"])


def of_window(act: Acts, size: tuple[int, int] = (1366, 768)) -> None:
    """Smaller and back."""
    act("window made smaller", lambda: act.window.resize(1040, 700))
    act("and larger", lambda: act.window.resize(*size))


def of_pages(act: Acts) -> None:
    """What is done on the other pages with a protected table."""
    window = act.window
    document = window.document
    act("run protect", lambda: document.do(protect, seed=1))
    for name in ("perturb", "check", "release"):
        window.go(name)
        print(f"  on {name}")
        of_window(act)
    window.go("query_space")
    lattice = window.page.findChild(LatticeView)
    if lattice is not None and lattice.isVisible():
        at = [lattice.box_of(q).center().toPoint() for q in list(lattice._arranged().boxes)[:4]]
        for number, point in enumerate(at):
            act(f"lattice: hover {number}", partial(QTest.mouseMove, lattice, point))
        left = Qt.MouseButton.LeftButton
        act("lattice: pin", lambda: QTest.mouseClick(lattice, left, pos=at[1]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "release.zip"
        given = {"dossier": None, "accept": "benchmark", "again": "benchmark"}
        order = publish.order({"release": str(path), **given})
        act("publish", lambda: document.run(order, page="release"))
        act("open as a reader", lambda: document.reader_asked.emit(str(path)))
    window.go("compare")
    page = window.page
    assert isinstance(page, ComparePage)
    act("compare", page.compare)


def measured(shape: tuple[int, ...], placement: Placement | None = None) -> None:
    """One table."""
    print(" x ".join(map(str, shape)))
    window = MainWindow(Document())
    window.resize(1366, 768)
    window.show()
    act = Acts(window)
    ready(window, act.beat)
    document = window.document
    act("open", lambda: document.take(history(shape, placement)))
    window.go("table")
    page = window.page
    assert isinstance(page, TablePage)
    act("type a count", lambda: document.do(set_count, index=[3] * len(shape), count=1))
    act("undo", document.undo)
    act("redo", document.redo)
    assert isinstance(page.part, CountsPart)
    of_table(act, page.part)
    of_window(act)
    with tempfile.TemporaryDirectory() as folder:
        saving = Autosave(window, Path(folder), first=False)
        act("autosave", saving.save)
        saving.close()
    if shape == SHAPES[0][0]:
        of_pages(act)
    document.saved = document.project
    act("close", window.close)


def main() -> None:
    """All tables."""
    application()
    for shape, placement in SHAPES:
        measured(shape, placement)


if __name__ == "__main__":
    main()
