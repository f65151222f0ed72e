"""The release page."""

from __future__ import annotations

from tabprotect.gui.pages.page import Page


class ReleasePage(Page):
    """What leaves the house."""

    name = "release"
    label = "Release"
    icon = "release"
    hint = "What leaves the house."
