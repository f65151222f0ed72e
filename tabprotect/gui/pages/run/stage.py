"""The run pages as the rail and the menus show them."""

from __future__ import annotations

from tabprotect.gui.base.stage import Entry, Stage, StageOfCycles


class PerturbStage(StageOfCycles):
    """The coin, the rule, what will happen; then the run and its coins."""

    name = "perturb"
    label = "Perturb"
    icon = "perturb"
    hint = "How much the coins move the table."
    entries = (
        Entry("Protect", "run", "&Run the perturbation", "Ctrl+Shift+R"),
        Entry("Protect", "setup", "Show the set-&up"),
        Entry("Protect", "result", "Show the resu&lt"),
    )


class MethodsStage(Stage):
    """Every method, its form, its result."""

    name = "methods"
    label = "Methods"
    icon = "methods"
    hint = "Every way to protect the table: its parameters, its promises, its result."
    aside = True
    entries = (
        Entry("Protect", "run", "Run the &method"),
        Entry("Protect", "setup", "Show the methods' set-up"),
        Entry("Protect", "result", "Show the published tables"),
    )
