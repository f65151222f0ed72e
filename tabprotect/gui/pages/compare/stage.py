"""The compare page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import PROTECT_TABS, MenuEntry, Stage


class CompareStage(Stage):
    """Methods side by side."""

    name = "compare"
    label = "Compare"
    icon = "compare"
    hint = "Methods side by side: what each gives away, against what it keeps."
    main_label = "Compare"
    together = PROTECT_TABS
    entries = (
        MenuEntry("Protect", "compare", "Compare the &settings"),
        MenuEntry("Protect", "source", "The paper's comparison of methods"),
        MenuEntry("Protect", "open", "Open the chosen run's release"),
        MenuEntry("Protect", "csv", "Export the comparison as CSV\u2026"),
        MenuEntry("Protect", "svg", "Export the risk-utility map as SVG\u2026"),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is not None and not document.has_original:
            return "A bundle opened without its original has nothing to compare."
        return super().why_not(document)

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        started = frozenset({"compare", "source"}) if document.public else frozenset[str]()
        return started | {"open", "csv", "svg"}
