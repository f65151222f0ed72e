"""Taking a way: its method with the settings it was tried with, and protected by them."""

from __future__ import annotations

from tabprotect.engine.project.verbs.release_verbs import protect, set_mechanism, set_method
from tabprotect.gui.base.page import Page
from tabprotect.gui.pages.protect.ways import Way


def protect_by(page: Page, way: Way, *, run: bool = True) -> None:
    """Make a way the project's, and ``run`` it; each step can be undone."""
    document = page.document
    if (project := document.project) is None or not document.in_house:
        return
    if way.method != project.method:
        page.do(set_method, method=way.method)
        project = document.project
    change = dict(getattr(way.trial, "change", {}))
    if change and project is not None and change != dict(project.parameters):
        document.run(set_mechanism.order(change), page=page.name)
    if not run:
        return
    document.trying.leave()
    if project is not None and project.of_magnitudes:
        page.do(protect)
    else:
        # What the gate refuses is held, and goes out with a reason only.
        page.do(protect, draft=True)
