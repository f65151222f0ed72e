"""From a point of the map to the project's own release: the run's commands, with its seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.project.command import Order
from tabprotect.engine.project.verbs.cycle_verbs import set_cycles
from tabprotect.engine.project.verbs.release_verbs import protect, set_method, set_parameters
from tabprotect.engine.protection.registered import methods
from tabprotect.gui.base.stage import setup_page

if TYPE_CHECKING:
    from tabprotect.engine.assessment.comparing.run_spec import RunSpec
    from tabprotect.gui.base.page import Page

DESIGN_PREFIX = "order-"


class ReleaseOpener(QObject):
    """Applies what a run did, one recorded command after the other."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self._page = page
        self._document = page.document

    def open(self, spec: RunSpec, seed: int) -> None:
        """Choose the method, its cycles and parameters, and protect with the run's seed."""
        do = self._page.do
        given = dict(spec.given)
        cycles = given.pop("cycles", None)
        do(set_method, method=spec.method)
        if any(p.kind == "cycles" for p in methods()[spec.method].parameters):
            self._document.run(_cycles(cycles), page=self._page.name)
        if given:
            do(set_parameters, **given)
        # What the gate refuses is held all the same: it was asked to be looked at.
        job = do(protect, seed=seed, draft=True)
        if job is not None:
            job.finished.connect(
                lambda _: self._document.page_asked.emit(setup_page(self._document))
            )


def _cycles(given: object) -> Order:
    """The cycle set that a run took: a design, a file, or the default."""
    if given is None:
        return set_cycles()
    text = str(given)
    design = text in DESIGNS or text.startswith(DESIGN_PREFIX)
    return set_cycles(kind=text) if design else set_cycles(file=text)
