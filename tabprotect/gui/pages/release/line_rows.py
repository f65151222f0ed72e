"""Lines of a group: each with its mark, what it says, and what can be done about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from tabprotect.engine.bundle.staff.release_findings import bundle_files, honesty, protection
from tabprotect.engine.project.project import Project
from tabprotect.engine.release.findings import Finding, FindingGroup, said
from tabprotect.gui.forms.banner import MARKS
from tabprotect.gui.look.buttons import connected, emptied, named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.gui.pages.release.bundle_shown import Bundle
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate


class LineRow(QWidget):
    """One line.

    ``cells_asked`` where its cells are to be looked at, ``coins_asked`` where the house key is to
    be used in place of the coins it speaks of.
    """

    cells_asked = Signal()
    coins_asked = Signal()

    def __init__(self, line: Finding, *, beside: bool = False) -> None:
        """``beside``: something as high as a button stands in its row."""
        super().__init__()
        self.line = line
        beside = beside or bool(line.shows)
        side = Qt.AlignmentFlag.AlignVCenter if beside else Qt.AlignmentFlag.AlignTop
        icon, ink, word = MARKS[line.state]
        picture = Label()
        picture.setPixmap(icons.pixmap(icon, 16, colour=getattr(THEME.colours, ink)))
        self.words = Label(translate(line.text), wordWrap=True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAccessibleName(tr("{word}: {text}", word, line.text))
        row = in_row((picture, 0, side), (self.words, 1), on=self, margins=0, spacing=GRID)
        if line.staff:
            row.addWidget(Label(message("staff only"), role="quiet"), 0, side)
        self.button: QPushButton | None = None
        ways: dict[str, tuple[str, str, Callable[[], object]]] = {
            "cells": (
                message("Show cells"),
                message("Show the cells of: {text}", line.text),
                self.cells_asked.emit,
            ),
            "coins": (
                message("Use the house key"),
                message("Draw the coins from the house key"),
                self.coins_asked.emit,
            ),
            "tables": (message("Show"), message("Show the tables of: {text}", line.text), self._name_tables),
        }
        if line.shows:
            label, name, act = ways[line.shows]
            self.button = named(QPushButton(translate(label)), name, clicked=lambda _=False: act())
            row.addWidget(self.button, 0, side)

    def _name_tables(self) -> None:
        """Say which tables the line counts, in place of its button."""
        if self.button is not None:
            self.button.hide()
        self.words.setText(translate(message("{text} {names}", self.line.text, self.line.values["names"])))


class LineGroup(QWidget):
    """A titled card of lines; folded it is one line with a mark that sums up.

    ``cells_asked``: the cells of a line are to be looked at; ``coins_asked``: the house key is to
    be used.
    """

    cells_asked = Signal()
    coins_asked = Signal()

    def __init__(self, title: str, *, folded: str = "") -> None:
        super().__init__()
        self.group = FindingGroup(title)
        self.rows: list[LineRow] = []
        self._folded = folded
        self._shown: tuple[object, ...] | None = None
        self.setAccessibleName(translate(title))
        self.title = heading(title)
        self.card = QFrame()
        dress(self.card, "card")
        self._inside = in_column(on=self.card, margins=(GRID + 4, GRID, GRID + 4, GRID), spacing=GRID)
        self._lines = in_column(spacing=GRID)
        self.fold = tool_button("", checkable=True, flat=True)
        self.fold.setParent(self.card)
        self.fold.toggled.connect(self._unfold)
        self._folding, self._may_fold = False, True
        self._sum = in_row(spacing=GRID)
        filled(self._inside, self._sum, self._lines)
        in_column(self.title, self.card, on=self, margins=0, spacing=4)
        self.fold.setVisible(False)
        THEME.follow(self, LineGroup._repaint)

    def add(self, widget: QWidget) -> None:
        """Put something beneath the lines."""
        self._inside.addWidget(widget)

    def show_group(self, group: FindingGroup, *, folding: bool = True) -> None:
        """Show lines anew; ``folding`` may fold those that all passed into one."""
        shown = (group, folding)
        if shown == self._shown:
            # What is the same stays, and with it what has the focus.
            return
        self._shown = shown
        self.group, self._may_fold = group, folding
        self._fill(group.findings)

    def _fill(self, lines: Sequence[Finding]) -> None:
        emptied(self._lines)
        for old in self.rows:
            # At once: what it said may belong to the house.
            old.setParent(None)
        self.rows = [LineRow(line) for line in lines]
        for row in self.rows:
            connected(row, cells_asked=self.cells_asked, coins_asked=self.coins_asked)
            self._lines.addWidget(row)
        self._sum_up(lines)

    def _sum_up(self, lines: Sequence[Finding]) -> None:
        self._sum.removeWidget(self.fold)
        emptied(self._sum)
        all_passed = all(line.state == "passed" for line in lines)
        self._folding = bool(self._folded and lines and self._may_fold) and all_passed
        self.fold.setVisible(self._folding)
        if self._folding:
            filled(self._sum, (LineRow(said(self._folded, "passed"), beside=True), 1), self.fold)
        self._unfold(self.fold.isChecked())

    def _unfold(self, open_: bool) -> None:
        self.fold.setText(translate(message("Hide") if open_ else message("Show")))
        group = translate(self.group.title)
        self.fold.setAccessibleName(
            translate(
                message("Hide the lines of {group}", group)
                if open_
                else message("Show the lines of {group}", group)
            )
        )
        for row in self.rows:
            row.setVisible(open_ or not self._folding)

    def _repaint(self) -> None:
        self._fill(self.group.findings)


def groups_of(project: Project, bundle: Bundle | None, *, house: bool) -> list[FindingGroup]:
    """The groups, once the bundle is made; outside the house what its reader can check."""
    if bundle is None:
        return []
    groups = [bundle_files(bundle.checks)]
    done = project.protected
    if not house or done is None or bundle.summary is None:
        return groups
    return [
        protection(done, bundle.summary, done.record.verdict),
        honesty(done, final=project.published),
        *groups,
    ]
