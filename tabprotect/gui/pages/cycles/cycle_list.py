"""The list of cycles: filter, thumbnails, reordering, and the buttons that change it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QModelIndex, Qt, Signal
from PySide6.QtGui import QDropEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QToolButton, QWidget

from tabprotect.engine.arrays import Bools
from tabprotect.engine.project.placement import Placement
from tabprotect.engine.tables.moves import MoveSet
from tabprotect.gui.look.buttons import connected, named, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import in_column, in_row, set_enabled
from tabprotect.gui.look.lists.finder import Finder
from tabprotect.gui.look.theme import GRID, THEME, count_text
from tabprotect.gui.pages.cycles.cycle_items import MIME, CycleItem, CycleListModel
from tabprotect.languages.messages import message, plural
from tabprotect.languages.translation import tr, translate


class CycleListView(QTableView):
    """Drag, or Alt with the arrow keys, to reorder; Delete to remove.

    A table of one column: its rows of one height are laid out in no time, however many there are.
    """

    moved = Signal(int, int)
    remove_asked = Signal()

    def __init__(self, model: CycleListModel) -> None:
        super().__init__(showGrid=False)
        self.cycles = model
        self.setModel(model)
        self.setItemDelegate(CycleItem(self))
        self.setTabKeyNavigation(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for header, mode in (
            (self.horizontalHeader(), QHeaderView.ResizeMode.Stretch),
            (self.verticalHeader(), QHeaderView.ResizeMode.Fixed),
        ):
            header.hide()
            header.setMinimumSectionSize(1)
            header.setSectionResizeMode(mode)
        self._take_height()
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setAccessibleName(tr("Cycles"))

    def _take_height(self) -> None:
        self.verticalHeader().setDefaultSectionSize(CycleItem.height(self.fontMetrics()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._take_height()

    def dropEvent(self, event: QDropEvent) -> None:
        if event.source() is not self or not event.mimeData().hasFormat(MIME):
            return
        source = int(bytes(event.mimeData().data(MIME).data()).decode())
        row = self.indexAt(event.position().toPoint()).row()
        model = self.cycles
        target = model.number(row) if row >= 0 else model.number(model.rowCount() - 1)
        # A copy to Qt: the command moves the cycle, the view must not take rows away itself.
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        if target != source:
            self.moved.emit(source, target)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.currentIndex().row()
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if step and event.modifiers() & Qt.KeyboardModifier.AltModifier and row >= 0:
            if 0 <= row + step < self.cycles.rowCount():
                self.moved.emit(self.cycles.number(row), self.cycles.number(row + step))
            return
        if event.key() == Qt.Key.Key_Delete and row >= 0:
            self.remove_asked.emit()
            return
        super().keyPressEvent(event)


class CycleList(QWidget):
    """Filter, list, and the buttons that change the list."""

    chosen = Signal(object)
    add_asked = Signal()
    duplicate_asked = Signal()
    remove_asked = Signal()
    moved = Signal(int, int)

    def __init__(self) -> None:
        super().__init__()
        self.model = CycleListModel()
        self.view = CycleListView(self.model)
        self.filter = named(
            Finder(message("Filter the cycles")),
            tip=message(
                "A number, “blocked”, “broken” (or “broken” and a margin), a category that the cycle "
                "touches, or the categories of one cell with commas between them"
            ),
            textChanged=self._filtered,
        )
        self._count = Label(wordWrap=True, role="quiet")
        self._following = False
        self.buttons: dict[str, QToolButton] = {}
        row = in_row(spacing=2)
        for name, picture, tip in (
            ("add", "add", message("Add a cycle (a swap in the first corner)")),
            ("duplicate", "copy", message("Duplicate the cycle")),
            ("remove", "remove", message("Remove the cycle (Delete)")),
            ("up", "up", message("Earlier (Alt+Up)")),
            ("down", "down", message("Later (Alt+Down)")),
        ):
            button = tool_button(flat=True, tip=tip, name=tip)
            button.setProperty("picture", picture)
            self.buttons[name] = button
            row.addWidget(button)
        row.addStretch(1)
        self.buttons["add"].clicked.connect(lambda: self.add_asked.emit())
        self.buttons["duplicate"].clicked.connect(lambda: self.duplicate_asked.emit())
        self.buttons["remove"].clicked.connect(lambda: self.remove_asked.emit())
        self.buttons["up"].clicked.connect(lambda: self._step(-1))
        self.buttons["down"].clicked.connect(lambda: self._step(1))
        in_column(self.filter, (self.view, 1), self._count, row, on=self, margins=0, spacing=GRID // 2)
        self.view.selectionModel().currentChanged.connect(self._current)
        connected(self.view, moved=self.moved, remove_asked=self.remove_asked)
        self.setMinimumWidth(round(19 * GRID * THEME.scale))
        self.repaint_pictures()

    def repaint_pictures(self) -> None:
        """In the colours of the theme in force."""
        for button in self.buttons.values():
            button.setIcon(icons.icon(button.property("picture")))

    def show_moves(
        self, moves: MoveSet | None, placement: Placement | None, *, editable: bool, where: str
    ) -> None:
        """Show a cycle set; ``where`` says where it came from."""
        bar = self.view.verticalScrollBar()
        at = bar.value()
        self._following = True
        self.model.show_moves(moves, placement)
        self._following = False
        # Another sign in one cycle is no reason to lose one's place in the list.
        bar.setValue(at)
        set_enabled(editable and moves is not None, *self.buttons.values())
        self.view.setDragEnabled(editable)
        self._where = where
        self._tell()

    def mark(self, *, blocked: Bools | None, broken: Mapping[int, str], cycle: int | None) -> None:
        """Mark what is known about the cycles; the cursor stays on ``cycle``."""
        self._following = True
        self.model.mark(blocked=blocked, broken=broken)
        self._following = False
        self.select(cycle)
        self._tell()

    def select(self, cycle: int | None) -> None:
        """Put the cursor on a cycle without announcing it."""
        row = -1 if cycle is None else self.model.row_of(cycle)
        self._following = True
        if row < 0:
            self.view.clearSelection()
        elif self.view.currentIndex().row() != row:
            self.view.setCurrentIndex(self.model.index(row))
        self._following = False

    def _filtered(self, text: str) -> None:
        before = self.view.currentIndex()
        cycle = self.model.number(before.row()) if before.isValid() else None
        self._following = True
        self.model.set_filter(text)
        self._following = False
        self.select(cycle)
        self._tell()

    def _tell(self) -> None:
        if (moves := self.model.moves) is None:
            self._count.setText(tr("No cycles"))
            return
        shown, every = self.model.rowCount(), len(moves)
        noun = plural(every, "{every} cycle", "{every} cycles", count_text(every))
        text = noun if shown == every else message("{shown} of {noun}", count_text(shown), noun)
        self._count.setText(
            translate(message("{text} \u00b7 {where}", text, self._where) if self._where else text)
        )

    def _current(self, current: QModelIndex) -> None:
        if not self._following and current.isValid():
            self.chosen.emit(self.model.number(current.row()))

    def _step(self, step: int) -> None:
        if (row := self.view.currentIndex().row()) >= 0 and 0 <= row + step < self.model.rowCount():
            self.moved.emit(self.model.number(row), self.model.number(row + step))
