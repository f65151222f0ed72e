"""The perturb page."""

from __future__ import annotations

from tabprotect.gui.pages.page import Page


class PerturbPage(Page):
    """How much the coins move the table."""

    name = "perturb"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
