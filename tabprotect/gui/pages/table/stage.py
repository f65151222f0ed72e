"""The table page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage
from tabprotect.gui.grid.cell_texts import FIGURES


class TableStage(Stage):
    """The table and its margins."""

    name = "table"
    label = "Data"
    icon = "table"
    hint = "The counts, their margins, and which cells are at risk."
    main_label = "Choose protection"
    entries = (
        MenuEntry("Edit", "copy", "&Copy", "Ctrl+C", here=True),
        MenuEntry("Edit", "copy_headers", "Copy with &headers", "Ctrl+Shift+C", here=True),
        MenuEntry("Edit", "paste", "&Paste\u2026", "Ctrl+V", here=True),
        MenuEntry("Edit", "find", "&Find or go to cell", "Ctrl+F", here=True),
        MenuEntry("Data", "edit", "&Edit count", here=True),
        MenuEntry("Data", "next", "&Next at-risk cell", "F8", here=True),
        MenuEntry("Data", "previous", "&Previous at-risk cell", "Shift+F8", here=True),
        MenuEntry("Data", "only", "At-risk rows and columns &only", "Ctrl+Shift+F", here=True),
        MenuEntry("Data", "risks", "&Risk list", "Ctrl+Shift+L", here=True),
        MenuEntry("Data", "categories", "&Categories", "Ctrl+Shift+K", here=True),
        MenuEntry("Data", "swap", "&Swap rows and columns", "Ctrl+Shift+T", here=True),
        *(
            MenuEntry("Data", key, words, f"Alt+{n}", here=True)
            for n, (key, words) in enumerate(FIGURES.items(), 1)
        ),
    )

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        if document.public or not document.has_original:
            return frozenset({"edit", "paste", "next", "previous", "only", "risks", "categories"})
        risky = cls.problems(document) > 0
        return frozenset() if risky else frozenset({"next", "previous"})

    @classmethod
    def problems(cls, document: Document) -> int:
        return 0 if document.public else document.at_risk_cells
