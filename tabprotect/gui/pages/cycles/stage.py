"""The cycles page as the rail and the menus show it."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, StageOfCycles

QUICK_ENTRIES = 20_000
"""Sets with more entries are examined as a job, and counted by no badge."""


class CyclesStage(StageOfCycles):
    """Which cells move together."""

    name = "cycles"
    label = "Cycles"
    icon = "cycles"
    hint = "Which cells move together, so that every margin stays."
    main_label = "Perturb with these cycles"
    entries = (
        MenuEntry("Protect", "templates", "Choose a &template", "Ctrl+Shift+P"),
        MenuEntry("Protect", "add", "&Add a cycle"),
        MenuEntry("Protect", "duplicate", "&Duplicate the cycle"),
        MenuEntry("Protect", "split", "&Split into connected parts"),
        MenuEntry("Protect", "import", "&Import cycles\u2026"),
        MenuEntry("Protect", "export", "&Export cycles\u2026"),
    )

    @classmethod
    def problems(cls, document: Document) -> int:
        project = document.project
        if project is None or project.moves is None or len(project.moves.cells) > QUICK_ENTRIES:
            return 0
        return len({v.cycle for v in project.moves.violations(most=100)})
