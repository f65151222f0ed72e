"""What the check page shows, as its exports see it."""

from __future__ import annotations

from tabprotect.engine.project.project import Who
from tabprotect.gui.base.page import Page
from tabprotect.gui.pages.check.cell_figures import CellFigure, View
from tabprotect.gui.pages.check.cell_panel import CellPanel
from tabprotect.gui.pages.check.draws_panel import DrawsPanel
from tabprotect.gui.pages.check.prior_choice import PriorChoice
from tabprotect.gui.plots.heat_map import HeatMap


class PosteriorShown(Page):
    """The parts of the check page that exports read."""

    map: HeatMap
    cell: CellPanel
    draws: DrawsPanel
    priors: dict[Who, PriorChoice]

    @property
    def who(self) -> Who:
        """Whose belief the map shows."""
        raise NotImplementedError

    @property
    def figure(self) -> CellFigure:
        """The figure on the map."""
        raise NotImplementedError

    def view(self) -> View | None:
        """What the figures are computed from; ``None`` before there is a posterior."""
        raise NotImplementedError
