"""The run pages as the rail and the menus show them."""

from __future__ import annotations

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.stage import MenuEntry, Stage, StageOfCycles


class _RunStage(Stage):
    """What both have in common."""

    @classmethod
    def idle(cls, document: Document) -> frozenset[str]:
        house = document.has_original and not document.public
        out = frozenset[str]() if house else frozenset({"run", "setup"})
        return out if document.release is not None else out | {"result"}


class PerturbStage(_RunStage, StageOfCycles):
    """The coin, the rule, what will happen; then the run and its coins."""

    name = "perturb"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
    entries = (
        MenuEntry("Protect", "run", "&Run the perturbation", "Ctrl+Shift+R"),
        MenuEntry("Protect", "setup", "Show the set-&up"),
        MenuEntry("Protect", "result", "Show the resu&lt"),
    )


class MethodsStage(_RunStage):
    """The form of a method that takes no cycles, and its result."""

    name = "methods"
    label = "Set-up"
    icon = "methods"
    hint = "The chosen method: its parameters, what it will do, its result."
    under = "protect"
    entries = (
        MenuEntry("Protect", "run", "Run the &method", "Ctrl+Shift+R"),
        MenuEntry("Protect", "setup", "Show the method's set-up"),
        MenuEntry("Protect", "result", "Show the published tables"),
    )

    @classmethod
    def applies(cls, document: Document) -> bool:
        return document.project is not None and not document.project.takes_cycles

    @classmethod
    def why_not(cls, document: Document) -> str:
        if document.project is None:
            return "Open a table first."
        if document.project.takes_cycles:
            return "The chosen method has its own steps, Cycles and Perturb: see Protect."
        return ""
