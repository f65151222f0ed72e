"""Colours reach their contrast, counts are written one way, icons take the theme's colour."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor, QFontInfo, QPalette
from PySide6.QtWidgets import QApplication, QCheckBox, QLineEdit, QWidget
from pytestqt.qtbot import QtBot

from tabprotect.gui.frame.app import application
from tabprotect.gui.look.buttons import tool_button
from tabprotect.gui.look.drawn import icons
from tabprotect.gui.look.theme import (
    DARK,
    HIGH_DARK,
    HIGH_LIGHT,
    LIGHT,
    THEME,
    Colours,
    Mode,
    colour,
    contrast,
    count_text,
    number_text,
    signed_text,
)

TEXT_ON = [
    ("text", "window"),
    ("text", "base"),
    ("text", "raised"),
    ("text", "selection"),
    ("text", "plus_fill"),
    ("text", "minus_fill"),
    ("text", "error_fill"),
    ("quiet", "window"),
    ("quiet", "base"),
    ("quiet", "raised"),
    ("on_accent", "accent"),
    ("on_at_risk", "at_risk_fill"),
    ("on_confidential", "confidential"),
    ("on_public", "public"),
    ("plus", "base"),
    ("plus", "plus_fill"),
    ("minus", "base"),
    ("minus", "minus_fill"),
    ("at_risk", "base"),
    ("at_risk", "at_risk_fill"),
    ("unreleasable", "base"),
    ("released", "base"),
    ("error", "error_fill"),
    ("accent", "base"),
]


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_ON)
def test_contrast_is_at_least_four_and_a_half(colours: Colours, text: str, ground: str) -> None:
    assert contrast(getattr(colours, text), getattr(colours, ground)) >= 4.5


@pytest.mark.parametrize("colours", [HIGH_LIGHT, HIGH_DARK], ids=["light", "dark"])
def test_high_contrast_is_at_least_seven_and_borders_are_seen(colours: Colours) -> None:
    for text, ground in TEXT_ON:
        ratio = contrast(getattr(colours, text), getattr(colours, ground))
        assert ratio >= 7, (text, ground, ratio)
    for edge in ("border", "focus"):
        for ground in ("window", "base", "raised"):
            assert contrast(getattr(colours, edge), getattr(colours, ground)) >= 7, (edge, ground)


@pytest.mark.parametrize("colours", [LIGHT, DARK, HIGH_LIGHT, HIGH_DARK])
def test_what_cannot_be_used_is_read_and_told_apart(colours: Colours) -> None:
    assert contrast(colours.disabled, colours.window) >= 4.5
    assert contrast(colours.text, colours.disabled) >= 1.8


def test_contrast_knows_black_on_white() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#777777") == pytest.approx(1.0)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_dark_and_light_change_palette_and_colours(qapp: QApplication) -> None:
    application()
    for mode, colours in (("dark", DARK), ("contrast", HIGH_LIGHT), ("light", LIGHT)):
        THEME.apply(mode=mode)  # type: ignore[arg-type]
        assert colour("at_risk") == QColor(colours.at_risk)
        assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(colours.window)


def test_zoom_scales_the_font_and_stays_in_bounds(qapp: QApplication) -> None:
    application()
    THEME.apply(zoom=1.0)
    size = qapp.font().pointSizeF()
    THEME.apply(zoom=1.5)
    assert qapp.font().pointSizeF() == pytest.approx(1.5 * size)
    THEME.apply(zoom=100.0)
    assert THEME.zoom == 2.5
    THEME.apply(zoom=1.0)


def test_there_is_a_font(qapp: QApplication) -> None:
    # Without any font every letter is a box, and pictures still "work".
    assert QFontInfo(qapp.font()).family()


def test_counts_for_people() -> None:
    assert count_text(1234567) == "1\u202f234\u202f567"
    assert count_text(-12) == "\u221212"
    assert signed_text(3) == "+3"
    assert signed_text(0) == "0"
    assert number_text(-0.5) == "\u22120.50"


def test_icons_take_the_colour_that_is_asked(qapp: QApplication) -> None:
    application()
    image = icons.pixmap("shield", 24, colour="#ff0000").toImage()
    painted = {
        image.pixelColor(x, y).name()
        for x in range(24)
        for y in range(24)
        if image.pixelColor(x, y).alpha() == 255
    }
    assert painted == {"#ff0000"}


def ticked() -> QCheckBox:
    box = QCheckBox()
    box.setChecked(True)
    return box


@pytest.mark.parametrize("kind", [QCheckBox, QLineEdit, ticked])
def test_a_field_is_seen_in_the_dark(qtbot: QtBot, kind: Callable[[], QWidget]) -> None:
    application()
    before = THEME.mode
    THEME.apply(mode="dark")
    field = kind()
    qtbot.addWidget(field)
    field.resize(24, 24)
    picture = field.grab().toImage()
    ground = THEME.colours.base
    seen = {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}
    assert max(contrast(one, ground) for one in seen) >= 3
    THEME.apply(mode=before)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_pressed_tool_button_is_seen_and_keeps_its_size(qtbot: QtBot, mode: Mode) -> None:
    try:
        application()
        THEME.apply(mode=mode)
        button = tool_button("Chances", checkable=True)
        qtbot.addWidget(button)
        button.show()
        size, grounds = button.sizeHint(), []
        for pressed in (False, True):
            button.setChecked(pressed)
            assert button.sizeHint() == size
            grounds.append(button.grab().toImage().pixelColor(4, size.height() // 2))
        # Of the hue of what is selected, and more of it than a button that was not pressed.
        assert abs(grounds[1].hue() - QColor(THEME.colours.selection).hue()) < 20
        assert grounds[1].saturation() > 2 * grounds[0].saturation()
        assert contrast(THEME.colours.accent, THEME.colours.window) >= 3
    finally:
        THEME.apply(mode="light")
