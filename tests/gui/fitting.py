"""Words that do not fit where they stand."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QComboBox,
    QLabel,
    QLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QWidget,
)

from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.look.label import ElidedLabel
from tabprotect.gui.look.layouts import placed

ARROW = 20
"""Pixels of a choice's arrow and borders."""


def cut(window: QWidget) -> list[str]:
    """Words of buttons, labels of one line, choices, tabs and fields to find in that are cut."""
    wrong = []
    for widget in window.findChildren(QWidget):
        if not widget.isVisible():
            continue
        letters = widget.fontMetrics()
        text, least = "", 0
        if isinstance(widget, QPushButton) or (
            isinstance(widget, QLabel) and not widget.wordWrap() and not isinstance(widget, ElidedLabel)
        ):
            text, least = widget.text(), widget.minimumSizeHint().width()
        elif isinstance(widget, QComboBox) and not widget.isEditable():
            text = widget.currentText()
            least = letters.horizontalAdvance(text) + ARROW
        elif isinstance(widget, QTabBar):
            # One that scrolls hides its last tabs.
            text, least = widget.accessibleName(), widget.tabRect(widget.count() - 1).right()
        elif isinstance(widget, QLineEdit) and widget.isClearButtonEnabled():
            text = widget.placeholderText()
            least = letters.horizontalAdvance(text)
        if widget.width() < least:
            wrong.append(f"{text!r} is cut: {widget.width()} of {least}")
    return wrong


def layouts(layout: QLayout | None) -> Iterator[QLayout]:
    if layout is not None:
        yield layout
        for part in placed(layout):
            yield from layouts(part if isinstance(part, QLayout) else None)


def overlapping(window: QWidget) -> list[str]:
    """Widgets of one layout that lie on each other."""
    wrong = []
    for parent in (w for w in window.findChildren(QWidget) if w.isVisible()):
        for layout in layouts(parent.layout()):
            if layout.metaObject().className() == "QStackedLayout":
                continue
            boxes = [
                part.geometry()
                for part in placed(layout)
                if not (part.isEmpty() if isinstance(part, QLayout) else part.isHidden())
            ]
            boxes = [b for b in boxes if b.width() > 0 and b.height() > 0]
            for n, first in enumerate(boxes):
                hit = [other for other in boxes[:n] if first.intersects(other)]
                wrong += [f"{parent.accessibleName() or parent}: {first} on {o}" for o in hit]
    return wrong


def box(widget: QWidget, window: QWidget) -> QRect:
    return QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())


def short(front: QWidget) -> list[str]:
    """Labels of several lines that are lower than their words."""
    wrong = []
    for label in front.findChildren(QLabel):
        if label.isVisible() and label.wordWrap() and label.text() and label.width() > 0:
            least = label.heightForWidth(label.width())
            if least > label.height() + 1:
                wrong.append(f"{label.text()[:60]!r} is sliced: {label.height()} of {least}")
    return wrong


def outside(front: QWidget) -> list[str]:
    """Words and controls that whatever they stand in cuts off, and does not scroll to."""
    wrong = []
    for widget in front.findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QLabel | QPushButton | QComboBox | QLineEdit):
            continue
        parent = widget.parentWidget()
        inner = widget.rect().translated(widget.pos())
        while parent is not None and parent is not front.parentWidget():
            if isinstance(parent.parentWidget(), QAbstractScrollArea):
                break
            room = parent.rect()
            if inner.right() > room.right() + 1 or inner.bottom() > room.bottom() + 1:
                wrong.append(
                    f"{widget.metaObject().className()} {text_of(widget)!r} leaves {parent.metaObject().className()}"
                )
                break
            inner = inner.translated(parent.pos())
            parent = parent.parentWidget()
    return wrong


def text_of(widget: QWidget) -> str:
    """What names a widget in a fault."""
    said = widget.text() if isinstance(widget, QLabel | QPushButton) else ""
    return (said or widget.accessibleName())[:40]


def faults(window: MainWindow, front: QWidget) -> list[str]:
    """What of a window, or of a dialog in front of it, does not fit."""
    wrong = []
    for area in front.findChildren(QScrollArea):
        beyond = area.horizontalScrollBar().maximum()
        if area.isVisible() and beyond > 0:
            wrong.append(f"{beyond} pixels beyond the right edge of {area.accessibleName() or 'a page'}")
    if front is window:
        button = (window.decision or window.page).main_button
        if button.isVisible() and not window.rect().contains(box(button, window)):
            wrong.append("the main action is out of sight")
        for bar in (window.area.verticalScrollBar(),):
            if window.area.isVisible() and bar.maximum() > 0:
                wrong.append(f"the page is {bar.maximum()} pixels higher than its window")
    return [*wrong, *overlapping(front), *cut(front), *short(front), *outside(front)]
