"""The table page."""

from __future__ import annotations

from tabprotect.gui.pages.page import Page


class TablePage(Page):
    """The counts, their margins, and which cells are at risk."""

    name = "table"
    label = "Table"
    icon = "table"
    hint = "The counts, their margins, and which cells are at risk."
