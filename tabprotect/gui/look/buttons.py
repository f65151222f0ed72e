"""Tool buttons, scrolling areas and emptied layouts, as the window uses them everywhere."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFrame, QLayout, QScrollArea, QToolButton, QWidget

from tabprotect.languages.speaking import told


def tool_button(
    text: str = "",
    *,
    icon: QIcon | None = None,
    tip: str = "",
    checkable: bool = False,
    exclusive: bool = False,
    flat: bool = False,
) -> QToolButton:
    """A tool button; of ``exclusive`` ones under one parent a single one is checked."""
    button = QToolButton()
    button.setText(told(text))
    if icon is not None:
        button.setIcon(icon)
    button.setToolTip(told(tip))
    button.setCheckable(checkable)
    button.setAutoExclusive(exclusive)
    button.setAutoRaise(flat)
    return button


class Inside(QWidget):
    """What an area scrolls: as high as its words are at its width, and no higher.

    Words that wrap have a least height of their own, that at their least width: it would leave
    an empty end to scroll to.
    """

    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        layout = self.layout()
        flows = layout is not None and layout.hasHeightForWidth()
        return QSize(least.width(), 0) if flows else least


def scrolling() -> QScrollArea:
    """A frameless area that scrolls where what it holds does not fit."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    return area


class ScrollsDown(QScrollArea):
    """A frameless area that scrolls up and down only: never narrower than what it holds."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def minimumSizeHint(self) -> QSize:
        least, held = super().minimumSizeHint(), self.widget()
        wide = 0 if held is None else held.minimumSizeHint().expandedTo(held.minimumSize()).width()
        return QSize(wide + self.verticalScrollBar().sizeHint().width(), least.height())


def emptied(layout: QLayout) -> None:
    """Take everything out of a layout; its widgets are hidden and go."""
    while layout.count():
        item = layout.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
