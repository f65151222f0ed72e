"""What the style adds to Fusion, seen on the pixels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QFrame,
    QLineEdit,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QStyle,
    QStyleOption,
    QWidget,
)
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.app import application
from tabprotect.gui.look.label import Label
from tabprotect.gui.look.roles import dress
from tabprotect.gui.look.theme import DARK, LIGHT, THEME, Colours, Mode, contrast


@pytest.fixture(params=["light", "dark"])
def colours(request: pytest.FixtureRequest, qapp: QApplication) -> Iterator[Colours]:
    application()
    THEME.apply(mode=request.param, zoom=1.0)
    yield LIGHT if request.param == "light" else DARK
    THEME.apply(mode="light", zoom=1.0)


def painted(widget: QWidget) -> QImage:
    widget.resize(widget.sizeHint().expandedTo(widget.minimumSize()))
    return widget.grab().toImage()


def test_nothing_is_dressed_by_a_sheet_on_the_application(qapp: QApplication) -> None:
    application()
    assert not qapp.styleSheet()


def test_a_card_has_its_ground_and_the_border_of_the_chosen_one(qtbot: QtBot, colours: Colours) -> None:
    card = QFrame()
    qtbot.addWidget(card)
    card.setMinimumSize(60, 40)
    dress(card, "card")
    image = painted(card)
    assert image.pixelColor(30, 20) == QColor(colours.base)
    assert image.pixelColor(30, 0) == QColor(colours.border)
    card.setProperty("current", True)
    assert painted(card).pixelColor(30, 1) == QColor(colours.accent)


@pytest.mark.parametrize("kind", [QLineEdit, QPushButton, QComboBox, QSpinBox, QCheckBox, QRadioButton])
@pytest.mark.parametrize("mode", ["light", "dark", "contrast"])
def test_controls_are_seen_on_their_ground(qtbot: QtBot, mode: Mode, kind: type[QWidget]) -> None:
    application()
    THEME.apply(mode=mode, zoom=1.0)
    field = kind()
    qtbot.addWidget(field)
    image = painted(field)
    ground, least = THEME.colours.window, 1.3 if mode == "light" else 3.0
    middle = image.height() // 2
    edge = [image.pixelColor(x, middle).name() for x in range(image.width() // 2)]
    assert max(contrast(colour, ground) for colour in edge) > least
    THEME.apply(mode="light", zoom=1.0)


def test_words_follow_the_theme_and_its_size(qtbot: QtBot) -> None:
    application()
    THEME.apply(mode="light", zoom=1.0)
    quiet, head = Label("x", role="quiet"), Label("x", role="heading")
    for label in (quiet, head):
        qtbot.addWidget(label)
        label.show()
    size = head.font().pointSizeF()
    THEME.apply(mode="dark", zoom=2.0)
    assert quiet.palette().windowText().color() == QColor(DARK.quiet)
    assert head.font().pointSizeF() == pytest.approx(2 * size)
    THEME.apply(mode="light", zoom=1.0)
    assert quiet.palette().windowText().color() == QColor(LIGHT.quiet)


def test_what_is_hidden_follows_the_theme_when_it_is_shown(qtbot: QtBot) -> None:
    application()
    THEME.apply(mode="light", zoom=1.0)
    page, seen = QWidget(), list[tuple[str, str]]()
    label = Label("x", role="quiet")
    label.setParent(page)
    qtbot.addWidget(page)
    THEME.follow(page, lambda _: seen.append((THEME.colours.base, "page")))
    THEME.apply(mode="dark")
    THEME.apply(mode="light")
    THEME.apply(mode="dark")
    assert seen == []
    page.show()
    # Once, with what is in force, and before the first picture.
    assert seen == [(DARK.base, "page")]
    assert label.palette().windowText().color() == QColor(DARK.quiet)
    THEME.apply(mode="light")
    assert seen[1:] == [(LIGHT.base, "page")]
    page.hide()
    page.show()
    assert len(seen) == 2


def test_only_a_card_that_can_be_pressed_answers_to_the_mouse(colours: Colours, qtbot: QtBot) -> None:
    def ground(policy: Qt.FocusPolicy, *, over: bool) -> QColor:
        card = QFrame()
        qtbot.addWidget(card)
        dress(card, "card")
        card.setFocusPolicy(policy)
        card.resize(60, 40)
        option = QStyleOption()
        option.initFrom(card)
        option.state &= ~QStyle.StateFlag.State_MouseOver
        if over:
            option.state |= QStyle.StateFlag.State_MouseOver
        picture = QImage(60, 40, QImage.Format.Format_RGB32)
        painter = QPainter(picture)
        element = QStyle.ControlElement.CE_ShapedFrame
        QApplication.style().drawControl(element, option, painter, card)
        painter.end()
        return picture.pixelColor(30, 20)

    no, yes = Qt.FocusPolicy.NoFocus, Qt.FocusPolicy.StrongFocus
    assert ground(no, over=True) == ground(no, over=False)
    assert ground(yes, over=True) != ground(yes, over=False)
