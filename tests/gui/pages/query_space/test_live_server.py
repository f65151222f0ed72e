"""Plan > Table server: opened for a look, asked, and gone without a trace."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.table_verbs import set_count
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.query_space import live_panel
from tabprotect.gui.pages.query_space.live_panel import LivePanel
from tabprotect.gui.pages.query_space.page import QuerySpacePage

Settle = Callable[[], None]


@pytest.fixture
def panel(window: MainWindow, settle: Settle) -> Iterator[LivePanel]:
    window.files.open("example:czech-autoworkers")
    settle()
    window.go("query_space")
    settle()
    page = window.pages["query_space"]
    assert isinstance(page, QuerySpacePage)
    page.tabs.setCurrentWidget(page.live)
    yield page.live
    page.live.stop()


def ask(address: str, *variables: str) -> int:
    """One query, as a program would send it."""
    body = json.dumps({"variables": variables, "user": "ann"}).encode()
    with urllib.request.urlopen(f"{address}/tables", timeout=300) as response:
        table = json.load(response)["tables"][0]["id"]
    request = urllib.request.Request(f"{address}/tables/{table}/queries", body)
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=300) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_server_is_opened_asked_and_stopped(
    window: MainWindow, panel: LivePanel, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    visited: list[str] = []
    monkeypatch.setattr(live_panel, "visit", visited.append)
    before = window.document.project
    panel.open.click()
    assert not panel.open.isEnabled()
    qtbot.waitUntil(lambda: panel.look is not None)
    look = panel.look
    assert look is not None and panel.where.text() == look.address
    assert look.address.startswith("http://127.0.0.1:")
    panel.browse.click()
    assert visited == [look.address]
    panel.copy.click()
    assert QGuiApplication.clipboard().text() == look.key
    assert ask(look.address, "A", "B") == 201
    assert ask(look.address, "A", "B", "C", "D", "E", "F") == 403
    # What it decided is its own: the document and its plan are as they were.
    assert window.document.project is before
    panel.stopping.click()
    qtbot.waitUntil(lambda: not look.running)
    assert panel.look is None and panel.open.isEnabled() and panel.where.text() == ""


def test_another_table_ends_it(window: MainWindow, panel: LivePanel, qtbot: QtBot, settle: Settle) -> None:
    panel.open.click()
    qtbot.waitUntil(lambda: panel.look is not None)
    look = panel.look
    assert look is not None
    window.go("table")
    window.document.run(set_count(index=[0, 0, 0, 0, 0, 0], count=99))
    settle()
    qtbot.waitUntil(lambda: not look.running)
    assert panel.look is None and "The table has changed" in panel.said.text()


def test_closing_the_window_leaves_no_server(window: MainWindow, panel: LivePanel, qtbot: QtBot) -> None:
    panel.open.click()
    qtbot.waitUntil(lambda: panel.look is not None)
    look = panel.look
    assert look is not None and look.running
    window.document.saved = window.document.project
    window.close()
    assert not look.running


def test_where_it_is_not_installed_it_says_what_installs_it(
    window: MainWindow, panel: LivePanel, settle: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [m for m in sys.modules if m.startswith(("tabprotect.server", "uvicorn"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    panel.open.click()
    settle()
    said = window.pages["query_space"].errors.text
    assert "the table server cannot be loaded" in said and "tabprotect[server]" in said
    assert panel.open.isEnabled() and panel.look is None
