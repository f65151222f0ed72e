"""The first lines of a file, with the role of each column chosen above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QResizeEvent
from PySide6.QtWidgets import QComboBox, QHeaderView, QTableWidget, QTableWidgetItem

from tabprotect.engine.foreign.looks_numeric import looks_numeric
from tabprotect.engine.formats.file_preview import FilePreview, PreviewLine
from tabprotect.engine.formats.layouts.table_forms import count_columns
from tabprotect.gui.forms.reading.import_words import SAID
from tabprotect.gui.look.buttons import named
from tabprotect.gui.look.lists.listing import as_list
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message, plural
from tabprotect.languages.translation import tr, translate

ROLES = ("count", "drop", "variable", "label", "where")
"""The options that say what a column is."""

Chosen = dict[str, object]

HEIGHT = 4 * GRID
LEAST_WIDTH = 14 * GRID
NARROWEST = 10 * GRID
"""What a column keeps before the lines scroll sideways."""

ARROW = 3 * GRID + 4
"""Beside the words of a choice: its arrow, and the room around it."""

MOST_WIDTH = 32 * GRID
FIRST = 1
"""The columns of the first lines that stand before those of the file."""

MOST_VALUES = 30
"""Categories of a column of which one can be chosen alone."""


class RoleHeader(QHeaderView):
    """The header of a file's lines, with a choice above each column; ``chosen`` carries the options.

    ``first`` columns of the table are no columns of the file.
    """

    chosen = Signal(dict)

    def __init__(self, table: QTableWidget, first: int) -> None:
        super().__init__(Qt.Orientation.Horizontal, table)
        self.first = first
        self.picks: dict[str, QComboBox] = {}
        self.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        self.sectionResized.connect(lambda *_: self._lay())
        table.horizontalScrollBar().valueChanged.connect(lambda _: self._lay())

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(size.width(), size.height() + (_scaled(HEIGHT) if self.picks else 0))

    def show_roles(
        self,
        columns: Sequence[str],
        values: Mapping[str, Sequence[str]],
        given: Mapping[str, object],
        counted: str,
    ) -> None:
        """Show what each column is: as ``given`` says, or as it was found.

        Parameters
        ----------
        values
            Column -> its first categories.
        counted
            The column that was taken as the count, if nothing is said.
        """
        if list(self.picks) != list(columns):
            for pick in self.picks.values():
                pick.deleteLater()
            self.picks = {name: self._pick(name, columns, values) for name in columns}
        for name, pick in self.picks.items():
            pick.setCurrentIndex(max(pick.findData(role_of(name, given, counted)), 0))
        self.updateGeometries()
        self._lay()

    def _pick(self, name: str, columns: Sequence[str], values: Mapping[str, Sequence[str]]) -> QComboBox:
        pick = named(QComboBox(self), message("What the column {name} is", name))
        offered = [
            (message("variable"), "variable"),
            (message("the count"), "count"),
            (message("leave out"), "drop"),
            *((message("names {other}", other), f"label {other}") for other in columns if other != name),
            *((message("only {value}", v), f"where {v}") for v in values.get(name, ())[:MOST_VALUES]),
        ]
        for words, role in offered:
            pick.addItem(translate(words), role)
        pick.activated.connect(lambda _: self.chosen.emit({name: pick.currentData()}))
        pick.show()
        return pick

    def _lay(self) -> None:
        for number, pick in enumerate(self.picks.values(), self.first):
            left, width = self.sectionViewportPosition(number), self.sectionSize(number)
            pick.setGeometry(left + 2, 2, max(width - 4, 0), _scaled(HEIGHT) - 4)
            pick.setVisible(not self.isSectionHidden(number))

    def updateGeometries(self) -> None:
        super().updateGeometries()
        self._lay()


class FileLines(QTableWidget):
    """The first lines; each with its number before it, and behind it what it was taken for."""

    def __init__(self) -> None:
        super().__init__(0, 0)
        as_list(self, message("First lines of the file"))
        self.setToolTip(tr("Double-click the line that names the columns to have it as header"))
        self.roles = RoleHeader(self, FIRST)
        self.setHorizontalHeader(self.roles)
        self.roles.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.roles.setStretchLastSection(True)
        self._wanted: list[int] = []
        self.roles.show()

    def show_lines(self, seen: FilePreview, given: Mapping[str, object]) -> None:
        """Show the first lines of a file that is read as is said."""
        header = next((line for line in reversed(seen.lines) if line.role == "header"), None)
        names = header.fields if header is not None and len(set(header.fields)) > 1 else ()
        names = names if len(set(names)) == len(names) and all(names) else ()
        width = max((len(line.fields) for line in seen.lines if line.role == "body"), default=0)
        names = names if width <= len(names) else ()
        # Columns are seen as such even where their names make no sense yet.
        across = len(names) or max(max((len(line.fields) for line in seen.lines), default=0), 1)
        self.clearSpans()
        self.setColumnCount(FIRST + across + 1)
        self.setRowCount(len(seen.lines))
        bodies = [line.fields for line in seen.lines if line.role == "body"]
        numbers = {
            n for n, of in enumerate(zip(*bodies, strict=False)) if 2 * sum(map(looks_numeric, of)) > len(of)
        }
        for row, line in enumerate(seen.lines):
            self._show_line(row, line, across, numbers)
        self._show_roles(seen, names, given, across)
        self.resizeColumnsToContents()
        named = range(FIRST, self.columnCount() - 1)
        least, most = _scaled(LEAST_WIDTH), _scaled(MOST_WIDTH)
        # One column is a text, which is as long as it is.
        self._wanted = (
            [min(max(self.columnWidth(c) + GRID, least), most) for c in named] if across > 1 else []
        )
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Columns as wide as they want to be, or narrower where they would not all be seen."""
        last = self.columnCount() - 1
        taken_for = self.sizeHintForColumn(last)
        room = self.viewport().width() - self.columnWidth(0) - taken_for
        # What a column is stands above it in full.
        picks = self.roles.picks.values()
        said = max((p.fontMetrics().horizontalAdvance(p.currentText()) for p in picks), default=0)
        widths, least = list(self._wanted), max(_scaled(NARROWEST), said + _scaled(ARROW))
        while sum(widths) > room and max(widths, default=0) > least:
            widths[widths.index(max(widths))] -= 1
        for column, width in enumerate(widths, FIRST):
            self.setColumnWidth(column, width)
        if widths:
            self.setColumnWidth(last, taken_for)

    def _show_line(self, row: int, line: PreviewLine, named: int, numbers: set[int]) -> None:
        """A line as its fields, or as one text over all columns."""
        c = THEME.colours
        told_apart = line.role in ("header", "body", "total") or not line.role
        apart = named > 1 and told_apart and len(line.fields) > 1
        fields = line.fields[:named] if apart else (line.text,)
        texts = (str(line.number), *fields, *[""] * (named - len(fields)), translate(SAID[line.role]))
        for column, text in enumerate(texts):
            item = QTableWidgetItem(text)
            quiet = line.role != "body" or column == 0
            item.setForeground(QBrush(QColor(c.quiet if quiet else c.text)))
            last = column == len(texts) - 1
            if line.role == "header":
                item.setBackground(QBrush(QColor(c.selection)))
                if not last:
                    item.setForeground(QBrush(QColor(c.text)))
                    font = QFont(self.font())
                    font.setWeight(QFont.Weight.DemiBold)
                    item.setFont(font)
            elif line.role == "total":
                item.setBackground(QBrush(QColor(c.raised)))
            if column == 0 or last or (apart and column - FIRST in numbers):
                item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self.setItem(row, column, item)
        if named > 1 and not apart:
            self.setSpan(row, FIRST, 1, named)

    def _show_roles(
        self, seen: FilePreview, names: Sequence[str], given: Mapping[str, object], across: int
    ) -> None:
        """Show what each column is above it, and below that what it holds."""
        bodies = [line.fields for line in seen.lines if line.role == "body"]
        values = {
            name: tuple(dict.fromkeys(f[n] for f in bodies if n < len(f))) for n, name in enumerate(names)
        }
        sizes = {v.name: len(v.categories) for v in seen.table.domain.variables} if seen.table else {}
        # What was left out without a word is shown as such.
        out = [n for p in seen.parts if p.option == "drop" for n in p.value.split(", ")]
        stated = {**given, "drop": [*_listed(given.get("drop")), *out]}
        counted = seen.counted or next(iter(count_columns(names)), "")
        grid = seen.kind.name not in ("px",) and any(p.value == "grid" for p in seen.parts)
        self.roles.show_roles(() if grid else names, values, stated, counted)
        held = [
            plural(sizes[n], "{n} category", "{n} categories", sizes[n]) if n in sizes else "" for n in names
        ]
        if across < 2:
            held = [tr("Text")]
        self.setHorizontalHeaderLabels(["", *map(translate, held or [""] * across), ""])


def _scaled(pixels: int) -> int:
    """As many as in letters of the usual size."""
    return round(pixels * THEME.scale)


def _listed(value: object) -> list[str]:
    return [*value] if isinstance(value, list | tuple) else []


def role_of(name: str, given: Mapping[str, object], counted: str) -> str:
    """The role of a column, as the choices carry it."""
    label, where = given.get("label"), given.get("where")
    if isinstance(where, Mapping) and name in where:
        return f"where {where[name]}"
    if isinstance(label, Mapping) and name in label:
        return f"label {label[name]}"
    drop = given.get("drop")
    if isinstance(drop, list | tuple) and name in drop:
        return "drop"
    return "count" if name == (given.get("count") or counted) else "variable"


def with_role(given: Mapping[str, object], name: str, role: str) -> Chosen:
    """The options that say what columns are, with another role of one column."""
    kind, _, value = role.partition(" ")
    out: Chosen = {}
    for option in ("drop", "variable"):
        held = given.get(option)
        names = [n for n in held if n != name] if isinstance(held, list | tuple) else []
        out[option] = [*names, name] if kind == option else names
    for option in ("label", "where"):
        said = given.get(option)
        kept = {k: v for k, v in said.items() if k != name} if isinstance(said, Mapping) else {}
        out[option] = {**kept, name: value} if kind == option else kept
    counted = given.get("count")
    out["count"] = name if kind == "count" else "" if counted == name else counted or ""
    return out
