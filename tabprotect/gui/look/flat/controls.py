"""Flat controls: what the style paints in place of Fusion's gradients and sunken frames.

A control has a border of one pixel, corners of four, and the ground of a field; what is chosen has
the accent beneath it or the ground of a selection. Each function paints one element and gives
whether it did: what it leaves is Fusion's.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import (
    QApplication,
    QPushButton,
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionComplex,
    QStyleOptionSlider,
    QStyleOptionTab,
    QStyleOptionToolButton,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from tabprotect.gui.look.roles import role_of
from tabprotect.gui.look.theme import THEME

RADIUS = 4
"""Pixels of the corners of a control."""

HEIGHT = 28
"""Pixels that a control is high at least."""

ROW = 24
"""Pixels that a row of a list is high at least."""

PADDING = 4
"""Pixels beside the words of a field or a tool button, besides those of Fusion."""

ARROW = 20
"""Pixels at the right of a button that opens a menu, for the arrow that says so."""

INSET = 6
"""Pixels beside the words of a row's cell and of a head, besides those of Fusion."""

UNDERLINE = 2
"""Pixels of the line beneath the tab that is open."""

_State = QStyle.StateFlag


def panel(
    painter: QPainter, where: QRect, *, fill: str, edge: str, width: float = 1, radius: float = RADIUS
) -> None:
    """A rounded box with its border inside a rectangle."""
    inset = width / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(edge), width))
    painter.setBrush(QColor(fill))
    inside = QRectF(where).adjusted(inset, inset, -inset, -inset)
    painter.drawRoundedRect(inside, radius, radius)
    painter.restore()


def field(option: QStyleOption, painter: QPainter, where: QRect | None = None) -> None:
    """The ground of a field: of a line to type in, a choice, a number."""
    c, state = THEME.colours, option.state
    focus = bool(state & _State.State_HasFocus)
    enabled = bool(state & _State.State_Enabled)
    panel(
        painter,
        option.rect if where is None else where,
        fill=c.base,
        edge=c.focus if focus else c.quiet if THEME.dark and enabled else c.border,
        width=2 if focus else 1,
    )


def push_button(option: QStyleOption, painter: QPainter, widget: QWidget | None) -> bool:
    """A push button; one that is flat has a ground only where the pointer is."""
    c, state = THEME.colours, option.state
    flat = isinstance(widget, QPushButton) and widget.isFlat()
    over = bool(state & _State.State_MouseOver) and bool(state & _State.State_Enabled)
    on = bool(state & _State.State_On)
    down = bool(state & _State.State_Sunken)
    focus = bool(state & _State.State_HasFocus)
    if flat and not (over or on or down or focus):
        return True
    edge = c.focus if focus or on else "transparent" if flat else c.border
    ground = "transparent" if flat else c.base if state & _State.State_Enabled else c.window
    fill = c.selection if on or down else c.raised if over else ground
    panel(painter, option.rect, fill=fill, edge=edge, width=2 if focus else 1)
    menu = QStyleOptionButton.ButtonFeature.HasMenu
    if isinstance(option, QStyleOptionButton) and option.features & menu:
        right = option.rect.right() - ARROW
        where = QRect(right, option.rect.top(), ARROW, option.rect.height())
        chevron(painter, where, quiet=not state & _State.State_Enabled)
    return True


def row(option: QStyleOption, painter: QPainter) -> None:
    """A row of a card that is pressed as a whole: a line parts it from the next."""
    c, state = THEME.colours, option.state
    if state & _State.State_MouseOver:
        painter.fillRect(option.rect, QColor(c.raised))
    painter.fillRect(
        QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1), QColor(c.raised)
    )
    if state & _State.State_HasFocus:
        panel(painter, option.rect, fill="transparent", edge=c.focus, width=2)


def linked(option: QStyleOption, widget: QWidget | None) -> None:
    """Give the words of a flat button the colour of a link."""
    enabled = option.state & _State.State_Enabled
    if enabled and isinstance(widget, QPushButton) and widget.isFlat():
        palette = QPalette(option.palette)
        palette.setColor(QPalette.ColorRole.ButtonText, QColor(THEME.colours.accent))
        option.palette = palette


def linked_width(option: QStyleOption) -> int:
    """Pixels that a button takes which is words alone: hardly more, so that they stand on the grid."""
    if not isinstance(option, QStyleOptionButton):
        return 0
    return option.fontMetrics.horizontalAdvance(option.text.replace("&", "")) + 2 * PADDING


def tool_button(option: QStyleOption, painter: QPainter, widget: QWidget | None) -> bool:
    """A tool button; a face of a page has a line beneath it while it is open."""
    c, state = THEME.colours, option.state
    on, focus = bool(state & _State.State_On), bool(state & _State.State_HasFocus)
    over = bool(state & _State.State_MouseOver) and bool(state & _State.State_Enabled)
    if widget is not None and role_of(widget) == "tab":
        if focus:
            panel(painter, option.rect, fill="transparent", edge=c.focus, width=2)
        if on or over:
            _underline(painter, option.rect, c.accent if on else c.border)
        return True
    flat = bool(state & _State.State_AutoRaise)
    down = bool(state & _State.State_Sunken)
    if flat and not (over or on or down or focus):
        return True
    fill = c.selection if on or down else c.raised if over else "transparent" if flat else c.base
    edge = c.focus if on or focus else "transparent" if flat else c.border
    panel(painter, option.rect, fill=fill, edge=edge, width=2 if focus else 1)
    return True


def _underline(painter: QPainter, where: QRect, colour: str) -> None:
    line = QRect(where.left(), where.bottom() + 1 - UNDERLINE, where.width(), UNDERLINE)
    painter.fillRect(line, QColor(colour))


def tab(option: QStyleOption, painter: QPainter) -> bool:
    """The ground of a tab of a row of tabs: a line beneath the one that is open."""
    if not isinstance(option, QStyleOptionTab):
        return False
    c, state = THEME.colours, option.state
    if state & _State.State_HasFocus:
        panel(painter, option.rect.adjusted(0, 2, 0, -4), fill="transparent", edge=c.focus, width=2)
    if state & _State.State_Selected:
        _underline(painter, option.rect, c.accent)
    elif state & _State.State_MouseOver:
        _underline(painter, option.rect, c.border)
    return True


def line(painter: QPainter, where: QRect) -> None:
    """The line that a row of tabs, or a head of columns, stands on."""
    painter.fillRect(QRect(where.left(), where.bottom(), where.width(), 1), QColor(THEME.colours.border))


def focus(option: QStyleOption, painter: QPainter) -> None:
    """Where the keyboard is in what has no border of its own."""
    panel(painter, option.rect, fill="transparent", edge=THEME.colours.focus, width=1)


def frame(option: QStyleOption, painter: QPainter) -> None:
    """The border of a list or another view."""
    painter.save()
    painter.setPen(QColor(THEME.colours.border))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    where = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5)
    painter.drawRoundedRect(where, RADIUS, RADIUS)
    painter.restore()


def chevron(painter: QPainter, where: QRect, *, up: bool = False, quiet: bool = False) -> None:
    """A small arrow of two strokes in the middle of a rectangle."""
    c = THEME.colours
    middle, turn = QPointF(QRectF(where).center()), -1.0 if up else 1.0
    across, down = 3.5, 2.0
    points = [
        QPointF(middle.x() - across, middle.y() - turn * down),
        QPointF(middle.x(), middle.y() + turn * down),
        QPointF(middle.x() + across, middle.y() - turn * down),
    ]
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen = QPen(QColor(c.border if quiet else c.quiet), 1.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    painter.drawPolyline(QPolygonF(points))
    painter.restore()


def choice(style: QStyle, option: QStyleOptionComplex, painter: QPainter, widget: QWidget | None) -> None:
    """A list that folds out, with the arrow that says so."""
    field(option, painter)
    arrow = QStyle.SubControl.SC_ComboBoxArrow
    where = style.subControlRect(QStyle.ComplexControl.CC_ComboBox, option, arrow, widget)
    chevron(painter, where, quiet=not option.state & _State.State_Enabled)


def number(style: QStyle, option: QStyleOptionComplex, painter: QPainter, widget: QWidget | None) -> None:
    """A field for a number, with its two arrows."""
    field(option, painter)
    control, sub = QStyle.ComplexControl.CC_SpinBox, QStyle.SubControl
    for part, up in ((sub.SC_SpinBoxUp, True), (sub.SC_SpinBoxDown, False)):
        where = style.subControlRect(control, option, part, widget)
        if not where.isEmpty():
            chevron(painter, where, up=up, quiet=not option.state & _State.State_Enabled)


def scroll_bar(style: QStyle, option: QStyleOptionComplex, painter: QPainter, widget: QWidget | None) -> bool:
    """A scroll bar: a rounded handle on the window's ground, without arrows."""
    if not isinstance(option, QStyleOptionSlider):
        return False
    c = THEME.colours
    painter.fillRect(option.rect, QColor(c.window))
    handle = style.subControlRect(
        QStyle.ComplexControl.CC_ScrollBar, option, QStyle.SubControl.SC_ScrollBarSlider, widget
    )
    used = bool(option.state & (_State.State_Sunken | _State.State_MouseOver))
    inside = handle.adjusted(3, 3, -3, -3)
    if option.minimum < option.maximum and not inside.isEmpty():
        fill = c.quiet if used else c.border
        radius = min(inside.width(), inside.height()) / 2
        panel(painter, inside, fill=fill, edge=fill, radius=radius)
    return True


def item(option: QStyleOption, painter: QPainter, style: QStyle, widget: QWidget | None) -> None:
    """Give the words of a row's cell room at both sides; a line beneath it parts it from the next."""
    if not isinstance(option, QStyleOptionViewItem):
        return
    if isinstance(widget, QTableView) and not widget.showGrid():
        painter.fillRect(
            QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1),
            QColor(THEME.colours.raised),
        )
    # A box to tick is hit where Fusion puts it.
    if not option.features & QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator:
        ground = QStyle.PrimitiveElement.PE_PanelItemViewItem
        style.drawPrimitive(ground, option, painter, widget)
        option.rect.adjust(INSET, 0, -INSET, 0)


def bold(font: QFont) -> QFont:
    """The font of what is open."""
    out = QFont(font)
    out.setWeight(QFont.Weight.DemiBold)
    return out


def bolder(option: QStyleOption) -> int:
    """Pixels by which the words of a tab are wider while it is open."""
    if not isinstance(option, QStyleOptionTab | QStyleOptionToolButton):
        return 0
    font = bold(option.font if isinstance(option, QStyleOptionToolButton) else QApplication.font())
    wide = QFontMetrics(font).horizontalAdvance(option.text)
    return max(wide - option.fontMetrics.horizontalAdvance(option.text), 0)


def worded(option: QStyleOptionToolButton, widget: QWidget | None) -> None:
    """Have picture and words of a tool button stand in its middle; a flat one has words of a link."""
    if widget is not None and role_of(widget) == "tab" and option.state & _State.State_On:
        option.font = bold(option.font)
    flat = bool(option.state & _State.State_AutoRaise)
    if flat and option.state & _State.State_Enabled and (widget is None or role_of(widget) != "tab"):
        palette = QPalette(option.palette)
        palette.setColor(QPalette.ColorRole.ButtonText, QColor(THEME.colours.accent))
        option.palette = palette
    option.rect.adjust(PADDING, 0, -PADDING, 0)
    if option.toolButtonStyle == Qt.ToolButtonStyle.ToolButtonTextBesideIcon:
        words = option.fontMetrics.horizontalAdvance(option.text) + 2 * PADDING
        spare = option.rect.width() - option.iconSize.width() - words
        option.rect.adjust(0 if flat else max(spare // 2, 0), 0, 0, 0)


def quiet_head(option: QStyleOption) -> None:
    """Words of a head are quieter than what stands below it."""
    palette = QPalette(option.palette)
    for role in (QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
        palette.setColor(role, QColor(THEME.colours.quiet))
    option.palette = palette


def header(option: QStyleOption, painter: QPainter) -> None:
    """The ground of a head of a column, with the line beneath it."""
    painter.fillRect(option.rect, QColor(THEME.colours.window))
    line(painter, option.rect)
