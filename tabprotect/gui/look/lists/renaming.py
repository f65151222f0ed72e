"""Names in a list that are changed where they stand."""

from __future__ import annotations

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QStyledItemDelegate, QStyleOptionViewItem, QWidget

AnyIndex = QModelIndex | QPersistentModelIndex


class Renaming(QStyledItemDelegate):
    """The first column of a list takes another name; ``renamed`` carries the old one and the new one.

    Parameters
    ----------
    role
        Where a row holds the name, beside what it shows of it.
    """

    renamed = Signal(str, str)

    def __init__(self, view: QAbstractItemView, role: int = Qt.ItemDataRole.DisplayRole) -> None:
        super().__init__(view)
        self._role = role
        view.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
        )
        view.setItemDelegateForColumn(0, self)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: AnyIndex) -> QWidget:
        return QLineEdit(parent)

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        assert isinstance(editor, QLineEdit)
        editor.setText(str(index.data(self._role)))
        editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: AnyIndex) -> None:
        assert isinstance(editor, QLineEdit)
        old, new = str(index.data(self._role)), editor.text().strip()
        if new and new != old:
            # The list is drawn anew from the project: nothing changes by itself.
            self.renamed.emit(old, new)
