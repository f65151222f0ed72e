"""What can be believed of totals: a margin, a level, a group of categories instead of one cell."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.project.project import Who
from tabprotect.engine.release.release import Release
from tabprotect.engine.tables.domain import Domain
from tabprotect.gui.base.believed.totals import CERTAIN, Totals, TotalsBy, groupings_for
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.parameters.name_picks import NamePicks
from tabprotect.gui.look.buttons import connected
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row
from tabprotect.gui.look.lists.listing import ListColumn, RowList
from tabprotect.gui.look.theme import GRID, count_text, number_text
from tabprotect.gui.pages.check.cell_figures import LEVEL
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate

MOST_ROWS = 500


def _expected(value: float) -> str:
    """An average as a count is written; with decimals only where it has some."""
    near = round(value)
    return count_text(near) if abs(value - near) < 0.005 else number_text(value)


class TotalsPanel(QWidget):
    """Names of variables and levels to add up by, their totals, and one of them as a histogram."""

    def __init__(self, document: Document) -> None:
        super().__init__(accessibleName=tr("Totals"))
        self.document = document
        self.picks = connected(
            NamePicks(lambda name: message("Totals by {name}", name)), changed=lambda: self.refresh(self._who)
        )
        self.totals: Posterior | None = None
        self._found: TotalsBy | None = None
        self._who: Who = "user"
        self._question = Totals(document, self, self._answered, self._failed)
        self.said = Label(wordWrap=True, name=message("How the totals were computed"))
        self.table = connected(
            RowList(message("Totals and what to believe of them"), sortable=False), chosen=self._show_total
        )
        self.histogram = CellHistogram()
        in_column(
            in_row(Label(message("Totals by")), (self.picks, 1), spacing=GRID // 2),
            self.said,
            (self.table, 1),
            (self.histogram, 1),
            on=self,
            margins=(0, GRID, 0, 0),
            spacing=GRID,
        )

    @property
    def chosen(self) -> tuple[str, ...]:
        """The names that totals are taken by."""
        return tuple(self.picks.chosen)

    def refresh(self, who: Who) -> None:
        """Ask anew about the totals of the posterior in force; only while they are looked at."""
        self._who = who
        posterior, release = self.document.known_posterior(who), self.document.counts_release
        if release is None or posterior is None:
            self._question.drop()
            if release is None or not set(self.picks.names) <= set(self._names(release.domain, release)):
                # Variables of a former document are nobody's here.
                self.picks.offer(())
            self._clear("")
            return
        if not self.isVisible():
            return
        names = self._names(posterior.domain, release)
        if list(self.picks.names) != names:
            total = self.document.counts_selected[1]
            self.picks.offer(names)
            self.picks.choose(names[:1] if total is None else total.names, quietly=True)
        if self._question.ask_by(self.chosen, who):
            self._clear(message("Adding up what can be believed of the cells\u2026"))

    @staticmethod
    def _names(domain: Domain, release: Release) -> list[str]:
        return [*domain.names, *(grouping.name for grouping in groupings_for(domain, release))]

    def _clear(self, said: str) -> None:
        """Leave nothing of another release in sight."""
        self.totals = self._found = None
        self.table.show_rows(())
        self.histogram.hide()
        self.said.setText(translate(said))

    def _failed(self, error: TabprotectError) -> None:
        self.said.setText(translate(error.sentence))

    def _answered(self, answer: TotalsBy) -> None:
        found = answer.posterior
        self.totals, self._found = found, answer
        domain = found.domain
        cells = [domain.unflat(row) for row in range(min(domain.size, MOST_ROWS))]
        published = [found.published_count(cell) for cell in cells]
        low, high = found.interval(LEVEL)
        ends = [sorted({int(low[cell]), int(high[cell])}) for cell in cells]
        names = [joined(domain.labels(cell), ", ") or message("grand total") for cell in cells]
        self.table.show_rows(
            (
                ListColumn(message("Total"), names, str, right=False),
                ListColumn(
                    message("Published"),
                    published,
                    lambda count: "\u2013" if count is None else count_text(count),
                ),
                ListColumn(message("Expected"), [float(found.mean[cell]) for cell in cells], _expected),
                ListColumn(
                    message("90 % interval"), ends, lambda e: joined(map(count_text, e), message(" to "))
                ),
            )
        )
        exact = int((found.chances.max(axis=1) > CERTAIN).sum())
        how = (
            "exactly"
            if found.way == "exact"
            else message("from drawn originals, \u00b1{error:.4f}", found.error)
        )
        self.said.setText(
            translate(
                plural(
                    domain.size,
                    "{size} total, computed {how}; {exact} known for certain.",
                    "{size} totals, computed {how}; {exact} known for certain.",
                    count_text(domain.size),
                    how,
                    count_text(exact),
                )
            )
        )
        self.select()

    def show_by(self, names: tuple[str, ...]) -> None:
        """The totals by these names."""
        self.picks.choose(names, quietly=True)
        self.refresh(self._who)

    def select(self) -> None:
        """Go to the total that the selected cell belongs to."""
        if self.totals is None or self._found is None:
            return
        release, (cell, total) = self.document.counts_release, self.document.counts_selected
        cell = cell if total is None else total.cell
        if release is None or self._found.publication.domain != release.domain:
            # The selected cell is one of the inner cells; these totals are of others.
            cell = None
        row = 0 if cell is None else self.totals.domain.flat(self._found.place(cell))
        row = min(row, len(self.table.rows.rows) - 1)
        self.table.set_current(row)
        self._show_total(row)

    def _show_total(self, row: int) -> None:
        if (found := self.totals) is None or row < 0:
            return
        index = found.domain.unflat(row)
        values, chances = found.distribution(index)
        self.histogram.show()
        self.histogram.show_beliefs(
            (DrawnBelief(self._who, values, chances),), published=found.published_count(index), true=None
        )
