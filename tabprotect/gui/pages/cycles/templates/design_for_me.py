"""Design for me: say what must stay true, and take one of about eight designs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QHideEvent, QPainterPath, QPen, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QCheckBox, QFormLayout, QSizePolicy, QSlider, QSpinBox, QWidget

from tabprotect.engine.errors import TabprotectError
from tabprotect.engine.progress import Progress
from tabprotect.engine.project.project import Project
from tabprotect.engine.project.verbs.release_verbs import take_design
from tabprotect.engine.protection.cycle_runs.cycle_parameters import ZEROS, check_zeros, zeros_said
from tabprotect.engine.protection.cycle_runs.offers import Offer, OfferWishes, offers, on_table
from tabprotect.engine.protection.cycle_runs.trial_runs import Tried
from tabprotect.engine.protection.subtables import groupings_of, kept_of
from tabprotect.engine.tables.kept_margins import KeptMargins
from tabprotect.engine.tables.margins import MarginSet, all_margins
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.forms.parameters.field import Field
from tabprotect.gui.grid.cycle_grid import CycleGrid
from tabprotect.gui.grid.layout import Layout
from tabprotect.gui.look.buttons import Scrolling, choice, connected, named, push_button, silent
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.theme import GRID, count_text, moved_text
from tabprotect.gui.pages.cycles import cycle_overlays
from tabprotect.gui.pages.cycles.cycle_editor import PAGE
from tabprotect.gui.pages.cycles.templates.kept_chips import KeptChips
from tabprotect.gui.plots.canvas import Canvas, nice_step
from tabprotect.gui.plots.plot import Plot
from tabprotect.languages.messages import capital, joined, message, percent, plural
from tabprotect.languages.translation import tr, translate

POSTERIORS = {
    "any": message("in any way"),
    "draws": message("exactly, by formula or by draws"),
    "formula": message("exactly, by formula"),
}

COMPUTED = {
    "formula": message("Readers compute what to believe exactly, by formula."),
    "draws": message(
        "Readers draw tables that could be behind it, exactly as likely as they are (±0.7 % "
        "with 20,000 draws)."
    ),
    "any": message("Readers estimate what to believe, with the error stated."),
}

WAIT = 300

WIDE = 120
"""Characters of width from which on the form stands beside the curve."""


def formula(margins: MarginSet) -> str:
    """Margins as a model formula, without the grand total that goes without saying."""
    return joined((":".join(f"`{name}`" for name in margin) or "1" for margin in margins), " + ")


class DesignForMe(QWidget):
    """The form, the curve, what leaks, and the cycles of a candidate. ``done`` when one was taken."""

    done = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document
        self.offers: tuple[Offer, ...] = ()
        self._at = self._over = -1
        self._named: tuple[object, ...] = ()
        self._judged: dict[int, Tried] = {}
        self._find: BackgroundTask[tuple[Offer, ...]] = BackgroundTask(
            self, document.jobs, self._found, self._failed, came=self._came
        )
        self._judge: BackgroundTask[tuple[int, Tried]] = BackgroundTask(
            self, document.jobs, self._figures, self._failed
        )
        self._build_form()
        self._build_offers()
        inner = QWidget()
        self._both = in_row(
            (self._form, 2), (self._right, 5), on=inner, margins=(0, 0, GRID, 0), spacing=2 * GRID
        )
        area = Scrolling()
        area.setWidget(inner)
        in_column(area, on=self, margins=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= WIDE * self.fontMetrics().averageCharWidth()
        direction = QBoxLayout.Direction
        self._both.setDirection(direction.LeftToRight if wide else direction.TopToBottom)

    def _build_form(self) -> None:
        self._form = QWidget()
        self.chips = connected(KeptChips(), changed=self._ask)
        self.zeros = choice(offered={True: message("may rise"), False: message("stay zero, unbiased")})
        self.most = QSpinBox(maximum=1000)
        self.most.setSpecialValueText(tr("any"))
        self.most.setAccelerated(True)
        self.posterior = choice(offered=POSTERIORS)
        self.most.setMinimumHeight(self.zeros.sizeHint().height())
        rows = QFormLayout(rowWrapPolicy=QFormLayout.RowWrapPolicy.WrapAllRows)
        for widget, name in (
            (self.zeros, message("Zeros")),
            (self.most, message("No count moves by more than")),
            (self.posterior, message("Readers compute what to believe")),
        ):
            rows.addRow(translate(name), named(widget, name))
        self.structural = connected(Field(ZEROS), changed=self._ask)
        in_column(
            heading(message("Keep exactly")),
            self.chips,
            heading(message("And")),
            rows,
            self.structural,
            1,
            on=self._form,
            margins=(0, 0, GRID, 0),
            spacing=GRID,
        )
        self.zeros.activated.connect(lambda _: self._ask())
        self.most.valueChanged.connect(lambda _: self._ask())
        self.posterior.activated.connect(lambda _: self._ask())

    def _build_offers(self) -> None:
        self._right = QWidget()
        self.state = Label(wordWrap=True)
        self.curve = connected(OfferCurve(), hovered=self._hover)
        self.slider = named(QSlider(Qt.Orientation.Horizontal), message("From useful to protected"))
        self.slider.setPageStep(1)
        self.leaks = Label(wordWrap=True, name=message("What leaks"))
        self.staff = connected(QCheckBox(tr("Judge on this table too")), toggled=lambda _: self._tell())
        recorded = Label(
            message("Staff only: a choice made with these figures in sight is recorded."),
            wordWrap=True,
            role="quiet",
        )
        self.grid = CycleGrid()
        self.grid.setMinimumHeight(20 * GRID)
        self.take = push_button(message("Take this design"), self._take)
        in_column(
            self.state,
            (self.curve, 1),
            in_row(Label(message("useful")), (self.slider, 1), Label(message("protected"))),
            heading(message("What leaks")),
            self.leaks,
            in_row((self.staff, 1), self.take),
            recorded,
            (self.grid, 1),
            on=self._right,
            margins=(GRID, 0, 0, 0),
            spacing=GRID,
        )
        self.slider.valueChanged.connect(self._choose)
        self.curve.chosen.connect(self.slider.setValue)

    # -- asking -------------------------------------------------------------------------------

    def show_project(self, project: Project) -> None:
        """Take up the margins that the project keeps, and look for designs."""
        groupings = groupings_of(project.domain, project.parameters)
        zeros = project.parameters.get(ZEROS.name)
        named = (project.domain, project.parameters.get("keep"), groupings, zeros)
        if named != self._named:
            self._named = named
            self.structural.show_value(zeros)
            kept = kept_of(project.domain, project.parameters).maximal()
            names = [*project.domain.names, *(grouping.name for grouping in groupings)]
            self.chips.show_margins(kept.margins, names)
        self._ask()

    @property
    def wishes(self) -> OfferWishes:
        """Return what the form says."""
        return OfferWishes(self.zeros.currentData(), self.most.value(), self.posterior.currentData())

    @property
    def keep(self) -> str | None:
        """The kept margins as a parameter; ``None`` for all of one variable less."""
        project = self.document.project
        plain = project is not None and set(self.chips.margins) == set(all_margins(project.domain))
        return None if plain else formula(self.chips.margins)

    def _given(self, project: Project) -> dict[str, object]:
        """The parameters of a design that the form and the project state."""
        return {
            "keep": self.keep,
            "groupings": project.parameters.get("groupings"),
            ZEROS.name: self.structural.value,
        }

    def _ask(self) -> None:
        if (project := self.document.project) is None or project.table is None:
            return
        table, wishes = project.table, self.wishes
        given = self._given(project)

        def work(progress: Progress) -> tuple[Offer, ...]:
            check_zeros(table, given)
            kept = KeptMargins.of(kept_of(table.domain, given), table)
            return offers(kept, wishes, zeros_said(table.domain, given), progress)

        key = (table, *given.values(), *vars(wishes).values())
        if self._find.ask(message("look for designs"), work, key, wait=WAIT):
            self._show(())
            self.state.setText(tr("Trying designs on synthetic tables with the same margins\u2026"))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._find.leave()
        self._judge.leave()

    def _came(self, found: tuple[Offer, ...]) -> None:
        if found:
            self._show(found)
            self.state.setText(tr("{found} so far; more designs are being tried\u2026", len(found)))

    def _found(self, found: tuple[Offer, ...]) -> None:
        self._show(found)
        number = len(found)
        self.state.setText(
            translate(
                plural(
                    number,
                    "{number} design, judged on synthetic tables with the "
                    "same margins: choosing by these figures tells nothing about this table.",
                    "{number} designs, judged on synthetic tables with the "
                    "same margins: choosing by these figures tells nothing about this table.",
                    number,
                )
            )
        )

    def _failed(self, error: TabprotectError) -> None:
        self._show(())
        hint = message(" To do: {hint}.", error.hint) if error.hint else ""
        self.state.setText(tr("{message}.{hint}", capital(error.message), hint))

    # -- showing ------------------------------------------------------------------------------

    def _show(self, found: tuple[Offer, ...]) -> None:
        before = self.offers[self._at] if 0 <= self._at < len(self.offers) else None
        self.offers, self._over, self._judged = found, -1, {}
        same = [k for k, o in enumerate(found) if before is not None and o.words == before.words]
        self._at = same[0] if same else len(found) // 2 if found else -1
        with silent(self.slider):
            self.slider.setRange(0, max(len(found) - 1, 0))
            self.slider.setValue(max(self._at, 0))
        self._tell()

    def _choose(self, number: int) -> None:
        if number < len(self.offers):
            self._at = number
            self._tell()

    def _hover(self, number: int) -> None:
        self._over = number
        self._paint()

    @property
    def offer(self) -> Offer | None:
        """The chosen candidate."""
        return self.offers[self._at] if 0 <= self._at < len(self.offers) else None

    def _tell(self) -> None:
        offer = self.offer
        set_enabled(offer is not None, self.take, self.slider)
        self.curve.show_offers(self.offers, self._at)
        self.leaks.setText(translate("" if offer is None else joined(self._words(offer), "\n")))
        self._paint()
        if offer is not None and self.staff.isChecked() and self._at not in self._judged:
            self._judge_on_table(self._at, offer)

    def _words(self, offer: Offer) -> list[str]:
        exact = (
            message("No sum stays exact beyond the kept sums.")
            if offer.unwanted == 0
            else message("One sum stays exact that nobody asked for.")
            if offer.unwanted == 1
            else message("{unwanted} sums stay exact that nobody asked for.", count_text(offer.unwanted))
            if offer.unwanted is not None
            else message("How many sums stay exact beyond the kept sums is told when it is taken.")
        )
        figures = offer.figures
        lines = [
            message("{words}: {moves} cycles.", capital(offer.words), count_text(len(offer.moves))),
            exact,
            message(
                "Small counts that (almost) never change: {stuck}; published unchanged: "
                "{unchanged}; average change of a count: {change}.",
                percent(figures.stuck),
                percent(figures.unchanged),
                moved_text(figures.change),
            ),
            message("No count can move by more than {largest_change}.", count_text(offer.largest_change)),
            COMPUTED[offer.posterior],
        ]
        own = self._judged.get(self._at)
        if self.staff.isChecked():
            lines.append(
                message("Staff only, on this table: \u2026")
                if own is None
                else message(
                    "Staff only, on this table: never change {stuck}; unchanged "
                    "{unchanged}; average change {change}.",
                    percent(own.stuck),
                    percent(own.unchanged),
                    moved_text(own.change),
                )
            )
        return lines

    def _judge_on_table(self, number: int, offer: Offer) -> None:
        if (project := self.document.project) is None or project.table is None:
            return
        table, small = project.table, project.at_risk

        def work(progress: Progress) -> tuple[int, Tried]:
            return number, on_table(offer, table, small, progress)

        self._judge.ask(message("judge a design on this table"), work, (offer, table))

    def _figures(self, found: tuple[int, Tried]) -> None:
        number, figures = found
        self._judged[number] = figures
        self._tell()

    def _paint(self) -> None:
        project = self.document.project
        shown = self.offers[self._over] if 0 <= self._over < len(self.offers) else self.offer
        self.grid.setVisible(shown is not None)
        if project is None or shown is None:
            return
        placement = project.shown_placement
        layer = self.document.selection or (0,) * project.domain.ndim
        table = self.document.shown_table
        overlay = cycle_overlays.of_chances(shown.moves, None if table is None else table.counts)
        self.grid.show_overlay(Layout(project.domain, placement, layer), shown.moves.margins, overlay)

    def _take(self) -> None:
        offer, project = self.offer, self.document.project
        if offer is None or project is None:
            return
        given = {**offer.parameters, **self._given(project)}
        order = take_design(kind=offer.kind, seen=self.staff.isChecked(), **given)
        self.document.run(order, page=PAGE)
        self.done.emit()


REACH = 2 * GRID
"""Pixels around a point within which the mouse finds it."""


class OfferCurve(Plot):
    """Change of a count to the right, counts published unchanged upwards.

    ``chosen`` and ``hovered`` carry the number of a candidate; ``hovered`` -1 where there is none.
    """

    chosen = Signal(int)
    hovered = Signal(int)

    def __init__(self) -> None:
        super().__init__(message("Risk and change of each design"))
        self.setMinimumHeight(16 * GRID)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._offers: Sequence[Offer] = ()
        self._at = self._over = -1

    def show_offers(self, offers: Sequence[Offer], at: int) -> None:
        """Show candidates, one of them chosen."""
        self._offers, self._at, self._over = offers, at, -1
        self.say(
            joined(
                (
                    message(
                        "{words}: {unchanged} of the small counts unchanged",
                        offer.words,
                        percent(offer.figures.unchanged),
                    )
                    for offer in offers
                ),
                "; ",
            )
        )
        self.refresh()

    # -- plotting -----------------------------------------------------------------------------

    @property
    def filled(self) -> bool:
        return bool(self._offers)

    @property
    def title(self) -> str:
        return message("mean change of a count")

    @property
    def numbers(self) -> str:
        return "100 %"

    def span(self) -> tuple[float, float]:
        return 0.0, max(offer.figures.change for offer in self._offers) * 1.1 or 1.0

    def arrange(self, canvas: Canvas) -> None:
        points, colours = self._points(), canvas.colours
        step = nice_step(canvas.high, 5)
        across = [(n * step, f"{n * step:.3g}") for n in range(int(canvas.high / step) + 1)]
        canvas.plane(0.0, 1.2, across, [(s, percent(s)) for s in (0.0, 0.5, 1.0)])
        canvas.label(message("small counts published unchanged"), 4, 2, ink=colours.quiet)
        x, y = [p.x() for p in points], [p.y() for p in points]
        canvas.lines(x, y, pen=QPen(QColor(colours.border), 1.5))
        circle = QPainterPath()
        circle.addEllipse(QPointF(0, 0), 0.5, 0.5)
        for k, (here, change) in enumerate(zip(points, x, strict=True)):
            near = k in (self._at, self._over)
            canvas.symbols(
                *([here.x()], [here.y()], circle, 6.0 if near else 4.5),
                pen=QPen(QColor(colours.accent), 2),
                brush=QBrush(QColor(colours.accent if k == self._at else colours.base)),
            )
            if near:
                left, top = canvas.x(here.x()) - 2 * GRID, canvas.y(here.y())
                over = top - canvas.line - 1.5 * GRID
                canvas.label(f"{change:.2f}", left, max(over, 0.0), ink=colours.text)

    def _points(self) -> list[QPointF]:
        return [QPointF(o.figures.change, o.figures.unchanged) for o in self._offers]

    # -- mouse --------------------------------------------------------------------------------

    def _found(self, at: QPointF) -> int:
        if self._canvas is None:
            return -1
        across, up = self._canvas.unit
        away = [
            (math.hypot((p.x() - at.x()) / across, (p.y() - at.y()) / up), k)
            for k, p in enumerate(self._points())
        ]
        best = min(away, default=(REACH + 1.0, -1))
        return best[1] if best[0] <= REACH else -1

    def tip(self, value: float, height: float) -> str:
        """Say what is hovered over is told to whoever listens; the tooltip names it."""
        if (over := self._found(QPointF(value, height))) != self._over:
            self._over = over
            self.hovered.emit(over)
            if self._canvas is not None:
                self._canvas.arrange()
        return "" if over < 0 else self._offers[over].words

    def pressed(self, at: QPointF, *, twice: bool) -> None:
        if (found := self._found(at)) >= 0:
            self.chosen.emit(found)
