"""Original, published and difference: three grids that scroll together, side by side or in turn."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QColor, QResizeEvent
from PySide6.QtWidgets import QLabel, QScrollBar, QSplitter, QTabBar, QWidget

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.grid.cells import ASIDE
from tabprotect.gui.grid.grid_view import GridView
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.grid.totals_cursor import TotalsCursor
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column
from tabprotect.gui.look.theme import GRID, THEME, Written, count_text, signed_text
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell, told

PARTS = ("original", "published", "difference")

ABREAST = 125 * GRID
"""From this width on the three stand side by side; below, one of them has all the room."""

Margins = tuple[Ints, Ints, Ints | int]
"""Row totals, column totals, grand total."""

SUPPRESSED = -(2**62)
"""Stands in a grid where a cell has no published count."""


def published_text(value: int) -> str:
    """A published count, or an x where there is none."""
    return "x" if value == SUPPRESSED else count_text(value)


def difference_text(value: int) -> str:
    """A difference, or nothing where a count is not published."""
    return "" if value == SUPPRESSED else signed_text(value)


class ThreeTables(QSplitter):
    """``chosen`` carries the cell under the cursor of any of the three."""

    chosen = Signal(object)
    total_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.layout_: Layout | None = None
        self.house = True
        self.front = "published"
        """Which one is seen where there is room for one."""
        self._following = False
        self._bars: dict[str, QTabBar] = {}
        self.grids: dict[str, GridView] = {}
        self.titles: dict[str, QLabel] = {}
        self.sides: dict[str, QWidget] = {}
        self._change: Ints | None = None
        """What every cell changed by, beside the published counts where these stand alone."""
        self._needs = 0
        self._arranged: object = None
        self._sized: object = None
        self._dragged = False
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._settle)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(lambda *_: setattr(self, "_dragged", True))
        for part in PARTS:
            self.addWidget(self._side(part))
        self._scroll_together()

    def _side(self, part: str) -> QWidget:
        side = QWidget()
        title = Label(say(part.capitalize()), role="section")
        grid = GridView(say("{part} table", say(part.capitalize())))
        # Three abreast: narrower than where a table stands alone.
        grid.room = (-GRID, 0)
        grid.shorten_labels(rows=14, columns=7)
        grid.current_changed.connect(self._moved)
        cursor = TotalsCursor(grid)
        cursor.chosen.connect(self.total_chosen)
        bar = self._bars[part] = QTabBar(expanding=False, drawBase=False)
        bar.setAccessibleName(tell("Which of the three tables"))
        for other in PARTS:
            bar.addTab(other)
        here = PARTS.index(part)
        bar.setCurrentIndex(here)
        bar.hide()

        def turned(number: int) -> None:
            if number != here:
                bar.setCurrentIndex(here)
                self.turn(PARTS[number])

        bar.currentChanged.connect(turned)
        in_column(title, bar, (grid, 1), on=side, margins=0, spacing=0)
        self.grids[part], self.titles[part], self.sides[part] = grid, title, side
        return side

    def _scroll_together(self) -> None:
        # The margins' bars are the visible ones; through the cells' bars they follow each other.
        for kind in ("horizontalScrollBar", "verticalScrollBar"):
            bars = [getattr(grid.cells, kind)() for grid in self.grids.values()]
            for bar in bars:
                for other in bars:
                    if other is not bar:
                        bar.valueChanged.connect(other.setValue)

    def show_house(self, house: bool) -> None:
        """Show all three, or only what is published; nothing stays behind in what is hidden."""
        self.house = house
        if not house:
            self._change = None
        for part in ("original", "difference"):
            if not house:
                self._empty(self.grids[part])
        self._arrange()

    @property
    def abreast(self) -> bool:
        """Whether all that is shown is seen at once, every column of it."""
        if not self.house:
            return True
        return self.width() >= ABREAST and self._needs <= self._room

    @property
    def _room(self) -> int:
        """Pixels that each of the three has for its columns where they stand abreast."""
        labels = min(self.grids["original"].cells.rows.width(), self.width() // 8)
        return max((self.width() - labels) // 3, 1)

    def turn(self, part: str) -> None:
        """Put one of the three in front; where they stand abreast, that is seen later."""
        before, self.front = self.front, part
        at = [bar.value() for bar in self._scrolled(before)]
        self._arrange()
        for bar, value in zip(self._scrolled(part), at, strict=True):
            bar.setValue(value)
        if not self.abreast:
            self._bars[part].setFocus()

    def _scrolled(self, part: str) -> list[QScrollBar]:
        cells = self.grids[part].cells
        return [cells.horizontalScrollBar(), cells.verticalScrollBar()]

    def _arrange(self) -> None:
        """Show all three, or the one in front."""
        abreast = self.abreast
        self._stand_beside(self._change if self.house and not abreast else None)
        titles = tuple(told(title.text()) for title in self.titles.values())
        arranged = (self.house, abreast, self.front, titles)
        # Every part that comes or goes lays all of them out anew.
        if arranged == self._arranged:
            return
        self._arranged = arranged
        for part, side in self.sides.items():
            seen = part == "published" if not self.house else abreast or part == self.front
            side.setVisible(seen)
            self.titles[part].setVisible(abreast)
            self._bars[part].setVisible(not abreast)
            for number, other in enumerate(PARTS):
                self._bars[part].setTabText(number, told(self.titles[other].text()))
        first = True
        for part, grid in self.grids.items():
            if self.house or part == "published":
                grid.show_row_labels(first or not abreast)
                first = False

    def _stand_beside(self, change: Ints | None) -> None:
        """Write the changes beside the published counts, or take them away."""
        delegate = self.grids["published"].delegate
        if change is delegate.aside:
            return
        delegate.aside, delegate.ground = change, None
        if change is not None:
            delegate.grounds, delegate.ground = _grounds(change)
        self.grids["published"].repaint_cells()

    @staticmethod
    def _empty(grid: GridView) -> None:
        if grid.layout_ is not None:
            nothing = np.zeros(grid.layout_.shape, dtype=np.int64)
            grid.delegate.mark = None
            grid.delegate.draw = None
            grid.show_grid(grid.layout_, nothing, text=_nothing)

    def select(self, index: Index | None) -> None:
        """Put the cursor of all three on a cell."""
        self._following = True
        for grid in self.grids.values():
            grid.set_current(index)
        self._following = False

    def _moved(self, index: Index) -> None:
        if not self._following:
            self.select(index)
            self.chosen.emit(index)

    # -- filling ------------------------------------------------------------------------------

    def begin(self, layout: Layout) -> None:
        """The layout of what is shown next; the cursor's moves are our own until :meth:`end`."""
        self.layout_ = layout
        self._following = True

    def show_part(
        self,
        part: str,
        counts: Ints,
        *,
        margins: Margins | bool = True,
        text: Written = count_text,
    ) -> None:
        """Fill one of the grids with an array of the table's shape.

        ``margins`` are row totals, column totals and the grand total of the layer; ``True`` adds
        the counts up, ``False`` shows none.
        """
        layout = self.layout_
        assert layout is not None
        flat = layout.flat(counts)
        grid = self.grids[part]
        sums = None if isinstance(margins, bool) else margins
        if margins is True:
            sums = flat.sum(axis=1), flat.sum(axis=0), flat.sum()
        grid.show_grid(layout, flat, margins=sums, text=text, margin_text=text)
        grid.repaint_cells()

    def show_difference(
        self,
        difference: Ints,
        *,
        margins: Margins | bool = True,
        text: Written = signed_text,
    ) -> None:
        """Fill the third grid: up and down in the colours of plus and minus."""
        layout = self.layout_
        assert layout is not None
        delegate, self._change = self.grids["difference"].delegate, layout.flat(difference)
        delegate.grounds, delegate.ground = _grounds(self._change)
        self.show_part("difference", difference, margins=margins, text=text)

    def end(self, key: object, selection: Index | None) -> None:
        """Columns of one width, so that the tables scroll alike; row labels once.

        The three get the same room whenever ``key`` is another one.
        """
        self._arrange()
        if self.house and key != self._sized:
            self._sized, self._dragged = key, False
            self._share()
        self._match()
        self._following = False
        self.select(selection)

    def _settle(self) -> None:
        """Once the grids know their sizes: those that were hidden had none before."""
        if self.house and self._sized is not None and not self._dragged:
            self._share()
        self._match()

    def _match(self) -> None:
        """One width of columns for all."""
        shown = [g for p, g in self.grids.items() if self.house or p == "published"]
        every = [grid.natural_widths for grid in shown]
        widths = max(w for w, _ in every), max(t for _, t in every)
        before = self.abreast
        columns = 0 if self.layout_ is None else self.layout_.shape[1]
        self._needs = columns * widths[0] + widths[1]
        if self.abreast != before:
            self._arrange()
        if not self.abreast:
            widths = widths[0] + ASIDE, widths[1]
        for grid in shown:
            grid.be_as_wide_soon(widths)

    def _share(self) -> None:
        # Long labels get their room from the first table alone beyond an eighth.
        labels = min(self.grids["original"].cells.rows.width(), self.width() // 8)
        each = self._room
        self.setSizes([labels + each, each, each])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.house and self.abreast != (not self._bars[self.front].isVisibleTo(self)):
            self._arrange()
        # Filled before it was shown, it did not know its width; the splitter grows in proportion.
        if self.house and self._sized is not None and not self._dragged:
            self._share()
        if self.layout_ is not None:
            # Once the three have their own new sizes.
            self._later.start()


def _grounds(change: Ints) -> tuple[list[tuple[QColor, QColor]], npt.NDArray[np.uint8]]:
    """Ground and ink of what rose and of what fell, and which of them each cell has."""
    c = THEME.colours
    grounds = [(QColor(c.plus_fill), QColor(c.plus)), (QColor(c.minus_fill), QColor(c.minus))]
    down = (change < 0) & (change != SUPPRESSED)
    return grounds, np.where(change > 0, 1, np.where(down, 2, 0)).astype(np.uint8)


def _nothing(_: int) -> str:
    return ""
