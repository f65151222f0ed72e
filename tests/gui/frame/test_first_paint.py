"""What the window waits for before it shows its start page, and when the other pages are built."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pages_of import page_of
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.release_verbs import set_method
from tabprotect.gui.frame.app import Readying
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.stages import OTHERS, page_type
from tabprotect.gui.pages.stages import PAGES
from tabprotect.gui.pages.table.page import TablePage

LATER = (
    "duckdb",
    "highspy",
    "matplotlib",
    "narwhals",
    "openpyxl",
    "pyarrow",
    "pyqtgraph",
    "scipy",
    "tabprotect.cli",
    "tabprotect.engine.assessment.comparing.compare",
    "tabprotect.engine.bounds",
    "tabprotect.engine.belief.believing",
    "tabprotect.engine.disclosure.cell_beliefs",
    "tabprotect.engine.microdata.record_files",
    "tabprotect.engine.posterior.infer",
    "tabprotect.engine.protection.methods.",
    "tabprotect.engine.query_space.criterion_evidence",
    "tabprotect.engine.query_space.release_set",
    "tabprotect.engine.solver",
    "tabprotect.gui.forms",
    "tabprotect.gui.lattice",
    "tabprotect.gui.pages.run.page",
    *(f"tabprotect.gui.pages.{name}.page" for name in ("compare", "cycles", "check")),
    *(f"tabprotect.gui.pages.{name}.page" for name in ("query_space", "register", "release", "table")),
)
"""What the start page has no use for; a name that ends in a dot means what lies below it."""

CODE = """
import json, sys
from tabprotect.gui.frame.app import application
from tabprotect.gui.base.document import Document
from tabprotect.gui.frame.main_window import MainWindow
app = application()
window = MainWindow(Document())
window.show()
app.processEvents()
assert window.page.isVisible()
print(json.dumps([sorted(sys.modules), list(window.pages.built)]))
window.close()
"""


@pytest.fixture(scope="module")
def painted() -> tuple[list[str], list[str]]:
    """Modules that a painted start page has imported, and the pages that were built."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    modules, built = json.loads(done.stdout)
    return modules, built


@pytest.mark.parametrize("later", LATER)
def test_the_first_paint_waits_for_nothing_it_does_not_show(
    painted: tuple[list[str], list[str]], later: str
) -> None:
    below = later if later.endswith(".") else f"{later}."
    assert [m for m in painted[0] if m == later or m.startswith(below)] == []


def test_only_the_start_page_is_built_for_the_first_paint(painted: tuple[list[str], list[str]]) -> None:
    assert painted[1] == ["start"]


def test_a_page_is_built_when_it_is_first_needed(opened: MainWindow) -> None:
    assert list(opened.pages.built) == ["start", "table", "proposal"]
    for action in opened.actions_.every():
        action.isEnabled()
    opened.actions_["public"].trigger()
    opened.actions_["public"].trigger()
    opened.rail.refresh()
    assert list(opened.pages.built) == ["start", "table", "proposal"]
    opened.go("release")  # not protected yet: the rail says why
    assert list(opened.pages.built) == ["start", "table", "proposal"]
    opened.go("cycles")
    assert list(opened.pages.built) == ["start", "table", "proposal", "cycles"]
    page = opened.page
    opened.go("table")
    opened.go("cycles")
    assert opened.page is page


class Windows(QObject):
    """Notes every window that is shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.shown.append(f"{type(watched).__name__} {watched.accessibleName()}")
        return False


def test_building_a_page_shows_no_window_of_its_parts(opened: MainWindow, qapp: QApplication) -> None:
    # A part that is shown before it has a parent flashes up, and takes the focus from the window.
    windows = Windows()
    qapp.installEventFilter(windows)
    for stage in (*PAGES, *(page.stage for page in OTHERS)):
        assert opened.pages[stage.name].name == stage.name
        assert windows.shown == [], stage.name
    qapp.removeEventFilter(windows)


def test_pages_and_plots_are_made_ready_while_nobody_asks_for_them(
    window: MainWindow, qtbot: QtBot, qapp: QApplication
) -> None:
    windows = Windows()
    qapp.installEventFilter(windows)
    ready = Readying(window, window.pages, window.document)
    assert list(window.pages.built) == ["start"] and not window.document.jobs.running
    qtbot.waitUntil(lambda: ready.done)
    qapp.removeEventFilter(windows)
    assert set(window.pages.built) == set(window.pages) and window.page.name == "start"
    assert {"run", "result"} <= vars(page_of(window, TablePage)).keys()
    assert windows.shown == []


def test_a_window_that_closes_is_not_made_ready_further(window: MainWindow) -> None:
    ready = Readying(window, window.pages, window.document)
    window.close()
    QApplication.processEvents()
    assert not ready.done and list(window.pages.built) == ["start"]


def test_an_entry_of_a_menu_builds_its_page(opened: MainWindow) -> None:
    opened.document.do(set_method, method="random_rounding")
    assert "methods" not in opened.pages.built
    opened.actions_["methods_setup"].trigger()
    assert opened.page is opened.pages["methods"]


def test_keys_of_a_page_mean_the_page_in_front(opened: MainWindow) -> None:
    assert opened.actions_["table_copy"].isEnabled()
    opened.go("cycles")
    assert not opened.actions_["table_copy"].isEnabled()
    assert opened.actions_["cycles_add"].isEnabled()
    opened.go("table")
    assert opened.actions_["table_copy"].isEnabled()


def test_every_entry_of_a_stage_is_a_choice_of_its_page(opened: MainWindow) -> None:
    for stage in PAGES:
        page = opened.pages[stage.name]
        assert type(page) is page_type(stage)
        assert page.stage is stage
        assert sorted(page.choices()) == sorted(entry.name for entry in stage.entries), stage.name
