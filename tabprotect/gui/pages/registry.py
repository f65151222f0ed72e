"""The stages of the river, in order; the rail and the menus follow from this list."""

from __future__ import annotations

from tabprotect.gui.pages.compare import ComparePage
from tabprotect.gui.pages.cycles import CyclesPage
from tabprotect.gui.pages.methods import MethodsPage
from tabprotect.gui.pages.page import Page
from tabprotect.gui.pages.perturb import PerturbPage
from tabprotect.gui.pages.posterior import PosteriorPage
from tabprotect.gui.pages.query_space import QuerySpacePage
from tabprotect.gui.pages.release import ReleasePage
from tabprotect.gui.pages.table import TablePage

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
