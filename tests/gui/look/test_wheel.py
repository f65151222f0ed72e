"""The wheel over a control without the focus changes nothing; with the focus it turns it."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Settle
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QScrollArea,
    QScrollBar,
    QSlider,
    QSpinBox,
    QTabBar,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tabprotect.engine.project.verbs.release_verbs import protect, set_method
from tabprotect.gui.frame.app import application
from tabprotect.gui.frame.main_window import MainWindow
from tabprotect.gui.frame.stages import OTHERS
from tabprotect.gui.pages.stages import PAGES

CONTROLS = (QComboBox, QAbstractSpinBox, QAbstractSlider, QTabBar)


def turn(widget: QWidget, degrees: int) -> None:
    at = QPointF(widget.rect().center())
    QApplication.sendEvent(
        widget,
        QWheelEvent(
            at,
            QPointF(widget.mapToGlobal(at.toPoint())),
            QPoint(),
            QPoint(0, degrees * 8),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        ),
    )


def says(widget: QWidget) -> Any:
    if isinstance(widget, QComboBox | QTabBar):
        return widget.currentIndex()
    if isinstance(widget, QAbstractSpinBox):
        return widget.text()
    assert isinstance(widget, QAbstractSlider)
    return widget.value()


def controls(page: QWidget) -> list[QWidget]:
    return [
        widget
        for widget in page.findChildren(QWidget)
        if isinstance(widget, CONTROLS) and not isinstance(widget, QScrollBar)
    ]


def test_the_wheel_changes_no_control_of_any_page(opened: MainWindow, settle: Settle) -> None:
    opened.document.do(protect, seed=1)
    settle()
    # The page of methods that take no cycles comes last: the others are of the one that does.
    for name in sorted(
        (stage.name for stage in (*PAGES, *(page.stage for page in OTHERS))), key="methods".__eq__
    ):
        if name == "methods":
            opened.document.do(set_method, method="random_rounding")
            opened.document.do(protect, seed=1)
            settle()
        opened.go(name)
        settle()
        assert opened.page.name == name
        before = opened.document.project
        for control in controls(opened.page):
            focus = QApplication.focusWidget()
            if focus is not None:
                focus.clearFocus()
            said = says(control)
            for degrees in (15, -15, -15):
                turn(control, degrees)
            assert says(control) == said, (name, control.accessibleName())
            if control.isVisible():
                policy = control.focusPolicy()
                assert policy != Qt.FocusPolicy.WheelFocus, (name, control.accessibleName())
        settle()
        assert opened.document.project is before, name


@pytest.fixture
def scrolled(qtbot: QtBot) -> QScrollArea:
    """A small area that scrolls over one control of each kind."""
    application()
    area = QScrollArea()
    qtbot.addWidget(area)
    inner = QWidget()
    column = QVBoxLayout(inner)
    combo = QComboBox()
    combo.addItems(["a", "b", "c"])
    combo.setCurrentIndex(1)
    bar = QTabBar()
    for text in "abc":
        bar.addTab(text)
    bar.setCurrentIndex(1)
    bar.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    slider = QSlider(Qt.Orientation.Horizontal, value=50)
    for control in (combo, QSpinBox(value=50), QDoubleSpinBox(value=50), slider, bar):
        column.addWidget(control)
    filler = QWidget()
    filler.setFixedHeight(800)
    column.addWidget(filler)
    area.setWidget(inner)
    area.resize(300, 400)
    with qtbot.waitExposed(area):
        area.show()
    return area


def spin(widget: QWidget) -> None:
    """Turn the wheel over a widget as the system tells it: what is not taken goes on to parents."""
    window = widget.window()
    at = widget.mapTo(window, widget.rect().center())
    QTest.wheelEvent(window.windowHandle(), at, QPoint(0, -120))
    QApplication.processEvents()


@pytest.mark.parametrize("number", range(5), ids=["combo", "spin", "double", "slider", "tabs"])
def test_the_wheel_scrolls_past_a_control_and_turns_it_once_it_has_the_focus(
    scrolled: QScrollArea, number: int
) -> None:
    control = controls(scrolled)[number]
    bar = scrolled.verticalScrollBar()
    said = says(control)
    focus = QApplication.focusWidget()
    if focus is not None:
        focus.clearFocus()
    spin(control)
    assert says(control) == said
    assert not control.hasFocus()
    assert bar.value() > 0
    bar.setValue(0)
    scrolled.activateWindow()
    control.setFocus()
    assert QApplication.focusWidget() is control
    spin(control)
    assert says(control) != said
    assert bar.value() == 0


def test_a_scroll_bar_turns_without_the_focus(scrolled: QScrollArea) -> None:
    spin(scrolled.verticalScrollBar())
    assert scrolled.verticalScrollBar().value() > 0
