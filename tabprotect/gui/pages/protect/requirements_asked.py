"""What must stay true: a tick for each requirement, and the sums that are to be exact as chips."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import combinations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QCheckBox, QFrame, QMenu, QPushButton, QWidget

from tabprotect.engine.progress import Progress
from tabprotect.engine.protection.requirements import KEPT, REQUIREMENTS
from tabprotect.engine.release.verdict_figures import KeptSum, kept_in_words, kept_sums_named
from tabprotect.engine.tables.domain import Domain
from tabprotect.engine.tables.margins import MarginSet
from tabprotect.engine.tables.publication import Publication
from tabprotect.engine.tables.variable import spoken
from tabprotect.gui.base.background.background_task import BackgroundTask
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Page, PageChanges
from tabprotect.gui.base.trying import USUAL, usual_sums
from tabprotect.gui.look.after_press import AfterPress
from tabprotect.gui.look.buttons import Scrolling, connected, emptied, named, present, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, tip
from tabprotect.gui.look.layouts import FlowLayout, filled, held, in_column, set_visible
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID
from tabprotect.gui.pages.protect.words import PUBLIC
from tabprotect.gui.pages.stages import MUST_STAY
from tabprotect.languages.messages import joined, message
from tabprotect.languages.translation import tr, translate

CLOSED = 12
"""Characters of a variable's name on a chip."""


def sum_text(margin: tuple[str, ...], *, short: bool = True) -> str:
    """``Region × Age``."""

    def cut(name: str) -> str:
        return name if not short or len(name) <= CLOSED else f"{name[: CLOSED - 1]}\u2026"

    return joined((cut(spoken((name,))) for name in margin), " \u00d7 ") or message("grand total")


class Asking(Scrolling):
    """``changed`` says that other things must stay true than before."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__(name=message("What must stay true?"), sideways=False, focus=Qt.FocusPolicy.NoFocus)
        self._domain: Domain | None = None
        self.sums: MarginSet = ()
        self.ticks: dict[str, QCheckBox] = {}
        card = QFrame()
        dress(card, "card")
        column = in_column(on=card, margins=(2 * GRID, 12, 2 * GRID, 12), spacing=GRID)
        self._chips = QWidget()
        self._flow = FlowLayout(self._chips, gap=GRID // 2)
        self.small = Label(wordWrap=True, name=message("Small counts among these sums"))
        self.small.hide()
        self._kept: tuple[KeptSum, ...] = ()
        self._naming = AfterPress(self, self._name_small)
        for name, requirement in REQUIREMENTS.items():
            box = named(
                QCheckBox(translate(requirement.label)), tip=tip(requirement.help), about=requirement.help
            )
            box.setChecked(name in USUAL)
            box.toggled.connect(self._ticked)
            self.ticks[name] = box
            column.addWidget(box)
            if name == KEPT:
                filled(column, self._chips, self.small)
        self.setWidget(held(in_column(card, 1, margins=0)))

    @property
    def asked(self) -> tuple[str, ...]:
        """Names of the ticked requirements."""
        return tuple(
            name for name, box in self.ticks.items() if box.isChecked() and (name != KEPT or self.sums)
        )

    def show_domain(self, domain: Domain) -> None:
        """Offer the sums of a table; another table begins with its usual ones."""
        if domain == self._domain:
            return
        self._domain = domain
        self.sums = usual_sums(domain)
        self._show_sums()

    def show_small(self, kept: Sequence[KeptSum]) -> None:
        """Name the small counts that would be published exactly with these sums."""
        self._kept = tuple(kept)
        # The ticks below make room for it: not between press and release of one of them.
        self._naming.go()

    def _name_small(self) -> None:
        kept = self._kept
        words = message("{said} {named}", kept_in_words(kept), kept_sums_named(kept)) if kept else ""
        self.small.setText(words)
        self.small.setVisible(bool(kept))

    def take_out(self, margin: tuple[str, ...]) -> None:
        """Ask no more for a sum."""
        self.sums = tuple(m for m in self.sums if m != margin)
        self._show_sums()
        self.changed.emit()

    def add(self, margin: tuple[str, ...]) -> None:
        """Ask for a sum; those that follow from it are left out."""
        self.sums = (*(m for m in self.sums if not set(m) <= set(margin)), margin)
        self.ticks[KEPT].setChecked(True)
        self._show_sums()
        self.changed.emit()

    def _ticked(self) -> None:
        self._chips.setEnabled(self.ticks[KEPT].isChecked())
        self.changed.emit()

    def _show_sums(self) -> None:
        domain = present(self._domain)
        emptied(self._flow)
        for margin in self.sums:
            # The words stand apart from the edge, as the cross does.
            chip = tool_button(
                f"\u2002{sum_text(margin)}",
                partial(self.take_out, margin),
                name=message("Leave out the sums of {margin}", sum_text(margin, short=False)),
                tip=tip(message("{margin}: click to leave it out", sum_text(margin, short=False))),
                focus=Qt.FocusPolicy.StrongFocus,
            )
            chip.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            chip.setIcon(icons.icon("close"))
            chip.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
            self._flow.addWidget(chip)
        if domain.ndim > 1:
            # Shown before it has its place, it would be a window for a moment, and take the keys away.
            more = QPushButton(icons.icon("add"), tr("Add sums"))
            more.setMenu(self._offers(domain, more))
            self._flow.addWidget(more)
        self._chips.updateGeometry()

    def _offers(self, domain: Domain, parent: QWidget) -> QMenu:
        """Sums of one and of two variables, those that are not asked for yet."""
        menu = QMenu(parent)

        def asked(margin: tuple[str, ...]) -> bool:
            return any(set(margin) <= set(m) for m in self.sums)

        for margin in ((name,) for name in domain.names):
            if not asked(margin):
                connected(menu.addAction(sum_text(margin, short=False)), triggered=partial(self.add, margin))
        menu.addSeparator()
        if domain.ndim > 2:
            for first in domain.names:
                pairs = [p for p in combinations(domain.names, 2) if p[0] == first and not asked(p)]
                if pairs:
                    inner = menu.addMenu(tr("{first} \u00d7", first))
                    for pair in pairs:
                        inner.addAction(pair[1]).triggered.connect(partial(self.add, pair))
        return menu


class RequirementsPage(Page):
    """What must stay true: the ways are ranked by it."""

    stage = MUST_STAY

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self.asking = connected(Asking(), changed=self._asked)
        self._adding: BackgroundTask[tuple[KeptSum, ...]] = BackgroundTask(
            self, document.jobs, self.asking.show_small, self.show_error
        )
        self.body.addWidget(self.asking, 1)
        self.begins = next(iter(self.asking.ticks.values()))

    def refresh(self, changes: PageChanges) -> None:
        project, house = self.document.project, self.document.in_house
        set_visible(house, self.asking, self.main_button, self.note)
        self._adding.drop()
        self.asking.show_small(())
        self.set_sentence("" if house else PUBLIC)
        if project is not None and house:
            self.asking.show_domain(project.domain)
            self._add_up()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._adding.leave()

    def _asked(self) -> None:
        self.document.trying.want(self.asking.asked, self.asking.sums)
        self._add_up()

    def _add_up(self) -> None:
        """Name the asked sums that are small before anything is kept."""
        if (project := self.document.project) is None or not self.document.in_house:
            return
        table, rule, sums = project.problem.table, project.at_risk, self.asking.sums

        def work(progress: Progress) -> tuple[KeptSum, ...]:
            from tabprotect.engine.disclosure.exact_small_margins import small_sums

            return small_sums(table, Publication(table.domain, sums), rule) if sums else ()

        if self._adding.ask(message("adding up the sums"), work, (project.table, rule, sums)):
            self.asking.show_small(())

    def main_action(self) -> None:
        self.document.page_asked.emit("table")
