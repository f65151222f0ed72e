"""Colours, fonts and spacing: light and dark, one palette for widgets and plots.

Meaning has one colour everywhere (Okabe and Ito's colour-blind-safe hues): plus blue, minus
orange, at risk amber, unreleasable purple, released bluish green. Never colour alone: each
meaning also has a symbol.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontInfo,
    QGradient,
    QGuiApplication,
    QPaintDevice,
    QPainter,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QApplication, QToolTip, QWidget
from shiboken6 import isValid

from tabprotect.languages.messages import message
from tabprotect.languages.number_formats import NARROW, grouped
from tabprotect.languages.translation import translate

GRID = 8
"""The unit of spacing in pixels."""

MARGIN = 2 * GRID
"""The margin of every page."""

USUAL = 13
"""Pixels that words have at most where nobody asked for larger ones."""

Mode = Literal["system", "light", "dark", "contrast"]
"""``contrast``: light or dark as the system has it, of high contrast."""


@dataclass(frozen=True)
class Colours:
    """The meaning of each colour, as ``#rrggbb``. Text colours reach 4.5:1 on their grounds."""

    window: str
    base: str
    raised: str
    border: str
    text: str
    quiet: str
    accent: str
    on_accent: str
    focus: str
    plus: str
    plus_fill: str
    minus: str
    minus_fill: str
    at_risk: str
    at_risk_fill: str
    on_at_risk: str
    unreleasable: str
    released: str
    released_fill: str
    undecided: str
    undecided_fill: str
    confidential: str
    on_confidential: str
    public: str
    on_public: str
    error: str
    error_fill: str
    heat_low: str
    heat_high: str
    sure: tuple[str, str, str, str, str]
    selection: str

    @property
    def disabled(self) -> str:
        """Words of what cannot be used: quiet, and grey where quiet words are as strong as others."""
        if self.quiet != self.text:
            return self.quiet
        return "#6b6b6b" if self.base == "#ffffff" else "#9a9a9a"


LIGHT = Colours(
    window="#f5f5f3",
    base="#ffffff",
    raised="#ebebe8",
    border="#c9c9c4",
    text="#1d1f21",
    quiet="#5f6368",
    accent="#00598a",
    on_accent="#ffffff",
    focus="#0072b2",
    plus="#00639c",
    plus_fill="#d3e8f5",
    minus="#a84800",
    minus_fill="#fbe0cf",
    at_risk="#8a5a00",
    at_risk_fill="#fde3ae",
    on_at_risk="#1d1f21",
    unreleasable="#8d3f70",
    released="#00704f",
    released_fill="#e2f2ec",
    undecided="#6b6100",
    undecided_fill="#fbf7c8",
    confidential="#f0b63c",
    on_confidential="#241a00",
    public="#00639c",
    on_public="#ffffff",
    error="#a8102c",
    error_fill="#fce9ec",
    heat_low="#ffffff",
    heat_high="#00598a",
    sure=("#fdedca", "#f2c676", "#c98a2b", "#7a4f00", "#a8102c"),
    selection="#cfe4f2",
)

DARK = Colours(
    window="#23262a",
    base="#1b1d20",
    raised="#2e3237",
    border="#4a4f56",
    text="#eceef0",
    quiet="#a6acb4",
    accent="#6cb8e6",
    on_accent="#10222e",
    focus="#7cc4ee",
    plus="#6cb8e6",
    plus_fill="#173a50",
    minus="#f29a5f",
    minus_fill="#4e2b14",
    at_risk="#f3bb4a",
    at_risk_fill="#55400f",
    on_at_risk="#fff4da",
    unreleasable="#e09cc4",
    released="#3fc79c",
    released_fill="#163a2f",
    undecided="#e6da4e",
    undecided_fill="#37340f",
    confidential="#e0a52e",
    on_confidential="#1f1600",
    public="#6cb8e6",
    on_public="#0d1d28",
    error="#ff9aa6",
    error_fill="#461820",
    heat_low="#1b1d20",
    heat_high="#8fcff2",
    sure=("#3a2f18", "#66501d", "#a67c22", "#f3bb4a", "#ff6f80"),
    selection="#24455a",
)


HIGH_LIGHT = replace(
    LIGHT,
    window="#ffffff",
    raised="#ffffff",
    border="#000000",
    text="#000000",
    quiet="#000000",
    accent="#003a5c",
    focus="#7a00a8",
    plus="#003a5c",
    minus="#6e2f00",
    at_risk="#553700",
    on_at_risk="#000000",
    unreleasable="#6b1f50",
    released="#00452f",
    undecided="#3f3900",
    on_confidential="#000000",
    public="#003a5c",
    error="#7d0017",
    selection="#a8d8ff",
)
"""Black on white, with borders as dark as words: for who asks the system for high contrast."""

HIGH_DARK = replace(
    DARK,
    window="#000000",
    base="#000000",
    raised="#000000",
    border="#ffffff",
    text="#ffffff",
    quiet="#ffffff",
    accent="#8fdcff",
    on_accent="#000000",
    focus="#ffff54",
    plus="#8fdcff",
    plus_fill="#00263d",
    minus="#ffb37d",
    minus_fill="#3a1900",
    at_risk="#ffd166",
    at_risk_fill="#3a2900",
    on_at_risk="#ffffff",
    unreleasable="#ffb8e0",
    released="#63f2c4",
    released_fill="#00261a",
    undecided="#fff36b",
    undecided_fill="#262300",
    confidential="#ffc247",
    on_confidential="#000000",
    public="#8fdcff",
    on_public="#000000",
    error="#ffb3bc",
    error_fill="#330009",
    heat_low="#000000",
    selection="#004a7a",
)
"""The same, white on black."""


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours after WCAG 2, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


Widget = TypeVar("Widget", bound=QWidget)


class Theme(QObject):
    """The colours and the font size in force; ``changed`` after any change of either.

    What hidden widgets have to do then waits until they are shown: there are many more of them.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._following: WeakKeyDictionary[QWidget, list[tuple[Callable[[Any], object], bool]]]
        self._following = WeakKeyDictionary()
        self._behind: WeakKeyDictionary[QWidget, list[Callable[[Any], object]]]
        self._behind = WeakKeyDictionary()
        self.mode: Mode = "system"
        self.zoom = 1.0
        self.colours = LIGHT
        self._points = 0.0
        self.system = 1.0
        """How much larger than usual the words of the system are, which the zoom enlarges."""

    @property
    def points(self) -> float:
        """The size of ordinary words."""
        return self._points * self.zoom

    @property
    def scale(self) -> float:
        """Return how much larger than usual words are: what is too narrow for them grows with it."""
        return self.system * self.zoom

    @property
    def dark(self) -> bool:
        """Return True if the dark colours are in force."""
        return self.colours in (DARK, HIGH_DARK)

    def apply(self, *, mode: Mode | None = None, zoom: float | None = None) -> None:
        """Set colours and font size on the application."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        before = (self.colours, self.zoom) if self._points else None
        if not self._points:
            self._points = app.font().pointSizeF()
            self.system = max(QFontInfo(app.font()).pixelSize() / USUAL, 1.0)
            hints = app.styleHints()
            hints.colorSchemeChanged.connect(self._system_changed)
            wishes = hints.accessibility()
            wishes.contrastPreferenceChanged.connect(self._system_changed)
        self.mode = self.mode if mode is None else mode
        self.zoom = self.zoom if zoom is None else min(max(zoom, 0.6), 2.5)
        light, dark = (HIGH_LIGHT, HIGH_DARK) if self._wants_contrast() else (LIGHT, DARK)
        self.colours = dark if self._wants_dark() else light
        if before == (self.colours, self.zoom):
            return
        if before is None or before[0] is not self.colours:
            palette = self._palette()
            app.setPalette(palette)
            QToolTip.setPalette(palette)
        if before is None or before[1] != self.zoom:
            font = app.font()
            font.setPointSizeF(self.points)
            app.setFont(font)
            # Widgets learn of it by an event that waits: who hears of the change measures words.
            QApplication.sendPostedEvents(None, QEvent.Type.ApplicationFontChange.value)
        self.changed.emit()
        for widget, dresses in list(self._following.items()):
            for dress, slow in dresses:
                if slow and isValid(widget) and widget.isVisible():
                    TURNS.later(widget, partial(dress, widget))
                else:
                    self.when_seen(widget, dress)

    def follow(self, widget: Widget, dress: Callable[[Widget], object], *, slow: bool = False) -> None:
        """Call a function of a widget after each change, when the widget is seen.

        The function may not hold the widget: it is kept as long as the widget is. A ``slow`` one
        is called in one of the next turns.
        """
        self._following.setdefault(widget, []).append((dress, slow))

    def when_seen(self, widget: Widget, dress: Callable[[Widget], object]) -> None:
        """Call a function of a widget: at once where it is seen, else when it is next shown."""
        if not isValid(widget):
            return
        if widget.isVisible():
            dress(widget)
            return
        if widget not in self._behind:
            self._behind[widget] = []
            widget.installEventFilter(self)
        if dress not in self._behind[widget]:
            self._behind[widget].append(dress)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            watched.removeEventFilter(self)
            for dress in self._behind.pop(watched, []):
                dress(watched)
        return False

    def _wants_dark(self) -> bool:
        if self.mode in ("light", "dark"):
            return self.mode == "dark"
        return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark

    def _wants_contrast(self) -> bool:
        # Each held by a name: what PySide wraps goes with what it was taken from.
        hints = QGuiApplication.styleHints()
        wishes = hints.accessibility()
        asked = wishes.contrastPreference()
        return self.mode == "contrast" or (
            self.mode == "system" and asked == Qt.ContrastPreference.HighContrast
        )

    def _system_changed(self) -> None:
        if self.mode in ("system", "contrast"):
            self.apply()

    def _palette(self) -> QPalette:
        c = self.colours
        roles = {
            QPalette.ColorRole.Window: c.window,
            QPalette.ColorRole.WindowText: c.text,
            QPalette.ColorRole.Base: c.base,
            QPalette.ColorRole.AlternateBase: c.raised,
            QPalette.ColorRole.Text: c.text,
            QPalette.ColorRole.PlaceholderText: c.quiet,
            QPalette.ColorRole.Button: c.raised,
            QPalette.ColorRole.ButtonText: c.text,
            QPalette.ColorRole.Highlight: c.selection,
            QPalette.ColorRole.HighlightedText: c.text,
            QPalette.ColorRole.ToolTipBase: c.raised,
            QPalette.ColorRole.ToolTipText: c.text,
            QPalette.ColorRole.Link: c.accent,
            QPalette.ColorRole.LinkVisited: c.accent,
            QPalette.ColorRole.Light: c.raised,
            QPalette.ColorRole.Mid: c.border,
            QPalette.ColorRole.Dark: c.border,
            QPalette.ColorRole.BrightText: c.on_accent,
            QPalette.ColorRole.Accent: c.accent,
        }
        palette = QPalette()
        for role, colour in roles.items():
            palette.setColor(role, QColor(colour))
        for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText):
            palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(c.disabled))
        return palette


THEME = Theme()
"""The application's one theme."""


def colour(name: str) -> QColor:
    """A colour by its meaning (a field of :class:`Colours`) in the theme in force."""
    return QColor(getattr(THEME.colours, name))


def tabular(font: QFont) -> QFont:
    """The font with figures of one width, for counts."""
    out = QFont(font)
    out.setFeature(QFont.Tag("tnum"), 1)
    return out


Written = Callable[[Any], str]
"""How a value is written for people: a count or a real number, as the array behind it has it."""


def count_text(count: int) -> str:
    """A count for people: thin spaces between thousands, where no line breaks."""
    return grouped(count, NARROW)


def signed_text(count: int) -> str:
    """A change for people: always with its sign, zero without."""
    return f"+{count_text(count)}" if count > 0 else count_text(count)


def number_text(value: float, *, digits: int = 2) -> str:
    """A real number for people, with a true minus sign."""
    return message("{value:.{digits}f}", value=value, digits=digits).replace("-", "\u2212")


def moved_text(value: float) -> str:
    """Say how much counts change on average: one decimal, and one more where that would be 0."""
    return number_text(value, digits=2 if 0 < value < 0.05 else 1)


def per_cent(number: str) -> str:
    """A written number as per cent, with the same narrow space everywhere: ``72 %``."""
    return message("{number}\u202f%", number)


def chance_text(chance: float, *, digits: int = 0) -> str:
    """A chance for bars and tables: ``72 %``; never a 0 or a 100 that is not exact."""
    # Sums of floating point products come within a hair of 0 and 1.
    if chance < 1e-12 or chance > 1 - 1e-12:
        return per_cent("100" if chance > 0.5 else "0")
    least = 10.0**-digits
    if 100 * chance < least / 2:
        return message("<{percent:.{digits}f}\u202f%", percent=least, digits=digits)
    if 100 * chance >= 100 - least / 2:
        return message(">{percent:.{digits}f}\u202f%", percent=100 - least, digits=digits)
    return message("{percent:.{digits}f}\u202f%", percent=100 * chance, digits=digits)


def chance_number(chance: float, *, digits: int = 0) -> str:
    """The same in 100, where that is said beside it: ``72``."""
    return translate(chance_text(chance, digits=digits)).removesuffix("%").rstrip()


SHARE = 0.02
"""Processor seconds after which what is left waits for the next turn: less than anybody sees."""


class Turns(QObject):
    """A queue of work for later turns. Whoever uses the window is served between two."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[tuple[QObject, Callable[[], object]]] = []

    @property
    def waiting(self) -> bool:
        """Return True if anything is still to be done."""
        return bool(self._waiting)

    def later(self, owner: QObject, work: Callable[[], object]) -> None:
        """Do work in one of the next turns, if its owner is still there then.

        The same work (a method of the same object) is not done twice.
        """
        if any(work == other for _, other in self._waiting):
            return
        self._waiting.append((owner, work))
        if len(self._waiting) == 1:
            QTimer.singleShot(0, self, self._turn)

    def _turn(self) -> None:
        end = time.thread_time() + SHARE
        try:
            while self._waiting:
                owner, work = self._waiting.pop(0)
                if isValid(owner):
                    work()
                if time.thread_time() > end:
                    break
        finally:
            if self._waiting:
                QTimer.singleShot(0, self, self._turn)


TURNS = Turns()
"""The window's thread has one loop."""


def inked(
    painter: QPainter,
    pen: QPen | QColor | Qt.PenStyle,
    brush: QBrush | QColor | QGradient | Qt.BrushStyle = Qt.BrushStyle.NoBrush,
) -> None:
    """Have a painter draw lines with one, and fill areas with the other."""
    painter.setPen(pen)
    painter.setBrush(brush)


def smooth_painter(device: QPaintDevice) -> QPainter:
    """A painter that smooths edges."""
    painter = QPainter(device)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return painter
