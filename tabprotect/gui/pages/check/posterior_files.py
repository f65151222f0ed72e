"""The posterior as files: figures as SVG and PNG, numbers as CSV.

What holds anything of the original says CONFIDENTIAL in its name and in its content; in public
view nothing of the original can be written.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QAction, QColor, QFont, QFontMetricsF, QImage, QPainter, QPen
from PySide6.QtWidgets import QMenu, QPushButton

from tabprotect.engine.errors import InfeasibleError
from tabprotect.engine.posterior.analysis import AnalysisSummary
from tabprotect.engine.posterior.how_found import how_found
from tabprotect.engine.posterior.posterior import Posterior
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Who
from tabprotect.engine.sensitivity.small_count import SmallCount
from tabprotect.engine.tables.domain import Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.base.believed.cell import cell_sentence, published_count
from tabprotect.gui.base.exporter import MARK, Exporter
from tabprotect.gui.base.page import Page
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import push_button
from tabprotect.gui.look.drawn.drawing import CENTRE, RIGHT, Sheet, figure_font
from tabprotect.gui.look.drawn.shades import class_colours, class_numbers, shade_numbers, shades
from tabprotect.gui.look.theme import GRID, Colours, chance_text
from tabprotect.gui.pages.check.cell_figures import LEVEL, CellFigure, View
from tabprotect.gui.pages.check.cell_panel import CellPanel
from tabprotect.gui.pages.check.draws_panel import DrawsPanel
from tabprotect.gui.pages.check.prior_choice import PriorChoice
from tabprotect.gui.pages.stages import CHECK_FILES
from tabprotect.gui.plots.heat_map import HeatMap
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import translate

if TYPE_CHECKING:
    from tabprotect.engine.belief.believed import Believed


def table_csv(
    posteriors: dict[str, Posterior], progress: Progress, *, rule: SmallCount, original: Table | None
) -> bytes:
    """A row per cell: labels, published count, and the figures of each person.

    With an original, its column and every P(true) column have the mark in their names.
    """
    first = next(iter(posteriors.values()))
    domain = first.published.domain
    head = [*domain.names, "published"]
    columns: list[list[Any]] = [_shown(first, first.published.counts)]
    if original is not None:
        head.append(f"original_{MARK}")
        columns.append(original.counts.reshape(-1).tolist())
    for who, posterior in posteriors.items():
        progress.report(message("working out the figures"), 0.0)
        low, high = posterior.interval(LEVEL)
        figures: dict[str, np.ndarray] = {
            "mean": posterior.mean,
            "mode": posterior.mode,
            "low_90": low,
            "high_90": high,
            "entropy_bits": posterior.entropy,
            "p_published": posterior.probability(first.published.counts),
            f"p_{rule.low}_to_{rule.high}": posterior.small(rule),
        }
        if original is not None:
            figures[f"p_true_{MARK}"] = posterior.probability(original.counts)
        for name, values in figures.items():
            head.append(f"{who}_{name}")
            columns.append(_shown(first, values) if name == "p_published" else values.reshape(-1).tolist())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    for key, row in enumerate(zip(*columns, strict=True)):
        if key % 4096 == 0:
            progress.report(message("writing the rows"), key / domain.size)
        writer.writerow([*domain.labels(domain.unflat(key)), *row])
    return out.getvalue().encode()


def _shown(posterior: Posterior, values: np.ndarray) -> list[Any]:
    """Cell by cell, nothing where no count is published."""
    flat = values.reshape(-1).tolist()
    if posterior.hidden is None:
        return flat
    hidden = posterior.hidden.reshape(-1).tolist()
    return ["" if gone else value for value, gone in zip(flat, hidden, strict=True)]


def cell_csv(posteriors: dict[str, Posterior], index: Index, *, true: int | None) -> bytes:
    """A row per possible count of one cell: prior and posterior of each person."""
    given = {who: p.distribution(index) for who, p in posteriors.items()}
    values = np.unique(np.concatenate([v for v, _ in given.values()]))
    first = next(iter(posteriors.values()))
    head = [*first.published.domain.names, "count", "is_published"]
    if true is not None:
        head.append(f"is_true_{MARK}")
    columns: list[list[float]] = []
    for who, posterior in posteriors.items():
        own, chances = given[who]
        head += [f"{who}_prior", f"{who}_posterior"]
        columns.append(posterior.prior_distribution(index, values).tolist())
        wide = np.zeros(len(values))
        wide[np.searchsorted(values, own)] = chances
        columns.append(wide.tolist())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    labels = first.published.domain.labels(index)
    for number, value in enumerate(values.tolist()):
        flags = [int(value == published_count(first, index))]
        if true is not None:
            flags.append(int(value == true))
        writer.writerow([*labels, value, *flags, *(column[number] for column in columns)])
    return out.getvalue().encode()


def draws_csv(summary: AnalysisSummary, *, true: float | None) -> bytes:
    """A row per drawn table: the analysis on it; on the published table and, in the house, the true one."""
    name = f"original_{MARK}"
    head = ["draw", "value", "published"] + ([name] if true is not None else [])
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    rest = [summary.published] + ([true] if true is not None else [])
    for number, value in enumerate(summary.values.tolist(), 1):
        writer.writerow([number, value, *rest])
    return out.getvalue().encode()


class PosteriorFiles(QObject):
    """The export actions of the check page."""

    def __init__(self, page: PosteriorShown) -> None:
        super().__init__(page)
        self._page = page
        self.document = page.document
        self._exporter = Exporter(page)
        self.actions: dict[str, QAction] = {}
        for kind, label, stem, suffix in CHECK_FILES:
            action = QAction(translate(label), page)
            action.triggered.connect(lambda _=False, k=kind, s=stem, x=suffix: self._ask(k, stem=s, suffix=x))
            self.actions[kind] = action

    def button(self) -> QPushButton:
        """One that offers them all."""
        button = push_button(message("Export"), name=message("Export figures and numbers"))
        menu = QMenu(button)
        menu.addActions(list(self.actions.values()))
        button.setMenu(menu)
        return button

    def confidential(self, kind: str) -> bool:
        """Return True if the file would hold anything of the original, as the view is now."""
        view = self._page.view()
        if view is None or view.original is None:
            return False
        return self._page.figure.house if kind.startswith("map") else True

    def _ask(self, kind: str, *, stem: str, suffix: str) -> None:
        if not self._possible(kind):
            return
        self._exporter.ask(
            Path(f"{stem}.{suffix}"), partial(self.write, kind), confidential=self.confidential(kind)
        )

    def missing(self, kind: str) -> InfeasibleError | None:
        """Return why a kind cannot be written as the page is now."""
        if self._page.view() is None:
            return InfeasibleError(
                message("it is not worked out yet"), hint=message("export again once it is shown")
            )
        if kind.startswith("cell") and self._page.cell_shown is None:
            return InfeasibleError(
                message("no cell is selected"), hint=message("select one on the map first")
            )
        if kind.startswith("draws") and self._page.draws.result is None:
            return InfeasibleError(message("nothing was drawn yet"), hint=message("draw on the page first"))
        return None

    def _possible(self, kind: str) -> bool:
        error = self.missing(kind)
        if error is not None:
            self.document.error_raised.emit(error, self._page.name)
        return error is None

    def write(self, kind: str, path: Path, *, overwrite: bool = False) -> None:
        """Write one of the ``CHECK_FILES``; errors appear on the page."""
        if self._possible(kind):
            self._exporter.write(
                kind, path, self.content(kind), confidential=self.confidential(kind), overwrite=overwrite
            )

    def content(self, kind: str) -> Callable[[Progress], bytes]:
        """Return what makes the bytes of a kind, beside the window; widgets draw theirs at once."""
        view, selection = self._page.view(), self._page.cell_shown
        assert view is not None
        if kind == "table_csv":
            return partial(table_csv, self._known(), rule=view.rule, original=view.original)
        if kind.startswith("map"):
            sheet = self._map(self._page.figure.label_for(view.rule), self._caption(kind))
            return lambda _: sheet.svg() if kind == "map_svg" else sheet.png()
        if kind.startswith("draws"):
            data = self._draws(kind)
        elif kind == "cell_csv":
            assert selection is not None
            true = None if view.original is None else view.original[selection]
            data = cell_csv(self._known(), selection, true=true)
        else:
            histogram = self._page.cell.histogram
            write = histogram.svg if kind == "cell_svg" else histogram.png
            data = write(caption=self._caption(kind))
        return lambda _: data

    def _map(self, name: str, caption: str) -> Sheet:
        page = self._page
        shown, figure = page.map, page.figure
        assert shown.layout_shown is not None
        picture = HeatFigure(
            name, shown.layout_shown, shown.values_shown, text=figure.text, top=shown.top, flip=shown.flip
        )
        font = figure_font(page.font())
        return picture.sheet(font=font, dpi=page.logicalDpiX(), caption=caption)

    def _draws(self, kind: str) -> bytes:
        draws = self._page.draws
        assert draws.result is not None
        if kind == "draws_csv":
            return draws_csv(draws.result[0], true=draws.true_value())
        write = draws.plot.svg if kind == "draws_svg" else draws.plot.png
        return write(caption=self._caption(kind))

    def _known(self) -> dict[str, Posterior]:
        found = {who: self._page.known(who) for who in self._page.priors}
        return {who: known.posterior for who, known in found.items() if known is not None}

    def _caption(self, kind: str) -> str:
        view, selection = self._page.view(), self._page.cell_shown
        assert view is not None
        posterior = view.posterior
        parts = [message("{MARK}: shows the original.", MARK)] if self.confidential(kind) else []
        title = "" if self.document.release is None else self.document.release.title
        if title:
            parts.append(f"{title}.")
        if kind.startswith("map"):
            layout = self._page.map.layout_shown
            domain = posterior.published.domain
            if layout is not None and layout.placement.layers:
                layer = joined(
                    (
                        f"{n} = {domain[n].categories[layout.layer[domain.axis(n)]]}"
                        for n in layout.placement.layers
                    ),
                    ", ",
                )
                parts.append(message("Layer {layer}.", layer))
            parts.append(
                message("{meaning} The reader: {label}.", self._page.figure.meaning, posterior.prior.label)
            )
        elif kind.startswith("draws"):
            parts.append(self._page.draws.sentence.text())
        elif selection is not None:
            true = None if view.original is None else view.original[selection]
            name = posterior.published.domain.cell_text(selection)
            parts += [message("Cell {name}.", name), cell_sentence(posterior, selection, true=true)]
        found = self._page.known(self._page.who)
        left_out = "" if found is None else found.left_out
        originals = self.document.originals(self._page.who)
        return joined(filter(None, (*parts, how_found(posterior, originals).text, left_out)), " ")


WRITTEN = 2_500
"""Layers of more cells are drawn as coloured points without numbers."""

LABEL = 24
"""Characters of a label that fit."""

UNCUT = int(Qt.TextFlag.TextDontClip)


def _cut(text: str) -> str:
    return text if len(text) <= LABEL else f"{text[: LABEL - 1]}\u2026"


class HeatFigure:
    """One layer: row and column labels, a shade and a number per cell.

    No widget, as the pictures on the pages are: it is drawn beside the window.
    """

    def __init__(
        self,
        name: str,
        layout: Layout,
        values: np.ndarray,
        *,
        text: Callable[[Any], str],
        top: float,
        flip: bool,
    ) -> None:
        self._name, self._values, self._text = name, values, text
        self._top, self._flip = top, flip
        rows, columns = values.shape
        self._written = values.size <= WRITTEN
        self._rows, self._columns = (
            [
                _cut(layout.label(n, down=down)) if self._written else ""
                for n in range(rows if down else columns)
            ]
            for down in (True, False)
        )

    def sheet(self, *, font: QFont, dpi: int, caption: str) -> Sheet:
        """The figure with its caption, as large as it needs to be."""
        size = self._best_size(QFontMetricsF(font))
        return Sheet(translate(self._name), caption, size, font, dpi, self.draw)

    def _best_size(self, metrics: QFontMetricsF) -> QSize:
        """Room for every number, or one point and more per cell."""
        rows, columns = self._values.shape
        left = self._left(metrics) + 3 * GRID
        if not self._written:
            return QSize(int(left) + max(columns, 400), max(rows, 300) + 8 * GRID)
        words = [*self._columns, translate(self._text(self._top)), translate(self._text(0.0))]
        cell = max(map(metrics.horizontalAdvance, words)) + 2 * GRID
        tall = 1.5 * metrics.height()
        return QSize(int(left + columns * cell), int(rows * tall + 3 * tall) + 4 * GRID)

    def _left(self, metrics: QFontMetricsF) -> float:
        """Room of the row labels."""
        return metrics.horizontalAdvance(max(self._rows, key=len, default="") + "  ") + GRID

    @property
    def _title(self) -> str:
        low, high = self._text(0.0), self._text(self._top)
        dark = low if self._flip else high
        return message("{name}: {low} to {high}, dark is {dark}", self._name, low, high, dark)

    def draw(self, painter: QPainter, area: QRectF, colours: Colours) -> None:
        """Draw into a rectangle in the given colours; the painter's font is set."""
        rows, columns = self._values.shape
        metrics = QFontMetricsF(painter.font())
        line = metrics.height()
        plane = area.adjusted(self._left(metrics), 0, -GRID / 2, -2 * line - GRID)
        wide, tall = plane.width() / columns, plane.height() / rows
        if self._text is chance_text:
            numbers = np.maximum(class_numbers(self._values, None), 1) - 1
            grounds = class_colours(colours)
        else:
            numbers = shade_numbers(self._values, self._top, flip=self._flip) - 1
            grounds = shades(colours)
        palette = np.array([(g.red(), g.green(), g.blue()) for g, _ in grounds], dtype=np.uint8)
        pixels = np.ascontiguousarray(palette[numbers])
        picture = QImage(pixels.data, columns, rows, 3 * columns, QImage.Format.Format_RGB888)
        painter.drawImage(plane, picture)
        painter.setPen(QPen(QColor(colours.border), 1.5))
        painter.drawLine(plane.bottomLeft(), plane.bottomRight())
        painter.setPen(QColor(colours.quiet))
        below = QRectF(plane.left(), plane.bottom() + GRID / 2 + line, plane.width(), line)
        painter.drawText(below, CENTRE | UNCUT, translate(self._title))
        if not self._written:
            return
        for row, label in enumerate(self._rows):
            beside = QRectF(area.left(), plane.top() + row * tall, plane.left() - area.left(), tall)
            painter.drawText(beside.adjusted(0, 0, -GRID / 2, 0), RIGHT | UNCUT, label)
        painter.setPen(QColor(colours.text))
        for column, label in enumerate(self._columns):
            under = QRectF(plane.left() + column * wide, plane.bottom() + GRID / 2, wide, line)
            painter.drawText(under, CENTRE | UNCUT, label)
        for (row, column), number in np.ndenumerate(numbers):
            corner = plane.topLeft() + QPointF(column * wide, row * tall)
            painter.setPen(grounds[number][1])
            words = translate(self._text(self._values[row, column].item()))
            painter.drawText(QRectF(corner, QSizeF(wide, tall)), CENTRE | UNCUT, words)


class PosteriorShown(Page):
    """The parts of the check page that exports read."""

    map: HeatMap
    cell: CellPanel
    draws: DrawsPanel
    priors: dict[Who, PriorChoice]

    @property
    def who(self) -> Who:
        """Return whose belief the map shows."""
        raise NotImplementedError

    @property
    def figure(self) -> CellFigure:
        """The figure on the map."""
        raise NotImplementedError

    @property
    def cell_shown(self) -> Index | None:
        """The selected cell of the table shown."""
        raise NotImplementedError

    def known(self, who: Who) -> Believed | None:
        """Return what somebody believes of the table shown, if it is known."""
        raise NotImplementedError

    def view(self) -> View | None:
        """Return what the figures are computed from; ``None`` before there is a posterior."""
        raise NotImplementedError
