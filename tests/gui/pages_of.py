"""The window's pages by what they are."""

from __future__ import annotations

from typing import TypeVar

from tabprotect.gui.base.page import Page
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.beliefs import Beliefs
from tabprotect.gui.pages.check.page import CheckPage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.method_result import MethodResult
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.gui.pages.table.run_panel import RunPanel

P = TypeVar("P", bound=Page)


def page_of(window: MainWindow, kind: type[P]) -> P:
    """The window's page of a kind."""
    found = window.pages[kind.stage.name]
    assert isinstance(found, kind)
    return found


def counts(window: MainWindow) -> CountsPart:
    """The part of the table page that is about counts."""
    part = page_of(window, TablePage).part
    assert isinstance(part, CountsPart)
    return part


def result(window: MainWindow) -> RunPanel | MethodResult:
    """What became of the table, beside which the panel decides."""
    shown = page_of(window, TablePage)._shown
    assert shown is not None
    return shown


def replay(window: MainWindow) -> RunPanel:
    """The result of a run of cycles, with its coins."""
    shown = result(window)
    assert isinstance(shown, RunPanel)
    return shown


def beliefs(window: MainWindow) -> Beliefs:
    """The part of the check page that is about counts."""
    part = page_of(window, CheckPage).part
    assert isinstance(part, Beliefs)
    return part
