"""What a widget is for, where that shows: headings, quiet words, cards, the main action."""

from __future__ import annotations

from weakref import WeakSet

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from tabprotect.gui.look.theme import THEME

SIZES = {
    "heading": 22 / 12,
    "figure": 22 / 12,
    "title": 16 / 12,
    "section": 13 / 12,
    "sentence": 13 / 12,
    "quiet": 1.0,
}
"""How much larger than other words: 22, 16, 13 and 12 pixels where these have 12."""

WEIGHTS = {
    "heading": QFont.Weight.Bold,
    "figure": QFont.Weight.Bold,
    "section": QFont.Weight.DemiBold,
    "strong": QFont.Weight.DemiBold,
    "title": QFont.Weight.Bold,
}


PADDINGS = {"main": (6, 16), "action": (9, 20)}
"""Pixels above and below, and beside, the words of a filled button."""

FACES = {"button": ("base", "text", "border"), "filled button": ("accent", "on_accent", "accent")}
"""Ground, words and border of words that look as a button, on a card that is one as a whole."""

INKS = {"quiet": "quiet", "link": "accent", "released": "released"}
"""Colours of words that have not the usual one."""

_DRESSED: WeakSet[QWidget] = WeakSet()
"""Those with a role: to ask for all widgets of the program takes longer than to dress these."""


def dress(widget: QWidget, role: str) -> None:
    """Give a widget its role; the look follows the theme from here on.

    ``heading``, ``figure``, ``section`` and ``quiet`` are for labels, ``main`` is for a button
    that is filled, ``action`` for that of a page's main action, ``card`` for frames and buttons that :class:`~.style.Style` paints.
    """
    if role_of(widget) == role:
        return
    widget.setProperty("role", role)
    _DRESSED.add(widget)
    widget.setAttribute(Qt.WidgetAttribute.WA_Hover, role in ("card", "row"))
    _attire(widget)


def role_of(widget: QWidget) -> str:
    """The role it was given; empty where there is none."""
    return widget.property("role") or ""


def _attire(widget: QWidget) -> None:
    c, role = THEME.colours, role_of(widget)
    if isinstance(widget, QPushButton) and role in PADDINGS:
        high, wide = PADDINGS[role]
        size = f" font-size: {THEME.points * 13 / 12:.2f}pt;" if role == "action" else ""
        widget.setStyleSheet(
            f"QPushButton {{ background: {c.accent}; color: {c.on_accent};"
            f" border: 1px solid {c.accent}; border-radius: 4px; padding: {high}px {wide}px;"
            f" font-weight: 600;{size} }} QPushButton:disabled {{ background: {c.raised};"
            f" color: {c.disabled}; border-color: {c.border}; }} QPushButton:focus {{"
            f" border: 2px solid {c.text}; padding: {high - 1}px {wide - 1}px; }}"
        )
    elif isinstance(widget, QLabel) and role in FACES:
        ground, ink, edge = (getattr(c, name) for name in FACES[role])
        widget.setStyleSheet(
            f"background: {ground}; color: {ink}; border: 1px solid {edge};"
            " border-radius: 4px; padding: 5px 12px;"
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
