"""The page of variables as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import Stage


class VariablesStage(Stage):
    """What the table is classified by, and at which levels."""

    name = "variables"
    label = "Variables"
    icon = "variables"
    hint = "Levels, bands and groups of every variable."
    main_label = "Back to the table"
    under = "table"

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.has_original:
            return "A release bundle has no variables to group: its levels came with it."
        return ""

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.has_original and not document.public
