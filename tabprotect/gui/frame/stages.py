"""The stages of the river, in order, and the pages behind them, each built when first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page
from tabprotect.gui.base.stage import Stage
from tabprotect.gui.pages.check.stage import CheckStage
from tabprotect.gui.pages.compare.stage import CompareStage
from tabprotect.gui.pages.cycles.stage import CyclesStage
from tabprotect.gui.pages.help import HelpPage
from tabprotect.gui.pages.protect.stage import ProtectStage
from tabprotect.gui.pages.query_space.stage import QuerySpaceStage
from tabprotect.gui.pages.register.stage import RegisterStage
from tabprotect.gui.pages.release.stage import ReleaseStage
from tabprotect.gui.pages.run.stage import MethodsStage, PerturbStage
from tabprotect.gui.pages.start import StartPage
from tabprotect.gui.pages.table.stage import TableStage
from tabprotect.gui.pages.tabulate import TabulatePage
from tabprotect.gui.pages.variables.stage import VariablesStage

OTHERS: tuple[type[Page], ...] = (StartPage, TabulatePage, HelpPage)
"""Pages beside the river."""

PAGES: tuple[type[Stage], ...] = (
    TableStage,
    ProtectStage,
    CheckStage,
    ReleaseStage,
    RegisterStage,
    QuerySpaceStage,
    VariablesStage,
    CyclesStage,
    PerturbStage,
    MethodsStage,
    CompareStage,
)
"""The stages, then the steps under them; the rail, the menus and Ctrl+number follow from them."""


def page_type(stage: type[Stage]) -> type[Page]:
    """The page of a stage, imported when it is needed: the first paint does not wait for it."""
    if issubclass(stage, Page):
        return stage
    if stage is TableStage:
        from tabprotect.gui.pages.table.page import TablePage

        return TablePage
    if stage is VariablesStage:
        from tabprotect.gui.pages.variables.page import VariablesPage

        return VariablesPage
    if stage is ProtectStage:
        from tabprotect.gui.pages.protect.page import ProtectPage

        return ProtectPage
    if stage is CyclesStage:
        from tabprotect.gui.pages.cycles.page import CyclesPage

        return CyclesPage
    if stage is PerturbStage:
        from tabprotect.gui.pages.run.perturb_page import PerturbPage

        return PerturbPage
    if stage is CheckStage:
        from tabprotect.gui.pages.check.page import CheckPage

        return CheckPage
    if stage is ReleaseStage:
        from tabprotect.gui.pages.release.page import ReleasePage

        return ReleasePage
    if stage is RegisterStage:
        from tabprotect.gui.pages.register.page import RegisterPage

        return RegisterPage
    if stage is QuerySpaceStage:
        from tabprotect.gui.pages.query_space.page import QuerySpacePage

        return QuerySpacePage
    if stage is MethodsStage:
        from tabprotect.gui.pages.run.methods_page import MethodsPage

        return MethodsPage
    if stage is CompareStage:
        from tabprotect.gui.pages.compare.page import ComparePage

        return ComparePage
    raise KeyError(stage.name)


class Pages(Mapping[str, Page]):
    """The pages by name, in order. Asking for a page builds it, the first time.

    ``made`` is told of each page as it is built.
    """

    def __init__(self, document: Document, made: Callable[[Page], None]) -> None:
        self.stages: dict[str, type[Stage]] = {stage.name: stage for stage in (*PAGES, *OTHERS)}
        self.built: dict[str, Page] = {}
        """The pages that were asked for so far."""
        self._document = document
        self._made = made

    def __getitem__(self, name: str) -> Page:
        if name not in self.built:
            page = page_type(self.stages[name])(self._document)
            self.built[name] = page
            self._made(page)
        return self.built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.stages)

    def __len__(self) -> int:
        return len(self.stages)

    def why_not(self, name: str) -> str:
        """Why a page cannot be used now; asks its stage, and builds nothing."""
        return self.stages[name].why_not(self._document)
