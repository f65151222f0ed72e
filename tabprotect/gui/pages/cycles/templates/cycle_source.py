"""Where a cycle set comes from: templates as cards, the first of them Design for me."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QStackedWidget, QWidget

from tabprotect.engine.arrays import Signs
from tabprotect.engine.cycles.designs import DESIGNS, design
from tabprotect.engine.errors import ParameterError
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.project.project import Project
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.base.document import Document
from tabprotect.gui.look.buttons import Scrolling, connected
from tabprotect.gui.look.choice_card import ChoiceCard
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_grid
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.cycles.cycle_picture import paint_pattern, pattern
from tabprotect.gui.pages.cycles.templates.design_for_me import DesignForMe
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr


class Choosing(QStackedWidget):
    """``chosen`` carries the name of a template, ``done`` says that a design was taken.

    Each part is built when it is first looked at: the page opens without them.
    """

    chosen = Signal(str)
    done = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.document = document

    @cached_property
    def templates(self) -> TemplateCards:
        """The cards."""
        cards = connected(TemplateCards(), chosen=self.chosen, design_asked=self._show_design)
        self.addWidget(cards)
        return cards

    @cached_property
    def design(self) -> DesignForMe:
        """The form, its candidates, and what leaks."""
        form = connected(DesignForMe(self.document), done=self.done)
        self.addWidget(form)
        return form

    def begin(self, project: Project) -> None:
        """Show the cards."""
        self.templates.show_domain(project.domain)
        self.setCurrentWidget(self.templates)

    def focus_first(self) -> None:
        """The first card gets the keyboard."""
        next(iter(self.templates.cards.values())).setFocus()

    def show_project(self, project: Project) -> None:
        """Bring up to date what is looked at."""
        if self.currentWidget() is None:
            return
        if "design" in self.__dict__ and self.currentWidget() is self.design:
            self.design.show_project(project)
        else:
            self.templates.show_domain(project.domain)

    def _show_design(self) -> None:
        if (project := self.document.project) is not None:
            self.setCurrentWidget(self.design)
            self.design.show_project(project)


SMALL = {2: 5, 3: 3}
"""Categories per variable of the table in the picture, by number of variables; else 2."""

COLUMNS = 3


def _stand_in(domain: Domain) -> Domain:
    """A table of the same kind that is small enough to be drawn; even and odd sizes stay so."""
    most = SMALL.get(domain.ndim, 2)
    shape = [s if s <= most else most - (most - s) % 2 for s in domain.shape]
    return Domain.of_shape([max(s, min(2, n)) for s, n in zip(shape, domain.shape, strict=True)])


class Pictures(QWidget):
    """Pictures of some cycles of a template, side by side."""

    def __init__(self, patterns: list[Signs]) -> None:
        super().__init__(accessibleName=tr("Picture of some of its cycles"))
        self._patterns = patterns
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(26 * GRID, 8 * GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        size = float(self.height())
        left = 0.0
        for matrix in self._patterns:
            wide = min(size * matrix.shape[1] / matrix.shape[0], 1.6 * size)
            if left + wide > self.width():
                break
            paint_pattern(painter, QRectF(left, 0, wide, size), matrix)
            left += wide + 2 * GRID


class TemplateCard(ChoiceCard):
    """One template; one that cannot be used says why."""

    def __init__(self, title: str, sentence: str, avoid: str, moves: MoveSet | None, why: str) -> None:
        super().__init__(title, message("{sentence} Not {avoid}.", sentence, avoid), why=why)
        heading = Label(title, wordWrap=True, role="section")
        column = in_column(heading, on=self, margins=(2 * GRID, GRID, 2 * GRID, GRID), spacing=GRID // 2)
        if moves is not None:
            placement = Placement.of(moves.domain)
            shown = sorted({0, len(moves) // 2, len(moves) - 1})
            column.addWidget(Pictures([pattern(moves, i, placement) for i in shown]))
        column.addWidget(Label(why or sentence, wordWrap=True))
        if not why:
            warning = Label(message("Not {avoid}.", avoid), wordWrap=True, role="quiet")
            column.addWidget(warning)
        column.addStretch(1)


class TemplateCards(Scrolling):
    """All templates for the table at hand. ``chosen`` carries the name of one."""

    chosen = Signal(str)
    design_asked = Signal()

    def __init__(self) -> None:
        super().__init__(name=message("Templates"))
        self.cards: dict[str, TemplateCard] = {}
        self._shape: tuple[int, ...] = ()

    def show_domain(self, domain: Domain) -> None:
        """Draw the cards for a table's shape."""
        if domain.shape == self._shape:
            return
        self._shape = domain.shape
        self.cards = {}
        inner = QWidget()
        grid = in_grid(on=inner, margins=(0, 0, GRID, 0), across=GRID, down=GRID)
        first = connected(
            TemplateCard(
                message("Design for me"),
                message(
                    "Say what must stay true; designs are tried on synthetic tables with the same margins, "
                    "from useful to protected."
                ),
                message("where every cycle is to be drawn by hand"),
                None,
                "",
            ),
            chosen=self.design_asked,
        )
        self.cards["design for me"] = first
        grid.addWidget(first, 0, 0)
        for name, kind in DESIGNS.items():
            self._add(grid, name, kind.label, kind.sentence, kind.avoid, domain)
        for order in range(1, domain.ndim - 1):
            self._add(
                grid,
                f"order-{order}",
                message("Keep {order}-way margins only", order),
                (
                    message(
                        "Short cycles that may change every margin over more than {order} "
                        "variables: they block less and protect more.",
                        order,
                    )
                    if order > 1
                    else message(
                        "Short cycles that may change every margin over more than {order} "
                        "variable: they block less and protect more.",
                        order,
                    )
                ),
                message("when larger margins are published or must add up to other tables"),
                domain,
            )
        for column in range(COLUMNS):
            grid.setColumnStretch(column, 1)
        grid.setRowStretch(grid.rowCount(), 1)
        self.setWidget(inner)

    def _add(
        self, grid: QGridLayout, name: str, title: str, sentence: str, avoid: str, domain: Domain
    ) -> None:
        why, moves = "", None
        small = _stand_in(domain)
        try:
            moves = design(small, name)
        except ParameterError as error:
            why = message("Not for this table: {values}.", next(iter(error.fields.values())))
        card = connected(
            TemplateCard(title, sentence, avoid, moves, why), chosen=lambda: self.chosen.emit(name)
        )
        number = len(self.cards)
        self.cards[name] = card
        grid.addWidget(card, number // COLUMNS, number % COLUMNS)
