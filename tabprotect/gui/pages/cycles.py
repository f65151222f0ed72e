"""The cycles page."""

from __future__ import annotations

from tabprotect.gui.pages.page import Page


class CyclesPage(Page):
    """Which cells move together."""

    name = "cycles"
    label = "Cycles"
    icon = "cycles"
    hint = "Which cells move together."
