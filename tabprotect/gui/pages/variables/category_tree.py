"""The categories of one variable as a tree of its levels, with totals at every level."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem

from tabprotect.engine.arrays import Ints
from tabprotect.engine.tables.variable import Level, Variable
from tabprotect.gui.look.theme import count_text
from tabprotect.languages.said import say
from tabprotect.languages.speaking import tell

CATEGORY = Qt.ItemDataRole.UserRole
GROUP = Qt.ItemDataRole.UserRole + 1


class CategoryTree(QTreeWidget):
    """``dropped`` carries categories that were dragged together, and what they were dropped on."""

    dropped = Signal(list, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tell("Categories by level; drag some together to group them"))
        self.setHeaderLabels([tell("Category"), tell("Records")])
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.setUniformRowHeights(True)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)

    def show_variable(self, variable: Variable | None, counts: Ints | None) -> None:
        """Show a variable's tree and the records (categories,) of each category."""
        open_before = set(self._unfolded(self.invisibleRootItem()))
        self.clear()
        if variable is None or counts is None:
            return
        self._add(
            self.invisibleRootItem(),
            variable,
            variable.levels[:-1],
            list(range(len(variable.categories))),
            counts,
        )
        for number in range(self.topLevelItemCount()):
            item = self.topLevelItem(number)
            if item is not None and item.data(0, GROUP) in open_before:
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
                words = name if label == name else say("{name}  {label}", name, label)
                item = self._item(under, words, int(counts[code]))
                item.setData(0, CATEGORY, name)
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsDragEnabled)
            return
        level, rest = levels[0], levels[1:]
        for group in dict.fromkeys(level.groups[code] for code in categories):
            inside = [code for code in categories if level.groups[code] == group]
            item = self._item(under, group, int(counts[inside].sum()))
            item.setData(0, GROUP, group)
            item.setToolTip(
                0,
                tell(
                    "{level} (level of {variable}): {inside} categories",
                    level.name,
                    variable.name,
                    len(inside),
                ),
            )
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsDragEnabled)
            self._add(item, variable, rest, inside, counts)

    @staticmethod
    def _item(under: QTreeWidgetItem, name: str, records: int) -> QTreeWidgetItem:
        item = QTreeWidgetItem(under, [name, count_text(records)])
        item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return item

    @property
    def chosen(self) -> list[str]:
        """The selected categories, in order; of a selected group all that it holds."""
        found: dict[str, None] = {}
        for item in self.selectedItems():
            found |= dict.fromkeys(_categories(item))
        return list(found)

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
    own = item.data(0, CATEGORY)
    if own is not None:
        return [str(own)]
    inside = [item.child(n) for n in range(item.childCount())]
    return [name for one in inside if one is not None for name in _categories(one)]
