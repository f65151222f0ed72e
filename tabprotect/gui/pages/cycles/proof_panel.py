"""The proof panel: what the cycle set does, each statement with a tick, a warning or a cross."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QToolButton, QWidget

from tabprotect.engine.cycles.cycle_report import CycleReport, Statement
from tabprotect.engine.tables.domain import Domain, Index
from tabprotect.engine.tables.table import Table
from tabprotect.gui.look.buttons import Inside, Scrolling, named, push_button, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, show_text
from tabprotect.gui.look.layouts import in_column, in_row, set_visible
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate

Functional = dict[Index, int]

VERDICTS = {"ok": "tick", "warning": "warning", "bad": "cross"}
SAID = {"ok": message("all right"), "warning": message("look at this"), "bad": "wrong"}

MOST_LISTED = 200
MOST_TERMS = 6
MOST_ATTACKS = 8


def functional_text(domain: Domain, functional: Functional, value: int | None) -> str:
    """A linear combination of cells for people, with its published value."""
    terms = []
    for index, weight in list(functional.items())[:MOST_TERMS]:
        factor = "" if abs(weight) == 1 else f"{abs(weight)}\u2009"
        terms.append(
            message("− {factor}{index}", factor, domain.cell_text(index))
            if weight < 0
            else message("+ {factor}{index}", factor, domain.cell_text(index))
        )
    text = joined(terms, " ").removeprefix("+ ")
    if len(functional) > MOST_TERMS:
        text += message(" \u2026 ({functional} cells)", len(functional))
    return text if value is None else f"{text} = {count_text(value)}"


class ProofPanel(Scrolling):
    """Statements with one action each, where there is something to do about them."""

    jump_asked = Signal()
    functionals_asked = Signal()
    functional_chosen = Signal(object)
    next_immovable_asked = Signal()
    chances_asked = Signal()
    blocked_asked = Signal()

    def __init__(self) -> None:
        super().__init__(name=message("Proof panel"), sideways=False)
        self.setMinimumWidth(26 * GRID)
        inner = Inside()
        self.setWidget(inner)
        title = Label(message("What these cycles do"), role="section")
        self._state = Label(wordWrap=True, role="quiet")
        self._rows = in_column(spacing=GRID)
        self._passed = push_button("", lambda: None, flat=True)
        self._passed.setCheckable(True)
        self._passed.hide()
        self.functionals = named(
            QListWidget(),
            message("Linear combinations that are published exactly"),
            currentRowChanged=self._chosen,
        )
        self.functionals.setWordWrap(True)
        self._attacks = Label(wordWrap=True, name=message("Known-category attacks"), selectable=True)
        self._listed: list[Functional] = []
        self._report: CycleReport | None = None
        in_column(title, self._state, self._rows, 1, on=inner, margins=(GRID, 0, GRID, GRID), spacing=GRID)
        self.functionals.setParent(inner)
        self._attacks.setParent(inner)
        self._passed.setParent(inner)
        set_visible(False, self.functionals, self._attacks)

    @property
    def texts(self) -> dict[str, str]:
        """The statements shown, by topic."""
        return {} if self._report is None else {s.topic: s.text for s in self._report.statements}

    def verdict(self, topic: str) -> str:
        """The verdict of a topic: ``ok``, ``warning``, ``bad``; empty when it is not shown."""
        if self._report is None:
            return ""
        return next((s.verdict for s in self._report.statements if s.topic == topic), "")

    def show_state(self, text: str) -> None:
        """Say what is going on (empty: nothing)."""
        show_text(self._state, text)

    def show_report(self, report: CycleReport | None) -> None:
        """Show the statements of a report."""
        self._report = report
        set_visible(False, self.functionals, self._attacks, self._passed)
        self._listed = []
        while self._rows.count():
            item = self._rows.takeAt(0)
            widget = None if item is None else item.widget()
            # The details are used again under the next statements.
            if widget is not None and widget not in (self.functionals, self._attacks, self._passed):
                widget.hide()
                widget.deleteLater()
        if report is None:
            return
        passed = [s for s in report.statements if s.verdict == "ok"]
        # What follows once the margins are kept is said then.
        later = ("rank", "width") if report.violations else ()
        speaking = [s for s in report.statements if s.verdict != "ok" and s.topic not in later]
        for statement in (*speaking, *passed):
            row = self._row(report, statement)
            if statement is next(iter(passed), None):
                said = plural(len(passed), "{n} check passed", "{n} checks passed", len(passed))
                self._rows.addWidget(self._passed, 0, Qt.AlignmentFlag.AlignLeft)
                show_text(self._passed, said)
            if statement in passed:
                row.setVisible(self._passed.isChecked())
                self._passed.toggled.connect(row.setVisible)
            self._rows.addWidget(row)
            if statement.topic == "rank":
                self._rows.addWidget(self.functionals)
            if statement.topic == "attack":
                self._rows.addWidget(self._attacks)
        self._attacks.setText(
            translate(
                joined(
                    (
                        message(
                            "Knowing {variable} = {category}: {revealed} of {others} other cells follow",
                            a.variable,
                            a.category,
                            count_text(a.revealed),
                            count_text(a.others),
                        )
                        for a in report.attacks[:MOST_ATTACKS]
                    ),
                    "\n",
                )
            )
        )

    def show_functionals(
        self, found: Sequence[Functional] | None, domain: Domain, table: Table | None
    ) -> None:
        """List the linear combinations that are published exactly."""
        self.functionals.clear()
        self._listed = list(found or ())[:MOST_LISTED]
        if found is None:
            self.functionals.addItem(tr("They are listed for tables of up to 400 cells."))
        for functional in self._listed:
            value = (
                None if table is None else sum(weight * table[index] for index, weight in functional.items())
            )
            self.functionals.addItem(functional_text(domain, functional, value))
        line = max(self.functionals.sizeHintForRow(0), 2 * GRID)
        self.functionals.setFixedHeight(min(self.functionals.count(), 10) * line + GRID)
        self.functionals.show()

    def _row(self, report: CycleReport, statement: Statement) -> QWidget:
        row = named(QWidget(), message("{SAID}: {text}", SAID[statement.verdict], statement.text))
        ink = {"ok": THEME.colours.released, "warning": THEME.colours.at_risk, "bad": THEME.colours.error}[
            statement.verdict
        ]
        picture = Label(name=SAID[statement.verdict])
        picture.setPixmap(icons.pixmap(VERDICTS[statement.verdict], 16, colour=ink))
        column = in_column(Label(statement.text, wordWrap=True, selectable=True), spacing=2)
        if (action := self._action(report, statement)) is not None:
            column.addWidget(action, 0, Qt.AlignmentFlag.AlignLeft)
        in_row((picture, 0, Qt.AlignmentFlag.AlignTop), (column, 1), on=row, margins=0, spacing=GRID)
        return row

    def _action(self, report: CycleReport, statement: Statement) -> QToolButton | None:
        known = report.known_functionals
        offers: dict[str, tuple[str, Callable[[bool], object], bool] | None] = {
            "margins": (message("Jump there"), lambda _: self.jump_asked.emit(), False)
            if report.violations
            else None,
            "coverage": (message("Chances per cell"), lambda _: self.chances_asked.emit(), False),
            "rank": (message("Show them"), self._toggle_functionals, True) if known else None,
            "attack": (message("Details"), self._attacks.setVisible, True),
            "blocked": (message("List them"), lambda _: self.blocked_asked.emit(), False)
            if report.blocked_share
            else None,
            "immovable": (message("Next of them"), lambda _: self.next_immovable_asked.emit(), False)
            if report.immovable
            else None,
        }
        if (offer := offers.get(statement.topic)) is None:
            return None
        text, run, checkable = offer
        button = tool_button(
            text,
            checkable=checkable,
            name=message("{text}: {text2}", text, statement.text),
            focus=Qt.FocusPolicy.StrongFocus,
        )
        button.setObjectName(f"proof-{statement.topic}")
        button.clicked.connect(run)
        return button

    def _toggle_functionals(self, wanted: bool) -> None:
        if wanted:
            self.functionals_asked.emit()
        else:
            self.functionals.hide()
            self.functional_chosen.emit(None)

    def _chosen(self, row: int) -> None:
        if 0 <= row < len(self._listed):
            self.functional_chosen.emit(self._listed[row])
