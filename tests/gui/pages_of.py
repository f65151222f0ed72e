"""The window's pages by what they are."""

from __future__ import annotations

from typing import TypeVar

from tabprotect.gui.base.page import Page
from tabprotect.gui.frame.main_window import MainWindow

P = TypeVar("P", bound=Page)


def page_of(window: MainWindow, kind: type[P]) -> P:
    """The window's page of a kind."""
    found = window.pages[kind.name]
    assert isinstance(found, kind)
    return found
