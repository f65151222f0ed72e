"""The set-up page: the run page of methods that take no cycles."""

from __future__ import annotations

from tabprotect.gui.base.page import Changes
from tabprotect.gui.pages.run.page import RunPage
from tabprotect.gui.pages.run.stage import MethodsStage


class MethodsPage(MethodsStage, RunPage):
    """The form under the method's own name."""

    def refresh(self, changes: Changes) -> None:
        project = self.document.project
        self.set_heading(self.label if project is None else project.protection.label)
        super().refresh(changes)
