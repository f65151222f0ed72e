"""The posterior page."""

from __future__ import annotations

from tabprotect.gui.pages.page import Page


class PosteriorPage(Page):
    """What a reader can believe."""

    name = "posterior"
    label = "Posterior"
    icon = "posterior"
    hint = "What a reader can believe."
