"""What a reader believes of one cell, small: the closest one, or the one that is selected."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from tabprotect.engine.arrays import Floats, Ints
from tabprotect.engine.project.project import Project
from tabprotect.engine.protection.problem import StaffVerdict
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief
from tabprotect.languages.messages import in_100, joined, message
from tabprotect.languages.translation import translate

HIGH = 15 * GRID
"""Pixels of the histogram, in letters of the usual size."""

HIDDEN = {
    "U": message("Hidden by the rule of the run."),
    "M": message("Hidden because it would give away another one."),
}
"""Why a count is not published, by its letter."""


class CellBelief(QWidget):
    """A line and a histogram; the closest cell's are the verdict's own figures."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self._project: Project | None = None
        self.title = Label(wordWrap=True, role="strong", name=message("The cell"))
        self.chance = Label(name=message("How sure a reader is of the true count"))
        self.why = Label(wordWrap=True, role="quiet", name=message("Why, in plain words"))
        self.histogram = CellHistogram()
        THEME.follow(self, CellBelief._fit)
        self._fit()
        in_column(
            in_row((self.title, 1), self.chance, spacing=GRID),
            self.why,
            self.histogram,
            on=self,
            margins=0,
            spacing=GRID // 2,
        )
        document.selection_changed.connect(self._again)
        document.posterior_ready.connect(self._again)
        self.hide()

    def _fit(self) -> None:
        self.histogram.setFixedHeight(round(HIGH * THEME.scale))

    def show_project(self, project: Project | None) -> None:
        """Show the selected cell of what is open, else the closest."""
        self._project = project
        chosen = self.document.selection
        # The closest cell has the verdict's figures when it is chosen, too.
        shown = (
            project is not None
            and not project.of_magnitudes
            and ((chosen is not None and self._closest(chosen)) or self._selected() or self._closest())
        )
        self.setVisible(bool(shown))
        if not shown:
            self.title.clear()
            self.chance.clear()
            show_text(self.why, "")
            self.histogram.show_nothing("")

    def _again(self, *_: object) -> None:
        if self._project is not None and self.document.release is not None:
            self.show_project(self._project)

    def _domain(self) -> Domain | None:
        table = self.document.shown_table
        return None if table is None else table.domain

    def _selected(self) -> bool:
        """Show the selected cell, once it is known what is believed of it."""
        index, domain = self.document.selection, self._domain()
        if index is None or domain is None or len(index) != domain.ndim:
            return False
        posterior = self.document.posterior("user")
        if posterior is None or posterior.domain != domain:
            return False
        values, chances = posterior.distribution(index)
        published, true = self._counts(index)
        self.title.setText(domain.cell_text(index))
        sure = float(chances[values == true].sum()) if true is not None else float(chances.max())
        self.chance.setText(in_100(sure))
        show_text(self.why, HIDDEN.get(self._letter(index), "") if self.document.in_house else "")
        self._draw(values, chances, published, true)
        return True

    def _closest(self, only: Index | None = None) -> bool:
        """Show the small count that a reader comes nearest to; of one cell ``only``, if it is that."""
        verdict = self.document.judging.verdict(self._project)
        if not isinstance(verdict, StaffVerdict) or verdict.staff is None or not self.document.in_house:
            return False
        if (worst := verdict.staff.worst) is None or not worst.believed:
            return False
        values = np.array([count for count, _ in worst.believed], dtype=np.int64)
        chances = np.array([chance for _, chance in worst.believed], dtype=np.float64)
        cell, domain = joined(worst.cell, ", ") or message("grand total"), self._domain()
        published = true = index = None
        if domain is not None and domain.names == worst.table:
            index = tuple(
                variable.categories.index(label)
                for variable, label in zip(domain.variables, worst.cell, strict=True)
            )
            published, true = self._counts(index)
        if only is not None and only != index:
            return False
        self.title.setText(translate(message("Closest: {cell}", cell)))
        self.chance.setText(translate(in_100(worst.belief)))
        show_text(self.why, "" if only is None else HIDDEN.get(self._letter(only), ""))
        self._draw(values, chances, published, true)
        return True

    def _letter(self, index: Index) -> str:
        """Say what the run made of a cell, a letter of tau-ARGUS; empty where it says nothing."""
        project, release = self._project, self.document.release
        if project is None or project.protected is None or release is None:
            return ""
        for published, letters in zip(release.tables, project.protected.record.statuses, strict=False):
            if published is release.inner:
                return str(letters[index])
        return ""

    def _counts(self, index: Index) -> tuple[int | None, int | None]:
        """The published and the true count of a cell, as far as this view may show them."""
        document = self.document
        hidden = document.suppressed is not None and bool(document.suppressed[index])
        published = None if document.published is None or hidden else document.published[index]
        original = document.original if document.in_house else None
        return published, None if original is None else original[index]

    def _draw(self, values: Ints, chances: Floats, published: int | None, true: int | None) -> None:
        self.histogram.show_beliefs((DrawnBelief("user", values, chances),), published=published, true=true)
