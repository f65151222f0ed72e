"""The register's page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage


class RegisterStage(Stage):
    """What left this house."""

    name = "register"
    label = "Register"
    icon = "register"
    hint = "What was published before."
    under = "release"
    entries = (MenuEntry("Release", "show", "Register of releases"),)

    @classmethod
    def why_not(cls, document: Document) -> str:
        return ""

    @classmethod
    def applies(cls, document: Document) -> bool:
        """It belongs to the house, whatever is open."""
        return True
