"""The release page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage


class ReleaseStage(Stage):
    """Whether it may leave."""

    name = "release"
    label = "Release"
    icon = "release"
    hint = "May it leave?"
    main_label = "Approve and publish\u2026"
    entries = (
        MenuEntry("Release", "publish", "Approve and publish\u2026"),
        MenuEntry("Release", "report", "Report\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table or a release bundle first."
        if document.release is None:
            return "Protect the table first: there is nothing to publish yet."
        return ""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        project = document.project
        house = document.has_original and not document.public
        leaves = house and project is not None and not project.published
        return frozenset() if leaves else frozenset({"publish"})

    @classmethod
    def problems(cls, document: Document) -> int:
        """Whether something stands against it."""
        project = document.project
        if project is None or document.public or project.published:
            return 0
        return int(bool(project.against))
