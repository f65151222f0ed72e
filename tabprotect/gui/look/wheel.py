"""The wheel scrolls: over a control without the focus it turns the page, never the control."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

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
            _calm(watched)
        return False


@contextmanager
def aside(part: QWidget | None = None) -> Iterator[None]:
    """The filter is not asked while a part of a window is put together, or first shown.

    That makes thousands of events, none of them of the wheel, and asking takes as long as all the
    rest.
    """
    application = QApplication.instance()
    assert application is not None
    filters = application.findChildren(WheelScrolls)
    for one in filters:
        application.removeEventFilter(one)
    try:
        yield
    finally:
        for one in filters:
            application.installEventFilter(one)
        if filters and part is not None:
            for kind in TURNED:
                for control in part.findChildren(kind):
                    _calm(control)


def _calm(control: QObject) -> None:
    """Otherwise the turn itself would bring the focus, before any filter is asked."""
    if turned_by_wheel(control):
        assert isinstance(control, QWidget)
        if control.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def _focused(control: QObject) -> bool:
    focus = QApplication.focusWidget()
    # The text of a spin box has the focus in its stead.
    return focus is not None and (
        focus is control or (isinstance(control, QWidget) and control.isAncestorOf(focus))
    )
