"""Editing categories: add, rename, reorder, remove and merge, one variable at a time."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QToolButton,
)

from tabprotect.engine.project.command import Order
from tabprotect.engine.project.verbs.category_verbs import (
    add_category,
    merge_categories,
    remove_category,
    rename_category,
    rename_variable,
    reorder_categories,
)
from tabprotect.engine.tables.groupings.bands import held_name
from tabprotect.gui.base.document import Document
from tabprotect.gui.base.page import Panel
from tabprotect.gui.look.buttons import connected, named, present, push_button, silent, tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.layouts import filled, in_column, in_row
from tabprotect.gui.look.theme import GRID, THEME
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr

MOST = 5000
"""Categories that are listed; a variable with more is edited in its file."""

NAME = Qt.ItemDataRole.UserRole


class CategoriesPanel(Panel):
    """Beside the table, never over it."""

    closed = Signal()

    def __init__(self, document: Document) -> None:
        super().__init__(document, message("Categories"))
        self.setMinimumWidth(28 * GRID)
        self._variable = named(
            QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert),
            message("Variable"),
            activated=lambda _: self._fill(),
        )
        edit = connected(present(self._variable.lineEdit()), editingFinished=self._rename_variable)
        edit.setAccessibleName(tr("Name of the variable; type another one to rename it"))
        self.list = named(QListWidget(), message("Categories in order"))
        self.list.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.list.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
        )
        self.list.itemChanged.connect(self._renamed)
        self.list.model().rowsMoved.connect(lambda *_: self._reordered())
        self._new = named(
            QLineEdit(placeholderText=tr("new category")),
            message("Name of the new category"),
            returnPressed=self._add,
        )
        self._buttons: dict[str, QToolButton] = {}
        row = in_row(spacing=4)
        for picture, words, run in (
            ("up", message("Move up"), lambda: self._shift(-1)),
            ("down", message("Move down"), lambda: self._shift(1)),
            ("edit", message("Rename (F2)"), self._rename_current),
            ("remove", message("Remove the empty category"), self._remove),
        ):
            button = tool_button(run=lambda _=False, r=run: r(), flat=True, name=words, tip=words)
            button.setIconSize(QSize(18, 18))
            self._buttons[picture] = button
            row.addWidget(button)
        row.addStretch(1)
        self._merge = named(
            QPushButton(tr("Merge selected")),
            message("Merge the selected categories into the first of them"),
            clicked=self._merge_selected,
        )
        row.addWidget(self._merge)
        close = tool_button(
            run=self.closed, flat=True, name=message("Close the categories"), tip=message("Close (Esc)")
        )
        QShortcut(
            QKeySequence(message("Esc")),
            self,
            self.closed.emit,
            context=Qt.ShortcutContext.WidgetWithChildrenShortcut,
        )
        self._buttons["close"] = close
        head = QHBoxLayout()
        filled(head, Label(message("Categories of"), role="section"), (self._variable, 1), close)
        add = in_row((self._new, 1))
        more = push_button(message("Add"), self._add, name=message("Add the category"))
        add.addWidget(more)
        in_column(head, (self.list, 1), row, add, on=self, margins=(GRID, 0, 0, 0), spacing=GRID)
        THEME.follow(self, CategoriesPanel._repaint)
        self._repaint()

    @property
    def variable(self) -> str:
        """The variable whose categories are listed."""
        return str(self._variable.currentData() or "")

    @property
    def names(self) -> list[str]:
        """The listed categories in order."""
        return [self.list.item(i).data(NAME) for i in range(self.list.count())]

    def refresh(self) -> None:
        """List the variables and categories anew."""
        if (table := self.document.original) is None:
            return
        names = table.domain.names
        chosen = self.variable
        before = [self._variable.itemData(i) for i in range(self._variable.count())]
        if before != list(names):
            at = before.index(chosen) if chosen in before else 0
            with silent(self._variable):
                self._variable.clear()
                for name in names:
                    self._variable.addItem(name, name)
                place = names.index(chosen) if chosen in names else min(at, len(names) - 1)
                self._variable.setCurrentIndex(place)
        self._fill()

    def rename(self, variable: str, category: str) -> None:
        """Begin to rename a category."""
        self.refresh()
        self._variable.setCurrentIndex(self._variable.findData(variable))
        self._fill()
        if category in self.names:
            self.list.setCurrentRow(self.names.index(category))
            self._rename_current()

    def _fill(self) -> None:
        if (table := self.document.original) is None or self.variable not in table.domain.names:
            return
        categories = table.domain[self.variable].categories[:MOST]
        if list(categories) == self.names:
            return
        row = self.list.currentRow()
        with silent(self.list):
            self.list.clear()
            for category in categories:
                item = QListWidgetItem(category)
                item.setData(NAME, category)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsEditable)
                self.list.addItem(item)
            self.list.setCurrentRow(min(max(row, 0), len(categories) - 1))

    def _run(self, order: Order) -> None:
        self.document.run(order, page="table")
        # An error leaves the project as it was: so must the list.
        with silent(self.list):
            self.list.clear()
        self._fill()

    def _renamed(self, item: QListWidgetItem) -> None:
        old, new = item.data(NAME), item.text()
        if new != old:
            self._run(rename_category(variable=self.variable, category=old, to=new))

    def _rename_variable(self) -> None:
        edit = present(self._variable.lineEdit())
        old, new = self.variable, edit.text().strip()
        if (table := self.document.original) is None or not old or new == old or not new:
            return
        if new in table.domain.names:
            # Another variable was chosen by typing its name.
            self._variable.setCurrentIndex(self._variable.findData(new))
            self._fill()
            return
        self.document.run(rename_variable(variable=old, to=new), page="table")

    def _reordered(self) -> None:
        names = self.names
        table = self.document.original
        if table is not None and list(table.domain[self.variable].categories[:MOST]) != names:
            rest = list(table.domain[self.variable].categories[MOST:])
            self._run(reorder_categories(variable=self.variable, categories=[*names, *rest]))

    def _shift(self, by: int) -> None:
        row = self.list.currentRow()
        to = row + by
        if (table := self.document.original) is None or row < 0 or not 0 <= to < self.list.count():
            return
        names = list(table.domain[self.variable].categories)
        names.insert(to, names.pop(row))
        self._run(reorder_categories(variable=self.variable, categories=names))
        self.list.setCurrentRow(to)

    def _rename_current(self) -> None:
        if self.list.currentItem() is not None:
            self.list.setFocus()
            self.list.editItem(self.list.currentItem())

    def _remove(self) -> None:
        if (item := self.list.currentItem()) is not None:
            self._run(remove_category(variable=self.variable, category=item.data(NAME)))

    def _merge_selected(self) -> None:
        chosen = [
            self.list.item(i).data(NAME) for i in range(self.list.count()) if self.list.item(i).isSelected()
        ]
        if len(chosen) > 1:
            self._run(merge_categories(variable=self.variable, categories=chosen, into=self._name_of(chosen)))

    def _name_of(self, chosen: list[str]) -> str:
        table = present(self.document.original)
        rest = [c for c in table.domain[self.variable].categories if c not in chosen]
        return held_name(chosen, taken=rest)

    def _add(self) -> None:
        if name := self._new.text().strip():
            self._new.clear()
            self._run(add_category(variable=self.variable, category=name))

    def _repaint(self) -> None:
        for picture, button in self._buttons.items():
            button.setIcon(icons.icon(picture))
