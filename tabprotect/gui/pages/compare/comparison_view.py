"""The right side of the compare page: the map above the measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from tabprotect.engine.errors import InfeasibleError
from tabprotect.gui.base.exporter import MARK, Content, Files
from tabprotect.gui.base.page import Page
from tabprotect.gui.look.buttons import choice, connected, offer, silent
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, held, in_column, in_row, split
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.compare.measures_table import MeasuresTable
from tabprotect.gui.pages.compare.words import BELIEF, CHANGE, KNOWN, place_words
from tabprotect.gui.plots.map_axis import Axis
from tabprotect.gui.plots.ru_map import Place, PlottedConfiguration, RiskUtilityMap
from tabprotect.gui.plots.series_looks import SeriesLook
from tabprotect.languages.messages import message

if TYPE_CHECKING:
    from tabprotect.gui.pages.compare.magnitude_ways import AnyMeasure, Compared

NOWHERE = message("No setting has both figures: choose other measures, or look at the table.")


class ComparisonView(QWidget):
    """``chosen`` and ``opened`` carry a place; ``axes_changed`` says
    that other measures span the map."""

    chosen = Signal(object)
    opened = Signal(object)
    axes_changed = Signal()

    def __init__(self, **opens: str) -> None:
        super().__init__()
        self.found: Compared | None = None
        self.place: Place | None = None
        self._labels: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._limit = ("", 0.0)
        self._looks: Sequence[SeriesLook] = ()
        self._offered: dict[str, AnyMeasure] = {}
        self._running = self._turned = False
        self.risk = choice(message("Measure of risk, to the right"), changed=self._other_axes, wide=12)
        self.utility = choice(message("Measure of utility, upwards"), changed=self._other_axes, wide=12)
        self.map = RiskUtilityMap(**opens)
        self.map.words = self.words
        self.table = MeasuresTable()
        in_column(self._arranged(), on=self, margins=(GRID, 0, 0, 0))
        for part in (self.map, self.table):
            connected(part, chosen=self.chosen, opened=self.opened)

    def _arranged(self) -> QWidget:
        axes = in_row(spacing=GRID)
        for words, combo in ((message("Risk"), self.risk), (message("Utility"), self.utility)):
            filled(axes, Label(words, buddy=combo), (combo, 1))
        upper = held(in_column(axes, (self.map, 1), margins=0, spacing=GRID))
        return split((upper, 5), (self.table, 4), down=True, sizes=(36 * GRID, 26 * GRID))

    # -- the axes -----------------------------------------------------------------------------

    def fill_axes(self, offered: Iterable[AnyMeasure], **first: str) -> None:
        """Offer measures of risk and utility, the ``first`` ones chosen: once, when the page is first shown."""
        if self.risk.count():
            return
        self._offered = {measure.name: measure for measure in offered}
        for combo, noun in ((self.risk, "risk"), (self.utility, "utility")):
            mine = [measure for measure in self._offered.values() if measure.noun == noun]
            tips = {one.name: message("<p>{help}</p>", message(one.help.splitlines()[0])) for one in mine}
            offer(combo, {one.name: one.label for one in mine}, tips=tips, current=first.get(noun))

    @property
    def axes(self) -> tuple[AnyMeasure, AnyMeasure]:
        """Risk and utility of the map."""
        return self._offered[self.risk.currentData()], self._offered[self.utility.currentData()]

    def _other_axes(self) -> None:
        self._turned = True
        self._show_map()
        self._show_table()
        self.axes_changed.emit()

    def _choose_risk(self, found: Compared) -> None:
        """The belief, which tells methods apart, or what would be known where few have one."""

        def there(name: str) -> int:
            return sum(row.get(name) is not None for row in found.summaries)

        first = BELIEF if 2 * there(BELIEF) >= max(there(KNOWN), 1) else KNOWN
        with silent(self.risk):
            self.risk.setCurrentIndex(self.risk.findData(first))

    # -- showing ------------------------------------------------------------------------------

    def show_comparison(
        self,
        found: Compared,
        titles: tuple[str, ...],
        names: tuple[str, ...],
        looks: Sequence[SeriesLook],
        *,
        running: bool,
        limit: tuple[str, float],
    ) -> None:
        """Show what was found (so far, while it is ``running``).

        Parameters
        ----------
        titles, names, looks
            Of each setting: what it is called, in short where there is little room, and its mark.
        limit
            A measure, and how much of it may be.
        """
        self.found, self._labels, self._names, self._looks = found, titles, names, looks
        self._running, self._limit = running, limit
        if not self._turned and BELIEF in self._offered:
            self._choose_risk(found)
        self._show_table()
        self._show_map()

    def show_nothing(self, why: str) -> None:
        """Show a sentence instead; nothing that was shown is kept."""
        self.found, self.place, self._labels, self._names = None, None, (), ()
        self.map.show_nothing(why)
        self.table.show_comparison(None, ())

    def words(self, place: Place) -> str:
        """A place of the map in words."""
        return "" if self.found is None else place_words(self.found, self._labels, place, *self.axes)

    def set_place(self, place: Place | None) -> None:
        """Mark a run or a setting everywhere, without telling anybody."""
        self.place = place
        self.map.set_place(place)
        self.table.set_place(place)

    def _show_table(self) -> None:
        if self.found is not None:
            first = tuple(measure.name for measure in self.axes)
            self.table.show_comparison(self.found, self._names, (*first, KNOWN, CHANGE), self._looks)
            self.table.set_place(self.place)

    def _show_map(self) -> None:
        if (found := self.found) is None:
            return
        risk, utility = self.axes
        limited, most = self._limit
        settings = [
            replace(
                _setting(found, c, risk, utility, self._names[c], self._looks[c]),
                beyond=(known := found.summaries[c].get(limited)) is not None and known.mean > most,
            )
            for c in range(len(found.configurations))
        ]
        x, y = (Axis(m.label, m.unit, m.higher_is_better) for m in (risk, utility))
        self.map.empty = NOWHERE
        # None is beyond the others before all have ended.
        front = () if self._running else found.front(risk.name, utility.name)
        self.map.show_settings(settings, (x, y), front, limit=most if risk.name == limited else None)


def _setting(
    found: Compared, c: int, risk: AnyMeasure, utility: AnyMeasure, label: str, look: SeriesLook
) -> PlottedConfiguration:
    numbers = [n for n, r in enumerate(found.runs) if r.configuration == c]
    nan = float("nan")
    values = np.array(
        [
            [nan if (v := found.runs[n].values.get(m.name)) is None else v for m in (risk, utility)]
            for n in numbers
        ],
        dtype=np.float64,
    ).reshape(-1, 2)
    spreads = [found.summaries[c].get(m.name) for m in (risk, utility)]
    mean, low, high = (
        tuple(nan if s is None else getattr(s, part) for s in spreads) for part in ("mean", "low", "high")
    )
    return PlottedConfiguration(
        number=c,
        label=label,
        look=look,
        runs=np.array(numbers, dtype=np.int64),
        x=values[:, 0],
        y=values[:, 1],
        mean=(mean[0], mean[1]),
        low=(low[0], low[1]),
        high=(high[0], high[1]),
    )


class ComparisonFiles(Files):
    """The exports of the compare page."""

    def __init__(
        self, page: Page, comparison: Callable[[], Compared | None], picture: Callable[[str], bytes]
    ) -> None:
        """``comparison`` gives the finished one; ``picture`` the map under a caption, as SVG."""
        super().__init__(page, {"csv": ("", "comparison.csv"), "svg": ("", "risk-utility-map.svg")})
        self._comparison, self._picture = comparison, picture

    def missing(self, kind: str) -> InfeasibleError | None:
        if self._comparison() is not None and self.page.document.in_house:
            return None
        return InfeasibleError(message("nothing was compared yet"), hint=message("press Compare first"))

    def content(self, kind: str) -> Content:
        found = self._comparison()
        assert found is not None
        head, _, rows = found.as_csv().partition("\n")
        data = f"{head.replace('run', f'run_{MARK}', 1)}\n{rows}".encode()
        if kind == "svg":
            data = self._picture(
                message("{MARK}: depends on the original. {sentence}", MARK, self.page.sentence)
            )
        return lambda _: data
