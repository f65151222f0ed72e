"""From a point of the map to the project's own release: the run's commands, with its seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from tabprotect.engine.cycles.designs import DESIGNS
from tabprotect.engine.errors import RefusedError, TabprotectError
from tabprotect.engine.protection.registered import methods

if TYPE_CHECKING:
    from tabprotect.engine.assessment.run_spec import RunSpec
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
        name, apply = self._page.name, self._document.apply
        given: dict[str, Any] = dict(spec.given)
        cycles = given.pop("cycles", None)
        apply("set_method", page=name, method=spec.method)
        if any(p.kind == "cycles" for p in methods()[spec.method].parameters):
            apply("set_cycles", page=name, **_cycles(cycles))
        if given:
            apply("set_parameters", page=name, **given)
        self._protect(seed)

    def _protect(self, seed: int, *, accept_weak: bool = False) -> None:
        page = self._page

        def failed(error: TabprotectError) -> None:
            if isinstance(error, RefusedError) and not accept_weak:
                # The very same run, and the decision is on record.
                page.show_error(
                    error,
                    remedy_label="Open it all the same",
                    remedy=lambda: self._protect(seed, accept_weak=True),
                )
            else:
                page.show_error(error)

        weak: dict[str, Any] = {"accept_weak": True} if accept_weak else {}
        job = self._document.apply("protect", page=page.name, failed=failed, seed=seed, **weak)
        if job is not None:
            job.finished.connect(lambda _: self._document.page_asked.emit("methods"))


def _cycles(given: object) -> dict[str, Any]:
    """Arguments of ``set_cycles`` for what a run took: a design, a file, or the default."""
    if given is None:
        return {}
    text = str(given)
    return {"kind": text} if text in DESIGNS or text.startswith(DESIGN_PREFIX) else {"file": text}
