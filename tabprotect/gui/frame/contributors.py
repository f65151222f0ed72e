"""Beside a magnitude table: who contributes to the chosen cell, and who could estimate whom."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from tabprotect.engine.magnitudes.readers.contributors import Contributor, Near, contributors, nearest
from tabprotect.engine.project.plans import ChosenMagnitudes
from tabprotect.engine.release.published_magnitudes import PublishedMagnitudes
from tabprotect.engine.sensitivity.magnitude_rules import Sensitivity, rules_of
from tabprotect.engine.tables.domain import Index
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Panel
from tabprotect.gui.grid.magnitude_grid import magnitude_text
from tabprotect.gui.look.buttons import Scrolling, card, connected, emptied
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import held, in_column, in_grid
from tabprotect.gui.look.theme import GRID, THEME, Written, chance_text, colour, count_text, number_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate

LISTED = 8
"""Contributors that are listed; the others are added up in a line."""


class RuleBar(QWidget):
    """A bar of the room for doubt that there is, against what the rule asks for."""

    def __init__(self) -> None:
        super().__init__()
        self._room, self._needed = 0.0, 0.0
        self._words: tuple[str, str] = ("", "")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_room(self, near: Near, text: Written) -> None:
        """Show the room that is there, and what is needed."""
        assert near.needed is not None
        self._room, self._needed = float(near.room), near.needed
        needed = text(round(near.needed))
        short = message("short by {short}", text(max(0, round(near.needed) - near.room)))
        self._words = text(near.room), short if near.room < near.needed else ""
        self.setAccessibleName(translate(message("{room} of {needed} needed", text(near.room), needed)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(20 * GRID, self.fontMetrics().height() + GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole = max(self._room, self._needed, 1.0)
        wide, high = self.width() - 2, self.height() - GRID // 2
        there, end = int(wide * self._room / whole), int(wide * self._needed / whole)
        top = GRID // 4
        middle = int(Qt.AlignmentFlag.AlignCenter)
        painter.fillRect(QRect(0, top, there, high), colour("accent"))
        painter.setPen(colour("on_accent"))
        if painter.fontMetrics().horizontalAdvance(self._words[0]) + GRID < there:
            painter.drawText(QRect(0, top, there, high), middle, self._words[0])
        if end > there:
            rest = QRect(there, top, end - there, high)
            painter.fillRect(rest, colour("at_risk_fill"))
            painter.setPen(colour("on_at_risk"))
            words = translate(self._words[1])
            if painter.fontMetrics().horizontalAdvance(words) + GRID < rest.width():
                painter.drawText(rest, middle, words)
        painter.setPen(QPen(colour("text"), 2))
        painter.drawLine(end, 0, end, self.height())


class ContributorsView(Panel):
    """Follows the selection of a magnitude table; a reader sees value and status alone."""

    def __init__(self, document: Document) -> None:
        super().__init__(document, message("Contributors"))
        self.title = Label(wordWrap=True, role="section")
        self.sentence = Label(wordWrap=True, name=message("In one sentence"))
        self._head = Label(message("Contributors"), role="section")
        self._grid = in_grid(margins=GRID, across=GRID, down=GRID // 2, wide=1)
        self._card = card(self._grid)
        self._rule = Label(wordWrap=True, role="section")
        self._doubt = Label(message("room for doubt about the largest"), role="quiet")
        self.bar = RuleBar()
        self._needed = Label(wordWrap=True, role="quiet")
        self.level = Label(wordWrap=True, name=message("Protection level"))
        self._note = Label(wordWrap=True, role="quiet")
        self._staff = (self._head, self._card, self._rule, self._doubt, self.bar, self._needed)
        parts = (self.title, self.sentence, *self._staff, self.level, self._note)
        inner = held(in_column(*parts, 1, margins=GRID, spacing=GRID))
        in_column(Scrolling(inner, sideways=False), on=self, margins=0)
        connected(document, selection_changed=self._again)
        document.judged_magnitudes.changed.connect(self._again)
        THEME.follow(self, ContributorsView._again)

    def catch_up(self) -> None:
        # Also when it is out of sight: what it said of another document goes.
        self.refresh()

    def _again(self, *_: object) -> None:
        if self.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """Show the chosen cell anew."""
        nodes, document = self.document.selection, self.document
        for part in self._staff:
            part.hide()
        emptied(self._grid, secret=True)
        self._rule.setText("")
        self._needed.setText("")
        self.bar.setAccessibleName("")
        self.level.setText("")
        self._note.setText("")
        if nodes is None or len(nodes) != len(document.magnitude_variables):
            self.title.setText(tr("Nothing selected"))
            self.sentence.setText(
                tr("Select a cell: its sum, and in the house who contributes, appear here.")
            )
            return
        self.title.setText(translate(document.magnitude_cell_text(nodes)))
        magnitudes, release = document.magnitudes, document.magnitude_release
        if document.in_house and magnitudes is not None:
            self._of_house(magnitudes, nodes)
        elif release is not None:
            self.sentence.setText(translate(_released(release.magnitude_table, nodes)))
        else:
            self.sentence.setText(tr("A reader sees nothing yet."))

    def _of_house(self, magnitudes: ChosenMagnitudes, nodes: Index) -> None:
        table, found = magnitudes.table, self.document.judged_magnitudes.of(magnitudes)
        if found is None:
            self.sentence.setText(tr("Judging every sum\u2026"))
            return
        if (number := table.at_nodes(nodes)) is None:
            self.sentence.setText(tr("No records: the sum is 0, which everybody knows."))
            return
        text = magnitude_text(table.decimals)
        who = contributors(table, number)
        rules = rules_of(magnitudes.rules) if magnitudes.rules else ()
        near = nearest(who, rules)
        self.sentence.setText(
            translate(_sentence(text(int(table.cells.value[number])), who, near, table.measure))
        )
        self._list(who, text)
        for part in (self._head, self._card):
            part.show()
        if near is not None and near.needed is not None:
            by = next(rule for rule in rules if rule.name in ("p", "pq"))
            self._rule.setText(tr("Rule: {rule}", by.written))
            self.bar.show_room(near, text)
            self._needed.setText(
                tr("{needed} needed, {room} is there", text(round(near.needed)), text(near.room))
            )
            for widget in (self._rule, self._doubt, self.bar, self._needed):
                widget.show()
        self.level.setText(translate(_level(magnitudes, found, number, text)))
        self._note.setText(tr("Names and rules are staff only; a release never shows them."))

    def _list(self, who: Sequence[Contributor], text: Written) -> None:
        right = Qt.AlignmentFlag.AlignRight
        for row, one in enumerate(who[:LISTED]):
            more = [] if one.units == 1 else [message("{units} records", count_text(one.units))]
            more += [message("asked to be protected")] if one.asked else []
            more += [message("waived protection")] if one.waived else []
            holder = QWidget()
            name = in_column(Label(one.name, wordWrap=True), on=holder, margins=0, spacing=0)
            if more:
                name.addWidget(Label(joined(more, ", "), role="quiet", wordWrap=True))
            self._grid.addWidget(Label(str(row + 1), role="quiet"), row, 0)
            self._grid.addWidget(holder, row, 1)
            self._grid.addWidget(Label(text(one.own), alignment=right), row, 2)
            self._grid.addWidget(Label(chance_text(one.share), role="quiet", alignment=right), row, 3)
        if rest := who[LISTED:]:
            row = LISTED
            self._grid.addWidget(
                Label(plural(len(rest), "{n} other", "{n} others", count_text(len(rest))), role="quiet"),
                row,
                1,
            )
            self._grid.addWidget(Label(text(sum(o.own for o in rest)), alignment=right), row, 2)
            left = chance_text(sum(one.share for one in rest))
            self._grid.addWidget(Label(left, role="quiet", alignment=right), row, 3)


def _sentence(value: str, who: Sequence[Contributor], near: Near | None, measure: str) -> str:
    said = plural(
        len(who),
        "{value} {measure}, {n} contributor.",
        "{value} {measure}, {n} contributors.",
        value,
        measure,
        count_text(len(who)),
    )
    if len(who) == 1:
        return joined((said, message("Everybody who knows that {name} is alone knows it.", who[0].name)), " ")
    if near is None:
        return said
    if near.room == 0:
        knows = message("{reader} could work out {target} exactly.", near.reader, near.target)
    else:
        knows = message(
            "{reader} could work out {target} to within {off} %.",
            near.reader,
            near.target,
            number_text(100 * near.off, digits=0 if near.off >= 0.1 else 1),
        )
    return joined((said, knows), " ")


def _level(magnitudes: ChosenMagnitudes, found: Sensitivity, number: int, text: Written) -> str:
    """Say what the rules ask for, in words."""
    if not magnitudes.rules:
        return message("No rule is given yet.")
    level = int(found.upper[number])
    if not found.unsafe[number]:
        return message("Safe by all rules.")
    value = int(magnitudes.table.cells.value[number])
    return message(
        "Unsafe by {rule}. Protection level {level}: what readers can think possible must reach "
        "{end} or more.",
        magnitudes.rules[int(found.rule[number])],
        text(level),
        text(value + level),
    )


def _released(published: PublishedMagnitudes, nodes: Index) -> str:
    """Say what a reader sees of a cell."""
    if (number := published.at_nodes(nodes)) is None:
        return message("Published: 0.")
    if published.hidden[number]:
        return message("Not published (hidden).")
    shown = magnitude_text(published.decimals)(int(published.value[number]))
    return message("Published: {value} {measure}.", shown, published.measure)
