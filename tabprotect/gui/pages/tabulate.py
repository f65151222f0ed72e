"""Tabulating microdata: pick a file, choose the variables, count."""

from __future__ import annotations

from tabprotect.gui.document import Document
from tabprotect.gui.pages.page import Page


class TabulatePage(Page):
    """Records to counts."""

    name = "tabulate"
    label = "Tabulate microdata"
    icon = "microdata"

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    def shows_original(self) -> bool:
        return False

    def choose(self, source: str) -> None:
        """Take a file of records."""
