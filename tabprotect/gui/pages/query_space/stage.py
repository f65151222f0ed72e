"""The query-space page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage


class QuerySpaceStage(Stage):
    """Which margins may go out together."""

    name = "query_space"
    label = "Query space"
    icon = "query-space"
    hint = "Which margins of the table may go out together."
    main_label = "Release"
    aside = True
    entries = (
        MenuEntry("Check", "copy", "Copy all sub-tables"),
        MenuEntry("Check", "save", "All sub-tables as CSV\u2026"),
        MenuEntry("Check", "picture", "Lattice as SVG\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A bundle opened without its original has nothing to weigh here."
        return ""
