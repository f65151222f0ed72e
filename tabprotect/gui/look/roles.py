"""What a widget is for, where that shows: headings, quiet words, cards, the main action."""

from __future__ import annotations

from weakref import WeakSet

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from tabprotect.gui.look.theme import THEME

SIZES = {"heading": 22 / 13, "figure": 22 / 13, "title": 16 / 13, "quiet": 12 / 13}
"""How much larger than other words: 22, 16, 13 and 12 pixels where these have 13."""

WEIGHTS = {
    "heading": QFont.Weight.Bold,
    "figure": QFont.Weight.Bold,
    "section": QFont.Weight.DemiBold,
    "title": QFont.Weight.Bold,
}


INKS = {"quiet": "quiet", "link": "accent"}
"""Colours of words that have not the usual one."""

_DRESSED: WeakSet[QWidget] = WeakSet()
"""Those with a role: to ask for all widgets of the program takes longer than to dress these."""


def dress(widget: QWidget, role: str) -> None:
    """Give a widget its role, once; the look follows the theme from here on.

    ``heading``, ``figure``, ``section`` and ``quiet`` are for labels, ``main`` is for the button
    of the main action, ``card`` for frames and buttons that :class:`~.style.Style` paints.
    """
    widget.setProperty("role", role)
    _DRESSED.add(widget)
    widget.setAttribute(Qt.WidgetAttribute.WA_Hover, role == "card")
    _attire(widget)


def role_of(widget: QWidget) -> str:
    """The role it was given; empty where there is none."""
    return widget.property("role") or ""


def _attire(widget: QWidget) -> None:
    c, role = THEME.colours, role_of(widget)
    if isinstance(widget, QPushButton) and role == "main":
        widget.setStyleSheet(
            f"QPushButton {{ background: {c.accent}; color: {c.on_accent};"
            f" border: 1px solid {c.accent}; border-radius: 4px; padding: 6px 16px;"
            f" font-weight: 600; }} QPushButton:disabled {{ background: {c.raised};"
            f" color: {c.disabled}; border-color: {c.border}; }} QPushButton:focus {{"
            f" border: 2px solid {c.text}; padding: 5px 15px; }}"
        )
    elif isinstance(widget, QLabel):
        if role in INKS:
            palette = QPalette()
            # Within a button, words have the colour of its words.
            for part in (QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
                palette.setColor(part, QColor(getattr(c, INKS[role])))
            widget.setPalette(palette)
        if role in WEIGHTS or role in SIZES:
            font = QFont()
            font.setWeight(WEIGHTS.get(role, QFont.Weight.Normal))
            if role in SIZES:
                font.setPointSizeF(THEME.points * SIZES[role])
            widget.setFont(font)


def _again() -> None:
    for widget in list(_DRESSED):
        THEME.when_seen(widget, _attire)


# Before all pages, which measure their words when the theme changes.
THEME.changed.connect(_again)
