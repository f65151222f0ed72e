"""Columns of figures: at the right, with room before what stands beside them."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTableWidget

GAP = "\u2003"
"""What the words of the next column are kept away with."""


class NumberDelegate(QStyledItemDelegate):
    """A delegate that leaves room behind a figure; what it says is the figure alone."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        option.text += GAP


def show_figures(table: QTableWidget, columns: Collection[int]) -> None:
    """Have columns of a table show figures, and their heads stand above them."""
    delegate = NumberDelegate(table)
    for column in columns:
        table.setItemDelegateForColumn(column, delegate)
        if (head := table.horizontalHeaderItem(column)) is not None:
            head.setText(head.text() + GAP)
            head.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
