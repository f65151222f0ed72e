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

# Looked up once: this filter sees every event of the program.
_WHEEL, _POLISH = QEvent.Type.Wheel, QEvent.Type.Polish


def turned_by_wheel(widget: QObject) -> bool:
    """Whether the wheel changes what the widget says."""
    return isinstance(widget, TURNED) and not isinstance(widget, QScrollBar)


class WheelScrolls(QObject):
    """A filter on the application. A control that has the focus keeps the wheel."""

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # First what is cheap to ask, of each of the hundred thousands of events.
        if not turned_by_wheel(watched):
            return False
        kind = event.type()
        if kind == _WHEEL:
            if not _focused(watched):
                # Filtered and not accepted: Qt goes on to the parent, up to what scrolls.
                event.ignore()
                return True
        elif kind == _POLISH:
            assert isinstance(watched, QWidget)
            # Otherwise the turn itself would bring the focus, before any filter is asked.
            if watched.focusPolicy() == Qt.FocusPolicy.WheelFocus:
                watched.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return False


def _focused(control: QObject) -> bool:
    focus = QApplication.focusWidget()
    # The text of a spin box has the focus in its stead.
    return focus is not None and (
        focus is control or (isinstance(control, QWidget) and control.isAncestorOf(focus))
    )
