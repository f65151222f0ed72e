"""The protect page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import PROTECT_TABS, MenuEntry, Stage


class ProtectStage(Stage):
    """What must stay true, and which method is best for that."""

    name = "protect"
    label = "Protect"
    icon = "shield"
    hint = "What must stay true, and which method keeps it at the least cost."
    main_label = "Set up"
    together = PROTECT_TABS
    entries = (
        MenuEntry("Protect", "choose", "&Choose a method", "Ctrl+Shift+M"),
        MenuEntry("Protect", "again", "Try every method &again"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A bundle opened without its original has nothing left to protect."
        return ""
