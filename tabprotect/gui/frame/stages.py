"""The stages of the river, in order; the rail and the menus follow from this list."""

from __future__ import annotations

from tabprotect.gui.base.page import Page
from tabprotect.gui.pages.compare.page import ComparePage
from tabprotect.gui.pages.cycles.page import CyclesPage
from tabprotect.gui.pages.help import HelpPage
from tabprotect.gui.pages.posterior.page import PosteriorPage
from tabprotect.gui.pages.query_space.page import QuerySpacePage
from tabprotect.gui.pages.release.page import ReleasePage
from tabprotect.gui.pages.run.methods import MethodsPage
from tabprotect.gui.pages.run.perturb import PerturbPage
from tabprotect.gui.pages.start import StartPage
from tabprotect.gui.pages.table.page import TablePage
from tabprotect.gui.pages.tabulate import TabulatePage

OTHERS: tuple[type[Page], ...] = (StartPage, TabulatePage, HelpPage)
"""Pages beside the river."""

PAGES: tuple[type[Page], ...] = (
    TablePage,
    CyclesPage,
    PerturbPage,
    PosteriorPage,
    ReleasePage,
    QuerySpacePage,
    MethodsPage,
    ComparePage,
)
