"""Fusion with the colours of the theme: borders and focus that are seen on every ground; cards, tabs and links.

A style, not a style sheet on the application: under a sheet Qt dresses every widget anew each time
that it or a parent of it is put into another, five times the work of building a page.
"""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPalette, QPen
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QProxyStyle,
    QPushButton,
    QScrollBar,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComplex,
    QStyleOptionToolButton,
    QTabBar,
    QWidget,
)

from tabprotect.gui.look.roles import role_of
from tabprotect.gui.look.theme import THEME, inked
from tabprotect.languages.messages import message

HEIGHT = 28
"""Pixels that a control is high at least."""

ROW = 24
"""Pixels that a row of a list is high at least."""

ROOM = 6
"""Pixels beside the words of a row's cell and of a head, besides those of Fusion."""

TURNED = (QComboBox, QAbstractSpinBox, QAbstractSlider, QTabBar)
"""Controls that the wheel would turn. Scroll bars are sliders, and are there to be turned."""

_Control, _State, _Contents = QStyle.ControlElement, QStyle.StateFlag, QStyle.ContentsType
_Primitive, _Role = QStyle.PrimitiveElement, QPalette.ColorRole

CARDS = (_Control.CE_ShapedFrame, _Control.CE_PushButtonBevel)

FRAMES = (_Primitive.PE_Frame, _Primitive.PE_FrameGroupBox)
"""Borders of what is no control."""

EDGED = (
    *(_Primitive.PE_PanelLineEdit, _Primitive.PE_IndicatorCheckBox, _Primitive.PE_IndicatorRadioButton),
    *(_Primitive.PE_IndicatorItemViewItemCheck, _Primitive.PE_PanelButtonTool),
    *(_Primitive.PE_PanelButtonCommand, _Primitive.PE_FrameFocusRect),
    *FRAMES,
    *(QStyle.ComplexControl.CC_ComboBox, QStyle.ComplexControl.CC_SpinBox, QStyle.ComplexControl.CC_Slider),
    _Control.CE_PushButtonBevel,
)
"""What Fusion gives a border."""

RINGED = (
    *(_Primitive.PE_PanelLineEdit, _Primitive.PE_PanelButtonTool, _Primitive.PE_FrameFocusRect),
    *(QStyle.ComplexControl.CC_ComboBox, QStyle.ComplexControl.CC_SpinBox, _Control.CE_PushButtonBevel),
    _Control.CE_TabBarTab,
)
"""What has a ring where the keyboard is, however it came there."""

HIGH = (_Contents.CT_PushButton, _Contents.CT_ComboBox, _Contents.CT_LineEdit, _Contents.CT_SpinBox)
"""What is as high as a control."""


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
        focus = QApplication.focusWidget()
        if event.type() != QEvent.Type.Wheel or (
            # The text of a spin box has the focus in its stead.
            focus is not None and (focus is watched or cast(QWidget, watched).isAncestorOf(focus))
        ):
            return False
        # Filtered and not accepted: Qt goes on to the parent, up to what scrolls.
        event.ignore()
        return True


class Style(QProxyStyle):
    """The application's style."""

    def __init__(self) -> None:
        super().__init__(message("Fusion"))
        self._wheel = WheelScrolls(self)

    def polish(self, what: Any) -> Any:
        # Of the whole application, of a palette, and of each widget before it is first shown.
        if isinstance(what, QWidget):
            self._wheel.watch(what)
        # Set once: a style that is asked for the room of every field's text is asked a thousand times
        # for a page.
        if isinstance(what, QLineEdit) and what.hasFrame():
            what.setTextMargins(4, 0, 4, 0)
        if isinstance(what, QPushButton):
            # Return presses the button that has the focus, as space does, outside dialogs too.
            what.setAutoDefault(True)
        return super().polish(what)

    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element == _Primitive.PE_PanelButtonTool and widget is not None and role_of(widget) == "tab":
            _face(option, painter)
            return
        if element in EDGED:
            _edged(option, seen=element not in FRAMES)
        super().drawPrimitive(element, option, painter, widget)
        if element in RINGED:
            _ring(option, painter)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        role = "" if widget is None else role_of(widget)
        if element in CARDS and role in ("card", "row"):
            _card(option, painter, cast(QWidget, widget))
            return
        if element in EDGED:
            _edged(option)
        flat = (isinstance(widget, QPushButton) and widget.isFlat()) or (
            element == _Control.CE_ToolButtonLabel and role != "tab" and option.state & _State.State_AutoRaise
        )
        if flat and option.state & _State.State_Enabled:
            # Words alone are a link.
            option.palette = _with(option, {_Role.ButtonText: THEME.colours.accent})
        elif element == _Control.CE_HeaderLabel:
            option.palette = _with(option, {_Role.ButtonText: THEME.colours.quiet})
        super().drawControl(element, option, painter, widget)
        if element in RINGED:
            _ring(option, painter)

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if control in EDGED:
            _edged(option)
        super().drawComplexControl(control, option, painter, widget)
        if control in RINGED:
            _ring(option, painter)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returned: QStyleHintReturn | None = None,
    ) -> int:
        # Some platforms put pictures of their own before "Cancel".
        if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 0
        return super().styleHint(hint, option, widget, returned)

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, w: QWidget | None = None
    ) -> QSize:
        found = super().sizeFromContents(kind, option, size, cast(QWidget, w))
        if kind in HIGH or (isinstance(option, QStyleOptionToolButton) and option.text):
            found.setHeight(max(found.height(), round(HEIGHT * THEME.scale)))
        elif kind == _Contents.CT_ItemViewItem:
            found.setHeight(max(found.height(), round(ROW * THEME.scale)))
        if isinstance(w, QPushButton) and w.isFlat() and w.icon().isNull() and not role_of(w):
            # Words alone stand on the grid.
            found.setWidth(option.fontMetrics.horizontalAdvance(w.text().replace("&", "")) + 8)
        if kind in (_Contents.CT_ItemViewItem, _Contents.CT_HeaderSection):
            found.setWidth(found.width() + 2 * ROOM)
        return found


def paints_itself(view: QWidget) -> None:
    """Leave a view to Fusion whose cells are painted by a delegate.

    A view asks its style once for every cell of every frame.
    """
    style = QApplication.style()
    if isinstance(style, Style):
        view.setStyle(style.baseStyle())


def _with(option: QStyleOption, colours: dict[QPalette.ColorRole, str]) -> QPalette:
    palette = QPalette(option.palette)
    for role, colour in colours.items():
        palette.setColor(role, QColor(colour))
    return palette


def _edged(option: QStyleOption, *, seen: bool = True) -> None:
    """Have Fusion draw a border of the theme: it darkens the ground of the window for it.

    That of a control is ``seen`` on a dark ground, too.
    """
    c = THEME.colours
    edge = QColor(c.quiet if seen and THEME.dark else c.border).lighter(140)
    chosen = {_Role.Button: c.selection} if option.state & _State.State_On else {}
    option.palette = _with(option, {_Role.Window: edge.name()} | chosen)


def _ring(option: QStyleOption, painter: QPainter) -> None:
    if option.state & _State.State_HasFocus:
        _box(painter, QRectF(option.rect), fill="transparent", edge=THEME.colours.focus, width=2)


def _face(option: QStyleOption, painter: QPainter) -> None:
    """A face of a page: a line beneath it while it is open."""
    c, state, where = THEME.colours, option.state, option.rect
    _ring(option, painter)
    if state & (_State.State_On | _State.State_MouseOver):
        painter.fillRect(
            where.left(), where.bottom() - 1, where.width(), 2,
            QColor(c.accent if state & _State.State_On else c.border),
        )  # fmt: skip


def _card(option: QStyleOption, painter: QPainter, widget: QWidget) -> None:
    """A card; or a row of one that is pressed as a whole, which a line parts from the next."""
    c, where = THEME.colours, option.rect
    # Only a card that can be pressed answers to the mouse.
    pressed = widget.focusPolicy() != Qt.FocusPolicy.NoFocus
    fill = c.raised if option.state & _State.State_MouseOver and pressed else c.base
    strong = c.focus if widget.hasFocus() else c.accent if widget.property("current") else ""
    if role_of(widget) == "card":
        _box(painter, QRectF(where), fill=fill, edge=strong or c.border, width=2 if strong else 1)
        return
    painter.fillRect(where, QColor(fill))
    painter.fillRect(where.left(), where.bottom(), where.width(), 1, QColor(c.raised))
    if strong:
        _box(painter, QRectF(where), fill="transparent", edge=strong, width=2)


def _box(painter: QPainter, where: QRectF, *, fill: str, edge: str, width: float) -> None:
    """A rounded box with its border inside a rectangle."""
    inset = width / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    inked(painter, QPen(QColor(edge), width), QColor(fill))
    painter.drawRoundedRect(where.adjusted(inset, inset, -inset, -inset), 4, 4)
    painter.restore()
