"""The categories of one variable as a tree of its levels, with totals at every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QBrush, QDropEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QTreeWidgetItemIterator,
)

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.look.buttons import present
from tabprotect.gui.look.lists.renaming import Renaming
from tabprotect.gui.look.theme import GRID, THEME, colour, count_text
from tabprotect.languages.messages import message
from tabprotect.languages.translation import tr, translate

NAME = message("Categories by level; drag some together to group them")

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CATEGORY = Qt.ItemDataRole.UserRole
GROUP = Qt.ItemDataRole.UserRole + 1
LEAST_NAME = 12 * GRID
"""Pixels, at normal text, that names have at least."""


class CategoryTree(QTreeWidget):
    """``dropped`` carries categories that were dragged together, and what they were dropped on; ``renamed``
    a category's old name and its new one."""

    dropped = Signal(list, str)
    renamed = Signal(str, str)

    def __init__(self, name: str = NAME, *, drags: bool = True) -> None:
        super().__init__()
        self.setAccessibleName(translate(name))
        self.setHeaderLabels([tr("Category"), tr("Records"), tr("Small counts"), ""])
        head = present(self.headerItem())
        for column in (1, 2):
            head.setTextAlignment(column, RIGHT)
        self._small: Mapping[str, int] = {}
        self._words: tuple[str, ...] = ()
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        if drags:
            self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
            Renaming(self, CATEGORY).renamed.connect(self.renamed)
        self.setUniformRowHeights(True)
        # Figures stand beside the names that they are of.
        for column in (0, 1, 2):
            self.header().setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        THEME.follow(self, CategoryTree._paint)
        self._paint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Long names are cut before the figures beside them are out of sight.
        figures = self.columnWidth(1) + self.columnWidth(2)
        room = max(self.viewport().width() - figures, round(LEAST_NAME * THEME.scale))
        self.header().setMaximumSectionSize(room)

    def show_variable(
        self, variable: Variable | None, counts: Ints | None, small: Mapping[str, int] | None = None
    ) -> None:
        """Show a variable's tree, the records (categories,) of each category, and how many small
        counts it has."""
        open_before = set(self._unfolded(self.invisibleRootItem()))
        self.clear()
        self._small = small or {}
        if variable is None or counts is None:
            return
        self.setRootIsDecorated(len(variable.levels) > 1)
        head = present(self.headerItem())
        head.setText(0, " \u203a ".join(level.name for level in variable.levels))
        self._add(
            self.invisibleRootItem(),
            variable,
            variable.levels[:-1],
            list(range(len(variable.categories))),
            counts,
        )
        for number in range(self.topLevelItemCount()):
            if (item := self.topLevelItem(number)) is not None and item.data(0, GROUP) in open_before:
                item.setExpanded(True)

    def _unfolded(self, item: QTreeWidgetItem) -> Sequence[str]:
        inside = [item.child(n) for n in range(item.childCount())]
        return [str(one.data(0, GROUP)) for one in inside if one is not None and one.isExpanded()]

    def _add(
        self,
        under: QTreeWidgetItem,
        variable: Variable,
        levels: Sequence[Level],
        categories: Sequence[int],
        counts: Ints,
    ) -> None:
        if not levels:
            for code in categories:
                name = variable.categories[code]
                label = variable.label(code)
                words = name if label == name else message("{name}  {label}", name, label)
                item = self._item(under, words, int(counts[code]), [name])
                item.setData(0, CATEGORY, name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsDragEnabled | Qt.ItemFlag.ItemIsEditable)
            return
        level, rest = levels[0], levels[1:]
        for group in dict.fromkeys(level.groups[code] for code in categories):
            inside = [code for code in categories if level.groups[code] == group]
            held = [variable.categories[code] for code in inside]
            item = self._item(under, group, int(counts[inside].sum()), held)
            item.setData(0, GROUP, group)
            item.setToolTip(
                0,
                tr(
                    "{level} (level of {variable}): {inside} categories",
                    level.name,
                    variable.name,
                    len(inside),
                ),
            )
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDragEnabled)
            self._add(item, variable, rest, inside, counts)

    def _item(self, under: QTreeWidgetItem, name: str, records: int, held: Sequence[str]) -> QTreeWidgetItem:
        small = sum(self._small.get(category, 0) for category in held)
        shown = f"\u2022 {count_text(small)}" if small else ""
        item = QTreeWidgetItem(under, [name, count_text(records), shown])
        for column in (1, 2):
            item.setTextAlignment(column, RIGHT)
        item.setForeground(2, QBrush(colour("at_risk")))
        return item

    def sift(self, words: str) -> None:
        """Show the branches alone that hold a category or group with these words."""
        self._words = tuple(words.casefold().split())
        self._hide_others(self.invisibleRootItem())

    def _hide_others(self, item: QTreeWidgetItem) -> bool:
        """Hide what has none of the words; whether anything below is left."""
        left = False
        for number in range(item.childCount()):
            if (child := item.child(number)) is None:
                continue
            text = child.text(0).casefold()
            inside = self._hide_others(child)
            here = inside or all(word in text for word in self._words)
            child.setHidden(not here)
            if inside and self._words:
                child.setExpanded(True)
            left |= here
        return left

    def _paint(self) -> None:
        self.header().setFixedHeight(self.fontMetrics().height() + 12)
        every = QTreeWidgetItemIterator(self)
        while (item := every.value()) is not None:
            item.setForeground(2, QBrush(colour("at_risk")))
            every += 1

    @property
    def chosen(self) -> list[str]:
        """The selected categories, in order; of a selected group all that it holds."""
        found: dict[str, None] = {}
        for item in self.selectedItems():
            found |= dict.fromkeys(_categories(item))
        return list(found)

    def beside(self, by: int) -> tuple[list[str], list[str]] | None:
        """The categories of the one selected line, and those of the line ``by`` above or below it."""
        chosen = self.selectedItems()
        if len(chosen) != 1:
            return None
        item = chosen[0]
        around = item.parent() or self.invisibleRootItem()
        other = around.child(around.indexOfChild(item) + by)
        return None if other is None else (_categories(item), _categories(other))

    def choose(self, categories: Sequence[str]) -> None:
        """Select the line that holds exactly these categories."""
        every = QTreeWidgetItemIterator(self)
        while (item := every.value()) is not None:
            if _categories(item) == list(categories):
                self.setCurrentItem(item)
                return
            every += 1

    def dropEvent(self, event: QDropEvent) -> None:
        target = self.itemAt(event.position().toPoint())
        dragged = self.chosen
        # The tree is drawn anew from the project: nothing moves by itself.
        event.setDropAction(Qt.DropAction.IgnoreAction)
        event.accept()
        if target is None or not dragged:
            return
        onto = target.data(0, CATEGORY) or target.data(0, GROUP)
        if onto and onto not in dragged:
            self.dropped.emit(dragged, str(onto))


def _categories(item: QTreeWidgetItem) -> list[str]:
    if (own := item.data(0, CATEGORY)) is not None:
        return [str(own)]
    inside = [item.child(n) for n in range(item.childCount())]
    return [name for one in inside if one is not None for name in _categories(one)]
