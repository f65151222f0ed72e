"""Help: the five-minute walk, the keys, and what the words mean."""

from __future__ import annotations

from tabprotect.gui.document import Document
from tabprotect.gui.pages.page import Page


class HelpPage(Page):
    """What one needs to know, on one page."""

    name = "help"
    label = "Help"
    icon = "help"

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    def shows_original(self) -> bool:
        return False
