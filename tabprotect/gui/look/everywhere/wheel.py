"""The wheel scrolls: over a control without the focus it turns the page, never the control."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QScrollBar,
    QTabBar,
    QWidget,
)

TURNED = (QComboBox, QAbstractSpinBox, QAbstractSlider, QTabBar)
"""Controls that the wheel would turn. Scroll bars are sliders, and are there to be turned."""


class WheelScrolls(QObject):
    """A filter on controls. One that has the focus keeps the wheel.

    On each control and not on the application: there it would be asked of every event of the
    program, which takes as long as half of what the window does.
    """

    def watch(self, widget: QWidget) -> None:
        """Filter a widget's events if the wheel would turn it."""
        if not isinstance(widget, TURNED) or isinstance(widget, QScrollBar):
            return
        widget.installEventFilter(self)
        if widget.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            # Otherwise the turn itself would bring the focus, before any filter is asked.
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and not _focused(watched):
            # Filtered and not accepted: Qt goes on to the parent, up to what scrolls.
            event.ignore()
            return True
        return False


def _focused(control: QObject) -> bool:
    focus = QApplication.focusWidget()
    # The text of a spin box has the focus in its stead.
    return focus is not None and (
        focus is control or (isinstance(control, QWidget) and control.isAncestorOf(focus))
    )
