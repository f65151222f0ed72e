"""The compare page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.stage import PROTECT_TABS, Entry, Stage


class CompareStage(Stage):
    """Methods side by side."""

    name = "compare"
    label = "Compare"
    icon = "compare"
    hint = "Methods side by side: what each gives away, against what it keeps."
    main_label = "Compare"
    together = PROTECT_TABS
    entries = (
        Entry("Check", "compare", "Compare the &settings"),
        Entry("Check", "source", "The paper's comparison of methods"),
        Entry("Check", "open", "Open the chosen run's release"),
        Entry("File", "csv", "Export the comparison as CSV\u2026"),
        Entry("File", "svg", "Export the risk-utility map as SVG\u2026"),
    )
