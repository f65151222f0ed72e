"""The window's pages by what they are."""

from __future__ import annotations

from typing import TypeVar

from tabprotect.gui.base.page import Page
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.pages.check.beliefs import Beliefs
from tabprotect.gui.pages.check.page import CheckPage
from tabprotect.gui.pages.table.counts_part import CountsPart
from tabprotect.gui.pages.table.page import TablePage

P = TypeVar("P", bound=Page)


def page_of(window: MainWindow, kind: type[P]) -> P:
    """The window's page of a kind."""
    found = window.pages[kind.name]
    assert isinstance(found, kind)
    return found


def counts(window: MainWindow) -> CountsPart:
    """The part of the table page that is about counts."""
    part = page_of(window, TablePage).part
    assert isinstance(part, CountsPart)
    return part


def beliefs(window: MainWindow) -> Beliefs:
    """The part of the check page that is about counts."""
    part = page_of(window, CheckPage).part
    assert isinstance(part, Beliefs)
    return part
