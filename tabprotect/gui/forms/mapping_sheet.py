"""What becomes of categories that a code list or a recipe lacks: each is said in one sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from tabprotect.engine.tables.groupings.unlisted_codes import LEFT_OUT, UnlistedError, nearest_code
from tabprotect.gui.look.buttons import Dialog, decision, push_button
from tabprotect.gui.look.label import Label, heading
from tabprotect.gui.look.layouts import Item, held, in_column, in_row
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.theme import GRID, MARGIN, count_text
from tabprotect.languages.messages import joined, message, plural
from tabprotect.languages.translation import tr, translate

SHOWN = 12
"""Codes of a list that are named of those that nobody has."""


@dataclass(frozen=True)
class Unlisted:
    """Categories of one variable that a list or a recipe lacks.

    Attributes
    ----------
    found
        Those categories.
    offered
        What each may be counted as.
    alike
        Category -> what it is most likely.
    unused
        Categories of the list or the recipe that the data lack.
    people, small
        Records and small counts of each category, where a table is open. CONFIDENTIAL.
    """

    variable: str
    found: tuple[str, ...]
    offered: tuple[str, ...]
    alike: Mapping[str, str]
    unused: tuple[str, ...] = ()
    people: Mapping[str, int] = field(default_factory=dict)
    small: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, error: UnlistedError, known: Sequence[str] = ()) -> Unlisted:
        """Return what a code list lacks, of which ``known`` are all categories of the data."""
        near = {code: nearest_code(code, error.listed) for code in error.codes}
        alike = {code: to for code, to in near.items() if to[:1] == code[:1]}
        unused = tuple(c for c in error.listed if c not in set(known)) if known else ()
        return cls(error.variable, error.codes, error.listed, alike, unused)


class MappingSheet(Dialog):
    """Each category: one of those there are, one of its own, or left out with its records.

    ``decided`` carries (variable, category) -> what it is counted as.
    """

    decided = Signal(object)

    def __init__(self, parent: QWidget, asked: Sequence[Unlisted], *, to: str, remembers: bool) -> None:
        super().__init__(parent, message("Categories of {to}", to))
        self._asked = tuple(asked)
        self.boxes: dict[tuple[str, str], QComboBox] = {}
        self.result_line = Label(wordWrap=True, name=message("What comes of it"))
        self.remember = QCheckBox(tr("Remember for next year's file"))
        self.remember.setChecked(remembers)
        self.remember.setVisible(remembers)
        parts: list[Item] = [
            Label(self._sentence(to), wordWrap=True),
            heading(message("In the data, not in {to}", to)),
        ]
        for one in self._asked:
            parts.append((self._list(one), len(one.found)))
        own = push_button(message("each a category of its own"), lambda: self._all(own=True), flat=True)
        out = push_button(message("leave their records out"), lambda: self._all(own=False), flat=True)
        alls = held(in_row(Label(message("or, for all of them:")), own, out, 1, margins=0, spacing=GRID))
        parts.append(alls)
        unused = [name for one in self._asked for name in one.unused]
        if unused:
            more = "" if len(unused) <= SHOWN else message(" and {n} more", len(unused) - SHOWN)
            parts += [
                heading(message("In {to}, not in the data", to)),
                Label(
                    message("stay unused: {names}{more}", joined(unused[:SHOWN], ", "), more), wordWrap=True
                ),
            ]
        buttons, self.go_on, _ = decision(self, message("Go on"), self._decide)
        foot = held(in_row(self.remember, (buttons, 1), margins=0, spacing=GRID))
        in_column(*parts, self.result_line, foot, on=self, margins=MARGIN, spacing=GRID)
        self.resize(min(80 * GRID, parent.width()), min(60 * GRID, parent.height()))
        self._tell_result()

    def _sentence(self, to: str) -> str:
        found, unused = (
            sum(len(s) for s in p)
            for p in zip(*[(one.found, one.unused) for one in self._asked], strict=True)
        )
        said = plural(
            found,
            "The file has {found} category that {to} lacks. Say where it belongs.",
            "The file has {found} categories that {to} lacks. Say where they belong.",
            count_text(found),
            to,
        )
        if not unused:
            return said
        rest = plural(
            unused,
            "It lacks {n} that is there, which stays unused. Both are usual.",
            "It lacks {n} that are there, which stay unused. Both are usual.",
            count_text(unused),
        )
        return joined((said, rest), " ")

    def _list(self, one: Unlisted) -> QTableWidget:
        titles = [one.variable]
        figures = [(message("Records"), one.people), (message("Small counts"), one.small)]
        figures = [(title, of) for title, of in figures if of]
        titles += [translate(title) for title, _ in figures] + [tr("is counted as")]
        table = QTableWidget(len(one.found), len(titles))
        table.setHorizontalHeaderLabels(titles)
        as_list(table, message("Categories of {variable} that are not there", one.variable))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row, name in enumerate(one.found):
            table.setItem(row, 0, QTableWidgetItem(name))
            for column, (_, of) in enumerate(figures, 1):
                item = QTableWidgetItem(count_text(of.get(name, 0)))
                item.setTextAlignment(right)
                table.setItem(row, column, item)
            box = self.boxes[one.variable, name] = self._box(one, name)
            table.setCellWidget(row, len(titles) - 1, box)
        table.verticalHeader().setDefaultSectionSize(4 * GRID)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setStretchLastSection(True)
        table.setMinimumHeight(8 * GRID)
        return table

    def _box(self, one: Unlisted, name: str) -> QComboBox:
        box = QComboBox(sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.addItem(tr("a category of its own"), name)
        box.addItem(tr("left out, with its records"), LEFT_OUT)
        for other in one.offered:
            box.addItem(tr("is {missing}", other), other)
        box.setCurrentIndex(max(box.findData(one.alike.get(name, name)), 0))
        box.setAccessibleName(tr("{variable}: {name}", one.variable, name))
        box.currentIndexChanged.connect(lambda _: self._tell_result())
        return box

    def _all(self, *, own: bool) -> None:
        for box in self.boxes.values():
            box.setCurrentIndex(0 if own else 1)

    @property
    def said(self) -> dict[tuple[str, str], str]:
        """(variable, category) -> what it is counted as."""
        return {key: str(box.currentData()) for key, box in self.boxes.items()}

    def _tell_result(self) -> None:
        said = self.said
        ways = [to for (_, name), to in said.items() if to not in (LEFT_OUT, name)]
        out = [key for key, to in said.items() if to == LEFT_OUT]
        text = message(
            "{joined} join others, {own} stay of their own, {out} are left out.",
            count_text(len(ways)),
            count_text(len(said) - len(ways) - len(out)),
            count_text(len(out)),
        )
        people = [one.people[n] for one in self._asked for n in one.found if n in one.people]
        if people:
            left = sum(
                one.people.get(name, 0)
                for one in self._asked
                for variable, name in out
                if variable == one.variable
            )
            text += (
                message(" All records are kept.")
                if not left
                else message(" {left} records are left out.", count_text(left))
            )
        self.result_line.setText(translate(text))

    def _decide(self) -> None:
        self.decided.emit(self.said)
        self.accept()
