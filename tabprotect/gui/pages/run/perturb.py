"""The perturb page: the run page of methods that take cycles."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.pages.run.page import RunPage


class PerturbPage(RunPage):
    """The coin, the rule, what will happen; then the run and its coins."""

    name = "perturb"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
    menu = (
        ("&Run the perturbation", "Ctrl+Shift+R"),
        ("Show the set-&up", ""),
        ("Show the resu&lt", ""),
    )

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if not document.project.takes_cycles:
            label = document.project.protection.label.lower()
            return f"The chosen method is {label}: choose cyclic perturbation under Methods."
        if document.project.domain.ndim < 2:
            return "A cycle needs at least two variables."
        return ""
