"""One cell: its histogram and its figures, for a reader and for one who knows more."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QLabel, QWidget

from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.release.verdict_figures import READER, Who
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.believed.cell import published_count
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import held, in_column, in_grid
from tabprotect.gui.look.theme import GRID, count_text
from tabprotect.gui.pages.check.cell_figures import LEVEL
from tabprotect.gui.plots.cell_histogram import CellHistogram, DrawnBelief
from tabprotect.languages.messages import capital, in_100, message
from tabprotect.languages.translation import tr, translate

PERSONS: tuple[Who, ...] = ("user", "intruder")

ROWS = (message("90 % sure"), message("small"), message("the true count"))
"""Figures of a cell: what a reader thinks it is, and how sure they are of that."""


def belief(who: Who, posterior: Posterior, index: Index) -> DrawnBelief:
    """A posterior as the histogram takes it, with its prior over the same counts."""
    values, chances = posterior.distribution(index)
    return DrawnBelief(who, values, chances, posterior.prior_distribution(index, values))


def figure_texts(
    posterior: Posterior, index: Index, *, rule: SmallCount, original: Table | None
) -> dict[str, str]:
    """The figures of one cell as text, by the names in ``ROWS``."""
    values, chances = posterior.distribution(index)
    low, high = posterior.interval_of(index, LEVEL)
    inside = (values >= rule.low) & (values <= rule.high)
    out = {
        "90 % sure": count_text(low)
        if low == high
        else message("{low} to {high}", count_text(low), count_text(high)),
        "small": in_100(float(chances[inside].sum())),
    }
    if original is not None:
        out["the true count"] = in_100(float(chances[values == original[index]].sum()))
    return out


class CellPanel(QWidget):
    """The histogram above, the figures below, one column for each person."""

    def __init__(self) -> None:
        super().__init__(accessibleName=tr("The selected cell"))
        self.histogram = CellHistogram()
        self._values: dict[tuple[str, str], QLabel] = {}
        self._names: dict[str, QLabel] = {}
        self._heads: dict[Who, QLabel] = {}
        self._grid = in_grid(margins=0, across=2 * GRID, down=2)
        for who in PERSONS:
            self._heads[who] = Label(capital(READER[who]), role="strong")
        for name in ROWS:
            self._names[name] = Label(message(name), role="quiet")
            for who in PERSONS:
                self._values[name, who] = Label(
                    name=message("{name}, {who}", message(name), READER[who]), selectable=True
                )
        self._figures = held(self._grid)
        self._place(both=False)
        self._sentence = Label(wordWrap=True, name=message("The cell in one sentence"), selectable=True)
        in_column(
            self._sentence, (self.histogram, 1), self._figures, on=self, margins=(0, GRID, 0, 0), spacing=GRID
        )

    def _place(self, *, both: bool) -> None:
        """Figures stand beside their names: of one reader in a row, of two under their heads."""
        at = self._grid
        for row, name in enumerate(ROWS):
            down, across = (row + 1, 0) if both else (1, row * 2)
            at.addWidget(self._names[name], down, across)
            for column, who in enumerate(PERSONS, 1):
                at.addWidget(self._values[name, who], down, across + column * (both or who == "user"))
        for column, who in enumerate(PERSONS, 1):
            at.addWidget(self._heads[who], 0, column)
        at.setColumnStretch(6, 1)

    def value(self, name: str, who: Who = "user") -> str:
        """A figure as shown; empty when it is not."""
        return self._values[name, who].text()

    def show_cell(
        self, index: Index, posteriors: Mapping[Who, Posterior], *, rule: SmallCount, original: Table | None
    ) -> None:
        """Show a cell under the posteriors that are known; the original only in the house."""
        published = published_count(next(iter(posteriors.values())), index)
        true = None if original is None else original[index]
        beliefs = tuple(belief(who, p, index) for who, p in posteriors.items())
        self.histogram.show_beliefs(beliefs, published=published, true=true)
        self._figures.show()
        self._place(both=len(posteriors) > 1)
        for name in ROWS:
            self._names[name].setVisible(name != "the true count" or original is not None)
        self._names["small"].setText(translate(rule.words))
        for who, head in self._heads.items():
            posterior = posteriors.get(who)
            head.setVisible(len(posteriors) > 1)
            texts = {} if posterior is None else figure_texts(posterior, index, rule=rule, original=original)
            for name in ROWS:
                value = self._values[name, who]
                value.setText(translate(texts.get(name, "")))
                value.setVisible(name in texts)

    def say(self, text: str) -> None:
        """Say what the picture says, in one sentence above it."""
        show_text(self._sentence, text)

    @property
    def sentence(self) -> str:
        """Say what is said above the picture."""
        return self._sentence.text()

    def show_nothing(self, why: str) -> None:
        """Teach instead of showing."""
        self.say("")
        self.histogram.show_nothing(why)
        self._figures.hide()
        for value in self._values.values():
            value.clear()
