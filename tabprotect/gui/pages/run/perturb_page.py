"""The perturb page: the run page of methods that take cycles."""

from __future__ import annotations

from tabprotect.gui.pages.run.page import RunPage
from tabprotect.gui.pages.run.stage import PerturbStage


class PerturbPage(PerturbStage, RunPage):
    """The coin, the rule, what will happen; then the run and its coins."""
