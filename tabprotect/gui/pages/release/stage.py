"""The release page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import Entry, Stage


class ReleaseStage(Stage):
    """What leaves the house."""

    name = "release"
    label = "Release"
    icon = "release"
    hint = "What leaves the house."
    main_label = "Publish\u2026"
    entries = (Entry("Release", "publish", "Publish\u2026"),)

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table or a release bundle first."
        if document.release is None:
            return "Protect the table first: there is nothing to publish yet."
        return ""
